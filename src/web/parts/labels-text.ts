/** Labels as a person types them: one a line, `repository=acme/web`. */

export const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()]),
  )

export const labelsText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

/** What is wrong with the text; null where nothing is. */
export const issueOfLabels = (text: string): string | null =>
  linesOf(text).some((line) => !line.includes('=')) ? 'Each line is name=value.' : null

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')
