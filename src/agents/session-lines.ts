/**
 * Reads a session file line by line, tolerating any content, and parses only lines that may matter: most of a
 * transcript is text without token counts, and searching for a few bytes costs a fraction of parsing.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import type { FieldsReader } from './json-fields.ts'
import { type DamageKind, type FileDamage, momentOf, type OnDamage } from './model-calls.ts'

/** Most session files are smaller, and so are read with one call. The buffer is reused for the next file. */
const BLOCK_BYTES = 4 * 1024 * 1024

/** Longer lines contain an image or a file, which would be parsed in vain. */
const LONG_LINE_BYTES = 1024 * 1024

/** Names and counts are shorter; longer texts are content. */
const LONG_TEXT_BYTES = 4_096

const NEW_LINE = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

let block = Buffer.allocUnsafe(BLOCK_BYTES)

/**
 * Called with each line that contains one of the marks, parsed.
 *
 * @param isUsual whether only the wanted fields were read, and the names of whole objects are known
 */
export type VisitLine<Line = number> = (record: Record<string, unknown>, line: Line, isUsual: boolean) => void

/** Called with the time of each line that is not visited, if it has one. */
export type OnTime = (at: number) => void

const INVALID_RECORD: DamageKind = { reason: 'invalid_record' }

interface FoundDamage {
  line: number | null
  count: number
  sessions: Set<string>
  kind: DamageKind | undefined
}

/** Damage of a file: one item per kind, with the first line that has it, the number of lines and the sessions. */
export class Damages {
  /** The session that is being read; empty if the file is one. */
  session = ''
  readonly #found = new Map<string, FoundDamage>()

  add(what: string, line: number | null, kind?: DamageKind): void {
    const found = this.#found.get(what) ?? { line, count: 0, sessions: new Set(), kind }
    this.#found.set(what, found)
    found.count += 1
    found.sessions.add(this.session)
  }

  /** Adds the damage of one line. */
  of(line: number | null): OnDamage {
    return (what, kind) => this.add(what, line, kind)
  }

  list(): FileDamage[] {
    return [...this.#found].map(([what, { line, count, sessions, kind = INVALID_RECORD }]): FileDamage => {
      const damage = { line, what: count === 1 ? what : `${what} (${count.toLocaleString('en')} lines)` }
      if (kind === 'note') return { ...damage, isNote: true }
      const { reason, name = null, count: each = 1 } = kind
      // The rest of a record is counted.
      const isNote = reason === 'invalid_count' || reason === 'unknown_count'
      const notRead = { reason, name, count: sessions.size * each }
      return { ...damage, ...(isNote ? { isNote } : {}), notRead, sessions: [...sessions].filter(Boolean) }
    })
  }
}

interface LineOptions {
  /** The name of the field with the time of a line. */
  timeName?: string
  /** Reads lines of which only some fields matter. The record that is visited is overwritten by later ones. */
  fields?: FieldsReader
}

/**
 * Visits the lines that contain one of `marks`, which are names in quotes: within a JSON text, the closing quote is
 * preceded by a backslash, so that prose about these names does not match. Reads up to the file's size when it is
 * opened, and `.zst` files decompressed. Throws an error that says why if the file cannot be read.
 */
export function readMarkedLines(
  path: string,
  marks: readonly string[],
  damages: Damages,
  visit: VisitLine,
  onTime?: OnTime,
  { timeName = 'timestamp', fields }: LineOptions = {},
): void {
  const read = (source: Source) => new LineReading(source, marks, damages, visit, onTime, timeName, fields).run()
  try {
    if (path.endsWith('.zst')) read(decompressed(path))
    else readFile(path, read)
  } finally {
    if (block.length > BLOCK_BYTES) block = Buffer.allocUnsafe(BLOCK_BYTES)
  }
}

/** The same for lines that are not in a file of their own. */
export function readMarkedText(
  content: Buffer,
  marks: readonly string[],
  damages: Damages,
  visit: VisitLine,
  onTime: OnTime,
): void {
  new LineReading(sourceOf(content), marks, damages, visit, onTime, 'timestamp').run()
}

/** Where lines come from. */
interface Source {
  size: number
  /** Fills the block from `offset` with up to `length` bytes from `position`, and returns how many there were. */
  read(offset: number, length: number, position: number): number
}

function readFile(path: string, read: (source: Source) => void): void {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    read({ size, read: (offset, length, position) => readSync(file, block, offset, length, position) })
  } finally {
    closeSync(file)
  }
}

/** Larger ones would not fit into the memory of every machine: they are decompressed as a whole. */
const LONGEST_DECOMPRESSED = 1024 ** 3

function decompressed(path: string): Source {
  return sourceOf(expand(readFileSync(path)))
}

function sourceOf(content: Buffer): Source {
  return {
    size: content.length,
    read: (offset, length, position) => content.copy(block, offset, position, position + length),
  }
}

/** One of the two decompressors has a limit, and the other notices that the end is missing. */
function expand(content: Buffer): Buffer {
  try {
    // Only here, because loading it takes longer than reading most files.
    const { zstdDecompressSync } = process.getBuiltinModule('node:zlib')
    zstdDecompressSync(content, { maxOutputLength: LONGEST_DECOMPRESSED })
    if (content.length > 0) return Bun.zstdDecompressSync(content)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Error('it expands to more than 1 GB. Decompress it with zstd -d')
    }
  }
  throw new Error('it is not a complete Zstandard file')
}

/** A name in quotes, and where it is next in the block; -1 if it is not. */
interface Name {
  bytes: Buffer
  at: number
}

/** By text: they are the same for all files of an agent. */
const NAMES = new Map<string, Buffer>()

function nameOf(text: string): Name {
  const bytes = NAMES.get(text) ?? Buffer.from(text)
  NAMES.set(text, bytes)
  return { bytes, at: -1 }
}

const USUAL_TIME_BYTES = '2026-11-20T17:53:04.123Z'.length
const LONGEST_TIME_BYTES = 40

class LineReading {
  readonly #marks: Name[]
  readonly #time: Name
  #line = 0
  /** Bytes of the block that are filled. */
  #filled = 0

  constructor(
    readonly source: Source,
    marks: readonly string[],
    readonly damages: Damages,
    readonly visit: VisitLine,
    readonly onTime: OnTime | undefined,
    readonly timeName: string,
    readonly fields?: FieldsReader,
  ) {
    this.#time = nameOf(`"${timeName}"`)
    this.#marks = marks.map(nameOf)
  }

  run(): void {
    let position = 0
    /** Where the search for the end of the line continues: the bytes before it contain none. */
    let searched = 0
    const { size } = this.source
    while (position < size) {
      if (this.#filled === block.length) block = Buffer.concat([block], block.length * 2)
      const wanted = Math.min(block.length - this.#filled, size - position)
      const count = this.source.read(this.#filled, wanted, position)
      // The file was truncated while it was read.
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

  /** Reads the complete lines of the block, and returns the position of the rest. */
  #readBlock(searched: number): number {
    const bytes = block.subarray(0, this.#filled)
    this.#findNames(bytes)
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
    if (isLast) this.#findNames(bytes)
    if (isWhole && !this.#isMarked(bytes, from, to)) {
      if (this.onTime) this.#passTime(bytes, from, to, this.onTime)
      return
    }
    const usual = isWhole ? this.fields?.read(bytes, from, to) : undefined
    const record = usual ?? (isWhole ? parsedLine(bytes, from, to) : undefined)
    if (record) this.visit(record, this.#line, usual !== undefined)
    else if (isLast) this.damages.add(UNFINISHED, this.#line, 'note')
    else this.damages.add(BROKEN, this.#line)
  }

  #findNames(bytes: Buffer): void {
    for (const name of [...this.#marks, this.#time]) name.at = bytes.indexOf(name.bytes)
  }

  #isMarked(bytes: Buffer, from: number, to: number): boolean {
    for (const mark of this.#marks) {
      if (mark.at !== -1 && mark.at < from) mark.at = bytes.indexOf(mark.bytes, from)
      if (mark.at !== -1 && mark.at < to) return true
    }
    return false
  }

  /** A line with one time is not parsed. Where it contains several, only parsing shows its own. */
  #passTime(bytes: Buffer, from: number, to: number, onTime: OnTime): void {
    const name = this.#time
    if (name.at !== -1 && name.at < from) name.at = bytes.indexOf(name.bytes, from)
    if (name.at === -1 || name.at >= to) return
    const start = name.at + name.bytes.length + 1
    name.at = bytes.indexOf(name.bytes, start)
    const only = name.at === -1 || name.at >= to ? timeAt(bytes, start) : undefined
    const at = momentOf(only ?? parsedLine(bytes, from, to)?.[this.timeName])
    if (at !== undefined) onTime(at)
  }
}

/** The text or the number that starts here; undefined if it is neither. */
function timeAt(bytes: Buffer, start: number): string | number | undefined {
  if (bytes[start] === QUOTE) return textAt(bytes, start + 1)
  const digits = /^\d+/.exec(bytes.toString('latin1', start, start + LONGEST_TIME_BYTES))
  return digits ? Number(digits[0]) : undefined
}

/** The short text that starts here, without escapes. */
function textAt(bytes: Buffer, start: number): string {
  const isUsual = bytes[start + USUAL_TIME_BYTES] === QUOTE
  const end = isUsual ? start + USUAL_TIME_BYTES : bytes.indexOf(QUOTE, start)
  return bytes.toString('latin1', start, Math.min(end, start + LONGEST_TIME_BYTES))
}

const BROKEN = 'is not a JSON object and was skipped'
const UNFINISHED = 'the last line is incomplete and will be read next time'

function isByteOrderMark(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf
}

/** Undefined if it is not JSON. */
function parsedLine(bytes: Buffer, from: number, to: number): Record<string, unknown> | undefined {
  try {
    return JSON.parse(to - from > LONG_LINE_BYTES ? withoutContent(bytes, from, to) : bytes.toString('utf8', from, to))
  } catch {
    return undefined
  }
}

/** The line without its long texts, so that only the needed part uses memory. */
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
