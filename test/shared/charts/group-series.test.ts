import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { MOST_COLORS, REST_COLOR } from '../../../src/shared/charts/colors.ts'
import { groupSeries } from '../../../src/shared/charts/group-series.ts'

interface Result {
  name: string | undefined
  amount: number
}

const seriesOf = (buckets: Result[][], hasRest = true) =>
  groupSeries(buckets, {
    idOf: ({ name }) => name,
    labelOf: ({ name }) => name ?? 'None',
    sumOf: (results) => results.reduce((sum, { amount }) => sum + amount, 0),
    hasRest,
  })

test('the series of a chart add up to each bucket, whatever its groups are', () => {
  const result = fc.record({
    name: fc.option(fc.constantFrom(...'abcdefghijklmn'), { nil: undefined }),
    amount: fc.nat(50),
  })
  fc.assert(
    fc.property(fc.array(fc.array(result), { minLength: 1 }), (buckets) => {
      const series = seriesOf(buckets)
      for (const [at, results] of buckets.entries()) {
        const whole = results.reduce((sum, { amount }) => sum + amount, 0)
        expect(series.reduce((sum, { values }) => sum + values[at]!, 0)).toBe(whole)
      }
      const named = series.filter(({ id }) => id !== undefined)
      expect(named.length).toBeLessThanOrEqual(MOST_COLORS)
      expect(new Set(named.map(({ color }) => color)).size).toBe(named.length)
    }),
  )
})

test('the others have no color of their own, and the name of the only one', () => {
  const buckets = [
    [{ name: 'a', amount: 2 }],
    [
      { name: undefined, amount: 9 },
      { name: 'b', amount: 3 },
    ],
  ]
  const rest = { id: undefined, label: 'None', color: REST_COLOR, values: [0, 9] }
  expect(seriesOf(buckets).map(({ label, values }) => [label, values])).toEqual([
    ['b', [0, 3]],
    ['a', [2, 0]],
    ['None', [0, 9]],
  ])
  expect(seriesOf(buckets).at(-1)).toEqual(rest)
  expect(seriesOf(buckets, false).map(({ label }) => label)).toEqual(['b', 'a'])
})
