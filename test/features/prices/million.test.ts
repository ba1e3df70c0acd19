import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  COUNT_KINDS,
  type CountKind,
  type Counts,
  PRICE_CEILING_PICOS,
  ratesOf,
  valueCounts,
} from '../../../src/features/prices/rates.ts'
import { runs } from '../../support/tier.ts'

const ROUNDS = runs(1_000_000, 20_000)
const COUNT_LIMIT = 1_000_000_000_000

/** Mulberry32: small, fast, and the same numbers for a seed on every machine. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

test('random counts and prices have the value of exact rationals, rounded half to even, within 64 bits', () => {
  const random = generator(fc.readConfigureGlobal().seed ?? 20_261_120)
  const upTo = (limit: number) => Math.floor(random() * (limit + 1))
  /** From a handful to the largest, each order of magnitude alike; the limits themselves now and then. */
  const spread = (limit: number) => (random() < 0.02 ? limit : upTo(Math.ceil(limit ** random())))

  const counts = {} as Counts
  const prices = {} as Record<CountKind, bigint>
  let wrong = 0
  let ties = 0
  let largest = 0n
  for (let round = 0; round < ROUNDS; round += 1) {
    let exact = 0n
    for (const kind of COUNT_KINDS) {
      counts[kind] = Math.min(COUNT_LIMIT, spread(COUNT_LIMIT))
      // Every fourth is a multiple of half a nano-dollar, so that sums often lie in the middle of two.
      const price = Math.min(Number(PRICE_CEILING_PICOS), spread(Number(PRICE_CEILING_PICOS)))
      prices[kind] = BigInt(round % 4 === 0 ? price - (price % 500) : price)
      exact += BigInt(counts[kind]) * prices[kind]
    }
    const valued = valueCounts(ratesOf({ ...prices, tiers: [] }), {
      counts,
      details: null,
      requests: null,
      startedAt: 0,
      endedAt: 0,
    })!
    // The exact value is `exact / 1000` nano-dollars: half up, and back by one where that was a tie to an odd one.
    const halfUp = (exact + 500n) / 1000n
    const isTie = exact % 1000n === 500n
    const expected = isTie && halfUp % 2n === 1n ? halfUp - 1n : halfUp
    if (valued.listValueNanos !== expected) wrong += 1
    if (isTie) ties += 1
    if (valued.listValueNanos > largest) largest = valued.listValueNanos
  }
  expect(wrong).toBe(0)
  expect(ties).toBeGreaterThan(ROUNDS / 100)
  expect(largest > 2n ** BigInt(runs(61, 60))).toBe(true)
  expect(largest < 2n ** 63n).toBe(true)
})

test('the largest counts at the highest price that can be forced fit 64 bits', () => {
  const largest = Object.fromEntries(COUNT_KINDS.map((kind) => [kind, COUNT_LIMIT])) as Counts
  const highest = Object.fromEntries(COUNT_KINDS.map((kind) => [kind, PRICE_CEILING_PICOS])) as never
  const rates = ratesOf({ ...(highest as Record<CountKind, bigint>), tiers: [] })
  const value = valueCounts(rates, {
    counts: largest,
    details: null,
    requests: null,
    startedAt: 0,
    endedAt: 0,
  })!.listValueNanos
  expect(value).toBe(9_000_000_000_000_000_000n)
  expect(BigInt.asIntN(64, value)).toBe(value)
})
