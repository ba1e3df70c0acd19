/**
 * Writes text as bytes into one buffer. For millions of lines: strings would have to be joined and encoded, and each
 * number, timestamp and amount would be a string first, which costs several times as much.
 */
import { timestamp } from './duration.ts'
import { NANO_DIGITS } from './money.ts'

const FIRST_BYTES = 300_000

/** From this length on, copying natively costs less than a loop. */
const NATIVE_COPY_BYTES = 20

const BILLION = 1_000_000_000
const DAY_MS = 86_400_000

const ZERO = 0x30
const POINT = 0x2e
const QUOTE = 0x22
const COLON = 0x3a
const UTC = 0x5a

const encoder = new TextEncoder()

/** The ASCII characters that a format writes as they are, by code. */
export type PlainCharacters = Uint8Array

/** All ASCII characters from the space on, without these. */
export function plainCharacters({ except }: { except: string }): PlainCharacters {
  return Uint8Array.from({ length: 128 }, (_, code) =>
    Number(code >= 0x20 && !except.includes(String.fromCharCode(code))),
  )
}

export function encoded(text: string): Uint8Array {
  return encoder.encode(text)
}

export class ByteWriter {
  #buffer = new Uint8Array(FIRST_BYTES)
  #length = 0
  /** The day of the last timestamp, with the `T` after it: rows are in order of time. */
  #day = Number.NaN
  #dayText = ''

  /** Bytes written since the last `take`. */
  get length(): number {
    return this.#length
  }

  /** Everything that was written since the last call. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = this.#buffer.slice(0, this.#length)
    this.#length = 0
    return bytes
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes
    const start = this.#extend(length)
    const buffer = this.#buffer
    if (length >= NATIVE_COPY_BYTES) buffer.set(bytes, start)
    else for (let at = 0; at < length; at += 1) buffer[start + at] = bytes[at]!
  }

  /** A text of ASCII characters only. */
  ascii(text: string): void {
    const { length } = text
    const start = this.#extend(length)
    const buffer = this.#buffer
    for (let at = 0; at < length; at += 1) buffer[start + at] = text.charCodeAt(at)
  }

  /** Any text. */
  text(text: string): void {
    const start = this.#extend(text.length * 3)
    this.#length = start + encoder.encodeInto(text, this.#buffer.subarray(start)).written
  }

  /** Writes a text of plain characters. Returns false, and writes nothing, if it has others. */
  plain(text: string, characters: PlainCharacters): boolean {
    const { length } = text
    const start = this.#extend(length)
    const buffer = this.#buffer
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at)
      if (code > 127 || characters[code] === 0) {
        this.#length = start
        return false
      }
      buffer[start + at] = code
    }
    return true
  }

  /** Like `plain`, between quotes. */
  quoted(text: string, characters: PlainCharacters): boolean {
    const start = this.#length
    this.byte(QUOTE)
    if (!this.plain(text, characters)) {
      this.#length = start
      return false
    }
    this.byte(QUOTE)
    return true
  }

  /** A whole number from 0 to 2^53. */
  integer(number: number): void {
    if (number < BILLION) {
      this.#digits(number, digitsOf(number))
      return
    }
    const billions = Math.floor(number / BILLION)
    this.integer(billions)
    this.#digits(number - billions * BILLION, NANO_DIGITS)
  }

  /** An amount of at least 0, as whole dollars and the nano-dollars of the rest: the same as `formatDecimal`. */
  money(dollars: number, nanos: number): void {
    this.integer(dollars)
    let fraction = nanos | 0
    if (fraction === 0) return
    let digits = NANO_DIGITS
    for (; fraction % 10 === 0; digits -= 1) fraction = (fraction / 10) | 0
    this.byte(POINT)
    this.#digits(fraction, digits)
  }

  /** The same as `timestamp`. */
  timestamp(moment: number): void {
    const day = Math.floor(moment / DAY_MS)
    if (day !== this.#day) {
      this.#day = day
      this.#dayText = timestamp(day * DAY_MS).slice(0, -'00:00:00.000Z'.length)
    }
    this.ascii(this.#dayText)
    // Integers: the remainder of a number with a point takes as long as all the rest.
    const rest = (moment - day * DAY_MS) | 0
    const seconds = (rest / 1_000) | 0
    const minutes = (seconds / 60) | 0
    const start = this.#extend('00:00:00.000Z'.length)
    this.#twoDigits(start, (minutes / 60) | 0)
    this.#buffer[start + 2] = COLON
    this.#twoDigits(start + 3, minutes % 60)
    this.#buffer[start + 5] = COLON
    this.#twoDigits(start + 6, seconds % 60)
    this.#buffer[start + 8] = POINT
    const thousandths = rest % 1_000
    const hundredths = (thousandths / 10) | 0
    this.#twoDigits(start + 9, hundredths)
    this.#buffer[start + 11] = ZERO + thousandths - hundredths * 10
    this.#buffer[start + 12] = UTC
  }

  byte(byte: number): void {
    const start = this.#extend(1)
    this.#buffer[start] = byte
  }

  #twoDigits(start: number, number: number): void {
    const tens = (number / 10) | 0
    this.#buffer[start] = ZERO + tens
    this.#buffer[start + 1] = ZERO + number - tens * 10
  }

  /** The last `digits` digits of a number below 10^9. */
  #digits(number: number, digits: number): void {
    const start = this.#extend(digits)
    const buffer = this.#buffer
    let rest = number | 0
    for (let at = start + digits - 1; at >= start; at -= 1) {
      const tens = (rest / 10) | 0
      buffer[at] = ZERO + rest - tens * 10
      rest = tens
    }
  }

  /** Makes room for so many bytes, and returns where they begin. */
  #extend(bytes: number): number {
    const start = this.#length
    const end = start + bytes
    if (end > this.#buffer.length) this.#grow(end)
    this.#length = end
    return start
  }

  #grow(bytes: number): void {
    const larger = new Uint8Array(Math.max(bytes, this.#buffer.length * 2))
    larger.set(this.#buffer)
    this.#buffer = larger
  }
}

/** Of a number below 10^9. */
function digitsOf(number: number): number {
  if (number < 10) return 1
  if (number < 100) return 2
  if (number < 1_000) return 3
  if (number < 10_000) return 4
  if (number < 100_000) return 5
  if (number < 1_000_000) return 6
  if (number < 10_000_000) return 7
  return number < 100_000_000 ? 8 : 9
}
