/** Groups rows by their keys and adds up their figures: exact at any size, and at a few nanoseconds per value. Pure. */
import { type Integers, isExactDouble } from './column.ts'

/** Where a row or a group has no key. */
export const NO_KEY = -1

/** Rows as columns of equal length. */
export interface Rows {
  length: number
  /** Keys of groups, or {@link NO_KEY}. */
  keys: readonly Int32Array[]
  figures: readonly RowFigure[]
}

/** The values of one figure; a null is not added. */
export interface RowFigure {
  /** Undefined if all values are 0 (`constant`) or null (`none`). */
  integers: Integers | undefined
  isNone: boolean
  /** Not less than the sum of the absolute values. */
  bound: number
}

/** Doubles represent every integer up to here. */
const EXACT = Number.MAX_SAFE_INTEGER

/** Numbers the distinct values of one key in the order of their appearance. */
class KeyNumbers {
  readonly values: number[] = []
  /** By key + 1. */
  #numbers: Int32Array = new Int32Array(1_024).fill(-1)

  numberAll(keys: Int32Array, into: Int32Array): void {
    let numbers = this.#numbers
    for (let at = 0; at < keys.length; at += 1) {
      const slot = keys[at]! + 1
      if (slot >= numbers.length) numbers = this.#grow(slot)
      let number = numbers[slot]!
      if (number < 0) {
        number = this.values.length
        numbers[slot] = number
        this.values.push(slot - 1)
      }
      into[at] = number
    }
  }

  valuesOf(numbers: Int32Array): Int32Array {
    return mapped(numbers, this.values)
  }

  #grow(slot: number): Int32Array {
    const grown = new Int32Array(Math.max(slot + 1, 2 * this.#numbers.length)).fill(-1)
    grown.set(this.#numbers)
    this.#numbers = grown
    return grown
  }
}

/** Numbers the distinct pairs of two numbers: a hash table with open addressing. */
class PairNumbers {
  #size = 0
  #first = new Int32Array(1_024)
  #second = new Int32Array(1_024)
  /** Numbers + 1; 0 is a free slot. */
  #slots = new Int32Array(2_048)

  get size(): number {
    return this.#size
  }

  firstOf(numbers: Int32Array): Int32Array {
    return mapped(numbers, this.#first)
  }

  secondOf(numbers: Int32Array): Int32Array {
    return mapped(numbers, this.#second)
  }

  /** Replaces the numbers in `first` by those of the pairs. */
  numberAll(first: Int32Array, second: Int32Array, length: number): void {
    for (let at = 0; at < length; at += 1) first[at] = this.#numberOf(first[at]!, second[at]!)
  }

  #numberOf(first: number, second: number): number {
    const mask = this.#slots.length - 1
    let slot = hash(first, second) & mask
    for (;;) {
      const number = this.#slots[slot]! - 1
      if (number < 0) break
      if (this.#first[number] === first && this.#second[number] === second) return number
      slot = (slot + 1) & mask
    }
    const number = this.#size
    if (number === this.#first.length) this.#grow()
    this.#first[number] = first
    this.#second[number] = second
    this.#size += 1
    if (2 * this.#size > this.#slots.length) this.#rehash()
    else this.#slots[slot] = number + 1
    return number
  }

  #grow(): void {
    for (const name of ['first', 'second'] as const) {
      const old = name === 'first' ? this.#first : this.#second
      const grown = new Int32Array(2 * old.length)
      grown.set(old)
      if (name === 'first') this.#first = grown
      else this.#second = grown
    }
  }

  #rehash(): void {
    const slots = new Int32Array(2 * this.#slots.length)
    const mask = slots.length - 1
    for (let number = 0; number < this.#size; number += 1) {
      let slot = hash(this.#first[number]!, this.#second[number]!) & mask
      while (slots[slot] !== 0) slot = (slot + 1) & mask
      slots[slot] = number + 1
    }
    this.#slots = slots
  }
}

/** The values at these indices. A loop, since `map` and `from` take many times as long. */
function mapped(indices: Int32Array, values: Int32Array | readonly number[]): Int32Array {
  const { length } = indices
  const found = new Int32Array(length)
  for (let at = 0; at < length; at += 1) found[at] = values[indices[at]!]!
  return found
}

function hash(first: number, second: number): number {
  const mixed = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}

/** Sums of one figure by group. */
class FigureSums {
  #sums = new Float64Array(64)
  /** Whether a group has a value that is not null. */
  #isKnown = new Uint8Array(64)
  /** Parts of sums that doubles may not represent. */
  #big: bigint[] | undefined
  /** Not less than the absolute value of any sum in `#sums`. */
  #bound = 0

  /** @param groups of the rows, which are `length` */
  add({ integers, isNone, bound }: RowFigure, groups: Int32Array, length: number, count: number): void {
    this.#grow(count)
    if (isNone) return
    const known = this.#isKnown
    if (integers === undefined) {
      for (let at = 0; at < length; at += 1) known[groups[at]!] = 1
      return
    }
    if (this.#bound + bound > EXACT) this.#flush(count)
    const { values, beyond } = integers
    if (bound > EXACT) {
      this.#addOneByOne(integers, groups)
      return
    }
    this.#bound += bound
    const sums = this.#sums
    for (let at = 0; at < length; at += 1) {
      const value = values[at]!
      if (!Number.isNaN(value)) {
        const group = groups[at]!
        sums[group]! += value
        known[group] = 1
      }
    }
    if (beyond && beyond.size > 0) throw new Error('The bound of a column is less than its values.')
  }

  #addOneByOne({ values, beyond }: Integers, groups: Int32Array): void {
    this.#big ??= []
    for (let at = 0; at < values.length; at += 1) {
      const value = values[at]!
      if (Number.isNaN(value)) continue
      const group = groups[at]!
      this.#isKnown[group] = 1
      this.#big[group] = (this.#big[group] ?? 0n) + (beyond?.get(at) ?? BigInt(value))
    }
  }

  /** The sums of `count` groups. */
  integers(count: number): Integers {
    this.#grow(count)
    const values = this.#sums.slice(0, count)
    const beyond = new Map<number, bigint>()
    for (let group = 0; group < count; group += 1) {
      const big = this.#big?.[group]
      if (big !== undefined) {
        const exact = big + BigInt(values[group]!)
        values[group] = isExactDouble(exact) ? Number(exact) : 0
        if (!isExactDouble(exact)) beyond.set(group, exact)
      }
      if (this.#isKnown[group] === 0) values[group] = Number.NaN
    }
    return { values, beyond: beyond.size > 0 ? beyond : undefined }
  }

  #flush(count: number): void {
    this.#big ??= []
    for (let group = 0; group < count; group += 1) {
      const sum = this.#sums[group]!
      if (sum !== 0) this.#big[group] = (this.#big[group] ?? 0n) + BigInt(sum)
    }
    this.#sums.fill(0)
    this.#bound = 0
  }

  #grow(count: number): void {
    if (count <= this.#sums.length) return
    const size = Math.max(count, 2 * this.#sums.length)
    const sums = new Float64Array(size)
    sums.set(this.#sums)
    this.#sums = sums
    const known = new Uint8Array(size)
    known.set(this.#isKnown)
    this.#isKnown = known
  }
}

export interface GroupedRows {
  length: number
  /** {@link NO_KEY} is null. */
  keys: Int32Array[]
  figures: Integers[]
}

/** The sums of figures by group. */
export class Groups {
  readonly #keys: KeyNumbers[]
  readonly #pairs: PairNumbers[]
  readonly #figures: FigureSums[]
  #isEmpty = true
  #groups = new Int32Array(0)
  #numbers = new Int32Array(0)

  constructor(keys: number, figures: number) {
    this.#keys = Array.from({ length: keys }, () => new KeyNumbers())
    this.#pairs = Array.from({ length: Math.max(0, keys - 1) }, () => new PairNumbers())
    this.#figures = Array.from({ length: figures }, () => new FigureSums())
  }

  get size(): number {
    if (this.#isEmpty) return 0
    if (this.#keys.length === 0) return 1
    return this.#pairs[0]?.size ?? this.#keys[0]!.values.length
  }

  /** Returns the group of each row, until the next call. */
  add({ length, ...rows }: Rows): Int32Array {
    if (length === 0) return new Int32Array(0)
    this.#isEmpty = false
    if (this.#groups.length < length) {
      this.#groups = new Int32Array(length)
      this.#numbers = new Int32Array(length)
    }
    const groups = this.#groups
    if (this.#keys.length === 0) groups.fill(0, 0, length)
    for (let at = this.#keys.length - 1; at >= 0; at -= 1) {
      const pairs = this.#pairs[at]
      this.#keys[at]!.numberAll(rows.keys[at]!, pairs ? this.#numbers : groups)
      pairs?.numberAll(groups, this.#numbers, length)
    }
    const count = this.size
    for (const [at, figure] of rows.figures.entries()) this.#figures[at]!.add(figure, groups, length, count)
    return groups
  }

  /** The groups in the order of their first rows. */
  rows(): GroupedRows {
    const length = this.size
    const keys: Int32Array[] = []
    let numbers: Int32Array = new Int32Array(length)
    for (let group = 0; group < length; group += 1) numbers[group] = group
    for (const [at, of] of this.#keys.entries()) {
      const pairs = this.#pairs[at]
      keys.push(of.valuesOf(pairs?.secondOf(numbers) ?? numbers))
      numbers = pairs?.firstOf(numbers) ?? numbers
    }
    return { length, keys, figures: this.#figures.map((figure) => figure.integers(length)) }
  }
}
