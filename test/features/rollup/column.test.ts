import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Integers,
  packColumn,
  packTogether,
  readColumn,
  unpackTogether,
} from '../../../src/features/rollup/column.ts'
import { exactAt, integersOf } from '../../../src/features/rollup/segment.ts'
import { runs } from '../../support/tier.ts'

/** Integers of every width, with nulls. */
const column = fc
  .tuple(fc.integer({ min: 0, max: 70 }), fc.boolean(), fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }))
  .chain(([bits, hasNulls, base]) => {
    const value = fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) }).map((offset) => base / 2n ** 20n + offset)
    return fc.array(hasNulls ? fc.option(value) : value, { maxLength: 40 })
  })

function exact(integers: Integers): (bigint | null)[] {
  return Array.from(integers.values, (_, at) => exactAt(integers, at))
}

test('a column keeps every integer and null, and knows its range and a bound of its sum', () => {
  fc.assert(
    fc.property(column, fc.infiniteStream(fc.boolean()), (values, choices) => {
      const read = readColumn(packColumn(integersOf(values)))
      expect(read.length).toBe(values.length)
      expect(exact(read.integers())).toEqual(values)
      const rows = [...values.keys()].filter(() => choices.next().value)
      expect(exact(read.integers(Int32Array.from(rows)))).toEqual(rows.map((row) => values[row]!))
      const known = values.filter((value) => value !== null)
      const absolute = known.reduce((sum, value) => sum + (value < 0n ? -value : value), 0n)
      expect(read.bound).toBeGreaterThanOrEqual(Number(absolute))
      if (known.length === 0) expect(read.range).toBeUndefined()
      for (const value of known) {
        expect(Number(value)).toBeGreaterThanOrEqual(read.range!.min)
        expect(Number(value)).toBeLessThanOrEqual(read.range!.max)
      }
    }),
    { numRuns: runs(2_000) },
  )
})

test('keys are integers with -1 for null', () => {
  const keys = fc.array(fc.option(fc.integer({ min: 0, max: 2 ** 31 - 1 })), { maxLength: 40 })
  fc.assert(
    fc.property(keys, (values) => {
      const read = readColumn(packColumn(integersOf(values)))
      expect([...read.keys()]).toEqual(values.map((value) => value ?? -1))
      const rows = Int32Array.from(values.keys()).filter((row) => row % 3 === 0)
      expect([...read.keys(rows)]).toEqual(Array.from(rows, (row) => values[row] ?? -1))
    }),
  )
})

test('a column takes as few bytes as its range needs', () => {
  const bytes = (values: (number | bigint | null)[]) => (packColumn(integersOf(values)).byteLength - 32) / values.length
  expect(bytes([7, 7, 7, 7])).toBe(0)
  expect(bytes([null, null])).toBe(0)
  expect(bytes([1_000_000_000_000, 1_000_000_000_255])).toBe(1)
  expect(bytes([0, 255, null, 1])).toBe(2)
  expect(bytes([0, 65_536])).toBe(3)
  expect(bytes([0, 2 ** 40])).toBe(6)
  expect(bytes([0, 2 ** 48])).toBe(8)
  expect(bytes([0, 2n ** 60n])).toBe(16)
})

test('columns that are stored together are read as they were, at any place in memory', () => {
  const columns = fc
    .array(column, { maxLength: 6 })
    .map((all) => all.map((values, at) => ({ number: 3 * at, data: packColumn(integersOf(values)) })))
  fc.assert(
    fc.property(columns, fc.integer({ min: 0, max: 9 }), (packed, offset) => {
      const together = packTogether(packed)
      const moved = new Uint8Array(together.byteLength + offset)
      moved.set(together, offset)
      const unpacked = unpackTogether(moved.subarray(offset))
      expect(unpacked.map(({ number, data }) => [number, [...data]])).toEqual(
        packed.map(({ number, data }) => [number, [...data]]),
      )
    }),
  )
})
