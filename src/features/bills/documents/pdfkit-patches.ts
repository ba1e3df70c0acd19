/**
 * Everything here reads or replaces private members of pdfkit and fontkit, which any version may change. A test checks
 * the versions that this was written for, and that each patch is still needed.
 */
import type { FontName } from './fonts.ts'

/** Members of pdfkit that its types omit. */
interface Internals {
  openImage(bytes: Buffer): Image
  _font: OpenedFont
  info: Record<string, unknown>
  _addInfo(): void
  ref(data: Record<string, unknown>): Reference
  _write(line: unknown): void
  _finalize(): void
  _ended: boolean
  push(end: null): void
  /** Where the next object begins, and where those before it do. */
  _offset: number
  _offsets: number[]
  _root: Reference
  _info: Reference
  _id: unknown
}

/** An object of a file. */
interface Reference {
  id: number
  data: Record<string, unknown>
  write(bytes: Uint8Array): void
  end(): void
  finalize(): void
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

/** What XML 1.0 cannot contain, not even escaped. */
const NOT_IN_XML = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** That a document conforms to PDF/UA-1. pdfkit's own option for it also adds sets of characters, which are incomplete. */
const CONFORMANCE = `
        <rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">
            <pdfuaid:part>1</pdfuaid:part>
        </rdf:Description>`

/**
 * pdfkit writes title and author into the XML metadata without escaping `&` and `<`, so that the XML is invalid. PDF/UA
 * requires the title there.
 */
export function describeInXml(doc: PDFKit.PDFDocument): void {
  const internals = internalsOf(doc)
  const original = internals._addInfo.bind(internals)
  internals._addInfo = () => {
    const { info } = internals
    internals.info = Object.fromEntries(
      Object.entries(info).map(([name, value]) => [name, typeof value === 'string' ? escapedXml(value) : value]),
    )
    original()
    doc.appendXML(CONFORMANCE)
    internals.info = info
  }
}

const escapedXml = (text: string) => text.replace(NOT_IN_XML, '').replace(/[&<>]/g, (character) => ESCAPES[character]!)

/** What its types omit of an element of the structure. */
export interface ElementOptions {
  /** Of a heading cell. */
  scope?: 'Row' | 'Column'
  /** How many columns a cell spans. */
  columns?: number
  /** Of a figure, with where it is: left, top, right and bottom. */
  alt?: string
  bbox?: [number, number, number, number]
}

/** Of so many elements, a reader has to decompress to get one. */
const PACK = 200

/** Bytes of an entry of the table of objects: its kind, where it is, and which of a pack it is. */
const ENTRY = [1, 4, 2]
const ENTRY_BYTES = 7

/**
 * The elements of the structure. They are many and small, a hundred bytes for each cell of a bill of thousands of lines, so they are
 * compressed together (ISO 32000-1, 7.5.7), which pdfkit cannot do.
 */
export class Structure {
  readonly #internals: Internals
  readonly #packed: { id: number; text: string }[] = []

  constructor(readonly doc: PDFKit.PDFDocument) {
    this.#internals = internalsOf(doc)
    this.#internals._finalize = () => this.#finish()
    // Names all elements, by page.
    this.#pack(doc.getStructTreeRoot() as unknown as Reference)
  }

  /** A new element; pdfkit has no option for the columns that a cell spans. */
  element(type: string, { columns = 1, ...options }: ElementOptions = {}): PDFKit.PDFStructureElement {
    const element = this.doc.struct(type, options as PDFKit.Mixins.StructureElementOptions)
    const { dictionary } = element as unknown as { dictionary: Reference }
    if (columns > 1) dictionary.data.A = { ...(dictionary.data.A as object), O: 'Table', ColSpan: columns }
    this.#pack(dictionary)
    return element
  }

  /** Keeps an object until the end instead of writing it. */
  #pack(reference: Reference): void {
    const finalize = reference.finalize.bind(reference)
    reference.finalize = () => {
      const [, text] = this.#written(finalize)
      this.#packed.push({ id: reference.id, text: text! })
    }
  }

  /** What would be written to the file, each line: for an object, its number, itself, and that it ends. */
  #written(write: () => void): string[] {
    const internals = this.#internals
    const lines: string[] = []
    const original = internals._write
    internals._write = (line) => lines.push(line as string)
    write()
    internals._write = original
    return lines
  }

  /** Writes the packed elements and the table of all objects, as a stream, for a table in plain text cannot name them. */
  #finish(): void {
    const internals = this.#internals
    // Otherwise, each further object would finish the file again, if pdfkit had to wait for an image.
    internals._ended = false
    const places = new Map<number, { pack: number; index: number }>()
    for (let first = 0; first < this.#packed.length; first += PACK) {
      const elements = this.#packed.slice(first, first + PACK)
      let length = 0
      const numbers = elements.map(({ id, text }) => {
        length += text.length + 1
        return `${id} ${length - text.length - 1}`
      })
      const head = `${numbers.join(' ')}\n`
      const pack = this.#stream(
        { Type: 'ObjStm', N: elements.length, First: head.length },
        Buffer.from(`${head}${elements.map(({ text }) => text).join('\n')}\n`, 'latin1'),
      )
      for (const [index, { id }] of elements.entries()) places.set(id, { pack, index })
    }
    const begin = internals._offset
    const { _offsets: offsets } = internals
    // Its own is the last entry, and the first one is of no object.
    const table = Buffer.alloc((offsets.length + 2) * ENTRY_BYTES)
    for (const [at, offset] of [...offsets, begin].entries()) {
      const place = places.get(at + 1)
      const entry = (at + 1) * ENTRY_BYTES
      table.writeUInt8(place ? 2 : 1, entry)
      table.writeUInt32BE(place ? place.pack : offset, entry + 1)
      table.writeUInt16BE(place ? place.index : 0, entry + 5)
    }
    const { _root: Root, _info: Info, _id: id } = internals
    this.#stream({ Type: 'XRef', Size: offsets.length + 2, W: ENTRY, Root, Info, ID: [id, id] }, table)
    internals._write(`startxref\n${begin}\n%%EOF`)
    internals.push(null)
  }

  /** Writes a stream, and returns the number of its object. */
  #stream(data: Record<string, unknown>, bytes: Buffer): number {
    const reference = this.#internals.ref(data)
    reference.write(bytes)
    reference.end()
    return reference.id
  }
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
