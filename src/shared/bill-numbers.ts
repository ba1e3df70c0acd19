/** Document numbers: a format such as `{year}-{sequence:4}`, filled in with the day of issue and a sequence number. */

const PLACEHOLDER = /\{(year|month|sequence)(?::(\d))?\}/g

/** Maximum length of a number: it has to fit in the reference line of a bank transfer. */
const FORMAT_LIMIT = 40

/**
 * The text around the placeholders: characters that are allowed in file names and in the reference line of a bank
 * transfer.
 */
const PLAIN = /^[A-Za-z0-9 ._/-]*$/

/** Why a format is invalid; undefined if it is valid. */
export function issueOfNumberFormat(format: string): string | undefined {
  const names = [...format.matchAll(PLACEHOLDER)].map(([, name]) => name)
  if (names.filter((name) => name === 'sequence').length !== 1) {
    return 'must contain {sequence} once, or {sequence:4} for at least four digits'
  }
  if (names.includes('month') && !names.includes('year')) return 'must contain {year} if it contains {month}'
  if (format.length > FORMAT_LIMIT) return `must have at most ${FORMAT_LIMIT} characters`
  if (!PLAIN.test(format.replaceAll(PLACEHOLDER, ''))) {
    return 'may contain only letters, digits, spaces and . _ / - besides {year}, {month} and {sequence}'
  }
  return undefined
}

/** The scope within which the sequence counts: a year or a month if the format contains it, otherwise all time. */
export function sequenceScope(format: string, day: string): string {
  if (format.includes('{month')) return day.slice(0, 7)
  return format.includes('{year') ? day.slice(0, 4) : ''
}

/** @param day of issue, as `2026-11-30` */
export function numberOf(format: string, { day, sequence }: { day: string; sequence: number }): string {
  const parts: Record<string, string> = { year: day.slice(0, 4), month: day.slice(5, 7), sequence: String(sequence) }
  return format.replaceAll(PLACEHOLDER, (_, name: string, digits = '1') => parts[name]!.padStart(Number(digits), '0'))
}
