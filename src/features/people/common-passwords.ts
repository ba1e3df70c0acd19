/** The passwords that guessers try first; loaded when somebody chooses one. Made by `scripts/common-passwords.ts`. */
import list from './common-passwords.txt' with { type: 'text' }

const COMMON = new Set(list.trimEnd().split('\n'))

/** In lower case. */
export function isCommon(password: string): boolean {
  return COMMON.has(password)
}
