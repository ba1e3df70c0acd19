import { beforeAll, expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING, type Viewer, viewerOf } from '../../../src/access/visibility.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import type { LeftOutPart } from '../../../src/features/reports/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const PERIOD = { starting_at: '2026-11-01', ending_at: '2026-12-01', time_zone: 'UTC' }
const PRICED_FROM = '2026-11-10'

const CACHED = { input: 1_000, output: 10, cache_read: 50_000 }
const UNCACHED = { input: 1_000, output: 10 }

/** `late` has a price from 10 November on, `house` never, `steady` always, with a change on the 15th. */
const REPORTS = [
  ['late', '2026-11-03', CACHED],
  ['late', '2026-11-05', UNCACHED],
  ['late', '2026-11-05', UNCACHED],
  ['late', '2026-11-12', CACHED],
  ['house', '2026-11-04', UNCACHED],
  ['house', '2026-11-06', CACHED],
  ['house', '2026-11-16', UNCACHED],
  ['steady', '2026-11-04', CACHED],
  ['steady', '2026-11-17', UNCACHED],
] as const

forEachEngine('Entries that insights leave out', (open) => {
  let staged: Awaited<ReturnType<typeof stage>>

  async function stage() {
    const services = createServices({ db: await open(), clock: { now: () => NOW } })
    const { prices, people, entries } = services
    const price = { input: 2, output: 10, cache_read: 0.2, only: true }
    await prices.setPrice({ model: 'late', ...price, effective_from: PRICED_FROM } as never, TALLY)
    await prices.setPrice({ model: 'steady', ...price, effective_from: 'always' } as never, TALLY)
    await prices.setPrice({ model: 'steady', ...price, input: 3, effective_from: '2026-11-15' } as never, TALLY)
    const ada = await addReporter(people, { name: 'Ada', role: 'member' })
    const bob = await addReporter(people, { name: 'Bob', role: 'member' })
    for (const [index, [model, day, tokens]] of REPORTS.entries()) {
      const json = reportBody({
        ...{ model, tokens, session_id: `s-${index}` },
        ...{ started_at: `${day}T10:00:00Z`, ended_at: `${day}T11:00:00Z` },
      })
      await entries.reporting.recordFrom('report', readReport(json, NOW), index % 2 ? bob : ada)
    }
    return { ...services, ada }
  }

  beforeAll(async () => {
    staged = await stage()
  })

  async function listed(viewer: Viewer, parts: readonly LeftOutPart[]): Promise<number[]> {
    return Promise.all(
      parts.map(async ({ list }) => {
        const texts = new URLSearchParams(list.split('?')[1])
        const filter = Object.fromEntries(
          [...texts.keys()].map((name) => [
            name,
            texts.getAll(name).length > 1 ? texts.getAll(name) : texts.get(name)!,
          ]),
        )
        return (await staged.entries.listing.listEntries(viewer, readListQuery(filter, 'UTC'))).data.length
      }),
    )
  }

  const summary = (parts: readonly LeftOutPart[]) =>
    parts.map(({ model, starting_at, ending_at, entries }) => [
      model,
      starting_at.slice(0, 10),
      ending_at.slice(0, 10),
      entries,
    ])

  test('are the same however caching is grouped, in parts that are lists', async () => {
    for (const bucket_width of ['all', '1w', '1d']) {
      for (const group_by of [undefined, 'model', 'agent_manager', 'project']) {
        const texts = { ...PERIOD, bucket_width, group_by }
        const read = await staged.reports.readCache(texts, COMMAND_LINE)
        const { totals, left_out, data } = await staged.reports.cache(EVERYTHING, read)
        expect(summary(left_out)).toEqual([
          ['house', '2026-11-01', '2026-12-01', 3],
          ['late', '2026-11-01', PRICED_FROM, 3],
        ])
        expect(totals.unvalued_entries).toBe(6)
        const groups = data.flatMap(({ results }) => results)
        expect(groups.reduce((sum, { unvalued_entries }) => sum + unvalued_entries, 0)).toBe(6)
        expect(await listed(EVERYTHING, left_out)).toEqual([3, 3])
      }
    }
  })

  test('are those of both models where one is compared with another', async () => {
    const read = await staged.reports.readWhatIf({ ...PERIOD, as_model: 'late' }, COMMAND_LINE)
    const { totals, left_out, data } = await staged.reports.whatIf(EVERYTHING, read)
    expect(summary(left_out)).toEqual([
      ['house', '2026-11-01', '2026-12-01', 3],
      ['late', '2026-11-01', PRICED_FROM, 3],
      ['steady', '2026-11-01', PRICED_FROM, 1],
    ])
    expect(totals.unvalued_entries).toBe(7)
    expect(await listed(EVERYTHING, left_out)).toEqual([3, 3, 1])
    for (const { model, unvalued_entries } of data) {
      const parts = left_out.filter((part) => part.model === model)
      expect(parts.reduce((sum, { entries }) => sum + entries, 0)).toBe(unvalued_entries)
    }
  })

  test('are only those that a member sees, with the filters of the report', async () => {
    const viewer = viewerOf(staged.ada.person)
    const read = await staged.reports.readCache({ ...PERIOD, model: ['house', 'steady'] }, COMMAND_LINE)
    const { totals, left_out } = await staged.reports.cache(viewer, read)
    // Of what Ada sees, no entry of the model without a price used a cache.
    expect([totals.unvalued_entries, left_out]).toEqual([0, []])
    const asked = await staged.reports.readWhatIf({ ...PERIOD, as_model: 'steady' }, COMMAND_LINE)
    const other = await staged.reports.whatIf(viewer, asked)
    expect(summary(other.left_out)).toEqual([
      ['house', '2026-11-01', '2026-12-01', 2],
      ['late', '2026-11-01', PRICED_FROM, 2],
    ])
    expect(await listed(viewer, other.left_out)).toEqual([2, 2])
  })
})
