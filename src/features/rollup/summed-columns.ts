/** The result of adding up entries, as columns. */
import type { Integers } from './column.ts'
import { type GroupedRows, Groups, type RowFigure } from './groups.ts'
import type { Merge } from './merges.ts'
import { boundOf } from './segment.ts'

/** One row per bucket and group, in the order of the buckets. */
export interface SummedColumns {
  length: number
  buckets: Int32Array
  /** By grouping: ids of rows, keys of texts, or indices of `texts`; -1 is null. */
  keys: Int32Array[]
  /** By grouping: the values of its label. */
  texts: (readonly string[] | undefined)[]
  entries: Float64Array
  unpricedEntries: Float64Array
  /** Entries whose session continued past the end of the bucket. */
  straddling: Float64Array
  /** As requested. */
  figures: Integers[]
}

/** The sum of all rows of one bucket. */
export function totalOf({ length, straddling, entries, unpricedEntries, figures }: SummedColumns): SummedColumns {
  const counts = [straddling, entries, unpricedEntries].map((values): Integers => ({ values }))
  const groups = new Groups(0, counts.length + figures.length)
  groups.add({ length, keys: [], figures: [...counts, ...figures].map(figureOfIntegers) })
  const result = new SummedGroups([])
  result.addRows(0, groups.rows())
  return result.columns(undefined)
}

/** Collects the groups of buckets. */
export class SummedGroups {
  length = 0
  readonly #parts: { bucket: number; rows: GroupedRows }[] = []

  constructor(readonly merges: readonly (Merge | undefined)[]) {}

  async add(bucket: number, rows: GroupedRows): Promise<void> {
    this.addRows(bucket, await this.#merged(rows))
  }

  addRows(bucket: number, rows: GroupedRows): void {
    if (rows.length === 0) return
    this.#parts.push({ bucket, rows })
    this.length += rows.length
  }

  /** Groups by what the keys are merged into. */
  async #merged(rows: GroupedRows): Promise<GroupedRows> {
    if (this.merges.every((merge) => merge === undefined) || rows.length === 0) return rows
    const groups = new Groups(rows.keys.length, rows.figures.length)
    const keys: Int32Array[] = []
    for (const [at, merge] of this.merges.entries()) {
      keys.push(merge ? await merge.of(rows.keys[at]!) : rows.keys[at]!)
    }
    groups.add({
      length: rows.length,
      keys,
      figures: rows.figures.map(figureOfIntegers),
    })
    return groups.rows()
  }

  columns(limit: number | undefined): SummedColumns {
    const length = Math.min(this.length, limit ?? this.length)
    const buckets = new Int32Array(length)
    const keys = this.merges.map(() => new Int32Array(length))
    const [straddling, entries, unpriced, ...figures] = this.#joined(length)
    let at = 0
    for (const { bucket, rows } of this.#parts) {
      const count = Math.min(rows.length, length - at)
      buckets.fill(bucket, at, at + count)
      for (const [index, values] of keys.entries()) values.set(rows.keys[index]!.subarray(0, count), at)
      at += count
    }
    return {
      length,
      buckets,
      keys,
      texts: this.merges.map((merge) => merge?.texts),
      straddling: countsOf(straddling, length),
      entries: countsOf(entries, length),
      unpricedEntries: countsOf(unpriced, length),
      figures,
    }
  }

  #joined(length: number): Integers[] {
    const count = this.#parts[0]?.rows.figures.length ?? 0
    return Array.from({ length: count }, (_, index) => {
      const values = new Float64Array(length)
      const beyond = new Map<number, bigint>()
      let at = 0
      for (const { rows } of this.#parts) {
        const part = rows.figures[index]!
        const taken = Math.min(rows.length, length - at)
        values.set(part.values.subarray(0, taken), at)
        for (const [row, exact] of part.beyond ?? []) if (row < taken) beyond.set(at + row, exact)
        at += taken
      }
      return { values, beyond: beyond.size > 0 ? beyond : undefined }
    })
  }
}

/** Counts are never null; a group without rows in a source has no value of it. */
function countsOf(integers: Integers | undefined, length: number): Float64Array {
  return integers ? integers.values.map((value) => (Number.isNaN(value) ? 0 : value)) : new Float64Array(length)
}

export function figureOfIntegers(integers: Integers): RowFigure {
  return { integers, isNone: false, bound: boundOf(integers) }
}
