/**
 * Reads the wanted fields of JSON lines from their bytes. The rest of a line is checked as strictly as by `JSON.parse`, but
 * no value is made of it. Agents write line after line with the same names in the same order, so that a line mostly
 * differs from an earlier one in some values, and only those are read.
 */

/** The wanted names of an object, and those of objects within it. */
export interface WantedFields {
  /** Their values are read whatever they are. */
  names: readonly string[]
  objects?: Record<string, WantedFields>
  /** The only other names that the object may have; any if absent. */
  others?: readonly string[]
}

/** The wanted fields of some lines. */
interface UsualLine extends WantedFields {
  /** Whether nothing else of a line matters. */
  suffices?(record: Record<string, unknown>): boolean
}

/** A file has few: lines of some types, with and without optional fields. */
const SHAPES_LIMIT = 4

/** In longer lines, texts are most of it, which the engine reads as fast. */
const LONGEST_LINE_BYTES = 64 * 1024

/** Agents write no deeper ones. */
const DEEPEST = 64

/** Whole numbers with as many digits are exact. */
const EXACT_DIGITS = 15

const [QUOTE, COMMA, MINUS, PLUS, DOT, ZERO, NINE, COLON] = [0x22, 0x2c, 0x2d, 0x2b, 0x2e, 0x30, 0x39, 0x3a] as const
const [BACKSLASH, SPACE, LAST_ASCII] = [0x5c, 0x20, 0x7f] as const
const [OPENING_BRACE, CLOSING_BRACE, OPENING_BRACKET, CLOSING_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d] as const
const [LETTER_A, LETTER_E, LETTER_F, LETTER_N, LETTER_T, LETTER_U] = [0x61, 0x65, 0x66, 0x6e, 0x74, 0x75] as const

/** Returned instead of the position after a value. */
const INVALID = -1

type JsonObject = Record<string, unknown>

/** A value that may differ in the next line. What is between the values does not. */
interface Value {
  /** Where it is wanted; undefined if it is only checked. */
  record: JsonObject | undefined
  name: string
}

/** The names of a line and their order, with its bytes and values. */
class Shape {
  readonly record: JsonObject = {}
  readonly #values: Value[] = []
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  /** The first and the next positions of the values, from the start of the line: of this line, and of the one being read. */
  #starts = new Int32Array(0)
  #ends = new Int32Array(0)
  #nextStarts = new Int32Array(0)
  #nextEnds = new Int32Array(0)
  #changed = new Int32Array(0)

  constructor(readonly usual: UsualLine) {}

  suffices(): boolean {
    return this.usual.suffices?.(this.record) ?? true
  }

  /** Reads a line without another to compare it with. Returns whether it can be read. */
  start(bytes: Buffer, from: number, to: number): boolean {
    const positions: number[] = []
    if (bytes[from] !== OPENING_BRACE) return false
    if (this.#startObject(this.usual, this.record, bytes, from + 1, positions) !== to) return false
    const count = this.#values.length
    this.#starts = Int32Array.from({ length: count }, (_, index) => positions[2 * index]! - from)
    this.#ends = Int32Array.from({ length: count }, (_, index) => positions[2 * index + 1]! - from)
    this.#nextStarts = new Int32Array(count)
    this.#nextEnds = new Int32Array(count)
    this.#changed = new Int32Array(count)
    for (let index = 0; index < count; index++)
      this.#set(index, bytes, positions[2 * index]!, positions[2 * index + 1]!)
    this.#keep(bytes, from, to)
    return true
  }

  #startObject(wanted: WantedFields, record: JsonObject, bytes: Buffer, start: number, positions: number[]): number {
    const found = new Set<string>()
    if (bytes[start] === CLOSING_BRACE) return start + 1
    for (let at = start; ; at += 1) {
      if (bytes[at] !== QUOTE) return INVALID
      const end = skipText(bytes, at + 1)
      if (end === INVALID || bytes[end] !== COLON) return INVALID
      const name = bytes.toString('utf8', at + 1, end - 1)
      // Names with escapes may be the wanted ones, and of equal names the last one counts.
      if (found.has(name) || name.includes('\\')) return INVALID
      found.add(name)
      const object = Object.hasOwn(wanted.objects ?? {}, name) ? wanted.objects![name] : undefined
      if (object) {
        const inside = {}
        record[name] = inside
        at = bytes[end + 1] === OPENING_BRACE ? this.#startObject(object, inside, bytes, end + 2, positions) : INVALID
      } else {
        const isWanted = wanted.names.includes(name)
        if (!isWanted && wanted.others?.includes(name) === false) return INVALID
        at = skipValue(bytes, end + 1, 0)
        this.#values.push({ record: isWanted ? record : undefined, name })
        positions.push(end + 1, at)
      }
      if (at === INVALID) return INVALID
      if (bytes[at] !== COMMA) return bytes[at] === CLOSING_BRACE ? at + 1 : INVALID
    }
  }

  /** Reads a line that has the same names in the same order, and returns whether it has. */
  next(bytes: Buffer, from: number, to: number): boolean {
    const before = this.#bytes
    const starts = this.#starts
    const ends = this.#ends
    const nextStarts = this.#nextStarts
    const nextEnds = this.#nextEnds
    const changed = this.#changed
    const { length } = starts
    let changes = 0
    let at = from
    let beforeAt = 0
    for (let index = 0; index < length; index++) {
      const start = starts[index]!
      const end = ends[index]!
      while (beforeAt < start && bytes[at] === before[beforeAt]) {
        at += 1
        beforeAt += 1
      }
      if (beforeAt < start) return false
      nextStarts[index] = at - from
      const first = at
      while (beforeAt < end && bytes[at] === before[beforeAt]) {
        at += 1
        beforeAt += 1
      }
      // A number that starts with the one before is another.
      if (beforeAt < end || bytes[at] !== before[beforeAt]) {
        at = skipValue(bytes, first, 0)
        if (at === INVALID) return false
        beforeAt = end
        changed[changes++] = index
      }
      nextEnds[index] = at - from
    }
    while (beforeAt < this.#length && bytes[at] === before[beforeAt]) {
      at += 1
      beforeAt += 1
    }
    if (beforeAt < this.#length || at !== to) return false
    for (let each = 0; each < changes; each++) {
      const index = changed[each]!
      this.#set(index, bytes, from + nextStarts[index]!, from + nextEnds[index]!)
    }
    this.#starts = nextStarts
    this.#ends = nextEnds
    this.#nextStarts = starts
    this.#nextEnds = ends
    this.#keep(bytes, from, to)
    return true
  }

  #keep(bytes: Buffer, from: number, to: number): void {
    this.#length = to - from
    if (this.#bytes.length < this.#length) this.#bytes = Buffer.allocUnsafe(2 * this.#length)
    bytes.copy(this.#bytes, 0, from, to)
  }

  #set(index: number, bytes: Buffer, start: number, end: number): void {
    const { record, name } = this.#values[index]!
    if (record) record[name] = valueAt(bytes, start, end)
  }
}

export class FieldsReader {
  /** The oldest one first. */
  readonly #shapes: Shape[] = []
  /** Which of them the line before had, as the next one mostly has too. */
  #latest = 0

  constructor(readonly usual: readonly UsualLine[]) {}

  /**
   * The wanted fields of the first usual line that the one from `start` to `end` is, as `JSON.parse` reads them, until the
   * next line is read. Undefined if it is none, not JSON, or unusual: with spaces, escapes in names, the same name twice,
   * very deep, very long, or without an object where one is wanted.
   */
  read(bytes: Buffer, from: number, to: number): JsonObject | undefined {
    if (to - from > LONGEST_LINE_BYTES) return undefined
    const shapes = this.#shapes
    for (let tried = 0; tried < shapes.length; tried++) {
      const index = (this.#latest + tried) % shapes.length
      const shape = shapes[index]!
      if (!shape.next(bytes, from, to)) continue
      this.#latest = index
      return shape.suffices() ? shape.record : undefined
    }
    for (const usual of this.usual) {
      const shape = new Shape(usual)
      if (!shape.start(bytes, from, to) || !shape.suffices()) continue
      if (shapes.length === SHAPES_LIMIT) shapes.shift()
      this.#latest = shapes.push(shape) - 1
      return shape.record
    }
    return undefined
  }
}

/** The value, which has been checked. */
function valueAt(bytes: Buffer, start: number, end: number): unknown {
  if (bytes[start] === QUOTE && isPlain(bytes, start, end)) return bytes.toString('latin1', start + 1, end - 1)
  let number = 0
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - ZERO
    if (digit < 0 || digit > 9) return JSON.parse(bytes.toString('utf8', start, end))
    number = number * 10 + digit
  }
  return end - start <= EXACT_DIGITS ? number : JSON.parse(bytes.toString('latin1', start, end))
}

/** Whether a text is ASCII without escapes. */
function isPlain(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! > LAST_ASCII || bytes[at] === BACKSLASH) return false
  return true
}

/** Returns the position after the value that starts here. */
function skipValue(bytes: Uint8Array, start: number, depth: number): number {
  switch (bytes[start]) {
    case QUOTE:
      return skipText(bytes, start + 1)
    case OPENING_BRACE:
      return depth === DEEPEST ? INVALID : skipObject(bytes, start + 1, depth + 1)
    case OPENING_BRACKET:
      return depth === DEEPEST ? INVALID : skipArray(bytes, start + 1, depth + 1)
    case LETTER_T:
      return skipWord(bytes, start, TRUE)
    case LETTER_F:
      return skipWord(bytes, start, FALSE)
    case LETTER_N:
      return skipWord(bytes, start, NULL)
    default:
      return skipNumber(bytes, start)
  }
}

const [TRUE, FALSE, NULL] = [Buffer.from('true'), Buffer.from('false'), Buffer.from('null')] as const

function skipWord(bytes: Uint8Array, start: number, word: Uint8Array): number {
  for (let index = 1; index < word.length; index++) if (bytes[start + index] !== word[index]) return INVALID
  return start + word.length
}

/** Continues after the opening quote. */
function skipText(bytes: Uint8Array, start: number): number {
  const { length } = bytes
  for (let at = start; at < length; at++) {
    const byte = bytes[at]!
    // Most are letters.
    if (byte > BACKSLASH) continue
    if (byte === QUOTE) return at + 1
    if (byte < SPACE) return INVALID
    if (byte !== BACKSLASH) continue
    at += 1
    const escaped = bytes[at]!
    if (escaped === LETTER_U) {
      for (const last = at + 4; at < last; at++) if (!isHexDigit(bytes[at + 1]!)) return INVALID
    } else if (!IS_ESCAPE[escaped]) return INVALID
  }
  return INVALID
}

const IS_ESCAPE = new Uint8Array(256)
for (const byte of Buffer.from('"\\/bfnrt')) IS_ESCAPE[byte] = 1

function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20
  return (byte >= ZERO && byte <= NINE) || (letter >= LETTER_A && letter <= LETTER_F)
}

function skipNumber(bytes: Uint8Array, start: number): number {
  const first = bytes[start] === MINUS ? start + 1 : start
  let at = skipDigits(bytes, first)
  if (at === first || (bytes[first] === ZERO && at > first + 1)) return INVALID
  if (bytes[at] === DOT) {
    const fraction = at + 1
    at = skipDigits(bytes, fraction)
    if (at === fraction) return INVALID
  }
  if ((bytes[at]! | 0x20) === LETTER_E) {
    const hasSign = bytes[at + 1] === MINUS || bytes[at + 1] === PLUS
    const exponent = hasSign ? at + 2 : at + 1
    at = skipDigits(bytes, exponent)
    if (at === exponent) return INVALID
  }
  return at
}

function skipDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at += 1
  return at
}

/** Continues after the opening brace. */
function skipObject(bytes: Uint8Array, start: number, depth: number): number {
  if (bytes[start] === CLOSING_BRACE) return start + 1
  for (let at = start; ; at += 1) {
    if (bytes[at] !== QUOTE) return INVALID
    at = skipText(bytes, at + 1)
    if (at === INVALID || bytes[at] !== COLON) return INVALID
    at = skipValue(bytes, at + 1, depth)
    if (at === INVALID) return INVALID
    if (bytes[at] !== COMMA) return bytes[at] === CLOSING_BRACE ? at + 1 : INVALID
  }
}

/** Continues after the opening bracket. */
function skipArray(bytes: Uint8Array, start: number, depth: number): number {
  if (bytes[start] === CLOSING_BRACKET) return start + 1
  for (let at = start; ; at += 1) {
    at = skipValue(bytes, at, depth)
    if (at === INVALID) return INVALID
    if (bytes[at] !== COMMA) return bytes[at] === CLOSING_BRACKET ? at + 1 : INVALID
  }
}
