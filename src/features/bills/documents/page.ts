/**
 * Pages of A4 on which text of any script is drawn from top to bottom; page numbers are added at the end. Everything is in
 * the structure that PDF/UA requires for screen readers, or marked as an artifact, which they leave out.
 */
import PDFDocument from 'pdfkit'
import { type FontName, fontOf, loadFonts } from './fonts.ts'
import { describeInXml, type ElementOptions, hasLetter, openImage, registerFont, Structure } from './pdfkit-patches.ts'
import { cleanText, isRightToLeft, linesOf, runsOf } from './text.ts'

/** In points, like everything here. */
const [PAGE_WIDTH, PAGE_HEIGHT] = [595.28, 841.89]
/** About 18 mm, which every printer can print and which leaves room for two punched holes. */
const MARGIN = 52
/** The page number is below this line. */
const BOTTOM = PAGE_HEIGHT - 66

export const LEFT = MARGIN
export const RIGHT = PAGE_WIDTH - MARGIN

/** One accent color, and three strengths of ink. */
export const COLORS = { accent: '#1d5f8a', ink: '#1f2933', quiet: '#627282', hairline: '#e4e9ee' }

export interface TextStyle {
  size: number
  bold?: boolean
  color?: string
}

/** Types of elements of the structure (ISO 32000-1, 14.8.4). */
export type ElementType =
  | 'H1'
  | 'P'
  | 'L'
  | 'LI'
  | 'Lbl'
  | 'LBody'
  | 'Table'
  | 'THead'
  | 'TBody'
  | 'TFoot'
  | 'TR'
  | 'TH'
  | 'TD'
  | 'Figure'

export interface PaperOptions {
  title: string
  author: string
  /** Its date, so that the same document is always the same to the byte. */
  createdAt: Date
  /** All texts that will be drawn, to determine the necessary fonts. */
  everything: string
}

export class Paper {
  /** The position of the next line. */
  y = MARGIN
  readonly #doc: PDFKit.PDFDocument
  readonly #structure: Structure
  readonly #chunks: Uint8Array[] = []
  readonly #ended: Promise<void>
  /** The innermost element of the structure that is open; undefined while artifacts are drawn. */
  #element: PDFKit.PDFStructureElement | undefined
  /** Whether a font has a glyph for the character. */
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
      tagged: true,
      // Its default is a font of its own, which it reads from a file next to the program.
      font: null as never,
      // Page numbers include the total, which is known only at the end.
      bufferPages: true,
      info: { Title: title, Author: author, Creator: 'Tally', Producer: 'Tally', CreationDate: createdAt },
    })
    describeInXml(this.#doc)
    this.#structure = new Structure(this.#doc)
    this.#element = this.#structure.element('Document')
    this.#doc.addStructure(this.#element)
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

  /** Breaks a text into lines of this width, paragraph by paragraph. */
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

  /** Draws what belongs to an element of the structure. */
  within(type: ElementType, draw: () => void, options?: ElementOptions): void {
    const parent = this.#element
    if (!parent) {
      draw()
      return
    }
    const element = this.#structure.element(type, options)
    parent.add(element)
    this.#element = element
    draw()
    element.end()
    this.#element = parent
  }

  /** Draws what is not content, such as a heading that is repeated on each page. */
  artifact(draw: () => void): void {
    const element = this.#element
    this.#element = undefined
    draw()
    this.#element = element
  }

  /** Marks what is drawn as content of the element that is open, or as an artifact. */
  #mark(draw: () => void): void {
    if (this.#element) {
      this.#element.add(draw)
    } else {
      this.#doc.markContent('Artifact', { type: 'Pagination' })
      draw()
      this.#doc.endMarkedContent()
    }
  }

  /** One line with its baseline at `y`. It begins at `x`, or ends there with `align: 'right'`. */
  line(line: Line | string, x: number, y: number, style: TextStyle & { align?: 'left' | 'right' }): void {
    const { text, rightToLeft } = typeof line === 'string' ? this.#paragraphOf(line) : line
    if (text === '') return
    let from = style.align === 'right' ? x - this.widthOf(text, style) : x
    this.#mark(() => {
      this.#doc.fillColor(style.color ?? COLORS.ink)
      for (const { font, text: part } of runsOf(text, style.bold ?? false, rightToLeft)) {
        this.#doc.font(font, style.size)
        const options = shaping(font)
        this.#doc.text(part, from, y, { ...options, lineBreak: false, baseline: 'alphabetic' })
        from += this.#doc.widthOfString(part, options)
      }
    })
  }

  /** A text as lines below each other, across pages if necessary. */
  paragraph(
    text: string,
    {
      width = RIGHT - LEFT,
      x = LEFT,
      type = 'P',
      ...style
    }: TextStyle & { width?: number; x?: number; type?: ElementType },
  ): void {
    const height = style.size * LEADING
    this.within(type, () => {
      for (const line of this.linesOf(text, width, style)) {
        this.keep(height)
        this.line(line, x, this.y + style.size, style)
        this.y += height
      }
    })
  }

  rule(y: number, { color = COLORS.hairline, thickness = 0.6, from = LEFT } = {}): void {
    this.artifact(() =>
      this.#mark(() => {
        this.#doc.moveTo(from, y).lineTo(RIGHT, y).lineWidth(thickness).strokeColor(color).stroke()
      }),
    )
  }

  /**
   * Draws a picture within a box, and returns its height. An unreadable one is omitted: it must not block a bill.
   *
   * @param alt what it shows
   */
  picture(bytes: Uint8Array, { width, height, alt }: { width: number; height: number; alt: string }): number {
    let image: ReturnType<typeof openImage>
    try {
      image = openImage(this.#doc, bytes)
    } catch {
      return 0
    }
    const scale = Math.min(width / image.width, height / image.height)
    const size = { width: image.width * scale, height: image.height * scale }
    const bbox: ElementOptions['bbox'] = [LEFT, this.y, LEFT + size.width, this.y + size.height]
    const draw = () => this.#mark(() => this.#doc.image(image as never, LEFT, this.y, size))
    this.within('Figure', draw, { alt, bbox })
    return size.height
  }

  /** Starts a new page if this height does not fit. Returns whether it did. */
  keep(height: number): boolean {
    if (this.y + height <= BOTTOM) return false
    this.#doc.addPage()
    this.y = MARGIN
    return true
  }

  /** Adds page numbers and a footer to every page, and returns the file. */
  async close(belongsTo: string): Promise<Uint8Array> {
    const { count } = this.#doc.bufferedPageRange()
    const style = { size: 8, color: COLORS.quiet }
    const [belonging] = this.linesOf(belongsTo, RIGHT - LEFT - 60, style)
    this.#element!.end()
    this.artifact(() => {
      for (let page = 0; page < count; page += 1) {
        this.#doc.switchToPage(page)
        this.line(belonging!, LEFT, PAGE_HEIGHT - 40, style)
        this.line(`${page + 1} / ${count}`, RIGHT, PAGE_HEIGHT - 40, { ...style, align: 'right' })
      }
    })
    this.#doc.end()
    await this.#ended
    return Buffer.concat(this.#chunks)
  }
}

export interface Line {
  text: string
  rightToLeft: boolean
}

/** Line height relative to the font size. */
export const LEADING = 1.38

/**
 * pdfkit caches the layout of words, which is fast and sufficient for Latin. If letters shape each other or run from
 * right to left, the whole run must be laid out at once, which pdfkit does if `features` is set.
 */
function shaping(font: FontName): { features?: PDFKit.Mixins.OpenTypeFeatures[] } {
  return font === 'regular' || font === 'bold' || font === 'han' || font === 'hangul' ? {} : { features: [] }
}
