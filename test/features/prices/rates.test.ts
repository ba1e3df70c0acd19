import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  COUNT_KINDS,
  type Counts,
  PRICE_LIMIT_PICOS,
  type PriceTier,
  ratesOf,
  type TimedUsage,
  type TokenPrices,
  valueCounts,
} from '../../../src/features/prices/rates.ts'
import { usageDetails } from '../../../src/shared/usage.ts'

const NO_PRICES: TokenPrices = { input: null, output: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null }
const ZERO_COUNTS: Counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }

/** Claude Sonnet's list prices, 3 and 15 dollars per million, doubled above 200,000 tokens. */
const SONNET: TokenPrices = {
  input: 3_000_000n,
  output: 15_000_000n,
  cacheRead: 300_000n,
  cacheWrite: 3_750_000n,
  cacheWrite1h: 6_000_000n,
}
const SONNET_LONG: PriceTier = {
  fromTokens: 200_001,
  prices: {
    input: 6_000_000n,
    output: 22_500_000n,
    cacheRead: 600_000n,
    cacheWrite: 7_500_000n,
    cacheWrite1h: 12_000_000n,
  },
}

function worth(
  prices: Partial<TokenPrices>,
  counts: Partial<Counts>,
  {
    tiers = [],
    over200k,
    requests = null,
  }: { tiers?: PriceTier[]; over200k?: Partial<Counts>; requests?: number | null } = {},
) {
  const usage: TimedUsage = {
    counts: { ...ZERO_COUNTS, ...counts },
    details: usageDetails({
      requestsAbove: over200k ? [{ threshold: 200_000, counts: { ...ZERO_COUNTS, ...over200k } }] : null,
    }),
    requests,
    startedAt: 0,
    endedAt: 0,
  }
  return valueCounts(ratesOf({ ...NO_PRICES, ...prices, tiers }), usage)
}

describe('the list value of counts', () => {
  test('is the sum of the five disjoint counts, each at its own price', () => {
    const counts = { input: 522, output: 228, cacheRead: 20_982, cacheWrite: 3_066, cacheWrite1h: 600 }
    expect(worth(SONNET, counts)).toEqual({
      listValueNanos: 26_378_100n,
      note: null,
      parts: [
        { kind: 'input', fromTokens: null, tokens: 522, pricePicos: 3_000_000n, amountPicos: 1_566_000_000n },
        { kind: 'output', fromTokens: null, tokens: 228, pricePicos: 15_000_000n, amountPicos: 3_420_000_000n },
        { kind: 'cacheRead', fromTokens: null, tokens: 20_982, pricePicos: 300_000n, amountPicos: 6_294_600_000n },
        { kind: 'cacheWrite', fromTokens: null, tokens: 3_066, pricePicos: 3_750_000n, amountPicos: 11_497_500_000n },
        { kind: 'cacheWrite1h', fromTokens: null, tokens: 600, pricePicos: 6_000_000n, amountPicos: 3_600_000_000n },
      ],
      tools: [],
      multipliers: [],
    })
  })

  test('is rounded once per entry, half to even, not once per count', () => {
    // Two halves of a nano-dollar are one; rounded each they would be none.
    expect(worth({ input: 500n, output: 500n }, { input: 1, output: 1 })?.listValueNanos).toBe(1n)
    expect(worth({ input: 500n }, { input: 1 })?.listValueNanos).toBe(0n)
    expect(worth({ input: 500n }, { input: 3 })?.listValueNanos).toBe(2n)
    expect(worth({ input: 501n }, { input: 1 })?.listValueNanos).toBe(1n)
  })

  test('equals the exact sum rounded, for any prices that are allowed in and any counts, and fits 64 bits', () => {
    const count = fc.oneof(fc.integer({ min: 0, max: 1e12 }), fc.constant(1e12))
    const price = fc.oneof(fc.bigInt(0n, PRICE_LIMIT_PICOS), fc.constant(PRICE_LIMIT_PICOS))
    const five = <Value>(value: fc.Arbitrary<Value>) =>
      fc.record({ input: value, output: value, cacheRead: value, cacheWrite: value, cacheWrite1h: value })
    fc.assert(
      fc.property(five(count), five(price), (counts, prices) => {
        const { listValueNanos, parts } = worth(prices, counts)!
        const exact = COUNT_KINDS.reduce((sum, kind) => sum + BigInt(counts[kind]) * prices[kind], 0n)
        // The nearest integer is at most half a unit away, and an even one where it is exactly that.
        const twiceOff = 2n * (listValueNanos * 1000n - exact)
        expect(twiceOff <= 1000n && twiceOff >= -1000n).toBe(true)
        if (twiceOff === 1000n || twiceOff === -1000n) expect(listValueNanos % 2n).toBe(0n)
        expect(parts.reduce((sum, part) => sum + part.amountPicos, 0n)).toBe(exact)
        expect(listValueNanos < 2n ** 63n).toBe(true)
      }),
    )
  })

  test('fits 64 bits at the largest counts and prices', () => {
    const largest = { input: 1e12, output: 1e12, cacheRead: 1e12, cacheWrite: 1e12, cacheWrite1h: 1e12 }
    expect(worth({ input: PRICE_LIMIT_PICOS, output: PRICE_LIMIT_PICOS }, largest)?.listValueNanos).toBe(
      5_000_000_000_000_000_000n,
    )
  })
})

describe('an absent price', () => {
  test('of input or output leaves tokens of that kind unpriced', () => {
    expect(worth({ output: 1n }, { input: 1 })).toBeUndefined()
    expect(worth({ input: 1n }, { input: 1, output: 1 })).toBeUndefined()
  })

  test('does not matter where no such tokens were used', () => {
    expect(worth({ input: 1000n }, { input: 7 })?.listValueNanos).toBe(7n)
    expect(worth({}, {})?.listValueNanos).toBe(0n)
  })

  test('is not a price of 0, which is free', () => {
    expect(worth({ input: 0n, output: 0n }, { input: 5, output: 5 })).toMatchObject({
      listValueNanos: 0n,
      note: null,
    })
  })

  test('for writing to the one-hour cache is that of the five-minute cache', () => {
    expect(worth({ input: 1000n, cacheWrite: 1250n }, { cacheWrite1h: 4 })).toMatchObject({
      listValueNanos: 5n,
      note: null,
    })
  })

  test('for the cache is the input price, and the entry says so', () => {
    for (const kind of ['cacheRead', 'cacheWrite', 'cacheWrite1h'] as const) {
      expect(worth({ input: 1000n }, { [kind]: 4 })).toMatchObject({
        listValueNanos: 4n,
        note: 'cache_price_assumed',
      })
      expect(worth({ output: 1000n }, { [kind]: 4 })).toBeUndefined()
    }
    expect(worth({ input: 1000n }, { input: 4 })?.note).toBeNull()
  })
})

describe('a long-context price', () => {
  const tiers = [SONNET_LONG]

  test('holds for the single request of an entry whose input side reaches it', () => {
    const counts = { input: 1, cacheRead: 199_998, cacheWrite: 1, cacheWrite1h: 1, output: 10 }
    const valued = worth(SONNET, counts, { tiers, requests: 1 })
    expect(valued).toMatchObject({ listValueNanos: 6_000n + 119_998_800n + 7_500n + 12_000n + 225_000n, note: null })
    expect(valued?.parts.map((part) => part.fromTokens)).toEqual(Array(5).fill(200_001))
  })

  test('does not hold one token below, and output does not count as length', () => {
    const counts = { cacheRead: 200_000, output: 1_000_000 }
    expect(worth(SONNET, counts, { tiers, requests: 1 })).toMatchObject({
      listValueNanos: 60_000_000n + 15_000_000_000n,
      note: null,
    })
  })

  test('is the highest that the single request reaches', () => {
    const steps: PriceTier[] = [
      { fromTokens: 128_001, prices: { input: 2000n } },
      { fromTokens: 256_001, prices: { input: 3000n } },
    ]
    const perToken = (input: number) => worth({ input: 1000n }, { input }, { tiers: steps, requests: 1 })?.parts[0]
    expect(perToken(128_000)).toMatchObject({ pricePicos: 1000n, fromTokens: null })
    expect(perToken(128_001)).toMatchObject({ pricePicos: 2000n, fromTokens: 128_001 })
    expect(perToken(256_001)).toMatchObject({ pricePicos: 3000n, fromTokens: 256_001 })
  })

  test('holds for the share over 200,000 and the base price for the rest', () => {
    const counts = { input: 100, output: 20, cacheRead: 500_000 }
    const over200k = { output: 5, cacheRead: 210_000 }
    for (const fromTokens of [200_000, 200_001]) {
      expect(worth(SONNET, counts, { tiers: [{ ...SONNET_LONG, fromTokens }], over200k, requests: 9 })).toMatchObject({
        listValueNanos: 300_000n + 225_000n + 112_500n + 87_000_000n + 126_000_000n,
        note: null,
      })
    }
  })

  test('is not used where a sum reaches it and nothing is known of single requests, and the entry says so', () => {
    const counts = { input: 200_001 }
    const base = { listValueNanos: 600_003_000n, note: 'tier_uncertain' }
    expect(worth(SONNET, counts, { tiers })).toMatchObject(base)
    expect(worth(SONNET, counts, { tiers, requests: 2 })).toMatchObject(base)
    expect(worth(SONNET, { input: 200_000 }, { tiers })?.note).toBeNull()
    expect(worth(SONNET, counts)?.note).toBeNull()
  })

  test('is certain not to hold where no request was over 200,000', () => {
    const later = { ...SONNET_LONG, fromTokens: 272_000 }
    for (const tier of [SONNET_LONG, later]) {
      expect(worth(SONNET, { input: 900_000 }, { tiers: [tier], over200k: {} })).toMatchObject({
        listValueNanos: 2_700_000_000n,
        note: null,
      })
    }
  })

  test('that begins elsewhere than at 200,000 stays uncertain where the share over 200,000 could reach it', () => {
    const later = [{ ...SONNET_LONG, fromTokens: 272_000 }]
    const earlier = [{ ...SONNET_LONG, fromTokens: 128_001 }]
    const uncertain = (tiers: PriceTier[], input: number) =>
      worth(SONNET, { input: 900_000 }, { tiers, over200k: { input } })
    expect(uncertain(later, 272_000)).toMatchObject({ listValueNanos: 2_700_000_000n, note: 'tier_uncertain' })
    expect(uncertain(later, 271_999)).toMatchObject({ listValueNanos: 2_700_000_000n, note: null })
    expect(uncertain(earlier, 0)).toMatchObject({ listValueNanos: 2_700_000_000n, note: 'tier_uncertain' })
    // Every request over 200,000 is also over 128,000, and requests that use 128,000 together are not.
    expect(uncertain(earlier, 900_000)).toMatchObject({ listValueNanos: 5_400_000_000n, note: null })
    expect(uncertain(earlier, 772_000)).toMatchObject({ listValueNanos: 5_016_000_000n, note: null })
    expect(uncertain(earlier, 771_999)).toMatchObject({ listValueNanos: 5_015_997_000n, note: 'tier_uncertain' })
  })

  test('leaves kinds that it does not name at the price below', () => {
    const onlyInput = [
      { fromTokens: 100_001, prices: { output: 4000n } },
      { fromTokens: 200_001, prices: { input: 9000n } },
    ]
    const counts = { input: 300_000, output: 1, cacheRead: 1 }
    const valued = worth({ input: 1000n, output: 2000n }, counts, { tiers: onlyInput, requests: 1 })
    expect(valued?.parts.map((part) => part.pricePicos)).toEqual([9000n, 4000n, 9000n])
    expect(valued?.note).toBe('cache_price_assumed')
  })

  test('and an assumed cache price are both noted, with a comma between', () => {
    const counts = { input: 200_001, cacheRead: 1 }
    expect(worth({ input: 1000n }, counts, { tiers })?.note).toBe('cache_price_assumed,tier_uncertain')
  })
})
