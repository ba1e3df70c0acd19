/**
 * Reads only the requested values of a JSON text and skips the rest without creating objects: a megabyte of telemetry
 * may have only a few hundred relevant values. Works on UTF-8 bytes; a position identifies a value.
 *
 * Of skipped values, only strings and brackets are checked. Throws {@link JsonSyntaxError}.
 */
import { endOfString } from './json-scan.ts'

export class JsonSyntaxError extends Error {}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const NULL = 0x6e
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Names of members and attributes repeat often; longer ones are rare. */
const SHORT_NAME = 48

/** The longest name, if every character is an escape of six bytes. */
const ESCAPED_NAME_BYTES = 400

/** Number of cached names, a power of two: telemetry has a few hundred. */
const NAMES_KEPT = 1_024

export type JsonKind = 'object' | 'list' | 'string' | 'number' | 'boolean' | 'null'

export class JsonCursor {
  position = 0
  readonly #bytes: Uint8Array
  readonly #buffer: Buffer
  readonly #names: (string | undefined)[] = new Array(NAMES_KEPT)

  readonly #vocabulary: Vocabulary | undefined

  /** With a vocabulary, only member names in it are returned, all others as ''; without one, every name is returned. */
  constructor(bytes: Uint8Array, vocabulary?: Vocabulary) {
    this.#vocabulary = vocabulary
    this.#bytes = bytes
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    // A byte order mark.
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.position = 3
  }

  /** The kind of the next value. */
  kind(): JsonKind {
    switch (this.#peek()) {
      case OPEN_OBJECT:
        return 'object'
      case OPEN_LIST:
        return 'list'
      case QUOTE:
        return 'string'
      case NULL:
        return 'null'
      case 0x74: // t
      case 0x66: // f
        return 'boolean'
      default:
        return 'number'
    }
  }

  /**
   * Enters an object and returns the name of its first member, whose value is next. Undefined if the object is empty.
   */
  firstName(): string | undefined {
    this.#expect(OPEN_OBJECT)
    if (this.#peek() !== CLOSE_OBJECT) return this.#name()
    this.position += 1
    return undefined
  }

  /** The name of the next member, after the previous value has been read or skipped. */
  nextName(): string | undefined {
    const byte = this.#peek()
    this.position += 1
    if (byte === CLOSE_OBJECT) return undefined
    if (byte !== COMMA) throw malformed()
    return this.#name()
  }

  /** Enters a list. Returns whether it has an item, which is the next value. */
  firstItem(): boolean {
    this.#expect(OPEN_LIST)
    if (this.#peek() !== CLOSE_LIST) return true
    this.position += 1
    return false
  }

  /** Whether there is another item, after the previous one has been read or skipped. */
  nextItem(): boolean {
    const byte = this.#peek()
    this.position += 1
    if (byte === CLOSE_LIST) return false
    if (byte !== COMMA) throw malformed()
    return true
  }

  /** Skips a value of any depth and returns its position; -1 if it is null. */
  skip(): number {
    const bytes = this.#bytes
    const end = bytes.length
    const first = this.#peek()
    const start = this.position
    if (first !== OPEN_OBJECT && first !== OPEN_LIST) {
      if (first === QUOTE) this.#skipString()
      else this.#skipScalar()
      return first === NULL ? -1 : start
    }
    let depth = 1
    for (let at = start + 1; at < end; at += 1) {
      const byte = bytes[at]!
      if (byte === QUOTE) at = endOfString(bytes, at)
      else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) {
        depth -= 1
        if (depth === 0) {
          this.position = at + 1
          return start
        }
      }
    }
    throw malformed()
  }

  /** Reads a string. Returns undefined, and skips it, if it is longer than the limit. */
  string(limitBytes: number): string | undefined {
    this.#peek()
    const known = this.#known()
    if (known !== undefined) return known
    const start = this.position
    const end = this.#skipString()
    if (end - start > limitBytes) return undefined
    if (!this.#bytes.subarray(start + 1, end).includes(BACKSLASH)) return this.#buffer.toString('utf8', start + 1, end)
    try {
      return JSON.parse(this.#buffer.toString('utf8', start, end + 1))
    } catch {
      throw malformed()
    }
  }

  /** The text of a number, `true`, `false` or `null`. If it is too long, only its beginning. */
  scalar(): string {
    this.#peek()
    const start = this.position
    this.#skipScalar()
    return this.#buffer.toString('latin1', start, Math.min(this.position, start + 400))
  }

  /** Throws unless only white space follows. */
  end(): void {
    if (this.#skipSpace() !== undefined) throw malformed()
  }

  /** The first byte of the next value, or the separator or closing bracket of the list or object. */
  #peek(): number {
    const byte = this.#skipSpace()
    if (byte === undefined) throw malformed()
    return byte
  }

  #skipSpace(): number | undefined {
    const bytes = this.#bytes
    for (;;) {
      const byte = bytes[this.position]
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return byte
      this.position += 1
    }
  }

  #skipScalar(): void {
    let at = this.position
    while (isScalar(this.#bytes[at])) at += 1
    if (at === this.position) throw malformed()
    this.position = at
  }

  #expect(byte: number): void {
    if (this.#peek() !== byte) throw malformed()
    this.position += 1
  }

  /** Returns the position of the closing quote. */
  #skipString(): number {
    this.#peek()
    const end = endOfString(this.#bytes, this.position)
    if (end >= this.#bytes.length) throw malformed()
    this.position = end + 1
    return end
  }

  #name(): string {
    if (this.#peek() !== QUOTE) throw malformed()
    const name = this.#vocabulary ? this.#nameIn(this.#vocabulary) : this.string(Number.POSITIVE_INFINITY)!
    if (this.#bytes[this.position] === COLON) this.position += 1
    else this.#expect(COLON)
    return name
  }

  #nameIn(vocabulary: Vocabulary): string {
    const bytes = this.#bytes
    const start = this.position + 1
    let hash = 0
    let at = start
    for (; bytes[at] !== QUOTE; at += 1) {
      const byte = bytes[at]
      // Names can contain escapes, but hardly any do.
      if (byte === BACKSLASH) return this.string(ESCAPED_NAME_BYTES) ?? ''
      if (byte === undefined) throw malformed()
      hash = hashWith(hash, byte)
    }
    this.position = at + 1
    const name = vocabulary.get(hash)
    return name !== undefined && this.#is(name, start, at) ? name : ''
  }

  /** A string that was read before, from the cache. Undefined if it is long or not plain. */
  #known(): string | undefined {
    const bytes = this.#bytes
    const start = this.position + 1
    let hash = 0
    let at = start
    for (;;) {
      const byte = bytes[at]
      if (byte === QUOTE) break
      if (byte === undefined || byte === BACKSLASH || byte > 0x7f || at - start > SHORT_NAME) return undefined
      hash = hashWith(hash, byte)
      at += 1
    }
    this.position = at + 1
    const place = (hash ^ (hash >>> 15)) & (NAMES_KEPT - 1)
    const known = this.#names[place]
    if (known !== undefined && this.#is(known, start, at)) return known
    const name = this.#buffer.toString('latin1', start, at)
    this.#names[place] = name
    return name
  }

  #is(known: string, start: number, end: number): boolean {
    if (known.length !== end - start) return false
    for (let at = start; at < end; at += 1) if (known.charCodeAt(at - start) !== this.#bytes[at]) return false
    return true
  }
}

/** Names by their hash. */
export type Vocabulary = ReadonlyMap<number, string>

export function vocabularyOf(names: Iterable<string>): Vocabulary {
  const vocabulary = new Map<number, string>()
  for (const name of names) {
    let hash = 0
    for (const byte of Buffer.from(name)) hash = hashWith(hash, byte)
    if ((vocabulary.get(hash) ?? name) !== name)
      throw new Error(`${name} and ${vocabulary.get(hash)} have the same hash.`)
    vocabulary.set(hash, name)
  }
  return vocabulary
}

function hashWith(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0
}

function isScalar(byte: number | undefined): boolean {
  if (byte === undefined) return false
  // Digits, letters, signs and the point.
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x7a && byte !== 0x5b && byte !== 0x5d) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e
  )
}

function malformed(): JsonSyntaxError {
  return new JsonSyntaxError('The text is not valid JSON.')
}
