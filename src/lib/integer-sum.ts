/** A sum of integers that may exceed the exact range of a number. Adding bigints takes much longer. */
export class IntegerSum {
  /** Added to the total before it could become inexact. */
  #recent = 0
  #total = 0n

  /** Adds an integer in the exact range. */
  add(integer: number): void {
    if (Math.abs(integer) > HALF) {
      this.#total += BigInt(integer)
      return
    }
    this.#recent += integer
    if (Math.abs(this.#recent) > HALF) this.#settle()
  }

  addExact(integer: bigint): void {
    const rough = Number(integer)
    if (Math.abs(rough) > HALF) this.#total += integer
    else this.add(rough)
  }

  addProduct(one: number, other: number): void {
    const product = one * other
    if (Math.abs(product) > HALF) this.#total += BigInt(one) * BigInt(other)
    else this.add(product)
  }

  get value(): bigint {
    this.#settle()
    return this.#total
  }

  #settle(): void {
    this.#total += BigInt(this.#recent)
    this.#recent = 0
  }
}

/** Half of the exact range: two of these add up to an exact number. */
const HALF = 2 ** 52
