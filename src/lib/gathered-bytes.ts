/**
 * Collects bytes that arrive in parts in one buffer: joining a list of parts at the end would need twice the memory.
 */

/**
 * Up to this size, the buffer grows with the received bytes; beyond it, the maximum is reserved, and its pages use
 * memory only once they are filled.
 */
const RESERVING_BYTES = 262_144

const FIRST_BYTES = 4_096

export class GatheredBytes {
  #buffer = new ArrayBuffer(0)
  #length = 0

  /** `maxBytes` is the maximum: the declared length, or else the limit. */
  constructor(readonly maxBytes: number) {}

  get length(): number {
    return this.#length
  }

  /** The part must fit: see `maxBytes`. */
  add(part: Uint8Array): void {
    const needed = this.#length + part.byteLength
    if (needed > this.#buffer.byteLength) this.#buffer = this.#buffer.transfer(this.#roomFor(needed))
    new Uint8Array(this.#buffer).set(part, this.#length)
    this.#length = needed
  }

  /** All received bytes. Empties the buffer. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#buffer, 0, this.#length)
    this.#buffer = new ArrayBuffer(0)
    this.#length = 0
    return bytes
  }

  #roomFor(bytes: number): number {
    if (bytes > RESERVING_BYTES) return Math.max(bytes, this.maxBytes)
    return Math.min(Math.max(bytes, this.maxBytes), Math.max(FIRST_BYTES, bytes * 2))
  }
}
