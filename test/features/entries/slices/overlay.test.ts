import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { layOver, layOverDays, placeAmong, type Valued } from '../../../../src/features/entries/slices/overlay.ts'
import { inOrder, type Slice } from '../../../../src/features/entries/slices/slice.ts'
import type { Totals } from '../../../../src/features/entries/totals.ts'
import { requestsFrom, usageDetails, ZERO_COUNTS } from '../../../../src/shared/usage.ts'
import { runs } from '../../../support/tier.ts'

const HOUR = 3_600_000

function slice(day: number, branch: string, input: number, change: Partial<Totals> = {}): Slice {
  const startedAt = day * 24 * HOUR
  return {
    key: { day, place: branch === '' ? 0n : BigInt(branch.charCodeAt(branch.length - 1)) },
    ...{ project: undefined, ticket: undefined, labels: branch === '' ? undefined : { branch } },
    ...{ summary: undefined, estimated: false, startedAt, endedAt: startedAt + HOUR },
    ...{ counts: { ...ZERO_COUNTS, input }, details: null, requests: null, reportedCostNanos: null, activeMs: null },
    ...change,
  }
}

function totals(input: number, endedOn: number, change: Partial<Totals> = {}): Totals {
  const { key: _, ...rest } = slice(0, '', input, { endedAt: endedOn * 24 * HOUR + 2 * HOUR, ...change })
  return rest
}

const unpriced = () => null
const laidOver = (totals: Totals, slices: readonly Slice[], day: number, valued: Valued) =>
  layOver(totals, slices, { ...placeAmong(slices, day), startedAt: day * 24 * HOUR }, valued)
const shown = (slices: readonly Slice[]) =>
  slices.map(({ key, labels, counts, estimated }) => [key.day, labels?.branch, counts.input, estimated])

describe('totals of a client without slices', () => {
  test('that are more go to the last place, on the day of their end', () => {
    const slices = [slice(30, 'A-1', 1_000), slice(31, 'A-2', 500)]
    expect(shown(laidOver(totals(1_700, 51), slices, 51, unpriced))).toEqual([
      [30, 'A-1', 1_000, false],
      [31, 'A-2', 500, false],
      [51, 'A-2', 200, true],
    ])
  })

  test('that are less are divided as the slices are', () => {
    const slices = [slice(30, 'A-1', 600), slice(30, 'A-2', 400)]
    expect(shown(laidOver(totals(900, 30), slices, 30, unpriced))).toEqual([
      [30, 'A-1', 540, true],
      [30, 'A-2', 360, true],
    ])
  })

  test('that are equal change no figure', () => {
    const slices = [slice(30, 'A-1', 600, { reportedCostNanos: 5n, requests: 2 }), slice(30, 'A-2', 400)]
    expect(laidOver(totals(1_000, 30), slices, 30, unpriced)).toEqual(inOrder(slices))
  })

  test('have a cost that is divided by list value, else by tokens', () => {
    const slices = [slice(30, 'A-1', 600), slice(31, 'A-2', 400)]
    const costs = (valued: (usage: Totals) => bigint | null) =>
      laidOver(totals(1_000, 31, { reportedCostNanos: 100n }), slices, 31, valued).map(
        ({ reportedCostNanos }) => reportedCostNanos,
      )
    expect(costs(unpriced)).toEqual([60n, 40n])
    expect(costs(({ counts }) => (counts.input === 600 ? 1n : 3n))).toEqual([25n, 75n])
  })

  test('have no cost that was known of some slices only, or of other figures', () => {
    const costs = (total: Totals, each: (bigint | null)[]) => {
      const slices = [600, 400].map((input, at) => slice(30, `A-${at}`, input, { reportedCostNanos: each[at]! }))
      return laidOver(total, slices, 30, unpriced).map(({ reportedCostNanos }) => reportedCostNanos)
    }
    expect(costs(totals(1_000, 30, { reportedCostNanos: 100n }), [5n, null])).toEqual([60n, 40n])
    expect(costs(totals(900, 30), [5n, 5n])).toEqual([null, null])
    expect(costs(totals(1_100, 30), [5n, 5n])).toEqual([5n, null])
  })

  test('leave estimated what was', () => {
    const slices = [{ ...slice(30, 'A-1', 600), estimated: true }, slice(30, 'A-2', 400)]
    expect(laidOver(totals(1_000, 30), slices, 30, unpriced).map(({ estimated }) => estimated)).toEqual([true, false])
  })
})

describe('a source without places', () => {
  const files = [slice(30, 'A-1', 600), slice(30, 'A-2', 400)]

  test('is laid over one with places, day by day', () => {
    expect(shown(layOverDays([slice(30, '', 1_100)], files, [], unpriced))).toEqual([
      [30, 'A-1', 600, false],
      [30, 'A-2', 500, true],
    ])
    expect(shown(layOverDays([slice(30, '', 900)], files, [], unpriced))).toEqual([
      [30, 'A-1', 540, true],
      [30, 'A-2', 360, true],
    ])
  })

  test('takes the latest earlier place on a day that the other one lacks, else the first', () => {
    expect(shown(layOverDays([slice(29, '', 1), slice(40, '', 2)], files, [], unpriced))).toEqual([
      [29, 'A-1', 1, true],
      [40, 'A-2', 2, true],
    ])
    expect(shown(layOverDays([slice(31, '', 7)], [], files, unpriced))).toEqual([[31, 'A-2', 7, true]])
  })
})

test('whatever is laid over whatever, the sum is that of the totals, and equal figures stay', () => {
  const count = fc.integer({ min: 0, max: 40 })
  const usage = fc
    .record({
      input: count,
      output: count,
      long: count,
      search: count,
      requests: fc.option(count),
      cost: fc.option(count),
    })
    .map(({ input, output, long, search, requests, cost }) => ({
      counts: { ...ZERO_COUNTS, input, output },
      details: usageDetails({
        requestsAbove: [{ threshold: 200_000, counts: { ...ZERO_COUNTS, input: Math.min(long, input) } }],
        tools: search > 0 ? { search } : null,
      }),
      requests,
      reportedCostNanos: cost === null ? null : BigInt(cost),
    }))
  const slices = fc
    .uniqueArray(fc.record({ day: fc.integer({ min: 0, max: 3 }), branch: fc.constantFrom('a', 'b', ''), usage }), {
      minLength: 1,
      maxLength: 6,
      selector: ({ day, branch }) => `${day} ${branch}`,
    })
    .map((each) => each.map(({ day, branch, usage }) => slice(day, branch, 0, usage)))
  fc.assert(
    fc.property(slices, usage, fc.integer({ min: 0, max: 4 }), (placed, usage, day) => {
      const whole = totals(0, day, usage)
      const laid = laidOver(whole, placed, day, unpriced)
      const sum = (get: (each: Totals) => number | bigint) =>
        laid.reduce((total, each) => total + BigInt(get(each)), 0n)
      expect(sum(({ counts }) => counts.input)).toBe(BigInt(whole.counts.input))
      expect(sum(({ counts }) => counts.output)).toBe(BigInt(whole.counts.output))
      expect(sum(({ details }) => details?.tools?.search ?? 0)).toBe(BigInt(whole.details?.tools?.search ?? 0))
      expect(sum((each) => requestsFrom(each, 200_001).counts.input)).toBe(
        BigInt(requestsFrom(whole, 200_001).counts.input),
      )
      if (whole.requests !== null) expect(sum(({ requests }) => requests!)).toBe(BigInt(whole.requests))
      if (whole.reportedCostNanos !== null) {
        expect(sum(({ reportedCostNanos }) => reportedCostNanos!)).toBe(whole.reportedCostNanos)
      }
      for (const each of laid) {
        if (each.estimated) continue
        const before = placed.find(({ key }) => key.day === each.key.day && key.place === each.key.place)!
        expect(each.counts).toEqual(before.counts)
      }
    }),
    { numRuns: runs(1_000) },
  )
})
