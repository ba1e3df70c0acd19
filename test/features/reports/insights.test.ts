import { beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING, viewerOf } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import type { TokenEntry } from '../../../src/features/entries/schema.ts'
import { bucketsOf } from '../../../src/features/reports/buckets.ts'
import { divideHalfEven, NANO_DIGITS, parseDecimal } from '../../../src/lib/money.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const HOUR_MS = 3_600_000
const FROM_MS = Date.UTC(2026, 9, 20)
const TIME_ZONE = 'Europe/Berlin'

/** Pico-dollars per token: input, output, cache reads, cache writes, cache writes for an hour. */
type Prices = [bigint, bigint, bigint, bigint, bigint]

/** Prices of two models from some moments on. `house-model` has none. */
const PRICES: Record<string, { from: string | undefined; prices: Prices }[]> = {
  'model-a': [
    { from: undefined, prices: [3_000_001n, 15_000_000n, 300_000n, 3_750_000n, 6_000_000n] },
    { from: '2026-11-01', prices: [2_000_003n, 10_000_000n, 200_000n, 2_500_000n, 4_000_000n] },
    { from: '2026-11-09', prices: [2_500_000n, 10_000_000n, 2_000_000n, 2_500_000n, 4_000_000n] },
  ],
  'model-b': [
    { from: undefined, prices: [500_000n, 2_000_000n, 50_000n, 625_000n, 1_000_000n] },
    { from: '2026-10-30', prices: [700_000n, 2_000_000n, 70_000n, 800_000n, 1_000_000n] },
  ],
}

const KINDS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const

const startOf = (from: string | undefined) => (from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from))

function pricesAt(model: string, at: number): Prices | undefined {
  return PRICES[model]?.findLast(({ from }) => startOf(from) <= at)?.prices
}

type Counts = [number, number, number, number, number]

/** In pico-dollars. */
const picosOf = (counts: Counts, prices: Prices): bigint =>
  counts.reduce((sum, count, kind) => sum + BigInt(count) * prices[kind]!, 0n)

const countsOf = ({ tokens }: TokenEntry) => KINDS.map((kind) => tokens[kind]) as Counts

/** The same numbers from 0 to 1 every time. */
function numbers(seed: number) {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

async function stage(db: Database) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { prices, people, entries } = services
  for (const [model, rows] of Object.entries(PRICES)) {
    for (const { from, prices: row } of rows) {
      const dollars = Object.fromEntries(KINDS.map((kind, at) => [kind, Number(row[at]) / 1e6]))
      const effective = from === undefined ? 'always' : from
      await prices.setPrice({ model, ...dollars, only: true, effective_from: effective } as never, TALLY)
    }
  }
  const ada = await addReporter(people, { name: 'Ada', role: 'member' })
  const bob = await addReporter(people, { name: 'Bob', role: 'member' })
  const next = numbers(11)
  const below = (limit: number) => Math.floor(next() * limit)
  const one = <T>(...choices: T[]): T => choices[below(choices.length)]!
  for (let index = 0; index < 120; index += 1) {
    const startedAt = FROM_MS + below(30 * 24 * 4) * (HOUR_MS / 4)
    const json = reportBody({
      model: one('model-a', 'model-b', 'house-model'),
      started_at: new Date(startedAt).toISOString(),
      ended_at: new Date(startedAt + below(5) * HOUR_MS).toISOString(),
      tokens: one(
        { input: below(1e7), output: below(1e5) },
        {
          input: below(1e5),
          output: below(1e5),
          cache_read: below(1e8),
          cache_write: below(1e6),
          cache_write_1h: below(9e5),
        },
      ),
      ...one({}, { project: one('acme-web', 'acme-api') }),
      ...one({}, { provider: 'house' }),
      ...one({}, { reported_cost: below(1e9) / 1e9 }),
      session_id: `s-${index}`,
    })
    await entries.reporting.recordFrom('report', readReport(json, NOW), one(ada, bob))
  }
  const all = JSON.parse(
    JSON.stringify(await Array.fromAsync(entries.listing.exportEntries(EVERYTHING, {}))),
  ) as TokenEntry[]
  return { ...services, all, ada }
}

const nanos = (amount: unknown) => (amount === null ? null : parseDecimal(JSON.stringify(amount), NANO_DIGITS)!)

/** Sums are rounded once for each span, model and group: some billionths of a dollar at most. */
function expectAbout(actual: unknown, picos: bigint | null) {
  const found = nanos(actual)
  if (picos === null || found === null) return expect(found).toBe(picos)
  const difference = found - divideHalfEven(picos, 1_000n)
  expect(difference > -50n && difference < 50n).toBe(true)
}

const within = (startingAt: number, endingAt: number) => (entry: TokenEntry) => {
  const at = Date.parse(entry.started_at)
  return at >= startingAt && at < endingAt
}

const period = fc.record({
  startingAt: fc.integer({ min: 0, max: 29 * 24 }).map((hours) => FROM_MS + hours * HOUR_MS),
  hours: fc.integer({ min: 1, max: 40 * 24 }),
})

forEachEngine('Insights', (open) => {
  let staged: Awaited<ReturnType<typeof stage>>
  let isRolledUp = false

  beforeAll(async () => {
    staged = await stage(await open())
  })

  const textsOf = ({ startingAt, hours }: { startingAt: number; hours: number }) => ({
    starting_at: new Date(startingAt).toISOString(),
    ending_at: new Date(startingAt + hours * HOUR_MS).toISOString(),
    time_zone: TIME_ZONE,
  })

  const cacheSavings = () =>
    fc.assert(
      fc.asyncProperty(
        period,
        fc.constantFrom('1d', '1w', 'all'),
        fc.constantFrom(undefined, 'model', 'agent_manager', 'project'),
        async (asked, width, groupBy) => {
          const { reports, all } = staged
          const texts = { ...textsOf(asked), bucket_width: width, group_by: groupBy }
          const read = await reports.readCache(texts, COMMAND_LINE)
          const report = await reports.cache(EVERYTHING, read)
          let entries = 0
          for (const { startingAt, endingAt } of bucketsOf(read, 1_000)) {
            const found = report.data.find(({ starting_at }) => Date.parse(starting_at) === startingAt)
            const expected = Map.groupBy(all.filter(within(startingAt, endingAt)), (entry) =>
              groupBy === undefined ? null : nameOf(entry[groupBy as 'project']),
            )
            expect(found?.results.length ?? 0).toBe(expected.size)
            for (const result of found?.results ?? []) {
              const group = expected.get(groupBy === undefined ? null : nameOf(result[groupBy as 'project']))!
              expectSavings(result, group)
              entries += group.length
            }
          }
          expect(report.totals.entries).toBe(entries)
          if (width === 'all') {
            const caching = async (more: object) =>
              (await reports.cache(EVERYTHING, await reports.readCache({ ...texts, ...more }, COMMAND_LINE))).data
            const weeks = await caching({ bucket_width: '1w' })
            for (const { trend, list, ...result } of (await caching({ trend: '1w' }))[0]?.results ?? []) {
              const whole = report.data[0]!.results.find((group) => group.list === list)!
              expect([result.entries, result.tokens]).toEqual([whole.entries, whole.tokens])
              expectAbout(result.saved, whole.saved === null ? null : nanos(whole.saved)! * 1_000n)
              const key = groupBy === undefined ? undefined : JSON.stringify(result[groupBy as 'project'])
              const inWeeks = weeks.flatMap(({ starting_at, ending_at, results }) => {
                const same = results.find(
                  (group) => groupBy === undefined || JSON.stringify(group[groupBy as 'project']) === key,
                )
                return same && same.hit_rate !== null ? [{ starting_at, ending_at, hit_rate: same.hit_rate }] : []
              })
              expect(trend!.filter(({ hit_rate }) => hit_rate !== null)).toEqual(inWeeks)
            }
          }
          const { startingAt, endingAt } = read
          expectSavings(report.totals, all.filter(within(startingAt, endingAt)))
        },
      ),
      { numRuns: runs(25, 8) },
    )

  type Figures = Awaited<ReturnType<(typeof staged)['reports']['cache']>>['totals']

  function expectSavings(figures: Figures, entries: TokenEntry[]) {
    const valued = entries.flatMap((entry) => {
      const prices = pricesAt(entry.model, Date.parse(entry.started_at))
      const [, , ...cached] = countsOf(entry)
      if (cached.every((count) => count === 0)) return [{ uncached: 0n, cached: 0n, isFree: true }]
      if (!prices) return []
      const uncached = cached.reduce((sum, count) => sum + BigInt(count) * prices[0], 0n)
      return [{ uncached, cached: picosOf([0, 0, ...cached] as Counts, prices), isFree: false }]
    })
    const sum = (kind: 'uncached' | 'cached') => valued.reduce<bigint>((total, value) => total + value[kind], 0n)
    if (nanos(figures.saved) !== null) {
      expectAbout(figures.uncached_value, sum('uncached'))
      expectAbout(figures.cached_value, sum('cached'))
      expect(nanos(figures.saved)).toBe(nanos(figures.uncached_value)! - nanos(figures.cached_value)!)
    } else expect(sum('uncached')).toBe(0n)
    const totals = entries
      .map(countsOf)
      .reduce((one, other) => one.map((count, at) => count + other[at]!) as Counts, [0, 0, 0, 0, 0] as Counts)
    const inputSide = totals[0] + totals[2] + totals[3] + totals[4]
    if (inputSide > 0) expect(Number(JSON.stringify(figures.hit_rate))).toBeCloseTo(totals[2] / inputSide, 5)
    else expect(figures.hit_rate).toBeNull()
  }

  const whatIf = () =>
    fc.assert(
      fc.asyncProperty(period, async (asked) => {
        const { reports, all } = staged
        const texts = { ...textsOf(asked), as_model: 'model-b' }
        const read = await reports.readWhatIf(texts, COMMAND_LINE)
        const { totals, data } = await reports.whatIf(EVERYTHING, read)
        const used = all.filter(within(read.startingAt, read.endingAt))
        const valued = used.filter(({ model }) => model !== 'house-model')
        expect([totals.entries, totals.unvalued_entries]).toEqual([used.length, used.length - valued.length])
        const sum = (modelOf: (entry: TokenEntry) => string) =>
          valued.length === 0 && used.length > 0
            ? null
            : valued.reduce(
                (total, entry) =>
                  total + picosOf(countsOf(entry), pricesAt(modelOf(entry), Date.parse(entry.started_at))!),
                0n,
              )
        expectAbout(
          totals.value,
          sum(({ model }) => model),
        )
        expectAbout(
          totals.other_value,
          sum(() => 'model-b'),
        )
        // Each is at the prices that its entries were valued at.
        for (const { model, provider, value, list } of data) {
          const listed = await staged.entries.listing.listEntries(EVERYTHING, readListQuery(textsIn(list), TIME_ZONE))
          if (listed.has_more) continue
          const rows = JSON.parse(JSON.stringify(listed.data)) as TokenEntry[]
          expect(rows.every((row) => row.model === model && row.provider === provider)).toBe(true)
          const listValue = rows.reduce((total, row) => total + (nanos(row.list_value) ?? 0n), 0n)
          if (model !== 'house-model') expectAbout(value, listValue * 1_000n)
        }
      }),
      { numRuns: runs(6, 3) },
    )

  const priceChanges = () =>
    fc.assert(
      fc.asyncProperty(period, async (asked) => {
        const { reports, all } = staged
        const read = await reports.readPeriod(textsOf(asked), COMMAND_LINE)
        const { data } = await reports.priceChanges(EVERYTHING, read)
        const used = all.filter(within(read.startingAt, read.endingAt))
        const pairs = Map.groupBy(used, ({ model, provider }) => JSON.stringify([model, provider]))
        let changes = 0
        for (const [name, ofPair] of pairs) {
          const [model, provider] = JSON.parse(name) as [string, string | null]
          const rows = PRICES[model] ?? []
          for (const [at, { from, prices }] of rows.entries()) {
            const changedAt = startOf(from)
            if (changedAt <= read.startingAt || changedAt >= read.endingAt) continue
            const until = Math.min(read.endingAt, startOf(rows[at + 1]?.from ?? '2100-01-01'))
            const effect = data.find(
              (each) => each.model === model && each.provider === provider && Date.parse(each.changed_at) === changedAt,
            )!
            const since = ofPair.filter(within(changedAt, until))
            expect(effect.entries).toBe(since.length)
            const sum = (row: Prices) => since.reduce((total, entry) => total + picosOf(countsOf(entry), row), 0n)
            expectAbout(effect.value_before, sum(rows[at - 1]!.prices))
            expectAbout(effect.value_after, sum(prices))
            expect(nanos(effect.before.input)).toBe(rows[at - 1]!.prices[0] * 1_000n)
            changes += 1
          }
        }
        expect(data).toHaveLength(changes)
      }),
      { numRuns: runs(25, 8) },
    )

  // Read from the entries first, then from their sums.
  for (const source of ['entries', 'sums']) {
    test(`of caches are those of each entry, from ${source}`, async () => {
      await rollUp(source)
      await cacheSavings()
    }, 300_000)
    test(`of another model's prices are those of each entry, from ${source}`, async () => {
      await rollUp(source)
      await whatIf()
    }, 300_000)
    test(`of price changes are those of each entry, from ${source}`, async () => {
      await rollUp(source)
      await priceChanges()
    }, 300_000)
  }

  async function rollUp(source: string) {
    if (source !== 'sums' || isRolledUp) return
    while ((await staged.reports.rollup.step()) !== 'idle');
    isRolledUp = true
  }

  test('of a member are only of entries that they see', async () => {
    const { reports, all, ada } = staged
    const viewer = viewerOf(ada.person)
    const own = all.filter(({ agent_manager }) => agent_manager.name === 'Ada')
    const texts = { starting_at: '2026-10-01', time_zone: TIME_ZONE }
    const cache = await reports.cache(viewer, await reports.readCache(texts, COMMAND_LINE))
    expectSavings(cache.totals, own)
    const other = await reports.whatIf(
      viewer,
      await reports.readWhatIf({ ...texts, as_model: 'model-b' }, COMMAND_LINE),
    )
    expect(other.totals.entries).toBe(own.length)
    const changes = await reports.priceChanges(viewer, await reports.readPeriod(texts, COMMAND_LINE))
    const since = own.filter(
      ({ model, started_at }) => model === 'model-b' && Date.parse(started_at) >= Date.parse('2026-10-30'),
    )
    const ofB = changes.data.filter(({ model }) => model === 'model-b')
    expect(ofB.reduce((sum, { entries }) => sum + entries, 0)).toBe(since.length)
  })

  test('count entries of another model without a price instead of valuing them at 0', async () => {
    const { reports, all } = staged
    const asked = await reports.readWhatIf({ starting_at: '2026-10-01', as_model: 'no-such-model' }, COMMAND_LINE)
    const { totals } = await reports.whatIf(EVERYTHING, asked)
    expect(totals).toMatchObject({ unvalued_entries: all.length, value: null, other_value: null, difference: null })
  })

  test('are refused without a model to compare with', async () => {
    const asked = staged.reports.readWhatIf({ starting_at: '2026-10-01' }, COMMAND_LINE)
    const problem = await asked.catch((thrown) => thrown)
    expect(problem).toMatchObject({ code: 'validation_failed' })
  })
})

function nameOf(value: unknown): string | null {
  if (value === null || value === undefined || typeof value === 'string') return value ?? null
  return (value as { id: string }).id
}

/** The parameters of a list, without its page. */
function textsIn(list: string): Record<string, string | string[]> {
  const texts = new URLSearchParams(list.split('?')[1])
  const valuesOf = (name: string) => (texts.getAll(name).length > 1 ? texts.getAll(name) : texts.get(name)!)
  return Object.fromEntries([...texts.keys()].map((name) => [name, valuesOf(name)]))
}
