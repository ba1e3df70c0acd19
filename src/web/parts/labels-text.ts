/** Labels as typed text, one per line: `repository=acme/web`. */

export const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()]),
  )

export const labelsText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')

/** The validation error of the text; null if it is valid. */
export const issueOfLabels = (text: string): string | null =>
  linesOf(text).some((line) => !line.includes('=')) ? 'Enter each label as name=value, one per line.' : null

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')
