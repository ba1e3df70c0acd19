/**
 * All spellings of a name or an address fold to the same text: letter case, composed and decomposed letters, full-width
 * and other compatible ones, typographic quotes and dashes, any white space, characters that nobody sees, percent-encoding
 * and escapes with a backslash. Names that differ in a letter or an accent do not.
 */

/** An invisible character, such as a zero-width joiner. It may be within a word, or between two of them. */
export const INVISIBLE = '\u200b'

const HEX = '[0-9a-f]'
/** `%2540` is a `%40` that was encoded again. */
const PERCENT = '%(?:25)*'
const CONTINUED = `${PERCENT}[89ab]${HEX}`
const UTF8 = [
  `${PERCENT}[0-7]${HEX}`,
  `${PERCENT}[cd]${HEX}${CONTINUED}`,
  `${PERCENT}e${HEX}(?:${CONTINUED}){2}`,
  `${PERCENT}f[0-7](?:${CONTINUED}){3}`,
]
const UTF16 = [String.raw`\\+ud[89ab]${HEX}{2}\\+ud[c-f]${HEX}{2}`, String.raw`\\+u${HEX}{4}`]
/** In JSON, Markdown and shells, however often. */
const ESCAPED = String.raw`\\+[!-\/:-@[\]-${'`'}{-~]`
const ENCODED = [...UTF8, ...UTF16, ESCAPED].join('|')
const ENCODINGS = new RegExp(ENCODED, 'gi')
const CHARACTERS = new RegExp(`${ENCODED}|.`, 'gisu')

/** Folds to itself but for the case of its letters. */
const PLAIN = /^[ -$&-[\]-_a-~]*$/

function decode(encoded: string): string {
  if (/^\\+u/i.test(encoded)) return JSON.parse(`"${encoded.replace(/\\+u/gi, '\\u')}"`)
  if (encoded.startsWith('\\')) return encoded.at(-1)!
  try {
    return decodeURIComponent(encoded.replace(/%(?:25)*(?=[0-9a-f]{2})/gi, '%'))
  } catch {
    return encoded
  }
}

const QUOTES = /[‘’‛ʼ′`]/
const DOUBLE_QUOTES = /[“”„‟]/
const DASHES = /[\p{Pd}−]/u
const UNIFIED = /[[‘’‛ʼ′`“”„‟\p{Pd}−ς\s\p{Default_Ignorable_Code_Point}\p{Cf}]--[ \-]]/gv

function unified(character: string): string {
  if (/\s/.test(character)) return ' '
  if (QUOTES.test(character)) return "'"
  if (DOUBLE_QUOTES.test(character)) return '"'
  if (DASHES.test(character)) return '-'
  return character === 'ς' ? 'σ' : INVISIBLE
}

/** Folds each character of a text by itself, so that the folded text can be mapped to the original. */
export function foldCharacters(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  return (
    text
      .replace(ENCODINGS, decode)
      // Which would be decomposed to a space with an accent.
      .replaceAll('´', "'")
      .normalize('NFKD')
      .toUpperCase()
      .toLowerCase()
      .replace(UNIFIED, unified)
  )
}

/** What all spellings of a name or an address have in common. */
export function foldSpelling(text: string): string {
  return (
    foldCharacters(text)
      .replaceAll(INVISIBLE, '')
      // The dot of a Turkish capital I.
      .replaceAll('i\u0307', 'i')
      .replace(/ +/g, ' ')
      .trim()
  )
}

/** Where a part of a folded text is in the original. */
export function originalRange(text: string): (start: number, end: number) => [from: number, to: number] {
  if (PLAIN.test(text)) return (start, end) => [start, end]
  const from: number[] = []
  const to: number[] = []
  for (const { 0: character, index } of text.matchAll(CHARACTERS)) {
    for (let unit = foldCharacters(character).length; unit > 0; unit -= 1) {
      from.push(index)
      to.push(index + character.length)
    }
  }
  return (start, end) => [from[start]!, to[end - 1]!]
}
