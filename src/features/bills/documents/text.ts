/**
 * Text layout for any script: the font of each part, the order of parts (the Unicode bidirectional algorithm), and line
 * breaks. pdfkit itself supports only one font at a time, and only left to right.
 */
import createBidi from 'bidi-js'
import { type FontName, fontOf } from './fonts.ts'

const bidi = createBidi()

/** A part of a line in one font and one direction, ready to be drawn. */
export interface Run {
  font: FontName
  text: string
}

/** Not displayed by any font, but able to reverse the text that follows. */
const INVISIBLE = /[\u00ad\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

/**
 * Text to draw: control characters and unusual spaces become spaces, and characters without a font, such as emoji,
 * become the replacement character, so that no one overlooks them.
 */
export function cleanText(text: string, isDrawn: (character: string) => boolean): string {
  if (ASCII.test(text)) return text
  const clean = text.normalize('NFC').replace(INVISIBLE, '').replace(SPACES, ' ')
  let shown = ''
  for (const { segment } of CHARACTERS.segment(clean)) {
    const [first] = segment
    shown += ASCII.test(segment) || isDrawn(first!) ? segment : '\ufffd'
  }
  return shown
}

const ASCII = /^[\x20-\x7e]*$/

/** User-perceived characters: a letter with its accents, an emoji of several code points. */
const CHARACTERS = new Intl.Segmenter('en')

const SPACES = /[\p{Cc}\u2028\u2029\u2000-\u200a\u202f\u205f]+/gu

/** Text in one font and from left to right: most texts, which need no further checks. */
const PLAIN = /^[\x20-\x7e\u00a0-\u00ac\u00ae-\u052f\u2010-\u2027]*$/

/** Whether a paragraph is right-to-left: its first letter decides. */
export function isRightToLeft(text: string): boolean {
  return !PLAIN.test(text) && bidi.getEmbeddingLevels(text).paragraphs[0]?.level === 1
}

/** The parts of one line from left to right. `rightToLeft` is that of its whole paragraph. */
export function runsOf(text: string, bold: boolean, rightToLeft: boolean): Run[] {
  const latin = bold ? 'bold' : 'regular'
  if (PLAIN.test(text) && !rightToLeft) return [{ font: latin, text }]
  const { levels } = bidi.getEmbeddingLevels(text, rightToLeft ? 'rtl' : 'ltr')
  const parts: { font: FontName; text: string; level: number }[] = []
  let index = 0
  for (const character of text) {
    const level = levels[index]!
    const last = parts.at(-1)
    const own = fontOf(character)
    const font = own === undefined ? (last?.font ?? latin) : own === 'regular' ? latin : own
    if (last && last.font === font && last.level === level) last.text += character
    else parts.push({ font, text: character, level })
    index += character.length
  }
  return inOrder(parts).map(({ font, text: part, level }) => ({
    font,
    // Fonts of right-to-left scripts reverse their letters themselves.
    text: level % 2 === 1 && font !== 'arabic' && font !== 'hebrew' ? mirrored(part) : part,
  }))
}

/** Rule L2 of the algorithm: from the highest level down, reverses every sequence at that level or higher. */
function inOrder<Part extends { level: number }>(parts: Part[]): Part[] {
  const ordered = [...parts]
  const highest = Math.max(0, ...parts.map(({ level }) => level))
  for (let level = highest; level >= 1; level -= 1) {
    for (let start = 0; start < ordered.length; start += 1) {
      if (ordered[start]!.level < level) continue
      let end = start
      while (end + 1 < ordered.length && ordered[end + 1]!.level >= level) end += 1
      ordered.splice(start, end - start + 1, ...ordered.slice(start, end + 1).reverse())
      start = end
    }
  }
  return ordered
}

function mirrored(text: string): string {
  return [...text]
    .reverse()
    .map((character) => bidi.getMirroredCharacter(character) ?? character)
    .join('')
}

/** Possible line breaks: after spaces and hyphens, and around characters of scripts without spaces. */
const BREAKS =
  /(?<=[\s\-/_.,:;])(?=[^\s\-/_.,:;])|(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}、。，])(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])(?!\p{M})/u

/** Lines of a text, none wider than `width`; text without possible breaks is broken anywhere. */
export function linesOf(text: string, width: number, widthOf: (text: string) => number): string[] {
  if (widthOf(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const piece of text.split(BREAKS)) {
    if (line !== '' && widthOf((line + piece).trimEnd()) > width) {
      lines.push(line.trimEnd())
      line = ''
    }
    line += piece
    while (widthOf(line.trimEnd()) > width) {
      const kept = longestWithin(line, width, widthOf)
      lines.push(line.slice(0, kept))
      line = line.slice(kept)
    }
  }
  return line.trim() === '' ? lines : [...lines, line.trimEnd()]
}

/** How many characters of a text fit, at least one, without splitting any. */
function longestWithin(text: string, width: number, widthOf: (text: string) => number): number {
  const ends = [...CHARACTERS.segment(text)].map(({ index, segment }) => index + segment.length)
  let [low, high] = [0, ends.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (widthOf(text.slice(0, ends[middle])) <= width) low = middle
    else high = middle - 1
  }
  return ends[low]!
}
