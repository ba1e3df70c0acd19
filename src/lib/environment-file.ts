/** Files of environment variables, in the syntax that systemd reads with `EnvironmentFile=` (systemd.exec(5)). */

/** Parts in quotes, and a bare rest, in which a backslash takes the meaning of what follows, also of the end of the line. */
const VALUE = String.raw`((?:(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*")[ \t\r]*)*)((?:\\[\s\S]|[^\\\n])*\\?)`

/** A comment, an assignment, or what is neither and ignored. */
const LINE = new RegExp(String.raw`\s*(?:[#;].*|([^=\n]*?)[ \t\r]*=[ \t\r]*${VALUE}|.*)(?:\n|$)`, 'gy')

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The variables of a file. The last one of a name counts. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const assignments = [...text.matchAll(LINE)].map(([, name = '', quoted = '', bare = '']) => [
    name,
    unquoted(quoted) + unescaped(bare),
  ])
  return Object.fromEntries(assignments.filter(([name]) => VARIABLE.test(name!)))
}

/** In double quotes, a backslash is one unless it escapes something; single quotes have no escapes. */
const unquoted = (text: string) =>
  text.replaceAll(/'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|[ \t\r]+/g, (_all, single?: string, double?: string) =>
    double === undefined ? (single ?? '') : double.replaceAll(/\\(["\\`$])|\\\n/g, '$1'),
  )

const unescaped = (text: string) =>
  /^((?:\\[\s\S]|[^\\])*?)[ \t\r]*\\?$/
    .exec(text)![1]!
    .replaceAll(/\\([\s\S])/g, (_all, character: string) => (character === '\n' ? '' : character))
