/**
 * Rejects passwords that are too short or too long, and those that attackers try first (NIST SP 800-63B, 3.1.1.2).
 * There are no rules for letters, digits and symbols, which only make passwords hard to remember. Applies to new
 * passwords, not to existing ones.
 */
import { type Issue, validationFailed } from '../../../errors.ts'
import { PASSWORD_LIMIT_BYTES, PASSWORD_MIN } from '../../../schema/fields.ts'

/** The owner of the password: attackers know their names. */
export interface PasswordOwner {
  email: string
  name: string
}

/** The length of an addition that makes a common word look different: a year, a number, a few symbols. */
const ADDITION_LIMIT = 4

/**
 * The minimum of letters besides the owner's names, and of different characters, below which a password is easily
 * guessed.
 */
const OWN_MIN = 4

/** Throws `validation_failed`. */
export async function requireGoodPassword(
  password: string,
  { pointer, owner }: { pointer: string; owner: PasswordOwner },
): Promise<void> {
  const issues = await issuesOfPassword(password, { pointer, owner })
  if (issues.length > 0) throw validationFailed(issues)
}

export async function issuesOfPassword(
  password: string,
  { pointer, owner }: { pointer: string; owner: PasswordOwner },
): Promise<Issue[]> {
  if ([...password].length < PASSWORD_MIN) {
    return [{ pointer, code: 'too_short', message: `must have at least ${PASSWORD_MIN} characters` }]
  }
  if (Buffer.byteLength(password) > PASSWORD_LIMIT_BYTES) {
    return [{ pointer, code: 'too_long', message: `must have at most ${PASSWORD_LIMIT_BYTES} bytes in UTF-8` }]
  }
  // Loaded on demand: the list is 60 kB that most commands never need.
  const { isCommon } = await import('./common-passwords.ts')
  const message = reasonAgainst(password.normalize('NFKC').toLowerCase(), isCommon, owner)
  return message === undefined ? [] : [{ pointer, code: 'too_common', message }]
}

function reasonAgainst(
  password: string,
  isCommon: (password: string) => boolean,
  owner: PasswordOwner,
): string | undefined {
  if (new Set(password).size < OWN_MIN) return 'must not just repeat a few characters; use three random words instead'
  if (isMadeOf(password, wordsOf(owner))) {
    return 'must not be based on your name, your e-mail address or the word Tally; use three random words instead'
  }
  const core = repeated(password)
  if ([password, core, withoutAddition(core)].some(isCommon)) {
    return 'is a very common password and easy to guess; use three random words instead'
  }
  return undefined
}

/** Publicly known words about a person, the longest first. */
function wordsOf({ email, name }: PasswordOwner): string[] {
  const words = `${email} ${name}`
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
  return ['tally', ...words.filter((word) => word.length > 1)].sort((one, other) => other.length - one.length)
}

/** Whether it contains little except these words, digits and symbols. */
function isMadeOf(password: string, words: readonly string[]): boolean {
  const rest = words.reduce((text, word) => text.replaceAll(word, ''), password)
  return rest !== password && rest.replaceAll(/[^\p{L}]/gu, '').length < OWN_MIN
}

/** `secretsecret` is `secret`. */
function repeated(password: string): string {
  return /^(.{4,}?)\1+$/su.exec(password)?.[1] ?? password
}

/** `sunshine2026!` is `sunshine`; longer additions stay. */
function withoutAddition(password: string): string {
  const core = password.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  return password.length - core.length <= ADDITION_LIMIT + 1 ? core : password
}
