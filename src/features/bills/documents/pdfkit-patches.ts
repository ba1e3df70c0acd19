/**
 * Everything here reads or replaces private members of pdfkit and fontkit, which any version may change. A test checks
 * the versions that this was written for, and that each patch is still needed.
 */
import type { FontName } from './fonts.ts'

/** Members of pdfkit that its types omit. */
interface Internals {
  openImage(bytes: Buffer): Image
  _font: OpenedFont
  _addInfo(): void
}

export interface Image {
  width: number
  height: number
}

interface OpenedFont {
  font: {
    hasGlyphForCodePoint(codePoint: number): boolean
    _layoutEngine: { engine?: { GPOSProcessor?: { getAnchor(anchor: unknown): { x: number; y: number } } } }
  }
  layoutCached(word: string): Layout
}

interface Layout {
  glyphs: unknown[]
  positions: { xAdvance: number }[]
  advanceWidth: number
}

function internalsOf(doc: PDFKit.PDFDocument): Internals {
  return doc as unknown as Internals
}

/**
 * pdfkit also writes title and author into the XML metadata, without escaping `&` and `<`, so that the XML is invalid.
 * The document's information dictionary contains the same, so the XML stays without them.
 */
export function omitXmlInfo(doc: PDFKit.PDFDocument): void {
  internalsOf(doc)._addInfo = () => {}
}

/** Registers a font with the two patches that each font needs. */
export function registerFont(doc: PDFKit.PDFDocument, name: FontName, bytes: Buffer): void {
  doc.registerFont(name, bytes as never)
  doc.font(name)
  const { _font: font } = internalsOf(doc)
  allowMissingAnchors(font)
  layOutByPairs(font)
}

/** Whether a font has a letter for a character; pdfkit has no public way to ask. */
export function hasLetter(doc: PDFKit.PDFDocument, font: FontName, character: string): boolean {
  doc.font(font)
  return internalsOf(doc)._font.font.hasGlyphForCodePoint(character.codePointAt(0)!)
}

/** Opens an image to read its size before it is drawn. The method is public, but its types omit it. */
export function openImage(doc: PDFKit.PDFDocument, bytes: Uint8Array): Image {
  return internalsOf(doc).openImage(Buffer.from(bytes))
}

/**
 * A letter may have no anchor for a mark, as Arabic ones have; fontkit throws then. The mark is put where the letter
 * begins, which is better than a bill that cannot be printed.
 */
function allowMissingAnchors({ font }: OpenedFont): void {
  const processor = font._layoutEngine.engine?.GPOSProcessor
  if (!processor) return
  const original = processor.getAnchor.bind(processor)
  processor.getAnchor = (anchor) => (anchor ? original(anchor) : { x: 0, y: 0 })
}

const ASCII = /^[\x20-\x7e]{3,}$/

/**
 * Laying out a word costs fontkit 50 µs, and each amount of a long bill is a word of its own. In plain Latin a letter's
 * place depends on its neighbor alone, so pairs, of which there are few, make up every word. A pair that becomes one
 * letter, a ligature, leaves its word to fontkit.
 */
function layOutByPairs(font: OpenedFont): void {
  const original = font.layoutCached.bind(font)
  const pairs = new Map<string, Layout>()
  const layOutPair = (text: string) => {
    let layout = pairs.get(text)
    if (!layout) {
      layout = original(text)
      pairs.set(text, layout)
    }
    return layout
  }
  font.layoutCached = (word) => {
    if (!ASCII.test(word)) return original(word)
    const layout: Layout = { glyphs: [], positions: [], advanceWidth: 0 }
    for (let index = 0; index < word.length; index += 1) {
      const pair = layOutPair(word.slice(index, index + 2))
      if (pair.glyphs.length !== Math.min(2, word.length - index)) return original(word)
      layout.glyphs.push(pair.glyphs[0])
      layout.positions.push(pair.positions[0]!)
      layout.advanceWidth += pair.positions[0]!.xAdvance
    }
    return layout
  }
}
