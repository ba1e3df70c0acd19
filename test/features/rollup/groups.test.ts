import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Groups } from '../../../src/features/rollup/groups.ts'
import { boundOf, exactAt, integersOf } from '../../../src/features/rollup/segment.ts'
import { runs } from '../../support/tier.ts'

interface Portion {
  keys: number[][]
  figures: (bigint | null)[][]
}

const KEYS = 3

/** Rows of three keys and two figures: small amounts, and some that doubles do not represent. */
const portion: fc.Arbitrary<Portion> = fc
  .array(
    fc.tuple(
      fc.integer({ min: -1, max: 3 }),
      fc.integer({ min: -1, max: 5_000 }),
      fc.integer({ min: 0, max: 1 }),
      fc.option(fc.bigInt({ min: -1_000n, max: 2n ** 40n })),
      fc.option(fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 62n }), fc.constant(1n))),
    ),
    { maxLength: 50 },
  )
  .map((rows) => ({
    keys: [0, 1, 2].map((at) => rows.map((row) => row[at] as number)),
    figures: [3, 4].map((at) => rows.map((row) => row[at] as bigint | null)),
  }))

function expected(portions: Portion[], keys: number): Map<string, (bigint | null)[]> {
  const sums = new Map<string, (bigint | null)[]>()
  for (const part of portions) {
    for (const row of part.keys[0]!.keys()) {
      const group = part.keys.slice(0, keys).map((values) => values[row]!)
      const sum = sums.get(group.join()) ?? [null, null]
      part.figures.forEach((values, at) => {
        const value = values[row]!
        if (value !== null) sum[at] = (sum[at] ?? 0n) + value
      })
      sums.set(group.join(), sum)
    }
  }
  return sums
}

test('sums are exact at any size, by any number of keys, whatever the portions', () => {
  fc.assert(
    fc.property(fc.array(portion, { maxLength: 6 }), fc.integer({ min: 0, max: KEYS }), (portions, keys) => {
      const groups = new Groups(keys, 2)
      for (const { keys: all, figures } of portions) {
        groups.add({
          length: all[0]!.length,
          keys: all.slice(0, keys).map((values) => Int32Array.from(values)),
          figures: figures.map((values) => {
            const integers = integersOf(values)
            return { integers, isNone: false, bound: boundOf(integers) }
          }),
        })
      }
      const rows = groups.rows()
      const found = Array.from({ length: rows.length }, (_, row): [string, (bigint | null)[]] => [
        rows.keys.map((values) => values[row]!).join(),
        rows.figures.map((integers) => exactAt(integers, row)),
      ])
      expect(new Map(found)).toEqual(expected(portions, keys))
      expect(found).toHaveLength(groups.size)
    }),
    { numRuns: runs(500, 100) },
  )
})

test('a hundred thousand groups keep apart', () => {
  const groups = new Groups(2, 1)
  const rows = Array.from({ length: 200_000 }, (_, row) => row % 100_000)
  const ones = integersOf(rows.map(() => 1))
  const keys = [Int32Array.from(rows, (row) => row % 317), Int32Array.from(rows, (row) => Math.floor(row / 317))]
  groups.add({
    length: rows.length,
    keys,
    figures: [{ integers: ones, isNone: false, bound: rows.length }],
  })
  const { length, figures } = groups.rows()
  expect(length).toBe(100_000)
  expect(figures[0]!.values.every((value) => value === 2)).toBe(true)
})
