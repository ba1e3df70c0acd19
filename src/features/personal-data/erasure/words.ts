/** What is replaced in texts when a person is erased: their addresses and names, by a pseudonym. */
import type { ErasedWords } from '../../../database/schema/records.ts'
import type { Id } from '../../../lib/id.ts'

/** Digits of the person's id in the pseudonym: enough to tell people apart in a list. */
const PSEUDONYM_DIGITS = 6

/** The pseudonym of a person. `.invalid` is a domain to which nobody can send mail (RFC 2606). */
export function pseudonymOf(uid: Id<'usr'>): ErasedWords['pseudonym'] {
  const digits = uid.slice(uid.indexOf('_') + 1)
  return { name: `Erased person ${digits.slice(-PSEUDONYM_DIGITS)}`, email: `${digits}@erased.invalid` }
}

/**
 * A single word, such as a first name, means many people and things: it is replaced only in the audit log of the
 * account.
 */
export function isSingleWord(name: string): boolean {
  return !/[\s._@-]/.test(name)
}

/** A letter or digit. */
const SIGN = String.raw`[\p{L}\p{N}]`

function patternOf(words: readonly string[], [before, after]: [string, string]): RegExp | undefined {
  if (words.length === 0) return undefined
  // The longest first, because the first alternative that matches is taken.
  const alternatives = [...words].sort((a, b) => b.length - a.length).map((word) => RegExp.escape(word))
  return new RegExp(`(?<!${before})(?:${alternatives.join('|')})(?!${after})`, 'giu')
}

export interface Replacing {
  /** The text with the pseudonym in place of the words. `nth` makes it differ from others with the same result. */
  inText(text: string, nth?: number): string
  /** The same in the strings and names of a JSON document, whose numbers stay as they are written. */
  inJson(json: string, nth?: number): string
  /** Lower-case texts, of which each text with one of the words contains one, as a JSON string or as it is. */
  hints: string[]
}

export function replacing(
  { emails, names, accountNames, pseudonym }: ErasedWords,
  { ofAccount }: { ofAccount: boolean },
): Replacing {
  const allNames = ofAccount ? [...names, ...accountNames] : names
  // `grace.ada@example.com` and `ada@example.com.au` are addresses of others.
  const ofEmails = patternOf(emails, [String.raw`[\p{L}\p{N}._%+-]`, String.raw`[\p{L}\p{N}]|\.[\p{L}\p{N}]`])
  const ofNames = patternOf(allNames, [SIGN, SIGN])
  const inText = (text: string, nth = 1) => {
    const [name, email] =
      nth === 1
        ? [pseudonym.name, pseudonym.email]
        : [`${pseudonym.name} (${nth})`, pseudonym.email.replace('@', `-${nth}@`)]
    const withoutEmails = ofEmails ? text.replace(ofEmails, email) : text
    return ofNames ? withoutEmails.replace(ofNames, name) : withoutEmails
  }
  return {
    inText,
    inJson: (json, nth) =>
      json.replace(JSON_STRING, (string) => {
        const text: string = JSON.parse(string)
        const replaced = inText(text, nth)
        return replaced === text ? string : JSON.stringify(replaced)
      }),
    hints: hintsOf([...emails, ...allNames]),
  }
}

const JSON_STRING = /"(?:[^"\\]|\\.)*"/g

/** The databases lower only ASCII letters, so each word is searched in three spellings. */
function hintsOf(words: readonly string[]): string[] {
  const spelled = words.flatMap((word) => [word, word.toLowerCase(), word.toUpperCase()])
  const escaped = spelled.flatMap((word) => [word, JSON.stringify(word).slice(1, -1)])
  return [...new Set(escaped.map(lowerAscii))]
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
