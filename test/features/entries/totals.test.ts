import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  COUNT_KINDS,
  isStale,
  mapCounts,
  nextStep,
  type Part,
  sumOfParts,
  supplyingSource,
  type Totals,
  totalTokens,
  ZERO_COUNTS,
} from '../../../src/features/entries/totals.ts'

function totals(output: number, change: Partial<Totals> = {}): Totals {
  return {
    startedAt: 1_000,
    endedAt: 2_000,
    counts: { ...ZERO_COUNTS, output },
    details: null,
    requests: null,
    reportedCostNanos: null,
    ...change,
  }
}

function part(output: number, change: Partial<Part> = {}): Part {
  return { ...totals(output), locked: false, costNanos: 0n, ...change }
}

describe('a chain of parts', () => {
  test('begins with the totals themselves', () => {
    expect(nextStep([], totals(5))).toEqual({ kind: 'set', usage: totals(5) })
  })

  test('gives its unlocked last part what the earlier parts do not hold', () => {
    const step = nextStep(
      [part(5, { locked: true, endedAt: 2_000 }), part(2, { startedAt: 2_000, endedAt: 3_000 })],
      totals(9, { endedAt: 4_000 }),
    )
    expect(step).toMatchObject({ kind: 'set', usage: { counts: { output: 4 }, startedAt: 2_000, endedAt: 4_000 } })
  })

  test('adds a part behind a locked one that starts where it ended', () => {
    const step = nextStep([part(5, { locked: true, endedAt: 2_000 })], totals(9, { endedAt: 4_000 }))
    expect(step).toMatchObject({ kind: 'append', usage: { counts: { output: 4 }, startedAt: 2_000, endedAt: 4_000 } })
  })

  test('stays as it is where nothing came on top of a locked part', () => {
    expect(nextStep([part(5, { locked: true })], totals(5, { endedAt: 9_000 }))).toEqual({ kind: 'unchanged' })
  })

  test('refuses counts below what locked parts hold', () => {
    expect(nextStep([part(5, { locked: true })], totals(4))).toEqual({ kind: 'shrunk', metric: 'output' })
  })

  test('refuses a reported cost below the cost of locked parts, whether that was reported or valued', () => {
    const locked = part(5, { locked: true, costNanos: 100n })
    expect(nextStep([locked], totals(6, { reportedCostNanos: 99n }))).toEqual({ kind: 'shrunk', metric: 'cost' })
    expect(nextStep([locked], totals(6, { reportedCostNanos: 130n }))).toMatchObject({
      usage: { reportedCostNanos: 30n },
    })
  })

  test('lets an unlocked part shrink, since a later report knows better', () => {
    expect(nextStep([part(5)], totals(3))).toMatchObject({ kind: 'set', usage: { counts: { output: 3 } } })
  })

  test('keeps the start of the session when it is resumed', () => {
    expect(nextStep([part(5)], totals(7, { startedAt: 1_500, endedAt: 5_000 }))).toMatchObject({
      usage: { startedAt: 1_000 },
    })
  })

  test('sums to the totals after any series of growing reports and locks', () => {
    const counts = fc.record(
      Object.fromEntries(COUNT_KINDS.map((kind) => [kind, fc.nat(1_000_000)])) as never,
    ) as fc.Arbitrary<Totals['counts']>
    const growth = fc.record({
      more: counts,
      cost: fc.option(fc.bigInt({ min: 0n, max: 10n ** 12n })),
      lock: fc.boolean(),
      after: fc.nat(10_000),
    })
    fc.assert(
      fc.property(fc.array(growth, { maxLength: 12 }), (reports) => {
        const chain: Part[] = []
        let said = totals(0, { counts: ZERO_COUNTS })
        let cost = 0n
        for (const { more, cost: moreCost, lock, after } of reports) {
          cost += moreCost ?? 0n
          said = {
            ...said,
            counts: mapCounts((kind) => said.counts[kind] + more[kind]),
            endedAt: said.endedAt + after,
            reportedCostNanos: cost,
          }
          const step = nextStep(chain, said)
          if (step.kind === 'shrunk') throw new Error(step.metric)
          if (step.kind === 'set')
            chain.splice(-1, 1, { ...step.usage, locked: false, costNanos: step.usage.reportedCostNanos })
          if (step.kind === 'append')
            chain.push({ ...step.usage, locked: false, costNanos: step.usage.reportedCostNanos })
          const sum = sumOfParts(chain)
          expect(sum.counts).toEqual(said.counts)
          expect(sum.costNanos).toBe(cost)
          for (const piece of chain) expect(piece.endedAt).toBeGreaterThanOrEqual(piece.startedAt)
          if (lock && chain.length > 0) chain.at(-1)!.locked = true
        }
      }),
    )
  })
})

describe('of two reports', () => {
  test('the later end wins', () => {
    expect(isStale(totals(1, { endedAt: 3_000 }), totals(9))).toBe(false)
    expect(isStale(totals(9, { endedAt: 1_999 }), totals(1))).toBe(true)
  })

  test('the larger total wins where both end together', () => {
    expect(isStale(totals(1), totals(2))).toBe(true)
    expect(isStale(totals(2), totals(2))).toBe(false)
  })
})

test('the source with the most output tokens supplies the session, on a tie report before log before span before metric', () => {
  expect(
    supplyingSource(
      new Map([
        ['metric', 9],
        ['report', 8],
      ]),
    ),
  ).toBe('metric')
  expect(
    supplyingSource(
      new Map([
        ['metric', 9],
        ['span', 9],
        ['log', 9],
      ]),
    ),
  ).toBe('log')
  expect(
    supplyingSource(
      new Map([
        ['metric', 9],
        ['report', 9],
      ]),
    ),
  ).toBe('report')
})

test('the total of tokens is the sum of the five disjoint counts', () => {
  expect(totalTokens({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cacheWrite1h: 5 })).toBe(15)
})
