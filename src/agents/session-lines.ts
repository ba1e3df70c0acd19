/**
 * Reads a session file line by line, whatever is in it, and parses only the lines that may matter: most of a transcript
 * is text that says nothing of tokens, and looking for a few bytes costs a fraction of parsing it.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { FileDamage } from './model-calls.ts'

/** Most session files are smaller, and so are read with one call. The memory is used again for the next file. */
const BLOCK_BYTES = 4 * 1024 * 1024

/** A line as long as this holds a picture or a file, which would be parsed to be thrown away. */
const LONG_LINE_BYTES = 1024 * 1024

/** Names and counts are shorter; what is longer is content. */
const LONG_TEXT_BYTES = 4_096

const NEW_LINE = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

let block = Buffer.allocUnsafe(BLOCK_BYTES)

/** A line that holds one of the marks, parsed. */
export type VisitLine = (record: Record<string, unknown>, line: number) => void

/** The damage of a file: one item per kind, at the first line that has it, with how many more there are. */
export class Damages {
  readonly #found = new Map<string, { line: number | null; count: number }>()

  add(what: string, line: number | null): void {
    const found = this.#found.get(what)
    if (found) found.count += 1
    else this.#found.set(what, { line, count: 1 })
  }

  list(): FileDamage[] {
    return [...this.#found].map(([what, { line, count }]) => ({
      line,
      what: count === 1 ? what : `${what} (${count.toLocaleString('en')} lines)`,
    }))
  }
}

/**
 * Visits the lines that hold one of `marks`, which are names with their quotes: inside a text of JSON the closing quote
 * would stand behind a backslash, so that what people and models write about them is no mark. Reads as far as the file
 * reaches when it is opened. Throws what the operating system says of a file that cannot be read.
 */
export function readMarkedLines(path: string, marks: readonly string[], damages: Damages, visit: VisitLine): void {
  const file = openSync(path, 'r')
  try {
    const reading = new LineReading(file, fstatSync(file).size, marks, damages, visit)
    reading.run()
  } finally {
    closeSync(file)
    if (block.length > BLOCK_BYTES) block = Buffer.allocUnsafe(BLOCK_BYTES)
  }
}

class LineReading {
  readonly #marks: { bytes: Buffer; at: number }[]
  #line = 0
  /** Bytes of the block that are filled. */
  #filled = 0

  constructor(
    readonly file: number,
    readonly size: number,
    marks: readonly string[],
    readonly damages: Damages,
    readonly visit: VisitLine,
  ) {
    this.#marks = marks.map((mark) => ({ bytes: Buffer.from(mark), at: -1 }))
  }

  run(): void {
    let position = 0
    /** Where the search for the end of a line goes on: what was there before has none. */
    let searched = 0
    while (position < this.size) {
      if (this.#filled === block.length) block = Buffer.concat([block], block.length * 2)
      const wanted = Math.min(block.length - this.#filled, this.size - position)
      const count = readSync(this.file, block, this.#filled, wanted, position)
      // It was cut while it was read.
      if (count === 0) break
      position += count
      this.#filled += count
      const used = this.#readBlock(searched)
      block.copyWithin(0, used, this.#filled)
      this.#filled -= used
      searched = this.#filled
    }
    if (this.#filled > 0) this.#readLine(block.subarray(0, this.#filled), 0, this.#filled, true)
  }

  /** Reads the whole lines of the block, and answers where the rest begins. */
  #readBlock(searched: number): number {
    const bytes = block.subarray(0, this.#filled)
    for (const mark of this.#marks) mark.at = bytes.indexOf(mark.bytes)
    let from = 0
    for (let end = bytes.indexOf(NEW_LINE, searched); end !== -1; end = bytes.indexOf(NEW_LINE, from)) {
      this.#readLine(bytes, from, end, false)
      from = end + 1
    }
    return from
  }

  #readLine(bytes: Buffer, start: number, end: number, isLast: boolean): void {
    this.#line += 1
    let from = start
    let to = end
    while (to > from && bytes[to - 1]! <= 0x20) to -= 1
    while (from < to && (bytes[from]! <= 0x20 || isByteOrderMark(bytes, from))) from += bytes[from]! <= 0x20 ? 1 : 3
    if (from === to) return
    const isWhole = bytes[from] === OPENING_BRACE && bytes[to - 1] === CLOSING_BRACE
    if (isLast) for (const mark of this.#marks) mark.at = bytes.indexOf(mark.bytes)
    if (isWhole && !this.#isMarked(bytes, from, to)) return
    const record = isWhole ? parsedLine(bytes, from, to) : undefined
    if (record) this.visit(record, this.#line)
    else this.damages.add(isLast ? UNFINISHED : BROKEN, this.#line)
  }

  #isMarked(bytes: Buffer, from: number, to: number): boolean {
    let isMarked = false
    for (const mark of this.#marks) {
      if (mark.at !== -1 && mark.at < from) mark.at = bytes.indexOf(mark.bytes, from)
      if (mark.at !== -1 && mark.at < to) isMarked = true
    }
    return isMarked
  }
}

const BROKEN = 'is not a JSON object and was skipped'
const UNFINISHED = 'the last line is incomplete and will be read next time'

function isByteOrderMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf
}

/** Undefined where it is no JSON. */
function parsedLine(bytes: Buffer, from: number, to: number): Record<string, unknown> | undefined {
  try {
    return JSON.parse(to - from > LONG_LINE_BYTES ? withoutContent(bytes, from, to) : bytes.toString('utf8', from, to))
  } catch {
    return undefined
  }
}

/** The line with its long texts left out, so that it takes as much memory as what is wanted of it. */
function withoutContent(bytes: Buffer, from: number, to: number): string {
  const kept: string[] = []
  let keptTo = from
  for (let opening = bytes.indexOf(QUOTE, from); opening !== -1 && opening < to; ) {
    const closing = closingQuote(bytes, opening + 1)
    if (closing === -1 || closing >= to) break
    if (closing - opening > LONG_TEXT_BYTES) {
      kept.push(bytes.toString('utf8', keptTo, opening + 1))
      keptTo = closing
    }
    opening = bytes.indexOf(QUOTE, closing + 1)
  }
  kept.push(bytes.toString('utf8', keptTo, to))
  return kept.join('')
}

function closingQuote(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let backslashes = 0
    while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
  return -1
}
