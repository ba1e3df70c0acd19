import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  isStale,
  nextStep,
  type Part,
  sumOfParts,
  supplyingSource,
  type Totals,
} from '../../../src/features/entries/totals.ts'
import {
  COUNT_KINDS,
  mapCounts,
  requestsFrom,
  sumRequests,
  totalTokens,
  usageDetails,
  ZERO_COUNTS,
} from '../../../src/shared/usage.ts'
import { runs } from '../../support/tier.ts'

function totals(output: number, change: Partial<Totals> = {}): Totals {
  return {
    startedAt: 1_000,
    endedAt: 2_000,
    counts: { ...ZERO_COUNTS, output },
    details: null,
    requests: null,
    reportedCostNanos: null,
    activeMs: null,
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

describe('single requests of a chain', () => {
  const request = fc
    .record({ input: fc.oneof(fc.nat(50_000), fc.nat(400_000)), output: fc.nat(1_000), cacheRead: fc.nat(400_000) })
    .map((counts) => ({ ...ZERO_COUNTS, ...counts }))
  const growth = fc.record({ more: fc.array(request, { maxLength: 5 }), lock: fc.boolean(), searches: fc.nat(2) })
  const sum = (requests: Totals['counts'][]) =>
    mapCounts((kind) => requests.reduce((total, counts) => total + counts[kind], 0))

  test('sum to those of the session, wherever parts are locked, and never contradict their part', () => {
    const thresholds = [32_000, 200_000, 272_000]
    fc.assert(
      fc.property(fc.array(growth, { maxLength: 10 }), (reports) => {
        const chain: Part[] = []
        const all: Totals['counts'][] = []
        let uses = 0
        for (const [at, { more, lock, searches }] of reports.entries()) {
          all.push(...more)
          uses += searches
          const details = usageDetails({
            requestsAbove: sumRequests(all, thresholds),
            speed: 'fast',
            tools: { web_search: uses },
          })
          const said = totals(0, { counts: sum(all), details, requests: all.length, endedAt: 3_000 + at })
          const step = nextStep(chain, said)
          if (step.kind === 'shrunk') throw new Error(step.metric)
          if (step.kind === 'set') chain.splice(-1, 1, { ...step.usage, locked: false, costNanos: 1n })
          if (step.kind === 'append') chain.push({ ...step.usage, locked: false, costNanos: 1n })
          for (const threshold of thresholds) {
            const shares = chain.map((piece) => requestsFrom(piece, threshold + 1))
            expect(shares.every(({ isExact }) => isExact)).toBe(true)
            const long = all.filter((counts) => totalTokens(counts) - counts.output > threshold)
            expect(sum(shares.map(({ counts }) => counts))).toEqual(sum(long))
            for (const [index, { counts }] of shares.entries()) {
              for (const kind of COUNT_KINDS) expect(counts[kind]).toBeLessThanOrEqual(chain[index]!.counts[kind])
            }
          }
          expect(chain.reduce((total, { details: own }) => total + (own?.tools?.web_search ?? 0), 0)).toBe(uses)
          for (const { details: own } of chain) expect(own?.speed).toBe('fast')
          if (lock) chain.at(-1)!.locked = true
        }
      }),
      { numRuns: runs(500, 100) },
    )
  })

  test('of which an earlier part knows nothing are not known of the rest', () => {
    const counts = { ...ZERO_COUNTS, input: 900_000 }
    const earlier = { ...totals(0, { counts }), locked: true, costNanos: 1n }
    const all = { ...ZERO_COUNTS, input: 1_800_000 }
    const details = usageDetails({ requestsAbove: [{ threshold: 200_000, counts: all }] })
    const step = nextStep([earlier], totals(0, { counts: all, details, endedAt: 9_000 }))
    expect(step).toMatchObject({ kind: 'append', usage: { counts, details: null } })
  })
})

test('a part without uses of a tool lists none, whether the totals repeat the earlier ones or not', () => {
  const earlier = { ...totals(1, { details: usageDetails({ tools: { search: 2 } }) }), locked: true, costNanos: 1n }
  const known = { ...totals(2), locked: false, costNanos: 1n }
  const repeated = totals(3, { details: usageDetails({ tools: { search: 2 } }) })
  expect(nextStep([earlier, known], repeated)).toMatchObject({ kind: 'set', usage: { details: null } })
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
