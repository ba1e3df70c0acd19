/** Paper: pages of A4 on which text of any script is drawn from the top down, and numbered when all is written. */
import PDFDocument from 'pdfkit'
import { type FontName, fontOf, loadFonts } from './fonts.ts'
import { hasLetter, omitXmlInfo, openImage, registerFont } from './pdfkit-patches.ts'
import { cleanText, isRightToLeft, linesOf, runsOf } from './text.ts'

/** In points, as everything here. */
const [PAGE_WIDTH, PAGE_HEIGHT] = [595.28, 841.89]
/** About 18 mm, which every printer can print and two punched holes leave. */
const MARGIN = 52
/** The line of the page's number stands below it. */
const BOTTOM = PAGE_HEIGHT - 66

export const LEFT = MARGIN
export const RIGHT = PAGE_WIDTH - MARGIN

/** One accent; the rest is ink in three strengths. */
export const COLORS = { accent: '#1d5f8a', ink: '#1f2933', quiet: '#627282', hairline: '#e4e9ee' }

export interface TextStyle {
  size: number
  bold?: boolean
  color?: string
}

export interface PaperOptions {
  title: string
  author: string
  /** Its date, so that the same document is the same to the byte whenever it is made. */
  createdAt: Date
  /** Everything that will be drawn, from which follows which fonts are needed. */
  everything: string
}

export class Paper {
  /** Where the next line goes. */
  y = MARGIN
  readonly #doc: PDFKit.PDFDocument
  readonly #chunks: Uint8Array[] = []
  readonly #ended: Promise<void>
  /** Which characters there is a letter for. */
  readonly #drawn = new Map<string, boolean>()

  static async open(options: PaperOptions): Promise<Paper> {
    return new Paper(options, await loadFonts(options.everything))
  }

  private constructor({ title, author, createdAt }: PaperOptions, fonts: Map<FontName, Buffer>) {
    this.#doc = new PDFDocument({
      size: 'A4',
      margin: 0,
      pdfVersion: '1.7',
      lang: 'en',
      displayTitle: true,
      // Its default is a font of its own, which is read from a file beside the program.
      font: null as never,
      // Pages are numbered with how many there are, which is known at the end.
      bufferPages: true,
      info: { Title: title, Author: author, Creator: 'Tally', Producer: 'Tally', CreationDate: createdAt },
    })
    omitXmlInfo(this.#doc)
    for (const [name, bytes] of fonts) registerFont(this.#doc, name, bytes)
    this.#doc.on('data', (chunk: Uint8Array) => this.#chunks.push(chunk))
    this.#ended = new Promise((resolve) => this.#doc.on('end', resolve))
  }

  widthOf(text: string, style: TextStyle): number {
    let width = 0
    for (const { font, text: part } of runsOf(text, style.bold ?? false, false)) {
      this.#doc.font(font, style.size)
      width += this.#doc.widthOfString(part, shaping(font))
    }
    return width
  }

  /** Lines that a text takes in so much width, paragraph by paragraph. */
  linesOf(text: string, width: number, style: TextStyle): Line[] {
    return text.split('\n').flatMap((paragraph) => {
      const { text: clean, rightToLeft } = this.#paragraphOf(paragraph)
      const lines = linesOf(clean, width, (part) => this.widthOf(part, style))
      return lines.map((line) => ({ text: line, rightToLeft }))
    })
  }

  #paragraphOf(text: string): Line {
    const clean = cleanText(text, (character) => this.#isDrawn(character))
    return { text: clean, rightToLeft: isRightToLeft(clean) }
  }

  #isDrawn(character: string): boolean {
    let isDrawn = this.#drawn.get(character)
    if (isDrawn === undefined) {
      isDrawn = hasLetter(this.#doc, fontOf(character) ?? 'regular', character)
      this.#drawn.set(character, isDrawn)
    }
    return isDrawn
  }

  /** One line with its baseline at `y`, which begins at `x`, or ends there where it is `align: 'right'`. */
  line(line: Line | string, x: number, y: number, style: TextStyle & { align?: 'left' | 'right' }): void {
    const { text, rightToLeft } = typeof line === 'string' ? this.#paragraphOf(line) : line
    let from = style.align === 'right' ? x - this.widthOf(text, style) : x
    this.#doc.fillColor(style.color ?? COLORS.ink)
    for (const { font, text: part } of runsOf(text, style.bold ?? false, rightToLeft)) {
      this.#doc.font(font, style.size)
      const options = shaping(font)
      this.#doc.text(part, from, y, { ...options, lineBreak: false, baseline: 'alphabetic' })
      from += this.#doc.widthOfString(part, options)
    }
  }

  /** Lines of a text below each other, over pages where they must be. */
  paragraph(text: string, { width = RIGHT - LEFT, x = LEFT, ...style }: TextStyle & { width?: number; x?: number }) {
    const height = style.size * LEADING
    for (const line of this.linesOf(text, width, style)) {
      this.keep(height)
      this.line(line, x, this.y + style.size, style)
      this.y += height
    }
  }

  rule(y: number, { color = COLORS.hairline, thickness = 0.6, from = LEFT } = {}): void {
    this.#doc.moveTo(from, y).lineTo(RIGHT, y).lineWidth(thickness).strokeColor(color).stroke()
  }

  /** A picture within a box; answers its height. One that cannot be read is left out: it must not hold up a bill. */
  picture(bytes: Uint8Array, { width, height }: { width: number; height: number }): number {
    try {
      const image = openImage(this.#doc, bytes)
      const scale = Math.min(width / image.width, height / image.height)
      this.#doc.image(image as never, LEFT, this.y, { width: image.width * scale, height: image.height * scale })
      return image.height * scale
    } catch {
      return 0
    }
  }

  /** Goes to a new page where so much height is not left on this one. Answers whether it did. */
  keep(height: number): boolean {
    if (this.y + height <= BOTTOM) return false
    this.#doc.addPage()
    this.y = MARGIN
    return true
  }

  /** Numbers the pages, says on each what it belongs to, and answers the file. */
  async close(belongsTo: string): Promise<Uint8Array> {
    const { count } = this.#doc.bufferedPageRange()
    const style = { size: 8, color: COLORS.quiet }
    const [belonging] = this.linesOf(belongsTo, RIGHT - LEFT - 60, style)
    for (let page = 0; page < count; page += 1) {
      this.#doc.switchToPage(page)
      this.line(belonging!, LEFT, PAGE_HEIGHT - 40, style)
      this.line(`${page + 1} / ${count}`, RIGHT, PAGE_HEIGHT - 40, { ...style, align: 'right' })
    }
    this.#doc.end()
    await this.#ended
    return Buffer.concat(this.#chunks)
  }
}

export interface Line {
  text: string
  rightToLeft: boolean
}

/** Of a font's size, from line to line. */
export const LEADING = 1.38

/**
 * pdfkit keeps the layout of words, which is fast and enough for Latin; where letters shape each other or run from right
 * to left, the whole run must be laid out at once, which it does when it is told of features.
 */
function shaping(font: FontName): { features?: PDFKit.Mixins.OpenTypeFeatures[] } {
  return font === 'regular' || font === 'bold' || font === 'han' || font === 'hangul' ? {} : { features: [] }
}
