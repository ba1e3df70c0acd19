import { expect, test } from 'bun:test'
import { inArray } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { EVERYTHING, type Viewer, viewerOf } from '../../../../src/access/visibility.ts'
import { CORRECTED_FIELDS } from '../../../../src/database/schema/values.ts'
import { entryColumns, labelColumns } from '../../../../src/features/entries/listing/csv.ts'
import type { ExportFormat } from '../../../../src/features/entries/listing/export.ts'
import { detailsText } from '../../../../src/features/entries/rows.ts'
import { COUNT_LIMIT, type ListedTokenEntry } from '../../../../src/features/entries/schema.ts'
import type { EntryFilter } from '../../../../src/features/selection/filter.ts'
import { csvText } from '../../../../src/lib/csv-text.ts'
import { newId } from '../../../../src/lib/id.ts'
import { createServices } from '../../../../src/services.ts'
import type { CostBasis } from '../../../../src/shared/cost-basis.ts'
import { usageDetails, ZERO_COUNTS } from '../../../../src/shared/usage.ts'
import { billRow } from '../../../support/bills.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { reportBody } from '../../../support/reports.ts'

const clock = { now: () => Date.UTC(2026, 10, 20, 19, 30) }

/** What has to be quoted, made harmless, left empty or looked up. */
const REPORTS: Record<string, unknown>[] = [
  {},
  {
    summary: '=HYPERLINK("x")',
    labels: { repository: 'acme/web', branch: 'a,b' },
    project: 'Acme, Web',
    ticket: 'A-1',
  },
  { summary: 'two "quotes"', agent_name: '-dash', provider: 'openai', session_id: '+s 1', requests: 3 },
  { summary: '@here', reported_cost: 0.123456789, project: 'Übung', started_at: '2026-11-20T09:59:59.999Z' },
  { model: 'nobody-knows', summary: ' spaces ', labels: { repository: 'acme/web' } },
  {},
  { reported_cost: 9_000_000, tokens: { input: 1e12, output: 1e12, cache_read: 7, cache_write: 8, cache_write_1h: 9 } },
]

/** With a column for each of their labels, and for nobody else's. */
async function csvOf(entries: ListedTokenEntry[], basis: CostBasis = 'cost'): Promise<string> {
  const names = new Set(entries.flatMap(({ labels }) => Object.keys(labels)))
  const lines = entries.map((entry) => ({ ...entry, agent_manager_email: 'ada@example.com' }))
  return (await Array.fromAsync(csvText(lines, [...entryColumns(basis), ...labelColumns([...names].sort())]))).join('')
}
const ndjsonOf = (entries: ListedTokenEntry[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

/** Texts of any characters that the API takes, and those that formats escape. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }).map((any) => any.replace(/\p{Cc}|\p{Cs}/gu, '')),
  fc.string({
    unit: fc.constantFrom('a', ' ', '"', ',', '=', "'", '\\', '-', 'ü', '🙂', '\u007f', '\u2028'),
    maxLength: 12,
  }),
)
const orNull = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 3 })
const count = fc.oneof(fc.nat(1_000), fc.integer({ min: 0, max: COUNT_LIMIT }), fc.constant(COUNT_LIMIT))
const nanos = fc.oneof(fc.bigInt({ min: 0n, max: 5_000_000_000n }), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }))
/** Some at the same millisecond, some in the same week, and some years apart. */
const moment = fc.oneof(
  fc.constant(Date.UTC(2026, 10, 19)),
  fc.integer({ min: Date.UTC(2026, 10, 1), max: Date.UTC(2026, 10, 20) }),
  fc.integer({ min: Date.UTC(1_000, 0, 1), max: Date.UTC(9_999, 0, 1) }),
  fc.constantFrom(
    Date.parse('-000001-12-31T23:00:00Z'),
    Date.parse('0000-01-01T00:00:00Z'),
    Date.parse('+010000-01-01T00:00:00Z'),
  ),
)

const BILL = billRow({ number: '2026-0001, "A"' })

const change = fc.record({
  startedAt: moment,
  lasted: count,
  createdAt: moment,
  updatedAt: orNull(moment),
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  cacheWrite1h: count,
  requests: orNull(count),
  reportedCost: orNull(nanos),
  listValue: nanos,
  priceNote: orNull(text),
  placementNote: orNull(text),
  namedProject: orNull(text),
  namedTicket: orNull(text),
  summary: orNull(text),
  superseded: fc.boolean(),
  activeMs: orNull(count),
  sliceDay: orNull(fc.integer({ min: -400_000, max: 900_000 })),
  estimated: fc.boolean(),
  corrected: orNull(fc.subarray([...CORRECTED_FIELDS], { minLength: 1 })),
  amendment: orNull(
    fc.nat(998).map((share) => ({
      division: { of: newId('ent'), weight: String(share + 1), total: '1000' },
    })),
  ),
  status: fc.constantFrom('submitted', 'approved', 'rejected'),
  source: fc.constantFrom('report', 'log', 'span', 'metric'),
  managerBy: fc.constantFrom('token', 'email'),
  usageDetails: orNull(
    fc.record({ serviceTier: text, speed: text, inputAudio: count, tools: count, above: fc.array(count) }).map((of) =>
      detailsText(
        usageDetails({
          serviceTier: of.serviceTier,
          speed: of.speed,
          tools: { web_search: of.tools, code: 1 },
          media: { inputAudio: of.inputAudio },
          requestsAbove: of.above.map((threshold) => ({ threshold, counts: { ...ZERO_COUNTS, input: 1 } })),
        }),
      ),
    ),
  ),
})

forEachEngine('an export', (open) => {
  async function stage(serving: boolean) {
    const db = await open({ serving })
    const services = createServices({ db, clock })
    await services.prices.loadDefaultPrices()
    await services.people.addUser({ email: 'ada@example.com', name: 'Ada "A"', role: 'admin' }, TALLY)
    const { secret } = await services.people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'test' }, TALLY)
    const caller = (await services.people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
    for (const change of REPORTS) {
      const report = reportBody({ started_at: '2026-11-20T09:00:00Z', ...change })
      await services.entries.reporting.reportEntry(report, caller)
    }
    const { listing } = services.entries
    const exported = async (viewer: Viewer, filter: EntryFilter = {}, format: ExportFormat = 'csv') =>
      Buffer.concat(await Array.fromAsync(listing.exportFile(viewer, filter, format))).toString()
    const listed = async (viewer: Viewer, filter: EntryFilter = {}) =>
      Array.fromAsync(listing.exportEntries(viewer, filter))
    return { ...services, db, exported, listed }
  }

  for (const serving of [true, false]) {
    test(`of a ${serving ? 'server' : 'command line'} contains each entry as its columns and as the list show it`, async () => {
      const { exported, listed } = await stage(serving)
      const entries = await listed(EVERYTHING)
      expect(entries).toHaveLength(REPORTS.length)
      expect(await exported(EVERYTHING)).toBe(await csvOf(entries))
      expect(await exported(EVERYTHING, {}, 'ndjson')).toBe(ndjsonOf(entries))
    })
  }

  test('contains any entry as its columns and as the list show it, with every filter and for every viewer', async () => {
    const { db, entries: exporting, exported, listed } = await stage(false)
    const [price] = await db.read.select({ id: db.read.tables.prices.id }).from(db.read.tables.prices).limit(1)
    const changes = fc.sample(change, 200)
    await db.write(async (tx) => {
      const { entries } = tx.tables
      const [template, other] = await tx.select().from(entries).orderBy(entries.id).limit(2)
      const ids = await tx.reserveIds(entries, changes.length)
      const rows = changes.map(({ lasted, ...each }, at) => ({
        ...template!,
        ...each,
        endedAt: each.startedAt + lasted,
        id: ids[at]!,
        uid: newId('ent'),
        priceId: price!.id,
        priceStep: 1,
        sessionId: null,
        chainModelId: null,
        part: null,
        continuesId: at % 7 === 0 ? other!.id : null,
        possibleDuplicateId: at % 5 === 0 ? template!.id : null,
        projectId: at % 3 === 0 ? other!.projectId : null,
        placedBy: at % 3 === 0 ? 'manual' : null,
      }))
      await tx.insertAll(entries, rows as (typeof entries.$inferInsert)[])
      const { bills, billEntries } = tx.tables
      const [bill] = await tx.insert(bills).values(BILL).returning({ id: bills.id })
      const billed = ids.filter((_, at) => at % 4 === 0)
      const line = { billId: bill!.id, statusBefore: 'submitted' } as const
      await tx.insert(billEntries).values(billed.map((entryId, at) => ({ ...line, entryId, line: 1 + (at % 2) })))
      await tx
        .update(entries)
        .set({ status: 'billed', billId: bill!.id })
        .where(inArray(entries.id, billed.slice(5)))
    })
    const [week, year] = [Date.UTC(2026, 10, 15), Date.UTC(2025, 0, 1)]
    const filters: EntryFilter[] = [
      {},
      { starting_at: week },
      { starting_at: year, ending_at: week, status: ['approved'] },
      { model: ['nobody-knows'] },
      { project: ['Acme, Web', 'Übung'] },
      { q: 'a' },
      { possible_duplicate: true },
      { billedOn: { bill: BILL.uid } },
      { billedOn: { bill: BILL.uid, line: 2 } },
    ]
    for (const viewer of [EVERYTHING, viewerOf({ id: 1, role: 'member' })]) {
      for (const filter of filters) {
        const entries = await listed(viewer, filter)
        expect(await exported(viewer, filter)).toBe(await csvOf(entries))
        expect(await exported(viewer, filter, 'ndjson')).toBe(ndjsonOf(entries))
      }
    }
    expect((await listed(EVERYTHING)).length).toBe(REPORTS.length + changes.length)
    // Between two pieces others have their turn, and the export can be abandoned.
    const empty = exporting.listing.exportFile(EVERYTHING, { q: 'no such text' }, 'ndjson')
    expect((await Array.fromAsync(empty)).length).toBeGreaterThan(20)
  })

  test('shows a member their own entries only', async () => {
    const { exported } = await stage(true)
    const stranger = viewerOf({ id: 999, role: 'member' })
    expect((await exported(stranger)).split('\r\n')).toHaveLength(2)
  })

  test('has columns of the labels of its entries only, and leaves the columns before them as they are', async () => {
    const { exported } = await stage(false)
    const headingOf = async (filter: EntryFilter) => (await exported(EVERYTHING, filter)).split('\r\n')[0]!
    const before = entryColumns('cost')
      .map(({ heading }) => heading)
      .join(',')
    expect(await headingOf({})).toBe(`${before},label:branch,label:repository`)
    expect(await headingOf({ model: ['nobody-knows'] })).toBe(`${before},label:repository`)
    expect(await headingOf({ project: ['Übung'] })).toBe(before)
    expect(before).toEndWith(',funding,plan,marginal_cost,allocated_cost,fee_share,provisional')
  })

  test('that its reader leaves ends, and another one begins', async () => {
    const { entries, exported } = await stage(true)
    for await (const chunk of entries.listing.exportFile(EVERYTHING, {}, 'csv')) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    const [one, other] = await Promise.all([exported(EVERYTHING), exported(EVERYTHING)])
    expect(one).toBe(other)
    expect(one.split('\r\n')).toHaveLength(REPORTS.length + 2)
  })
})
