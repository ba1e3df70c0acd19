/** The same name or address, spelled as people, agents and programs spell it. */
import fc from 'fast-check'

const SPACES = [' ', '  ', '\u00a0', ' \u2009', '\t', '\n', '%20', '+', '\u200d', ' \u200b', '\\n', '%C2%A0']
const AT = ['@', '%40', '%2540', '\uff20', '\\@', '@\u2060', '\\u0040']
const INVISIBLE = ['\u200d', '\u00ad', '\u200b', '\ufe0f', '\u2060']

const fullWidth = (letter: string) =>
  /^[!-~]$/.test(letter) ? String.fromCodePoint(letter.codePointAt(0)! + 0xfee0) : letter
const percentEncoded = (letter: string) =>
  [...Buffer.from(letter)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const escaped = (letter: string) =>
  Array.from(letter, (_, at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')

const LETTERS: ((letter: string) => string)[] = [
  (letter) => letter,
  (letter) => letter.toUpperCase(),
  (letter) => letter.toLowerCase(),
  (letter) => letter.normalize('NFD'),
  fullWidth,
  percentEncoded,
  escaped,
]
const INNER_LETTERS = [...LETTERS, ...INVISIBLE.map((invisible) => (letter: string) => invisible + letter)]

function spelled(character: string, isFirst: boolean): fc.Arbitrary<string> {
  if (character === ' ') return fc.constantFrom(...SPACES)
  if (character === '@') return fc.constantFrom(...AT)
  const otherwise = fc.constantFrom(...(isFirst ? LETTERS : INNER_LETTERS)).map((spell) => spell(character))
  return fc.oneof({ weight: 4, arbitrary: fc.constant(character) }, otherwise)
}

/** A spelling of a name or of an address, which may have a tag. */
export function spellingOf(word: string): fc.Arbitrary<string> {
  const characters = Array.from(word.normalize('NFC'))
  const tag = fc.constantFrom('', '', '+tally', '%2Btag', '+a.b-c')
  const parts = characters.flatMap((character, at) =>
    character === '@' ? [tag, spelled('@', false)] : [spelled(character, at === 0)],
  )
  return fc.tuple(...parts).map((texts) => texts.join(''))
}
