/** Longer texts are shortened: people chose them, and a chat must stay readable. */
const TEXT_LIMIT = 200

/** On one line, without what would hide or reverse the rest of it. Pure. */
export function shortened(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
  return line.length > TEXT_LIMIT ? `${line.slice(0, TEXT_LIMIT - 1).toWellFormed()}…` : line
}
