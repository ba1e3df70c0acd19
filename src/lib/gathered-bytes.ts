/** Bytes that come in parts, gathered in one buffer: joining a list of parts at the end would hold everything twice. */

/** Until so much has come, memory follows what came; from then on it is reserved, of which pages are used as they fill. */
const RESERVING_BYTES = 262_144

const FIRST_BYTES = 4_096

export class GatheredBytes {
  #buffer = new ArrayBuffer(0)
  #length = 0

  /** `mostBytes` is how many there can be: those that were declared, else the limit. */
  constructor(readonly mostBytes: number) {}

  get length(): number {
    return this.#length
  }

  /** There must be room for them: see `mostBytes`. */
  add(part: Uint8Array): void {
    const needed = this.#length + part.byteLength
    if (needed > this.#buffer.byteLength) this.#buffer = this.#buffer.transfer(this.#roomFor(needed))
    new Uint8Array(this.#buffer).set(part, this.#length)
    this.#length = needed
  }

  /** All that came. The gathered bytes are gone afterwards. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.#buffer, 0, this.#length)
    this.#buffer = new ArrayBuffer(0)
    this.#length = 0
    return bytes
  }

  #roomFor(bytes: number): number {
    if (bytes > RESERVING_BYTES) return Math.max(bytes, this.mostBytes)
    return Math.min(Math.max(bytes, this.mostBytes), Math.max(FIRST_BYTES, bytes * 2))
  }
}
