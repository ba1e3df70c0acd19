/** What problems call by its name in the API, in terms of the command line. */

const TERMS: [api: RegExp, commandLine: string][] = [
  [/"(leave_unpriced)": true/g, '--leave-unpriced'],
  [/"include_earlier": true/g, '--include-earlier yes'],
  [/\bor false to leave them\b/g, 'or --include-earlier no to leave them'],
  [/must be an integer, as a JSON number/g, 'must be a whole number'],
  [/POST \/bills\/preview lists/g, '`tally bills preview` lists'],
  [/under `left_out`/g, 'under "Left out"'],
  [/GET \/reports\/unpriced/g, '`tally reports unpriced`'],
  [/POST \/bills\/\{id\}\/credit-note/g, '`tally bills credit`'],
  [/POST \/bills\/\{id\}\/unpaid/g, '`tally bills unpaid`'],
]

export const inCommands = (text: string): string =>
  TERMS.reduce((words, [api, commandLine]) => words.replace(api, commandLine), text)
