/** Reproducible random numbers: the same seed gives the same sequence on every machine. */

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** The generator sfc32 of Chris Doty-Humphrey's PractRand, which passes its tests and needs no 64-bit arithmetic. */
export class Random {
  #a = 0x9e37_79b9
  #b = 0x243f_6a88
  #c: number
  #counter = 1

  constructor(seed: number) {
    this.#c = seed >>> 0
    // After a dozen rounds the seed has spread over the whole state.
    for (let round = 0; round < 12; round++) this.bits()
  }

  /** 32 random bits. */
  bits(): number {
    const result = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + result) | 0
    return result >>> 0
  }

  /** From 0 to below 1. */
  fraction(): number {
    return this.bits() / 2 ** 32
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit)
  }

  chance(share: number): boolean {
    return this.fraction() < share
  }

  pick<Thing>(things: readonly Thing[]): Thing {
    return things[this.below(things.length)]!
  }

  /** Around 1, mostly between 1/spread and spread, occasionally far above, like the sizes of sessions (log-normal). */
  size(spread: number): number {
    // The sum of twelve uniform draws is close to normal, without logarithms, which engines round differently.
    let normal = -6
    for (let draw = 0; draw < 12; draw++) normal += this.fraction()
    return spread ** normal
  }

  /** A UUID of version 4, as text. */
  uuid(): string {
    const bytes = this.#bytes(16)
    bytes[6] = (bytes[6]! & 0x0f) | 0x40
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    const hex = (from: number, to: number) => {
      let text = ''
      for (let at = from; at < to; at++) text += HEX[bytes[at]!]
      return text
    }
    return `${hex(0, 4)}-${hex(4, 6)}-${hex(6, 8)}-${hex(8, 10)}-${hex(10, 16)}`
  }

  /** A UUID of version 7 for a moment, as the database stores it. */
  uuidOf(milliseconds: number): Buffer {
    const bytes = this.#bytes(16)
    bytes.writeUIntBE(milliseconds, 0, 6)
    bytes[6] = (bytes[6]! & 0x0f) | 0x70
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    return bytes
  }

  #bytes(count: number): Buffer {
    const bytes = Buffer.allocUnsafe(count)
    for (let at = 0; at < count; at += 4) bytes.writeUInt32LE(this.bits(), at)
    return bytes
  }
}
