/**
 * Rows that a plan works on. A plan is a synchronous function over a working set: it reads rows that were loaded before,
 * and changes copies of them in memory. If it needs a row that is not loaded, it stops there; the row is loaded together
 * with all others that are missing, and the plan is made again. So the number of queries depends on the number of kinds
 * of rows, not on the number of rows.
 */
import type { Tx } from './database.ts'
import type { UnusedIds } from './dry-run.ts'

/** Thrown by a plan that needs a row that is not loaded. Always the same object: a stack trace would cost more. */
const MISSING = Symbol('missing')

type Undo = [values: Map<unknown, unknown>, key: unknown, before: unknown]

interface Loadable {
  readonly isComplete: boolean
  load(tx: Tx): Promise<void> | void
  reset(): void
}

export class WorkingSet {
  readonly #parts: Loadable[] = []
  #undo: Undo[] = []

  /** `unused` is where the ids of a plan are from that is not written. */
  constructor(readonly unused?: UnusedIds) {}

  /** Rows by key. `nameOf` gives equal names to equal keys; `load` returns a value for each key, in their order. */
  rows<Key, Value>(
    nameOf: (key: Key) => string | number,
    load: (tx: Tx, keys: readonly Key[]) => Promise<readonly Value[]>,
  ): KnownRows<Key, Value> {
    const rows = new KnownRows(this, nameOf, load)
    this.#parts.push(rows)
    return rows
  }

  /** Ids of new rows. */
  ids(reserve: (tx: Tx, count: number) => Promise<readonly number[]> | readonly number[]): NewIds {
    const { unused } = this
    const ids = new NewIds(unused ? (_, count) => unused.take(count) : reserve)
    this.#parts.push(ids)
    return ids
  }

  /** Rows that a plan adds or changes, by a key of their own. */
  changes<Key, Value>(): Changes<Key, Value> {
    const changes = new Changes<Key, Value>(this)
    this.#parts.push(changes)
    return changes
  }

  /** Loads what is missing. */
  async load(tx: Tx): Promise<void> {
    await Promise.all(this.#parts.filter(({ isComplete }) => !isComplete).map((part) => part.load(tx)))
  }

  /** Loads what is missing and makes the plan, until it needs nothing more. */
  async plan<Result>(tx: Tx, make: () => Result): Promise<Result> {
    for (;;) {
      await this.load(tx)
      for (const part of this.#parts) part.reset()
      this.#undo = []
      const result = this.step(make)
      if (this.isComplete) return result as Result
    }
  }

  /**
   * Runs a step of the plan. If it throws, everything that it changed is as before; undefined if a row was missing, so
   * that the other steps find out what they need too.
   */
  step<Result>(make: () => Result): Result | undefined {
    const before = this.#undo.length
    try {
      return make()
    } catch (error) {
      this.#undoTo(before)
      if (error === MISSING) return undefined
      throw error
    }
  }

  /**
   * Makes several parts of one step. If rows are missing for any of them, the step ends only after all of them have found
   * out what they need: otherwise the plan would be made once more for each part.
   */
  parts<Result>(makes: readonly (() => Result)[]): Result[] {
    const results = makes.map((make) => this.step(() => ({ value: make() })))
    if (results.includes(undefined)) throw MISSING
    return results.map((result) => result!.value)
  }

  get isComplete(): boolean {
    return this.#parts.every((part) => part.isComplete)
  }

  /** Changes a value of a map, so that it can be undone. */
  change<Key, Value>(values: Map<Key, Value>, key: Key, value: Value): void {
    this.#undo.push([values, key, values.get(key)])
    values.set(key, value)
  }

  #undoTo(length: number): void {
    while (this.#undo.length > length) {
      const [values, key, before] = this.#undo.pop()!
      if (before === undefined) values.delete(key)
      else values.set(key, before)
    }
  }
}

/** Rows of one kind: as the database has them, and as the plan has changed them. */
export class KnownRows<Key, Value> implements Loadable {
  readonly #loaded = new Map<string | number, Value>()
  readonly #changed = new Map<string | number, Value>()
  readonly #wanted = new Map<string | number, Key>()

  constructor(
    readonly set: WorkingSet,
    readonly nameOf: (key: Key) => string | number,
    readonly read: (tx: Tx, keys: readonly Key[]) => Promise<readonly Value[]>,
  ) {}

  get isComplete(): boolean {
    return this.#wanted.size === 0
  }

  /** Loads the value before the plan is made. */
  want(key: Key): void {
    const name = this.nameOf(key)
    if (!this.#loaded.has(name)) this.#wanted.set(name, key)
  }

  get(key: Key): Value {
    const name = this.nameOf(key)
    const changed = this.#changed.get(name)
    if (changed !== undefined) return changed
    if (this.#loaded.has(name)) return this.#loaded.get(name)!
    this.#wanted.set(name, key)
    throw MISSING
  }

  /** The value if it is known; undefined if it is not loaded. */
  peek(key: Key): Value | undefined {
    const name = this.nameOf(key)
    return this.#changed.get(name) ?? this.#loaded.get(name)
  }

  /** All known values. */
  values(): Value[] {
    return [...new Map([...this.#loaded, ...this.#changed]).values()]
  }

  change(key: Key, value: Value): void {
    this.set.change(this.#changed, this.nameOf(key), value)
  }

  /** Adds a value that was loaded with others. */
  add(key: Key, value: Value): void {
    const name = this.nameOf(key)
    this.#loaded.set(name, value)
    this.#wanted.delete(name)
  }

  async load(tx: Tx): Promise<void> {
    const keys = [...this.#wanted.values()]
    const values = await this.read(tx, keys)
    for (const [position, key] of keys.entries()) this.add(key, values[position]!)
  }

  reset(): void {
    this.#changed.clear()
  }
}

/** Rows to insert or update, in the order in which the plan first added them. */
export class Changes<Key, Value> implements Loadable {
  readonly isComplete = true
  readonly #values = new Map<Key, Value>()

  constructor(readonly set: WorkingSet) {}

  has(key: Key): boolean {
    return this.#values.has(key)
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  put(key: Key, value: Value): void {
    this.set.change(this.#values, key, value)
  }

  get size(): number {
    return this.#values.size
  }

  values(): Value[] {
    return [...this.#values.values()]
  }

  load(): void {}

  reset(): void {
    this.#values.clear()
  }
}

/** Reserved ids of new rows of a table. A plan takes as many as it needs, in ascending order. */
export class NewIds implements Loadable {
  #reserved: readonly number[] = []
  #taken = 0
  #wanted = 0

  constructor(readonly reserve: (tx: Tx, count: number) => Promise<readonly number[]> | readonly number[]) {}

  get isComplete(): boolean {
    return this.#wanted <= this.#reserved.length
  }

  want(count: number): void {
    this.#wanted = Math.max(this.#wanted, count)
  }

  next(): number {
    const id = this.#reserved[this.#taken]
    this.#taken += 1
    if (id !== undefined) return id
    this.want(this.#taken)
    throw MISSING
  }

  async load(tx: Tx): Promise<void> {
    this.#reserved = await this.reserve(tx, this.#wanted)
  }

  reset(): void {
    this.#taken = 0
  }
}
