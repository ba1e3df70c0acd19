/** What a bill leaves out: whatever the settings, each entry that it could be expected to contain is on it or counted once. */
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Status } from '../../../src/database/schema/values.ts'
import { readBillRun } from '../../../src/features/bills/query.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { readPeriodAlone } from '../../../src/features/reports/query.ts'
import { OPEN_STATUSES } from '../../../src/features/selection/filter.ts'
import { createServices } from '../../../src/services.ts'
import { COST_BASES } from '../../../src/shared/cost-basis.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const PLACES = ['WEB', 'GIFT', 'APP', 'LONE', 'a ticket', 'nowhere'] as const
const STATUSES = ['submitted', 'approved', 'rejected', 'held', 'draft', 'voided', 'discarded'] as const

interface Made {
  place: (typeof PLACES)[number]
  status: (typeof STATUSES)[number]
  isEarlier: boolean
  isPriced: boolean
  ticket?: string | undefined
  session?: string | undefined
  dollars?: number
}

const MADE = fc.record<Made>({
  place: fc.constantFrom(...PLACES),
  status: fc.constantFrom(...STATUSES),
  isEarlier: fc.boolean(),
  isPriced: fc.boolean(),
})

/** Of a bill of November for Acme, to which WEB belongs, and GIFT, which is not billable. */
function reasonOf({ place, status, isEarlier, isPriced }: Made, statuses: readonly Status[], includesEarlier: boolean) {
  const isOpen = OPEN_STATUSES.includes(status)
  if (status === 'voided' || status === 'discarded') return undefined
  if (place !== 'WEB' && place !== 'GIFT') {
    if (isEarlier || !isOpen || place === 'APP') return undefined
    return { LONE: 'without_client', 'a ticket': 'without_project', nowhere: 'unattributed' }[place]
  }
  if (isEarlier) {
    if (!isOpen || place === 'GIFT') return undefined
    if (!includesEarlier || !statuses.includes(status)) return 'earlier'
  }
  if (place === 'GIFT') return 'not_billable'
  if (status === 'draft') return 'on_sheets'
  if (status === 'rejected' || status === 'held') return status
  if (!statuses.includes(status)) return 'not_approved'
  return isPriced ? 'billed' : 'unpriced'
}

forEachEngine('what a bill leaves out', (open) => {
  async function stage({ approval = false } = {}) {
    const db = await open()
    const services = createServices({ db, clock: { now: () => NOW } })
    const caller = await addReporter(services.people)
    const { projects } = services
    await projects.addClient(OPERATOR, { name: 'Acme' })
    await projects.addClient(OPERATOR, { name: 'Other' })
    await projects.addProject(OPERATOR, { key: 'WEB', client: 'Acme' })
    await projects.addProject(OPERATOR, { key: 'GIFT', client: 'Acme', billable: false })
    await projects.addProject(OPERATOR, { key: 'APP', client: 'Other' })
    await projects.addProject(OPERATOR, { key: 'LONE' })
    await db.write((tx) =>
      tx
        .update(tx.tables.organization)
        .set({ approvalRequired: approval })
        .then(() => undefined),
    )
    let models = 0
    const sheets = new Map<boolean, string>()
    async function sheetOf(isEarlier: boolean): Promise<string> {
      const month = isEarlier ? '2026-10' : '2026-11'
      const person = 'ada@example.com'
      if (!sheets.has(isEarlier))
        sheets.set(isEarlier, (await services.sheets.openSheet({ person, month }, OPERATOR)).id)
      return sheets.get(isEarlier)!
    }
    async function make({ place, status, isEarlier, isPriced, ticket, session, dollars }: Made, cost = dollars ?? 1) {
      const at = isEarlier ? '2026-10-10T10:00:00Z' : '2026-11-10T10:00:00Z'
      const body = reportBody({
        ...{ model: 'no-such-model', started_at: at, ended_at: at },
        ...(isPriced && { reported_cost: cost }),
        project: PLACES.indexOf(place) < 4 ? place : undefined,
        ...(place === 'a ticket' ? { ticket: 'NOWHERE-1' } : ticket && { ticket }),
        // One entry of a session by each model.
        ...(session && status !== 'draft' && { session_id: session, model: `no-such-model-${models++}` }),
      })
      if (status === 'draft') return void (await services.sheets.addEntry(await sheetOf(isEarlier), body, OPERATOR))
      const { entry } = await services.entries.reporting.reportEntry(body, caller)
      const { entries } = db.read.tables
      await db.write((tx) =>
        tx
          .update(tx.tables.entries)
          .set({ status })
          .where(eq(entries.uid, entry.id as never))
          .then(() => undefined),
      )
    }
    const preview = async (more: Record<string, unknown> = {}) =>
      (await services.bills.preview({ client: 'Acme', month: '2026-11', leave_unpriced: true, ...more })).document
    async function totalOf(list: string) {
      const texts: Record<string, string | string[]> = { limit: '1000' }
      const asked = new URL(list, 'http://tally').searchParams
      for (const name of asked.keys()) {
        const values = asked.getAll(name)
        texts[name] = values.length === 1 ? values[0]! : values
      }
      return (await services.entries.listing.listEntries(EVERYTHING, readListQuery(texts, 'UTC'))).data.length
    }
    return { ...services, db, make, preview, totalOf }
  }

  const counted = (left: Record<string, { entries: number; cost: number }>) =>
    Object.fromEntries(
      Object.entries(left)
        .filter(([, { entries }]) => entries > 0)
        .map(([reason, { entries, cost }]) => [reason, [entries, Number(cost)]]),
    )

  test('does not depend on whether bills require approval, where nothing could be approved yet', async () => {
    for (const approval of [false, true]) {
      const { make, preview, bills } = await stage({ approval })
      const made = { status: 'submitted', isEarlier: false, isPriced: true } as const
      await make({ ...made, place: 'WEB', status: 'approved' }, 1)
      await make({ ...made, place: 'nowhere' }, 50)
      await make({ ...made, place: 'LONE' }, 20)
      await make({ ...made, place: 'a ticket' }, 7)
      await make({ ...made, place: 'WEB', isEarlier: true }, 100)
      const refused = await bills.send({ client: 'Acme', month: '2026-11' }, { by: TALLY }).catch(({ code }) => code)
      expect(refused).toBe('earlier_entries')
      const document = await preview({ include_earlier: false })
      expect(document.total).toEqual(1)
      expect(counted(document.left_out)).toEqual({
        unattributed: [1, 50],
        without_client: [1, 20],
        without_project: [1, 7],
        earlier: [1, 100],
      })
      // What can't be billed yet is left for another bill, also from a bill with what is from before the period.
      const all = await preview({ include_earlier: true })
      expect([all.total, all.left_out.earlier.entries]).toEqual(approval ? [1, 1] : [101, 0])
    }
  })

  test('is each entry once, by its reason, in bills, billing runs and reports', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(MADE, { maxLength: 30 }),
        fc.boolean(),
        fc.constantFrom(true, false),
        async (made, approval, includesEarlier) => {
          const { make, preview, bills, totalOf, reports } = await stage({ approval })
          for (const each of made) await make(each)
          const statuses: Status[] = approval ? ['approved'] : ['submitted', 'approved']
          const expected: Record<string, number> = {}
          for (const each of made) {
            const reason = reasonOf(each, statuses, includesEarlier)
            if (reason !== undefined) expected[reason] = (expected[reason] ?? 0) + 1
          }
          const document = await preview({ include_earlier: includesEarlier })
          const left = Object.entries(document.left_out).map(([reason, { entries }]) => [reason, entries] as const)
          const found = Object.fromEntries(
            [['billed', document.entries] as const, ...left].filter(([, count]) => count),
          )
          expect(found).toEqual(expected)

          const run = await bills.run(readBillRun({ month: '2026-11', leave_unpriced: 'true' }))
          for (const { entries, list } of run.checks) expect(await totalOf(list)).toBe(entries)
          const checks = Object.fromEntries(run.checks.map(({ check, entries }) => [check, entries]))
          const { data } = await reports.completeness(EVERYTHING, readPeriodAlone(NOVEMBER, CIRCUMSTANCES))
          const complete = Object.fromEntries(data.map(({ check, entries }) => [check, entries]))
          for (const [reason, name] of [
            ['unattributed', 'unplaced'],
            ['without_client', 'without_client'],
            ['without_project', 'without_project'],
          ] as const) {
            expect([checks[reason], complete[name]]).toEqual([expected[reason] ?? 0, expected[reason] ?? 0])
          }
        },
      ),
      { numRuns: runs(60) },
    )
  })

  test('is the same in a billing run as in previews, whatever is decided and by whichever basis', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(USES, { maxLength: 20 }),
        fc.boolean(),
        DECISIONS,
        fc.constantFrom('cost' as const, ...COST_BASES),
        async (made, approval, decided, basis) => {
          const { make, bills } = await stage({ approval })
          for (const each of made) await make(each)
          const run = await bills.run(readBillRun({ month: '2026-11', basis, ...decided }))
          for (const { state, digest, request, ...row } of run.data) {
            const included = { include_earlier: request.include_earlier ?? false, leave_unpriced: true }
            const preview = await bills.preview({ ...request, ...included })
            const { document } = preview
            const { unattributed: _, without_client: __, without_project: ___, ...own } = document.left_out
            const { entries, cost, subtotal, tax, total } = document
            expect(row).toMatchObject({ entries, cost, subtotal, tax: tax?.amount ?? 0, total, left_out: own })
            expect(digest).toBe(state === 'ready' ? preview.digest : null)
            if (state === 'ready') expect(entries).toBeGreaterThan(0)
            if (state === 'blocked') await expect(bills.send(request, { by: TALLY })).rejects.toThrow()
          }
        },
      ),
      { numRuns: runs(100, 20) },
    )
  })
})

const USES = fc
  .record({
    made: MADE,
    ticket: fc.constantFrom(undefined, 'TIC-1', 'TIC-2'),
    session: fc.constantFrom(undefined, 'one', 'two'),
    dollars: fc.constantFrom(0, 0.004, 2.5, 9_007_199.254740993),
  })
  .map(({ made, ...more }) => ({ ...made, ...more }))
const DECISIONS = fc.record(
  { include_earlier: fc.constantFrom('true', 'false'), leave_unpriced: fc.constantFrom('true', 'false') },
  { requiredKeys: [] },
)

const CIRCUMSTANCES = { timeZone: 'UTC', now: NOW, weekStart: 'monday' } as const
const NOVEMBER = { starting_at: '2026-11-01', ending_at: '2026-12-01' }
