/** Long requests, service tiers, speeds, regions, hours, tools and media, against exact fractions. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type Adjustment,
  COUNT_KINDS,
  type Counts,
  extraPrices,
  type PriceHours,
  type PriceRow,
  type PriceTier,
  type PriceVariant,
  ratesOf,
  type TimedUsage,
  valueCounts,
} from '../../../src/features/prices/rates.ts'
import { divideHalfEven } from '../../../src/lib/money.ts'
import { REQUEST_THRESHOLDS } from '../../../src/lib/request-thresholds.ts'
import { requestsFrom, SERVICE_KINDS, sumRequests, type UsageDetails, usageDetails } from '../../../src/shared/usage.ts'

const ZERO_COUNTS: Counts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }
const NO_PRICES = { input: null, output: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null }
const ROW: Omit<PriceRow, 'tiers'> = {
  provider: 'openai',
  model: 'gpt-5.4',
  ...NO_PRICES,
  input: 2_500_000n,
  output: 15_000_000n,
  cacheRead: 250_000n,
  effectiveFrom: null,
}
const PLAIN = { multiplier: null, prices: {}, tiers: [] }

function lengthOf({ input, cacheRead, cacheWrite, cacheWrite1h }: Counts): number {
  return input + cacheRead + cacheWrite + cacheWrite1h
}

function sumOf(requests: Counts[]): Counts {
  const sum = { ...ZERO_COUNTS }
  for (const request of requests) for (const kind of COUNT_KINDS) sum[kind] += request[kind]
  return sum
}

function usageOf(counts: Partial<Counts>, details: Partial<UsageDetails> = {}, more: Partial<TimedUsage> = {}) {
  const usage = { counts: { ...ZERO_COUNTS, ...counts }, details: usageDetails(details), requests: null }
  return { ...usage, startedAt: 0, endedAt: 0, ...more } as TimedUsage
}

/** A session of these requests, of which the sums above the thresholds are known. */
function sessionOf(requests: Counts[], thresholds: readonly number[], details: Partial<UsageDetails> = {}) {
  const known = { ...details, requestsAbove: sumRequests(requests, thresholds) }
  return usageOf(sumOf(requests), known, { requests: requests.length })
}

const count = (max: number) => fc.oneof(fc.nat(max), fc.constant(0))
const requestOf = (lengths: readonly number[]): fc.Arbitrary<Counts> =>
  fc
    .record({
      length: fc.oneof(
        fc.nat(700_000),
        fc.constantFrom(...lengths.flatMap((each) => [each - 2, each - 1, each, each + 1])),
      ),
      cacheRead: fc.nat(100),
      cacheWrite: fc.nat(10),
      cacheWrite1h: fc.nat(10),
      output: count(50_000),
    })
    .map(({ length, output, ...shares }) => {
      const part = (share: number) => Math.floor((Math.max(0, length) * share) / 130)
      const [cacheRead, cacheWrite, cacheWrite1h] = [shares.cacheRead, shares.cacheWrite, shares.cacheWrite1h].map(part)
      const input = Math.max(0, length) - cacheRead! - cacheWrite! - cacheWrite1h!
      return { input, output, cacheRead: cacheRead!, cacheWrite: cacheWrite!, cacheWrite1h: cacheWrite1h! }
    })

const price = fc.bigInt(0n, 100_000_000n)
const five = fc.record({ input: price, output: price, cacheRead: price, cacheWrite: price, cacheWrite1h: price })
const tiersAt = (lengths: number[]): fc.Arbitrary<PriceTier[]> =>
  fc.tuple(...lengths.map((fromTokens) => five.map((prices) => ({ fromTokens, prices }))))
/** With prices at the lengths of the row, because a price that is left out is noted. */
const adjustmentOf = (lengths: number[]): fc.Arbitrary<Adjustment> =>
  fc.oneof(
    fc.bigInt(1n, 6_000_000n).map((multiplier) => ({ ...PLAIN, multiplier })),
    fc.tuple(five, tiersAt(lengths)).map(([prices, tiers]) => ({ multiplier: null, prices, tiers })),
  )
const NAMES = { serviceTier: 'batch', speed: 'fast', region: 'us' }

/** The exact value as a fraction of pico-dollars, one request at a time. */
function exactly(row: PriceRow, requests: Counts[], service: Partial<UsageDetails>, searches: number) {
  let [numerator, denominator] = [0n, 1n]
  const variants = SERVICE_KINDS.flatMap(
    (kind) => row.extras?.variants.find((one) => one.kind === kind && one.name === service[kind]) ?? [],
  )
  const listed = variants.find(({ multiplier }) => multiplier === null)
  for (const request of requests) {
    const tiers = (listed ?? row).tiers.filter(({ fromTokens }) => fromTokens <= lengthOf(request))
    const prices = { ...row, ...listed?.prices, ...tiers.at(-1)?.prices } as unknown as Record<string, bigint>
    for (const kind of COUNT_KINDS) numerator += BigInt(request[kind]) * prices[kind]!
  }
  for (const { multiplier } of variants) {
    if (multiplier === null) continue
    numerator *= multiplier
    denominator *= 1_000_000n
  }
  return { numerator: numerator + BigInt(searches) * (row.extras?.tools.web_search ?? 0n) * denominator, denominator }
}

const session = fc
  .uniqueArray(fc.integer({ min: 1_000, max: 600_000 }), { maxLength: 4 })
  .map((lengths) => lengths.sort((one, other) => one - other))
  .chain((lengths) =>
    fc.record({
      lengths: fc.constant(lengths),
      prices: five,
      tiers: tiersAt(lengths),
      variants: fc.tuple(adjustmentOf(lengths), adjustmentOf(lengths), adjustmentOf(lengths)),
      search: fc.bigInt(0n, 10n ** 11n),
      requests: fc.array(requestOf(lengths.length > 0 ? lengths : [0]), { minLength: 1, maxLength: 12 }),
      chosen: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
      searches: fc.nat(5),
    }),
  )

function rowOf({
  prices,
  tiers,
  variants,
  search,
}: Pick<
  typeof session extends fc.Arbitrary<infer Of> ? Of : never,
  'prices' | 'tiers' | 'variants' | 'search'
>): PriceRow {
  // Prices of several variants together are listed by nobody, so all but the first are multipliers here.
  let isListed = false
  const extras = extraPrices({
    tools: { web_search: search },
    variants: variants.map((variant, at) => {
      const adjustment = isListed && variant.multiplier === null ? { ...PLAIN, multiplier: 500_000n } : variant
      isListed ||= variant.multiplier === null
      const kind = SERVICE_KINDS[at]!
      return { kind, name: NAMES[kind], ...adjustment }
    }),
  })
  return { ...ROW, ...prices, tiers, extras }
}

function serviceOf(chosen: readonly boolean[]): Partial<UsageDetails> {
  return Object.fromEntries(SERVICE_KINDS.flatMap((kind, at) => (chosen[at] ? [[kind, NAMES[kind]]] : [])))
}

describe('a session of known requests', () => {
  test('is worth the sum of its requests valued alone, rounded once', () => {
    fc.assert(
      fc.property(session, ({ lengths, requests, chosen, searches, ...given }) => {
        const row = rowOf(given)
        const service = serviceOf(chosen)
        const { numerator, denominator } = exactly(row, requests, service, searches)
        const tools = searches > 0 ? { web_search: searches } : null
        const usage = sessionOf(
          requests,
          lengths.map((length) => length - 1),
          { ...service, tools },
        )
        const value = valueCounts(ratesOf(row), usage)!
        expect(value.note).toBeNull()
        expect(value.listValueNanos).toBe(divideHalfEven(numerator, 1_000n * denominator))
      }),
      { numRuns: 2_000 },
    )
  })

  test('is worth at another table’s prices what its requests are, or notes that this is uncertain', () => {
    let exact = 0
    fc.assert(
      fc.property(session, ({ lengths, requests, chosen, searches, ...given }) => {
        // A threshold of 200,000 stands for a tier from 200,000 on as well, as some vendors have.
        fc.pre(requests.every((request) => !REQUEST_THRESHOLDS.includes(lengthOf(request))))
        const row = rowOf(given)
        const service = serviceOf(chosen)
        const { numerator, denominator } = exactly(row, requests, service, searches)
        const usage = sessionOf(requests, REQUEST_THRESHOLDS, { ...service, tools: { web_search: searches } })
        const value = valueCounts(ratesOf(row), usage)!
        if (value.note === 'tier_uncertain') return
        exact += 1
        expect(value.note).toBeNull()
        expect(value.listValueNanos).toBe(divideHalfEven(numerator, 1_000n * denominator))
      }),
      { numRuns: 2_000 },
    )
    expect(exact).toBeGreaterThan(500)
  })

  test('of two requests of 300,000 tokens at the prices of GPT-5.4 costs $4.29', () => {
    const tiers = [{ fromTokens: 272_001, prices: { input: 5_000_000n, output: 22_500_000n, cacheRead: 500_000n } }]
    const request = { ...ZERO_COUNTS, input: 280_000, cacheRead: 20_000, output: 66_444 }
    const usage = sessionOf([request, request], REQUEST_THRESHOLDS)
    // 2 × (280,000 × 5 + 20,000 × 0.5 + 66,444 × 22.5) / 10⁶
    expect(valueCounts(ratesOf({ ...ROW, tiers }), usage)).toMatchObject({ listValueNanos: 5_809_980_000n, note: null })
    const small = { ...ZERO_COUNTS, input: 300_000, output: 28_667 }
    expect(valueCounts(ratesOf({ ...ROW, tiers }), sessionOf([small, small], REQUEST_THRESHOLDS))).toMatchObject({
      listValueNanos: 4_290_015_000n,
      note: null,
    })
  })

  test('has few sums: none that the others imply', () => {
    const request = (input: number) => ({ ...ZERO_COUNTS, input })
    const thresholds = (requests: Counts[]) =>
      sumRequests(requests, REQUEST_THRESHOLDS).map(({ threshold, counts }) => [threshold, counts.input])
    expect(thresholds([request(10)])).toEqual([[32_000, 0]])
    expect(thresholds([request(300_000)])).toEqual([
      [32_000, 300_000],
      [272_000, 300_000],
      [512_000, 0],
    ])
    expect(requestsFrom(sessionOf([request(300_000), request(5)], REQUEST_THRESHOLDS), 200_001)).toMatchObject({
      counts: { input: 300_000 },
      isExact: true,
    })
  })
})

function worth(extras: Parameters<typeof extraPrices>[0], usage: TimedUsage, tiers: PriceTier[] = []) {
  return valueCounts(ratesOf({ ...ROW, tiers, extras: extraPrices(extras) }), usage)
}

const variant = (kind: PriceVariant['kind'], name: string, adjustment: Partial<Adjustment>): PriceVariant => ({
  kind,
  name,
  ...PLAIN,
  ...adjustment,
})

describe('a service', () => {
  const variants = [
    variant('serviceTier', 'batch', { multiplier: 500_000n }),
    variant('serviceTier', 'flex', { prices: { input: 1_000_000n } }),
    variant('speed', 'fast', { multiplier: 6_000_000n }),
    variant('region', 'us', { multiplier: 1_100_000n }),
  ]
  const million = { input: 1_000_000 }

  test('has its multiplier, and several stack', () => {
    expect(worth({ variants }, usageOf(million, { serviceTier: 'batch' }))).toMatchObject({
      listValueNanos: 1_250_000_000n,
      note: null,
      multipliers: [{ kind: 'serviceTier', name: 'batch', multiplier: 500_000n }],
    })
    expect(worth({ variants }, usageOf(million, { speed: 'fast', region: 'us' }))?.listValueNanos).toBe(16_500_000_000n)
  })

  test('without a price has the standard one, and a note', () => {
    const unknown = usageOf(million, { serviceTier: 'scale', speed: 'slow', region: 'mars' })
    expect(worth({ variants }, unknown)).toMatchObject({
      listValueNanos: 2_500_000_000n,
      note: 'service_tier_unpriced,speed_unpriced,region_unpriced',
    })
    expect(worth({}, unknown)?.note).toBe('service_tier_unpriced,speed_unpriced,region_unpriced')
  })

  test('whose prices leave some out has the standard ones for these, and a note', () => {
    expect(worth({ variants }, usageOf(million, { serviceTier: 'flex' }))).toMatchObject({
      listValueNanos: 1_000_000_000n,
      note: null,
    })
    expect(worth({ variants }, usageOf({ output: 1 }, { serviceTier: 'flex' }))).toMatchObject({
      listValueNanos: 15_000n,
      note: 'service_tier_unpriced',
    })
    const tiers = [{ fromTokens: 272_001, prices: { input: 5_000_000n } }]
    expect(worth({ variants }, usageOf(million, { serviceTier: 'flex' }, { requests: 1 }), tiers)).toMatchObject({
      listValueNanos: 5_000_000_000n,
      note: 'service_tier_unpriced',
    })
  })

  test('has no price next to another one with prices of its own', () => {
    const both = [variants[1]!, variant('speed', 'fast', { prices: { input: 15_000_000n } })]
    expect(worth({ variants: both }, usageOf(million, { serviceTier: 'flex', speed: 'fast' }))).toMatchObject({
      listValueNanos: 1_000_000_000n,
      note: 'speed_unpriced',
    })
  })

  test('that would exceed 64 bits is unpriced', () => {
    const most = [variant('speed', 'fast', { multiplier: 100_000_000n })]
    expect(worth({ variants: most }, usageOf({ output: 1e12, input: 1e12 }, { speed: 'fast' }))?.listValueNanos).toBe(
      1_750_000_000_000_000_000n,
    )
    const row = { ...ROW, input: 1_000_000_000n, tiers: [], extras: extraPrices({ variants: most }) }
    expect(valueCounts(ratesOf(row), usageOf({ input: 1e12 }, { speed: 'fast' }))).toBeUndefined()
  })
})

describe('tools and media', () => {
  test('tools are charged per use, and multipliers do not change them', () => {
    const variants = [variant('serviceTier', 'batch', { multiplier: 500_000n })]
    const tools = { web_search: 10_000_000_000n }
    const usage = usageOf({ input: 2 }, { serviceTier: 'batch', tools: { web_search: 3, code_execution: 0 } })
    expect(worth({ variants, tools }, usage)).toMatchObject({ listValueNanos: 30_002_500n, note: null })
    const unknown = usageOf({ input: 2 }, { tools: { web_search: 1, constructor: 1 } })
    expect(worth({ tools }, unknown)).toMatchObject({ listValueNanos: 10_005_000n, note: 'tool_unpriced' })
  })

  test('audio and images have prices of their own, or that of text and a note', () => {
    const media = { inputAudio: 10_000_000n }
    const usage = usageOf({ input: 100, output: 10 }, { media: { inputAudio: 40, outputImage: 5 } })
    expect(worth({ media }, usage)).toMatchObject({
      listValueNanos: 60n * 2_500n + 40n * 10_000n + 10n * 15_000n,
      note: 'image_unpriced',
    })
  })

  test('in long requests are uncertain if only some requests were long', () => {
    const tiers = [{ fromTokens: 200_001, prices: { input: 5_000_000n } }]
    const long = { ...ZERO_COUNTS, input: 300_000 }
    const media = { inputAudio: 1_000 }
    const one = { ...sessionOf([long], [200_000]), details: usageDetails({ media }) }
    expect(worth({ media: { inputAudio: 9_000_000n } }, one, tiers)).toMatchObject({
      listValueNanos: 299_000n * 5_000n + 1_000n * 9_000n,
      note: null,
    })
    const two = sessionOf([long, { ...ZERO_COUNTS, input: 5_000 }], [200_000], { media })
    expect(worth({ media: { inputAudio: 9_000_000n } }, two, tiers)?.note).toBe('tier_uncertain')
  })
})

describe('hours of the day', () => {
  const at = (time: string) => Date.parse(`2026-11-20T${time}:00Z`)
  const hours = (from: number, to: number, days: number[] | null = null): PriceHours[] => [
    { from, to, days, ...PLAIN, multiplier: 2_000_000n },
  ]
  const during = (list: PriceHours[], from: string, to: string) => {
    const { listValueNanos, note } = worth(
      { hours: list },
      usageOf({ input: 1_000 }, {}, { startedAt: at(from), endedAt: at(to) }),
    )!
    return [Number(listValueNanos) / 2_500_000, note]
  }

  test('have their prices if the whole session is in them, and a note if only a part is', () => {
    const morning = hours(60, 240)
    expect(during(morning, '01:00', '04:00')).toEqual([2, null])
    expect(during(morning, '04:00', '09:00')).toEqual([1, null])
    expect(during(morning, '00:00', '01:00')).toEqual([1, null])
    expect(during(morning, '00:59', '01:01')).toEqual([1, 'hours_uncertain'])
    expect(during(morning, '03:59', '04:01')).toEqual([1, 'hours_uncertain'])
    expect(during(morning, '00:30', '23:00')).toEqual([1, 'hours_uncertain'])
  })

  test('may span midnight', () => {
    const night = hours(990, 30)
    expect(during(night, '00:00', '00:30')).toEqual([2, null])
    expect(during(night, '16:30', '23:59')).toEqual([2, null])
    expect(during(night, '00:31', '16:29')).toEqual([1, null])
    expect(during(night, '16:00', '17:00')).toEqual([1, 'hours_uncertain'])
  })

  test('may be on some days of the week only', () => {
    // 2026-11-20 is a Friday.
    expect(during(hours(60, 240, [5]), '02:00', '03:00')).toEqual([2, null])
    expect(during(hours(60, 240, [6, 7]), '02:00', '03:00')).toEqual([1, null])
    expect(during(hours(1_380, 120, [4]), '00:30', '01:00')).toEqual([2, null])
    expect(during(hours(1_380, 120, [5]), '00:30', '01:00')).toEqual([1, null])
  })
})
