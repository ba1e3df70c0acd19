import { beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { WEEKDAYS } from '../../../src/database/schema/values.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import type { TokenEntry } from '../../../src/features/entries/schema.ts'
import { bucketsOf } from '../../../src/features/reports/buckets.ts'
import type { UsageBucket, UsageReport, UsageResult } from '../../../src/features/reports/schema.ts'
import { createUsage } from '../../../src/features/reports/usage.ts'
import { NANO_DIGITS, parseDecimal } from '../../../src/lib/money.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { OPERATOR } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const HOUR_MS = 3_600_000
/** Berlin's clocks go back within it. */
const FROM_MS = Date.UTC(2026, 9, 20)

const ENTRIES = 150

/** The same numbers from 0 to 1 every time. */
function numbers(seed: number) {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

/** Entries of a month by two people, of which some have no project, no label, no price, or are longer than their day. */
async function stage(db: Database) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { prices, entries, people } = services
  await prices.loadDefaultPrices()
  const reporters = await Promise.all(
    ['ada', 'bob'].map(async (name) => {
      await people.addUser({ email: `${name}@example.com`, name, role: 'admin' }, TALLY)
      const { secret } = await people.createToken({ kind: 'svc', user: `${name}@example.com`, name: 'ci' }, TALLY)
      const caller = await people.authenticate(`Bearer ${secret}`)
      if (caller.kind !== 'service') throw new Error('It is a service token')
      return caller
    }),
  )
  const next = numbers(7)
  const below = (limit: number) => Math.floor(next() * limit)
  const one = <T>(...choices: T[]): T => choices[below(choices.length)]!
  for (let index = 0; index < ENTRIES; index += 1) {
    const startedAt = FROM_MS + below(30 * 24 * 4) * (HOUR_MS / 4)
    const body = {
      agent_harness: one('codex', 'claude-code'),
      agent_name: one('builder', 'reviewer', 'tester'),
      model: one('gpt-5-codex', 'claude-sonnet-4-5', 'house-model'),
      started_at: new Date(startedAt).toISOString(),
      ended_at: new Date(startedAt + below(2 * 24) * HOUR_MS).toISOString(),
      tokens: { input: below(10_000_000), output: below(100_000), cache_read: below(1_000_000) },
      ...one({}, { reported_cost: below(1e9) / 1e9 }),
      ...one({}, { project: one('acme-web', 'acme-api') }),
      ...one({}, { ticket: one('ACME-1', 'ACME-2') }),
      ...one({}, { labels: { repository: one('acme/web', 'acme/api') } }),
      ...one({}, { provider: 'openrouter' }),
      session_id: `s-${index}`,
    }
    await entries.reporting.recordFrom('report', readReport(body, NOW), one(...reporters))
  }
  const { data: some } = await entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '40' }, 'UTC'))
  await entries.approval.decideEntries(
    { ids: some.map(({ id }) => id) },
    { action: 'reject', reason: 'not ours' },
    OPERATOR,
  )
  const all = await Array.fromAsync(entries.listing.exportEntries(EVERYTHING, {}))
  return { ...services, db, all: JSON.parse(JSON.stringify(all)) as TokenEntry[] }
}

const nanos = (amount: number | null) => (amount === null ? null : parseDecimal(String(amount), NANO_DIGITS)!)

function sum(values: (bigint | null)[]): string | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : String(known.reduce((total, value) => total + value, 0n))
}

/** What an entry has in a dimension, by name. */
function keyOf(entry: TokenEntry, dimension: string): string | null {
  if (dimension === 'client') return null
  if (dimension.startsWith('label:')) return entry.labels[dimension.slice('label:'.length)] ?? null
  return nameOf(entry[dimension as 'model'])
}

function nameOf(key: unknown): string | null {
  if (key === null || key === undefined || typeof key === 'string') return key ?? null
  return (key as { key?: string; name: string }).key ?? (key as { name: string }).name
}

function keysOf(result: UsageResult, dimensions: readonly string[]): (string | null)[] {
  return dimensions.map((dimension) =>
    dimension.startsWith('label:')
      ? result.labels![dimension.slice('label:'.length)]!
      : nameOf(result[dimension as 'model']),
  )
}

/** The figures of a group as texts, which compare exactly and in any order. */
function figuresOf(entries: TokenEntry[], endingAt: number) {
  return {
    entries: entries.length,
    unpriced: entries.filter(({ cost }) => cost === null).length,
    straddling: entries.filter(({ ended_at }) => Date.parse(ended_at) > endingAt).length,
    tokens: entries.reduce((total, { tokens }) => total + tokens.total, 0),
    cost: sum(entries.map(({ cost }) => nanos(cost))),
    list: sum(entries.map(({ list_value }) => nanos(list_value))),
    reported: sum(entries.map(({ reported_cost }) => nanos(reported_cost))),
  }
}

function figuresIn(answer: Omit<UsageResult, 'labels'>) {
  // As a reader of the JSON: up to 2^53 a number of it is exact.
  const read = JSON.parse(JSON.stringify(answer)) as UsageResult
  return {
    entries: read.entries,
    unpriced: read.unpriced_entries,
    straddling: read.straddling_entries,
    tokens: read.tokens.total,
    cost: sum([nanos(read.cost)]),
    list: sum([nanos(read.list_value)]),
    reported: sum([nanos(read.reported_cost)]),
  }
}

const text = (keys: (string | null)[]) => JSON.stringify(keys)

const question = fc.record({
  dimensions: fc.uniqueArray(
    fc.constantFrom(
      ...['project', 'ticket', 'client', 'agent_manager', 'agent_name', 'agent_harness', 'provider', 'model'],
      ...['status', 'source', 'label:repository'],
    ),
    { maxLength: 3 },
  ),
  width: fc.constantFrom(
    '1h' as const,
    '1d' as const,
    '1w' as const,
    '1mo' as const,
    '1q' as const,
    '1y' as const,
    'all' as const,
  ),
  weekStart: fc.constantFrom(...WEEKDAYS),
  timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/St_Johns'),
  startingAt: fc.integer({ min: FROM_MS - 48 * HOUR_MS, max: FROM_MS + 20 * 24 * HOUR_MS }),
  length: fc.integer({ min: 1, max: 32 * 24 * HOUR_MS }),
  limit: fc.integer({ min: 1, max: 40 }),
  model: fc.constantFrom(undefined, 'gpt-5-codex', 'house-model'),
})

forEachEngine('Reports of use', (open) => {
  let staged: Awaited<ReturnType<typeof stage>>

  beforeAll(async () => {
    staged = await stage(await open())
  })

  /** Every page of an answer. */
  async function pages(
    ask: (page: string | undefined) => Promise<UsageReport>,
  ): Promise<{ buckets: UsageBucket[]; answers: UsageReport[] }> {
    const answers: UsageReport[] = []
    let page: string | undefined
    do {
      answers.push(await ask(page))
      page = answers.at(-1)!.next_page ?? undefined
    } while (page !== undefined)
    return { buckets: answers.flatMap(({ data }) => data), answers }
  }

  test('are what counting entry by entry gives, for any question, page by page', async () => {
    const { reports, all } = staged
    await fc.assert(
      fc.asyncProperty(
        question,
        async ({ dimensions, width, weekStart, timeZone, startingAt, length, limit, model }) => {
          const endingAt = startingAt + length
          const texts = {
            starting_at: new Date(startingAt).toISOString(),
            ending_at: new Date(endingAt).toISOString(),
            bucket_width: width,
            week_start: weekStart,
            time_zone: timeZone,
            group_by: dimensions,
            model,
            limit: String(width === '1h' ? limit * 20 : limit),
          }
          const { buckets, answers } = await pages(async (page) =>
            reports.usage(EVERYTHING, await reports.readUsage({ ...texts, page }, COMMAND_LINE)),
          )
          const asked = all.filter((entry) => {
            const started = Date.parse(entry.started_at)
            return started >= startingAt && started < endingAt && (model === undefined || entry.model === model)
          })
          const expected: unknown[] = []
          for (const bucket of bucketsOf({ startingAt, endingAt, width, timeZone, weekStart }, 10_000)) {
            const within = asked.filter(({ started_at }) => {
              const started = Date.parse(started_at)
              return started >= bucket.startingAt && started < bucket.endingAt
            })
            const groups = Map.groupBy(within, (entry) => text(dimensions.map((one) => keyOf(entry, one))))
            for (const [keys, entries] of groups) {
              expected.push([
                new Date(bucket.startingAt).toISOString(),
                keys,
                JSON.stringify(figuresOf(entries, bucket.endingAt)),
              ])
            }
          }
          const answered = buckets.flatMap(({ starting_at, results }) =>
            results.map((result) => [starting_at, text(keysOf(result, dimensions)), JSON.stringify(figuresIn(result))]),
          )
          expect(answered.toSorted()).toEqual(expected.toSorted() as never)
          const rejected = figuresOf(
            asked.filter(({ status }) => status === 'rejected'),
            endingAt,
          )
          for (const { totals } of answers) {
            expect(figuresIn(totals)).toEqual(figuresOf(asked, endingAt))
            expect([totals.rejected_entries, sum([nanos(JSON.parse(JSON.stringify(totals.rejected_cost)))])]).toEqual([
              rejected.entries,
              rejected.cost,
            ])
          }
          for (const { results } of buckets) {
            const costs = results.map(({ cost }) => (cost === null ? -1 : Number(JSON.stringify(cost))))
            expect(costs).toEqual(costs.toSorted((a, b) => b - a))
          }
        },
      ),
      { numRuns: runs(100, 20) },
    )
  }, 300_000)

  test('end a page before the bucket whose groups no longer fit on it', async () => {
    const { reports, db } = staged
    const usage = createUsage({ db, billing: { settled: (read) => read() } }, 12).usage
    const texts = { starting_at: '2026-10-01', bucket_width: '1d', group_by: ['model', 'agent_name'] }
    const whole = await reports.usage(EVERYTHING, await reports.readUsage(texts, COMMAND_LINE))
    const { buckets, answers } = await pages(async (page) =>
      usage(EVERYTHING, await reports.readUsage({ ...texts, page }, COMMAND_LINE)),
    )
    expect(JSON.stringify(buckets)).toBe(JSON.stringify(whole.data))
    expect(answers.length).toBeGreaterThan(3)
    for (const { data } of answers) {
      expect(data.flatMap(({ results }) => results).length).toBeLessThanOrEqual(12)
    }
  })

  test('are refused where one bucket alone has too many groups', async () => {
    const { reports, db } = staged
    const usage = createUsage({ db, billing: { settled: (read) => read() } }, 3).usage
    const asked = await reports.readUsage(
      {
        starting_at: '2026-10-01',
        bucket_width: 'all',
        group_by: ['ticket', 'model'],
      },
      COMMAND_LINE,
    )
    await expect(usage(EVERYTHING, asked)).rejects.toMatchObject({
      code: 'validation_failed',
      more: { issues: [{ pointer: '/query/group_by', code: 'too_many_groups' }] },
    })
  })

  test('of models without a price, variances and completeness agree with the entries', async () => {
    const { reports, all } = staged
    const { data: unpriced } = await reports.unpriced(EVERYTHING, await reports.readUnpriced({}, COMMAND_LINE))
    const waiting = all.filter(({ cost }) => cost === null)
    const byProvider = Map.groupBy(waiting, ({ provider }) => provider)
    expect(unpriced.map(({ provider, entries, tokens }) => [provider, entries, JSON.stringify(tokens.total)])).toEqual(
      [...byProvider]
        .map(([provider, entries]): [string | null, number, number] => [
          provider,
          entries.length,
          entries.reduce((total, { tokens }) => total + tokens.total, 0),
        ])
        .toSorted(([, , one], [, , other]) => other - one)
        .map(([provider, entries, total]) => [provider, entries, String(total)]) as never,
    )

    const period = { starting_at: '2026-10-01' }
    const { data: variances, totals } = await reports.variance(
      EVERYTHING,
      await reports.readVariance(period, COMMAND_LINE),
    )
    const both = all.filter(({ reported_cost, list_value }) => reported_cost !== null && list_value !== null)
    const byModel = Map.groupBy(both, ({ model, agent_name }) => text([model, agent_name]))
    const sizes = [...byModel.values()].map((entries) =>
      entries.reduce((total, entry) => total + nanos(entry.reported_cost)! - nanos(entry.list_value)!, 0n),
    )
    const magnitude = (value: bigint) => (value < 0n ? -value : value)
    expect(variances.map(({ difference }) => nanos(JSON.parse(JSON.stringify(difference))))).toEqual(
      sizes.toSorted((a, b) => (magnitude(a) < magnitude(b) ? 1 : -1)),
    )
    expect([totals.entries, totals.compared_entries]).toEqual([all.length, both.length])

    const { data: checks } = await reports.completeness(
      EVERYTHING,
      await reports.readCompleteness(period, COMMAND_LINE),
    )
    const found = Object.fromEntries(checks.map(({ check, entries }) => [check, entries]))
    const live = all.filter(({ status }) => status !== 'rejected')
    expect(found).toMatchObject({
      all: all.length,
      unplaced: live.filter(({ project, ticket }) => !project && !ticket).length,
      unpriced: live.filter(({ cost }) => cost === null).length,
      unapproved: live.length,
      unbilled: live.length,
      rejected: all.length - live.length,
      reaching_out: all.filter(({ ended_at }) => Date.parse(ended_at) > NOW).length,
    })
  })
})
