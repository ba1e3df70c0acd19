/** What is replaced in texts when a person is erased: their addresses and names, by a pseudonym. */
import { domainToASCII, domainToUnicode } from 'node:url'
import type { ErasedWords } from '../../../database/schema/records.ts'
import type { Id } from '../../../lib/id.ts'
import { foldCharacters, foldSpelling, INVISIBLE, originalRange } from './folding.ts'

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
  return !/[ ._@-]/.test(foldSpelling(name))
}

export function isAddress(word: string): boolean {
  return word.includes('@')
}

const LETTER = String.raw`\p{L}\p{N}\p{M}`

/** In text that was quoted in a string. */
const LINE_BREAK = String.raw`\\[nrtbf]`

/** Not within a longer word. */
const wholeWord = (pattern: string) => `(?:(?<![${LETTER}])|(?<=${LINE_BREAK}))(?:${pattern})(?![${LETTER}])`

/** Not within a longer address: `grace.ada@example.com` and `ada@example.com.au` are those of others. */
const wholeAddress = (pattern: string) =>
  String.raw`(?:(?<![${LETTER}._%+\-])|(?<=${LINE_BREAK}))(?:${pattern})(?![${LETTER}]|\.[${LETTER}])`

/** Between two words: white space, or the plus sign that stands for it in the query of a URL. */
const SPACE = `(?:[ ${INVISIBLE}+]|${LINE_BREAK})+`
/** `ada+tally@example.com` reaches `ada@example.com`. */
const TAG = String.raw`(?:\+[${LETTER}._%+=\-${INVISIBLE}]{0,64})?`

/** Matches all spellings of a word in a text of folded characters. */
function spellingsOf(word: string): string {
  const parts = foldSpelling(word).split(' ')
  return parts.map((part) => [...part].map(spellingOfCharacter).join(`${INVISIBLE}*`)).join(SPACE)
}

function spellingOfCharacter(character: string): string {
  return character === 'i' ? 'i\u0307?' : RegExp.escape(character)
}

function spellingsOfAddress(address: string): string {
  const local = localPartOf(address)
  // An address with a tag of its own is one of several that share a mailbox.
  const tag = local.includes('+') ? '' : TAG
  return `${spellingsOf(local)}${INVISIBLE}*${tag}@${INVISIBLE}*(?:${domainsOf(address).map(spellingsOf).join('|')})`
}

export function localPartOf(address: string): string {
  const folded = foldSpelling(address)
  return folded.slice(0, folded.lastIndexOf('@'))
}

/** The domain of an address in Unicode and in the letters of the DNS. */
function domainsOf(address: string): string[] {
  const domain = foldSpelling(address).slice(localPartOf(address).length + 1)
  return [...new Set([domain, domainToASCII(domain), foldSpelling(domainToUnicode(domain))])].filter(
    (name) => name !== '',
  )
}

/** The longest first, because the first alternative that matches is taken. */
const longestFirst = (words: readonly string[]) => [...new Set(words)].sort((a, b) => b.length - a.length)

function patternOf({ others, emails, names }: Record<'others' | 'emails' | 'names', readonly string[]>): RegExp {
  const kept = longestFirst(others).map((word) =>
    isAddress(word) ? wholeAddress(spellingsOf(word)) : wholeWord(spellingsOf(word)),
  )
  const alternatives = [
    // What another person is called, if it contains one of the words, stays as it is.
    kept.length > 0 && kept.join('|'),
    emails.length > 0 && `(?<email>${wholeAddress(longestFirst(emails).map(spellingsOfAddress).join('|'))})`,
    names.length > 0 && `(?<name>${wholeWord(longestFirst(names).map(spellingsOf).join('|'))})`,
  ]
  return new RegExp(alternatives.filter((alternative) => alternative !== false).join('|') || '(?!)', 'gu')
}

export interface Replacing {
  /** The text with the pseudonym in place of the words. `nth` makes it differ from others with the same result. */
  inText(text: string, nth?: number): string
  /** The same in the strings and names of a JSON document, whose numbers stay as they are written. */
  inJson(json: string, nth?: number): string
  /** Parts that each text of plain characters with one of the words contains, in this order. */
  hints: string[][]
}

export function replacing(
  { emails, names, accountNames, others = [], pseudonym }: ErasedWords,
  { ofAccount }: { ofAccount: boolean },
): Replacing {
  const allNames = ofAccount ? [...names, ...accountNames] : names
  const pattern = patternOf({ others, emails, names: allNames })

  const inText = (text: string, nth = 1) => {
    const found = [...foldCharacters(text).matchAll(pattern)].filter(({ groups }) => groups?.email ?? groups?.name)
    if (found.length === 0) return text
    const rangeOf = originalRange(text)
    let replaced = ''
    let at = 0
    for (const { 0: word, index, groups } of found) {
      const [from, to] = rangeOf(index, index + word.length)
      replaced += text.slice(at, from) + pseudonymFor(groups?.email === undefined ? 'name' : 'email', nth)
      at = to
    }
    return replaced + text.slice(at)
  }

  const pseudonymFor = (kind: 'name' | 'email', nth: number) => {
    if (nth === 1) return pseudonym[kind]
    return kind === 'name' ? `${pseudonym.name} (${nth})` : pseudonym.email.replace('@', `-${nth}@`)
  }

  const inJson = (json: string, nth = 1) => {
    const keys = new Map<string, string>()
    return json.replace(JSON_STRING, (_, string: string, colon: string = '') => {
      const text: string = JSON.parse(string)
      let replaced = inText(text, nth)
      if (colon !== '') {
        // Two names that become the same stay two.
        for (let next = nth + 1; (keys.get(replaced) ?? text) !== text; next += 1) replaced = inText(text, next)
        keys.set(replaced, text)
      }
      return `${replaced === text ? string : JSON.stringify(replaced)}${colon}`
    })
  }

  return { inText, inJson, hints: [...emails, ...allNames].flatMap(hintsOf) }
}

const JSON_STRING = /("(?:[^"\\]|\\.)*")(\s*:)?/g

/** What plain text must contain, in this order; nothing for a word that no such text contains. */
function hintsOf(word: string): string[][] {
  const spellings = isAddress(word)
    ? domainsOf(word).map((domain) => `${localPartOf(word)}@${domain}`)
    : [foldSpelling(word)]
  return spellings.filter((text) => /^[ -~]*$/.test(text)).map((text) => text.match(/[a-z0-9]+/g) ?? [])
}
