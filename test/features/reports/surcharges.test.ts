import { beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING, type Viewer, viewerOf } from '../../../src/access/visibility.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import { NANO_DIGITS, parseDecimal } from '../../../src/lib/money.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const PERIOD = { starting_at: '2026-11-01', ending_at: '2026-12-01', time_zone: 'UTC' }

/** Dollars per million tokens: twice the price from 200,000 tokens of input on, and four times from 500,000 on. */
const TIERED = {
  input: 1,
  output: 10,
  only: true,
  effective_from: 'always',
  tiers: [
    { from_tokens: 200_001, input: 2, output: 20 },
    { from_tokens: 500_001, input: 4, output: 40 },
  ],
}

const above = (threshold: number, input: number, output = 0) => ({ threshold, input, output })

/** What a report contains, and in nano-dollars what its long requests add; undefined if it is valued at base prices. */
const REPORTS: [body: Record<string, unknown>, surcharge: bigint | undefined][] = [
  [{ tokens: { input: 100_000, output: 1_000 }, requests: 1 }, undefined],
  [{ tokens: { input: 200_000, output: 1_000 }, requests: 1 }, undefined],
  [{ tokens: { input: 200_001, output: 1_000 }, requests: 1 }, 200_001_000n + 10_000_000n],
  [{ tokens: { input: 600_000, output: 1_000 }, requests: 1 }, 1_800_000_000n + 30_000_000n],
  // Sums of a session are at base prices, unless those of its long requests are known.
  [{ tokens: { input: 900_000, output: 5_000 }, requests: 12 }, undefined],
  [{ tokens: { input: 900_000, output: 5_000 }, requests_above: [above(200_000, 300_000, 1_000)] }, 310_000_000n],
  [
    {
      tokens: { input: 2_000_000, output: 5_000 },
      requests_above: [above(200_000, 900_000, 1_000), above(500_000, 600_000)],
    },
    300_000_000n + 10_000_000n + 1_800_000_000n,
  ],
  // Part of what is above the tier, although the tier itself is not among the sums.
  [{ tokens: { input: 2_000_000, output: 5_000 }, requests_above: [above(272_000, 700_000)] }, 700_000_000n],
  [{ tokens: { input: 900_000, output: 5_000 }, requests_above: [above(128_000, 150_000)] }, undefined],
  [{ tokens: { input: 900_000, output: 5_000 }, requests_above: [above(32_000, 0)] }, undefined],
  [{ tokens: { input: 900_000, output: 5_000 }, tools: { web_search: 3 } }, undefined],
  // A reported cost is the cost, but the list value still contains the surcharge.
  [{ tokens: { input: 300_000, output: 0 }, requests: 1, reported_cost: 7 }, 300_000_000n],
  [{ model: 'flat', tokens: { input: 900_000, output: 0 }, requests: 1 }, undefined],
  [{ model: 'house-model', tokens: { input: 900_000, output: 0 }, requests: 1 }, undefined],
]

forEachEngine('Surcharges of long requests', (open) => {
  let staged: Awaited<ReturnType<typeof stage>>

  async function stage() {
    const services = createServices({ db: await open(), clock: { now: () => NOW } })
    const { prices, people, entries } = services
    await prices.setPrice({ model: 'tiered', ...TIERED } as never, TALLY)
    await prices.setPrice({ model: 'flat', input: 1, output: 10, only: true, effective_from: 'always' } as never, TALLY)
    const ada = await addReporter(people, { name: 'Ada', role: 'member' })
    const bob = await addReporter(people, { name: 'Bob', role: 'member' })
    for (const [index, [body]] of REPORTS.entries()) {
      const started_at = `2026-11-10T10:${String(10 + index)}:00Z`
      const { tokens, ...others } = body
      const json = {
        ...reportBody({ model: 'tiered', started_at, ended_at: '2026-11-10T11:00:00Z', session_id: `s-${index}` }),
        ...{ requests: undefined, ...others, tokens },
      }
      await entries.reporting.recordFrom(
        'report',
        readReport(JSON.parse(JSON.stringify(json)), NOW),
        index % 2 ? bob : ada,
      )
    }
    return { ...services, ada }
  }

  beforeAll(async () => {
    staged = await stage()
  })

  const reportOf = async (viewer: Viewer, texts: Record<string, string> = {}) => {
    const { reports } = staged
    const report = await reports.surcharges(viewer, await reports.readPeriod({ ...PERIOD, ...texts }, COMMAND_LINE))
    return JSON.parse(JSON.stringify(report)) as typeof report
  }

  const listed = async (viewer: Viewer, query: string) =>
    (await staged.entries.listing.listEntries(viewer, readListQuery(Object.fromEntries(parametersOf(query)), 'UTC')))
      .data

  const nanos = (amount: number | null) => parseDecimal(JSON.stringify(amount), NANO_DIGITS)!

  test('are the difference to base prices, unrounded, of exactly the entries that the filter lists', async () => {
    const long = REPORTS.flatMap(([, surcharge]) => surcharge ?? [])
    const { totals, data } = await reportOf(EVERYTHING)
    expect(nanos(totals.surcharge)).toBe(long.reduce((sum, each) => sum + each, 0n))
    expect(totals).toMatchObject({ entries: long.length, unvalued_entries: 0 })
    expect(nanos(totals.base_value)).toBe(nanos(totals.list_value) - nanos(totals.surcharge))
    expect(data.map(({ model, entries }) => [model, entries])).toEqual([['tiered', long.length]])
    const entries = await listed(EVERYTHING, totals.list)
    expect(entries.map(({ session_id }) => session_id).toSorted()).toEqual(
      REPORTS.flatMap(([, surcharge], index) => (surcharge === undefined ? [] : [`s-${index}`])).toSorted(),
    )
    const sum = (of: (entry: (typeof entries)[number]) => unknown) =>
      entries.reduce((total, entry) => total + nanos(of(entry) as number), 0n)
    expect(sum(({ list_value }) => list_value)).toBe(nanos(totals.list_value))
    expect(sum(({ cost }) => cost)).toBe(nanos(totals.cost))
    expect(await listed(EVERYTHING, data[0]!.list)).toHaveLength(data[0]!.entries)
  })

  test('have tiers in the calculation of the same entries, and of no others', async () => {
    for (const long of ['true', 'false']) {
      for (const { id } of await listed(EVERYTHING, `?long_context=${long}`)) {
        const { valuation } = (await staged.entries.listing.getEntry(id, EVERYTHING)) as never as {
          valuation: { parts: { from_tokens: number | null }[] } | null
        }
        expect(valuation?.parts.some(({ from_tokens }) => from_tokens !== null) ?? false).toBe(long === 'true')
      }
    }
  })

  test('of a member are only of entries that they see', async () => {
    const own = REPORTS.flatMap(([, surcharge], index) => (index % 2 === 0 ? (surcharge ?? []) : []))
    const viewer = viewerOf(staged.ada.person)
    const { totals } = await reportOf(viewer)
    expect([totals.entries, nanos(totals.surcharge)]).toEqual([own.length, own.reduce((sum, each) => sum + each, 0n)])
    expect(await listed(viewer, totals.list)).toHaveLength(own.length)
  })

  test('are 0 where there are none, and refused where the filter excludes them', async () => {
    const { totals } = await reportOf(EVERYTHING, { model: 'flat' })
    expect(totals).toMatchObject({ entries: 0, surcharge: 0, base_value: 0, share: null })
    const problem = await reportOf(EVERYTHING, { long_context: 'false' }).catch((thrown) => thrown)
    expect(problem).toMatchObject({ code: 'validation_failed' })
  })

  test('are unknown of tokens without a base price, whose entries are left out and listed', async () => {
    const { prices, entries } = staged
    // Set by hand, a price has one of output; in a table, it may be unknown.
    const tiers = JSON.stringify([{ from_tokens: 200_001, input: 2, output: 20 }]).replaceAll('"', '""')
    const table = `provider,model,input,output,tiers,effective_from\n,baseless,1,,"${tiers}",always\n`
    await prices.load(await prices.planTable(table, {}), TALLY)
    for (const [index, tokens] of [
      { input: 300_000, output: 1_000 },
      { input: 400_000, output: 2_000 },
      // Without a list value.
      { input: 100_000, output: 1_000 },
      // At base prices, and above them.
      { input: 100_000, output: 0 },
      { input: 300_000, output: 0 },
    ].entries()) {
      const started_at = `2026-11-11T10:${String(10 + index)}:00Z`
      const times = { started_at, ended_at: '2026-11-11T11:00:00Z' }
      const json = { ...reportBody({ model: 'baseless', ...times, session_id: `b-${index}` }), requests: 1, tokens }
      await entries.reporting.recordFrom('report', readReport(JSON.parse(JSON.stringify(json)), NOW), staged.ada)
    }
    const { totals, data } = await reportOf(EVERYTHING)
    const tiered = data.find(({ model }) => model === 'tiered')!
    const unknown = data.find(({ model }) => model === 'baseless')!
    expect(unknown).toMatchObject({ entries: 3, unvalued_entries: 2, surcharge: 0.3 })
    expect(tiered).toMatchObject({ unvalued_entries: 0 })
    expect(totals.unvalued_entries).toBe(2)
    expect(nanos(totals.surcharge)).toBe(nanos(tiered.surcharge) + nanos(unknown.surcharge))
    const sessionsOf = async (list: string) =>
      (await listed(EVERYTHING, list)).map(({ session_id }) => session_id).toSorted()
    expect(await sessionsOf(unknown.unvalued_list)).toEqual(['b-0', 'b-1'])
    expect(await sessionsOf(totals.unvalued_list)).toEqual(['b-0', 'b-1'])
    expect(await sessionsOf(tiered.unvalued_list)).toEqual([])
    expect(await sessionsOf('?model=baseless&without_base_price=false')).toEqual(['b-2', 'b-3', 'b-4'])
  })
})

function parametersOf(list: string): [string, string | string[]][] {
  const texts = new URLSearchParams(list.split('?')[1])
  return [...new Set(texts.keys())].map((name) => {
    const values = texts.getAll(name)
    return [name, values.length > 1 ? values : values[0]!]
  })
}
