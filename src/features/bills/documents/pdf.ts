/** A bill as PDF. */
import { formatsOf } from '../../../shared/locales.ts'
import type { BillDocument } from '../schema.ts'
import { amountText, type Content, contentOf, type Group, minorOf, type PartyText, type Row } from './content.ts'
import type { Logo } from './logo.ts'
import { COLORS, LEADING, LEFT, type Line, Paper, RIGHT, type TextStyle } from './page.ts'

const NORMAL = 9
const SMALL = 8

/** The maximum size of the logo, so that an address fits next to the dates below it. */
const LOGO_BOX = { width: 170, height: 52 }
/** The left edge of the facts, in the right half of the header. */
const FACTS_LEFT = 330
/** Between a column's numbers and the previous column. */
const COLUMN_GAP = 18
const ROW_PADDING = 3.2

/** The date and reason of a void notice. */
export interface Voiding {
  on: string
  reason: string
}

export async function billPdf(document: BillDocument, logo: Logo | undefined): Promise<Uint8Array> {
  const content = contentOf(document)
  const paper = await open(document, { title: content.title, on: document.issued_on, drawn: content })
  head(paper, content, logo)
  if (content.note !== null) {
    paper.paragraph(content.note, { size: NORMAL })
    paper.y += 14
  }
  paper.within('Table', () => {
    new Table(paper, content).draw()
    paper.within('TFoot', () => sums(paper, content))
  })
  if (content.footer !== null) {
    paper.y += 22
    paper.keep(30)
    paper.rule(paper.y)
    paper.y += 8
    paper.paragraph(content.footer, { size: NORMAL, color: COLORS.quiet })
  }
  return paper.close(`${content.title} ${content.number} · ${content.issuer.name}`)
}

/** A one-page notice for the recipient that a bill has been voided. */
export async function voidNoticePdf(
  document: BillDocument,
  { on, reason }: Voiding,
  logo: Logo | undefined,
): Promise<Uint8Array> {
  const content = contentOf(document)
  const name = `${content.title} ${content.number}`
  const { day } = formatsOf(document.locale)
  const total = `${amountText(minorOf(document, 'total', document), document)} ${document.currency}`
  const facts: Content['facts'] = [
    ['Date', day(on)],
    [`${content.title} date`, day(document.issued_on)],
    ...content.facts.filter(([label]) => label === 'Period' || label === 'Purchase order'),
  ]
  const paper = await open(document, { title: 'Void notice', on, drawn: [content, facts, reason] })
  head(paper, { ...content, title: 'Void notice', facts }, logo)
  paper.paragraph(`${name}, dated ${day(document.issued_on)}, has been voided`, { size: 14, bold: true })
  paper.y += 8
  paper.paragraph(`The total of ${total} is no longer due. If you have already paid, please contact us.`, {
    size: NORMAL,
  })
  paper.y += 14
  paper.paragraph('Reason', { size: SMALL, color: COLORS.quiet })
  paper.paragraph(reason, { size: NORMAL })
  return paper.close(`Void notice for ${name.toLowerCase()} · ${content.issuer.name}`)
}

function open(
  document: BillDocument,
  { title, on, drawn }: { title: string; on: string; drawn: unknown },
): Promise<Paper> {
  return Paper.open({
    title: `${title} ${document.number}`,
    author: document.issuer.name,
    createdAt: new Date(`${on}T00:00:00Z`),
    everything: JSON.stringify(drawn),
  })
}

/** The parties on the left, the number and dates on the right. */
function head(paper: Paper, { title, number, issuer, recipient, facts }: Content, logo: Logo | undefined): void {
  const top = paper.y
  factsBlock(paper, { title, number, facts })
  const factsBottom = paper.y
  paper.y = top
  if (logo) {
    const height = paper.picture(logo.bytes, { ...LOGO_BOX, alt: `Logo of ${issuer.name}` })
    if (height > 0) paper.y += height + 12
  }
  party(paper, issuer, { size: 11, bold: true, color: COLORS.accent })
  if (recipient) {
    paper.y += 26
    paper.paragraph('To', { size: SMALL, color: COLORS.quiet })
    paper.y += 2
    party(paper, recipient, { size: 11, bold: true })
  }
  paper.y = Math.max(paper.y, factsBottom) + 26
}

function party(paper: Paper, { name, lines }: PartyText, style: TextStyle): void {
  const width = FACTS_LEFT - LEFT - 30
  paper.paragraph(name, { ...style, width })
  paper.y += 1
  for (const line of lines) paper.paragraph(line, { size: NORMAL, width })
}

function factsBlock(paper: Paper, { title, number, facts }: Pick<Content, 'title' | 'number' | 'facts'>): void {
  paper.within('H1', () => {
    paper.line(title, RIGHT, paper.y + 17, { size: 21, bold: true, align: 'right' })
    paper.line(number, RIGHT, paper.y + 35, { size: 12, color: COLORS.quiet, align: 'right' })
  })
  paper.y += 52
  paper.within('L', () => {
    for (const fact of facts) paper.within('LI', () => factLine(paper, fact))
  })
}

function factLine(paper: Paper, [label, text]: Content['facts'][number]): void {
  const width = RIGHT - FACTS_LEFT - paper.widthOf(label, { size: NORMAL }) - 14
  paper.within('Lbl', () => {
    paper.line(label, FACTS_LEFT, paper.y + NORMAL, { size: NORMAL, color: COLORS.quiet })
  })
  paper.within('LBody', () => {
    for (const line of paper.linesOf(text, width, { size: NORMAL })) {
      paper.line(line, RIGHT, paper.y + NORMAL, { size: NORMAL, align: 'right' })
      paper.y += NORMAL * LEADING
    }
  })
  paper.y += 1.6
}

class Table {
  /** The right edge of each column of numbers. */
  readonly #edges: number[]
  readonly #labelWidth: number

  constructor(
    readonly paper: Paper,
    readonly content: Content,
  ) {
    const widths = content.columns.slice(1).map((heading, index) => this.#widthOf(heading, index))
    let edge = RIGHT
    this.#edges = widths
      .toReversed()
      .map((width) => {
        edge -= width
        return edge + width
      })
      .toReversed()
    this.#labelWidth = edge - LEFT
  }

  draw(): void {
    this.paper.within('THead', () => this.#header())
    this.paper.within('TBody', () => {
      for (const { title, groups } of this.content.sections) {
        if (title !== null) this.#sectionTitle(title)
        for (const group of groups) this.#group(group)
      }
    })
  }

  #sectionTitle(title: string): void {
    const { paper } = this
    this.#keep(62)
    paper.y += 12
    paper.within('TR', () => {
      const columns = this.content.columns.length
      const draw = () => paper.paragraph(title, { size: 10, bold: true, color: COLORS.accent })
      paper.within('TH', draw, { scope: 'Column', columns })
    })
    paper.y += 2
  }

  /** The width of its widest number. All digits have the same width, so the longest text is the widest. */
  #widthOf(heading: string, index: number): number {
    let longest = ''
    for (const { groups } of this.content.sections) {
      for (const { rows, amount } of groups) {
        const last = index === this.content.columns.length - 2
        const cells = [...rows.map(({ cells }) => cells[index]!), ...(last && amount !== null ? [amount] : [])]
        for (const cell of cells) if (cell.length > longest.length) longest = cell
      }
    }
    const style = { size: NORMAL, bold: true }
    return (
      COLUMN_GAP + Math.max(this.paper.widthOf(longest, style), this.paper.widthOf(heading, { ...style, size: SMALL }))
    )
  }

  #header(): void {
    const { paper, content } = this
    const style = { size: SMALL, bold: true, color: COLORS.quiet }
    const [label, ...others] = content.columns
    const cell = (draw: () => void) => paper.within('TH', draw, { scope: 'Column' })
    paper.within('TR', () => {
      cell(() => paper.line(label!, LEFT, paper.y + SMALL, style))
      for (const [index, heading] of others.entries()) {
        cell(() => paper.line(heading, this.#edges[index]!, paper.y + SMALL, { ...style, align: 'right' }))
      }
    })
    paper.rule(paper.y + 14, { color: COLORS.accent, thickness: 1 })
    paper.y += 16
  }

  /** Starts a new page with the heading repeated if this height does not fit. */
  #keep(height: number): boolean {
    if (!this.paper.keep(height)) return false
    this.paper.artifact(() => this.#header())
    return true
  }

  #group({ title, amount, rows }: Group): void {
    if (title !== null) this.#groupTitle(title, amount)
    const continued = () => this.paper.artifact(() => this.#groupTitle(`${title} (continued)`, null))
    for (const row of rows) this.#row(row, () => title !== null && continued())
  }

  #groupTitle(title: string, amount: string | null): void {
    const { paper } = this
    const style = { size: NORMAL, bold: true }
    const lines = paper.linesOf(title, this.#labelWidth, style)
    // Together with its first row, since a heading must not be the last thing on a page.
    this.#keep(lines.length * NORMAL * LEADING + 40)
    paper.y += 7
    const top = paper.y
    const columns = this.content.columns.length - (amount === null ? 0 : 1)
    paper.within('TR', () => {
      paper.within('TH', () => this.#label(lines, style), { scope: 'Column', columns })
      if (amount === null) return
      paper.within('TD', () => paper.line(amount, RIGHT, top + NORMAL, { ...style, align: 'right' }))
    })
    paper.y += 2
  }

  /** The lines of a row’s first cell. */
  #label(lines: Line[], style: TextStyle): void {
    const { paper } = this
    for (const line of lines) {
      paper.line(line, LEFT, paper.y + NORMAL, style)
      paper.y += NORMAL * LEADING
    }
  }

  #row({ label, cells }: Row, continued: () => void): void {
    const { paper } = this
    const style = { size: NORMAL }
    const lines = paper.linesOf(label, this.#labelWidth, style)
    const height = lines.length * NORMAL * LEADING + 2 * ROW_PADDING
    if (this.#keep(height)) continued()
    const { y } = paper
    paper.within('TR', () => {
      paper.y = y + ROW_PADDING
      paper.within('TH', () => this.#label(lines, style), { scope: 'Row' })
      for (const [index, cell] of cells.entries()) {
        const color = index === cells.length - 1 ? COLORS.ink : COLORS.quiet
        const draw = () =>
          paper.line(cell, this.#edges[index]!, y + ROW_PADDING + NORMAL, { ...style, color, align: 'right' })
        paper.within('TD', draw)
      }
    })
    paper.y = y + height
    paper.rule(paper.y)
  }
}

/** All on one page. */
function sums(paper: Paper, { sums: parts, total, columns }: Content): void {
  const lines = parts.length * 16
  paper.keep(lines + 46)
  paper.y += 12
  const row = ([label, amount]: [string, string], style: TextStyle, labelColor: string | undefined) =>
    paper.within('TR', () => {
      const y = paper.y + style.size
      const heading = { ...style, ...(labelColor !== undefined && { color: labelColor }) }
      const span = { scope: 'Row', columns: columns.length - 1 } as const
      paper.within('TH', () => paper.line(label, FACTS_LEFT, y, heading), span)
      paper.within('TD', () => paper.line(amount, RIGHT, y, { ...style, align: 'right' }))
    })
  for (const part of parts) {
    row(part, { size: NORMAL }, COLORS.quiet)
    paper.y += 16
  }
  paper.rule(paper.y + 2, { color: COLORS.accent, thickness: 1, from: FACTS_LEFT })
  paper.y += 10
  row(total, { size: 12, bold: true }, undefined)
  paper.y += 20
}
