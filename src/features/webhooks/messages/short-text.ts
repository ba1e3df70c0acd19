import { firstCharacters, hasMoreCharacters } from '../../../lib/characters.ts'

/** Longer texts are shortened: people chose them, and a chat must stay readable. */
const TEXT_LIMIT = 200

/** On one line, without what would hide or reverse the rest of it. Pure. */
export function shortened(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim()
  return hasMoreCharacters(line, TEXT_LIMIT) ? `${firstCharacters(line, TEXT_LIMIT - 1)}…` : line
}
