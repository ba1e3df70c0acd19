/** Closing periods of plans: what stays, and how what comes late is settled. */
import { expect, test } from 'bun:test'
import { eq, inArray } from 'drizzle-orm'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Tx } from '../../../src/database/database.ts'
import type { Problem } from '../../../src/errors.ts'
import { readListQuery } from '../../../src/features/entries/contract.ts'
import { findInconsistentShares } from '../../../src/features/funding/integrity.ts'
import type { PlanBody } from '../../../src/features/plans/schema.ts'
import type { Id } from '../../../src/lib/id.ts'
import { createServices } from '../../../src/services.ts'
import { allocatedSentence } from '../../../src/shared/funding.ts'
import { billRow } from '../../support/bills.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const DOLLAR = 1_000_000_000n

forEachEngine('closing periods', (open) => {
  async function start(changes: Record<string, unknown> = {}) {
    const db = await open()
    const clock = { at: Date.UTC(2026, 11, 20), now: () => clock.at }
    const services = createServices({ db, clock })
    const { plans, entries } = services
    const ada = await addReporter(services.people)
    const plan = { vendor: 'V', product: 'Max', fee: 100, from: '2026-10-17', weight: 'tokens' as const, ...changes }
    const { id } = (await plans.addPlan(plan as never, OPERATOR)) as PlanBody
    const report = async (day: string, project: string, dollars: number, more: Record<string, unknown> = {}) => {
      const body = reportBody({
        started_at: `${day}T10:00:00Z`,
        ended_at: `${day}T11:00:00Z`,
        tokens: { input: dollars * 1_000, output: 0 },
        reported_cost: dollars,
        project,
        ...more,
      })
      return (await entries.reporting.reportEntry(body, ada)).entry.id as Id<'ent'>
    }
    const close = (firstDay: string) => plans.closePeriod('Max', firstDay, { leave_unpriced: true }, OPERATOR)
    const refusal = async (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        (problem: Problem) => `${problem.code}: ${problem.message}`,
      )
    /** The fees of a period by project, as all its entries have them now: own ones, and corrections in it. */
    const feesIn = async (firstDay: string) => {
      const { planPeriods: p, planShares: s, entries: e, projects, planCorrections: c } = db.read.tables
      const rows = await db.read
        .select({ project: projects.key, fee: s.fee, of: c.ofFirstDay, status: e.status })
        .from(s)
        .innerJoin(p, eq(p.generationId, s.generationId))
        .innerJoin(e, eq(e.id, s.entryId))
        .leftJoin(projects, eq(projects.id, e.projectId))
        .leftJoin(c, eq(c.entryId, e.id))
        .where(eq(p.firstDay, firstDay))
        .orderBy(s.entryId)
      return rows.map(({ project, fee, of, status }) => [
        `${project}${of === null ? '' : ` of ${of}`}`,
        Number(fee / (DOLLAR / 100n)) / 100,
        ...(status === 'voided' ? ['voided'] : []),
      ])
    }
    const settle = async () => {
      await entries.funding.decideOwed()
      // What is calculated marks hours once more, and equal shares mark none.
      const totals = services.jobs.find(({ options }) => options.name === 'totals')!
      const { staleHours } = db.read.tables
      do {
        await totals.options.run({ signal: new AbortController().signal, pause() {} } as never)
        await services.funding.calculateOwed()
      } while ((await db.read.select().from(staleHours)).length > 0)
      expect(await findInconsistentShares(db.read)).toEqual([])
    }
    return { db, clock, services, plans, id, report, close, refusal, feesIn, settle }
  }

  test('late entries are corrected in the next open period, and voiding them takes the correction back', async () => {
    const { plans, report, close, feesIn, settle, services, db, clock } = await start()
    await report('2026-10-20', 'A', 60)
    await report('2026-10-21', 'B', 40)
    await report('2026-11-20', 'B', 10)
    expect(await close('2026-10-17')).toMatchObject({ state: 'closed', allocated: 100, pending: 0, entries: 2 })
    expect(await feesIn('2026-10-17')).toEqual([
      ['A', 60],
      ['B', 40],
    ])
    clock.at += 1_000
    const late = await report('2026-10-22', 'B', 100)
    await settle()
    expect(await plans.getPeriod('Max', '2026-10-17')).toMatchObject({ late_entries: 1, allocated: 100, pending: 0 })
    expect(await feesIn('2026-10-17')).toHaveLength(2)
    expect(await close('2026-11-17')).toMatchObject({ allocated: 100 })
    expect(await feesIn('2026-10-17')).toEqual([
      ['A', 60],
      ['B', 40],
      ['B', 0],
    ])
    expect(await feesIn('2026-11-17')).toEqual([
      ['B', 100],
      ['A of 2026-10-17', -30],
      ['B of 2026-10-17', 30],
    ])
    await settle()
    const { settled_by, ...paid } = await services.entries.listing.getEntry(late, EVERYTHING)
    expect([paid.allocated_cost, allocatedSentence(paid)]).toEqual([0, 'The share of the fee of Max.'])
    expect(allocatedSentence({ ...paid, settled_by })).toBe(
      'The entry arrived after the period was closed: a correction contains its share of the fee of Max.',
    )
    expect(await services.entries.listing.getEntry(settled_by as Id<'ent'>, EVERYTHING)).toMatchObject({
      allocated_cost: 30,
      settled_by: null,
    })
    const [correction] = await db.read
      .select()
      .from(db.read.tables.entries)
      .where(inArray(db.read.tables.entries.status, ['approved']))
    expect(correction).toMatchObject({
      summary: 'Correction of Max, 2026-10-17 to 2026-11-16: 1 late entry',
      reportedCost: 0n,
      listValue: null,
      input: 0,
      startedAt: Date.UTC(2026, 10, 17),
    })
    // Settling again adds nothing.
    await report('2026-12-18', 'B', 10)
    const decision = { action: 'void' as const, reason: 'twice' }
    await services.entries.approval.decideEntry(late, decision, OPERATOR)
    await settle()
    expect(await plans.getPeriod('Max', '2026-10-17')).toMatchObject({ late_entries: 0, pending: 0 })
    await plans.reopenPeriod('Max', '2026-11-17', { reason: 'once more' }, OPERATOR)
    expect(await feesIn('2026-11-17')).toHaveLength(3)
    await close('2026-11-17')
    expect(await feesIn('2026-11-17')).toEqual([
      ['B', 100],
      ['A of 2026-10-17', -30],
      ['B of 2026-10-17', 30],
      ['A of 2026-10-17', 30],
      ['B of 2026-10-17', -30],
    ])
    await settle()
  })

  test('what a period counts are lists: its entries, late ones, those that wait for a correction, and unpriced ones', async () => {
    const { clock, plans, report, close, settle, services } = await start({ weight: 'list_value' })
    const listed = async (filters: Record<string, string>) => {
      const of = { plan: 'Max', correction: 'false', starting_at: '2026-10-17', ending_at: '2026-11-17', ...filters }
      const { data } = await services.entries.listing.listEntries(EVERYTHING, readListQuery(of, 'UTC'))
      // As totals count.
      return data.flatMap(({ summary, status }) => (status === 'voided' ? [] : summary!)).sort()
    }
    const expectCounts = async (late: string[], waiting: string[]) => {
      await settle()
      expect(await listed({ late: 'true' })).toEqual(late)
      expect(await listed({ late: 'true', unknown_cost: 'allocated' })).toEqual(waiting)
      const all = await listed({})
      expect((await listed({ late: 'false' })).length).toBe(all.length - late.length)
      expect(await plans.getPeriod('Max', '2026-10-17')).toMatchObject({
        entries: all.length,
        late_entries: waiting.length,
        unpriced_entries: (await listed({ unknown_cost: 'list' })).length,
      })
    }
    const first = await report('2026-10-20', 'A', 60, { summary: 'first' })
    const voided = await report('2026-10-21', 'B', 40, { summary: 'voided' })
    const divided = await report('2026-10-23', 'B', 40, { summary: 'divided' })
    await report('2026-11-20', 'B', 10, { summary: 'next period' })
    const decide = (id: Id<'ent'>, action: 'void' | 'restore') =>
      services.entries.approval.decideEntry(
        id,
        { action, ...(action === 'void' && { reason: 'x' }) } as never,
        OPERATOR,
      )
    await decide(voided, 'void')
    await expectCounts([], [])
    await close('2026-10-17')
    await expectCounts([], [])
    clock.at += 60_000
    await report('2026-10-22', 'B', 5, { summary: 'late' })
    await decide(voided, 'restore')
    await expectCounts(['late', 'voided'], ['late', 'voided'])
    // The parts of an entry arrived with it.
    const parts = [{ share: 1 }, { share: 1, project: 'A' }]
    await services.entries.division.divide(divided, { parts }, OPERATOR)
    // A voided entry has no share, and waits for none.
    await decide(first, 'void')
    await expectCounts(['late', 'voided'], ['late', 'voided'])
    await close('2026-11-17')
    await expectCounts(['late'], [])
  })

  test('a voided correction leaves its part of the fee open in the period that it is of', async () => {
    const { db, plans, report, close, settle, services } = await start()
    await report('2026-11-20', 'A', 1)
    await close('2026-10-17')
    await report('2026-10-20', 'A', 60)
    await close('2026-11-17')
    await settle()
    expect(await plans.getPeriod('Max', '2026-10-17')).toMatchObject({ allocated: 100, pending: 0 })
    const { entries: e } = db.read.tables
    const [correction] = await db.read.select().from(e).where(eq(e.status, 'approved'))
    await services.entries.approval.decideEntry(correction!.uid, { action: 'void', reason: 'x' }, OPERATOR)
    // It is not calculated yet, which is no finding.
    expect(await findInconsistentShares(db.read)).toEqual([])
    await settle()
    expect(await plans.getPeriod('Max', '2026-10-17')).toMatchObject({ allocated: 0, pending: 100 })
  })

  test('amounts that were billed before it closed stay, and the rest is corrected in the next period', async () => {
    const { db, plans, report, close, feesIn, settle, services } = await start()
    const billed = await report('2026-10-20', 'A', 30)
    await report('2026-10-21', 'B', 10)
    await settle()
    expect(await feesIn('2026-10-17')).toEqual([
      ['A', 75],
      ['B', 25],
    ])
    const { bills, billEntries, entries: e } = db.read.tables
    await db.write(async (tx) => {
      const [entry] = await tx.select().from(e).where(eq(e.uid, billed))
      const [bill] = await tx
        .insert(bills)
        .values(billRow({ basis: 'allocated', provisional: true }))
        .returning()
      const frozen = { fee: 75n * DOLLAR, charge: 0n }
      const line = { billId: bill!.id, entryId: entry!.id, line: 1, statusBefore: 'submitted' as const, ...frozen }
      await tx.insert(billEntries).values(line)
      await tx.update(e).set({ status: 'billed', billId: bill!.id }).where(eq(e.id, entry!.id))
    })
    await report('2026-10-22', 'B', 60)
    await settle()
    expect(await plans.getPeriod('Max', '2026-10-17')).toMatchObject({ allocated: 145, pending: -45 })
    expect(await close('2026-10-17')).toMatchObject({ allocated: 100, pending: 0 })
    expect(await feesIn('2026-10-17')).toEqual([
      ['A', 75],
      ['B', 10],
      ['B', 60],
    ])
    expect(await feesIn('2026-11-17')).toEqual([['A of 2026-10-17', -45]])
    await settle()
    expect(await plans.getPeriod('Max', '2026-11-17')).toMatchObject({ allocated: 0, unused: 100, pending: 0 })
    // Reopened, the correction that no bill has is voided, and the bill keeps its amount.
    await plans.reopenPeriod('Max', '2026-10-17', { reason: 'another invoice' }, OPERATOR)
    expect(await plans.getPeriod('Max', '2026-10-17')).toMatchObject({ state: 'ended', allocated: 145, pending: -45 })
    await settle()
    expect(await feesIn('2026-11-17')).toEqual([])
    expect(services).toBeDefined()
  })

  test('is refused while it runs, before earlier ones, and twice', async () => {
    const { report, close, refusal, plans, id } = await start()
    await report('2026-10-20', 'A', 60)
    await report('2026-11-20', 'A', 60)
    expect(await refusal(close('2026-12-17'))).toStartWith('wrong_status: Cannot close the period from 2026-12-17')
    expect(await refusal(close('2026-11-17'))).toBe(
      'wrong_status: Cannot close the period from 2026-11-17 of plan Max: the period from 2026-10-17 is open. Close that one first.',
    )
    expect(await refusal(close('2026-10-18'))).toStartWith('not_found: ')
    expect(await refusal(plans.reopenPeriod('Max', '2026-10-17', { reason: 'x' }, OPERATOR))).toStartWith(
      'wrong_status',
    )
    await close('2026-10-17')
    expect(await refusal(close('2026-10-17'))).toEndWith('it is closed.')
    const change = (fields: object) => refusal(plans.changePlan(id, fields as never, OPERATOR))
    expect(await change({ fee: 200, from: '2026-10-17' })).toStartWith('period_closed: The period from 2026-10-17')
    expect(await change({ fee: 200, from: '2026-11-01', prorate: true })).toStartWith('period_closed')
    expect(await refusal(plans.endPlan(id, { on: '2026-10-20', prorate: false }, OPERATOR))).toStartWith(
      'period_closed',
    )
    expect(await change({ fee: 200, from: '2026-11-17' })).toBe('done')
  })

  test('a divided entry of a closed period divides its share, and undoing that adds it up again', async () => {
    const { report, close, feesIn, settle, services } = await start()
    const whole = await report('2026-10-20', 'A', 60)
    await report('2026-10-21', 'B', 40)
    await close('2026-10-17')
    const { entries, projects } = services
    await projects.addProject(OPERATOR, { key: 'C' } as never)
    await entries.division.divide(whole, { parts: [{ share: 2 }, { project: 'C', share: 1 }] }, OPERATOR)
    const divided = [
      ['A', 40],
      ['B', 40],
      ['C', 20],
    ]
    expect(await feesIn('2026-10-17')).toEqual(divided)
    await settle()
    expect(await feesIn('2026-10-17')).toEqual(divided)
    await entries.division.undivide(whole, OPERATOR)
    await settle()
    expect(await feesIn('2026-10-17')).toEqual([
      ['A', 60],
      ['B', 40],
    ])
  })

  test('a plan that has ended takes corrections in its last period, and people without use get them, too', async () => {
    const { db, plans, id, report, close, feesIn, settle, services } = await start({ seats: 2 })
    await report('2026-10-20', 'A', 60)
    await plans.endPlan(id, { on: '2026-11-16' }, OPERATOR)
    expect(await close('2026-10-17')).toMatchObject({ allocated: 100, unused: 100, unused_seats: 1, pending: 0 })
    const bob = await addReporter(services.people, { name: 'Bob' })
    const body = reportBody({ started_at: '2026-10-25T10:00:00Z', ended_at: '2026-10-25T11:00:00Z', project: 'B' })
    await services.entries.reporting.reportEntry(body, bob)
    await settle()
    expect(await plans.getPeriod('Max', '2026-10-17')).toMatchObject({ unused: 0, pending: 100, late_entries: 1 })
    await plans.reopenPeriod('Max', '2026-10-17', { reason: 'late' }, OPERATOR)
    await close('2026-10-17')
    expect(await feesIn('2026-10-17')).toEqual([
      ['A', 100],
      ['B', 100],
    ])
    const { entries: e } = db.read.tables
    const [first] = await db.read.select().from(e).limit(1)
    await services.entries.approval.decideEntry(first!.uid, { action: 'void', reason: 'x' }, OPERATOR)
    await settle()
    expect(await plans.readLedger({ from: '2026-10-01', to: '2026-12-20' })).toMatchObject({
      fee_usd: 200,
      allocated: 100,
      unused: 100,
      pending: 0,
    })
  })

  test('a plan that ends before the period of a correction keeps it, and so does one that goes on again', async () => {
    const { plans, id, report, close, feesIn, settle, services } = await start()
    await report('2026-10-20', 'A', 60)
    await report('2026-10-21', 'B', 40)
    await close('2026-10-17')
    await report('2026-10-22', 'B', 100)
    const approved = await report('2026-11-22', 'B', 100)
    await services.entries.approval.decideEntry(approved, { action: 'approve' }, OPERATOR)
    await close('2026-11-17')
    await plans.reopenPeriod('Max', '2026-11-17', { reason: 'it has ended' }, OPERATOR)
    const corrections = [
      ['A of 2026-10-17', -30],
      ['B of 2026-10-17', 30],
    ]
    await plans.endPlan(id, { on: '2026-11-16' }, OPERATOR)
    await settle()
    expect(await feesIn('2026-10-17')).toEqual([['A', 60], ['B', 40], ['B', 0], ...corrections])
    expect(await feesIn('2026-11-17')).toEqual([])
    await plans.endPlan(id, { on: null }, OPERATOR)
    await settle()
    expect(await feesIn('2026-10-17')).toEqual([
      ['A', 60],
      ['B', 40],
      ['B', 0],
    ])
    expect(await feesIn('2026-11-17')).toEqual([['B', 100], ...corrections])
  })

  test('a project or ticket whose shares were corrected stays, also without entries', async () => {
    const { report, close, refusal, services } = await start()
    await report('2026-10-20', 'A', 60, { ticket: 'A-1' })
    await close('2026-10-17')
    const late = await report('2026-10-22', 'B', 60)
    await report('2026-11-20', 'C', 60)
    await close('2026-11-17')
    const { entries, projects } = services
    const { data } = await entries.listing.listEntries(EVERYTHING, { filter: { correction: true }, limit: 9 } as never)
    for (const { id } of data) {
      await entries.approval.decideEntry(id as never, { action: 'withdraw_approval' }, OPERATOR)
      await entries.places.placeEntries({ ids: [id] } as never, { project: 'C' }, OPERATOR)
    }
    await entries.places.placeEntries({ ids: [late] } as never, { project: 'C' }, OPERATOR)
    expect(await refusal(projects.removeProject(OPERATOR, 'B'))).toBe(
      'in_use: The project B has corrections of plans. Archive it instead.',
    )
  })

  test('the figures and times of a correction are those of its period', async () => {
    const { report, close, refusal, services } = await start()
    await report('2026-10-20', 'A', 60)
    await report('2026-10-21', 'B', 40)
    await close('2026-10-17')
    await report('2026-10-22', 'B', 60)
    await close('2026-11-17')
    const { entries } = services
    const { data } = await entries.listing.listEntries(EVERYTHING, { filter: { correction: true }, limit: 9 } as never)
    const id = data[0]!.id as Id<'ent'>
    await entries.approval.decideEntry(id, { action: 'withdraw_approval' }, OPERATOR)
    const change = { started_at: '2026-08-01T00:00:00Z', ended_at: '2026-08-01T00:00:00Z', reason: 'moved' }
    expect(await refusal(entries.places.changeEntry(id, change, OPERATOR))).toStartWith(
      `wrong_status: Entry ${id} corrects`,
    )
  })

  test('verify finds periods that are forgotten, and corrections that nothing pays', async () => {
    const { db, report, close, settle } = await start()
    await report('2026-10-20', 'A', 60)
    await close('2026-10-17')
    await report('2026-10-22', 'B', 60)
    await report('2026-11-20', 'A', 60)
    await close('2026-11-17')
    await settle()
    const { planPeriods: p, fundings: f } = db.read.tables
    const damaged = async (damage: Parameters<typeof db.write>[0]) => {
      await db.write(damage)
      return findInconsistentShares(db.read)
    }
    const [period] = await db.read.select().from(p).where(eq(p.firstDay, '2026-11-17'))
    expect(
      await damaged((tx) =>
        tx
          .delete(p)
          .where(eq(p.firstDay, '2026-11-17'))
          .then(() => undefined),
      ),
    ).toEqual([expect.stringContaining('Entries of the period from 2026-11-17 of plan Max have no shares')])
    expect(
      await damaged((tx) =>
        tx
          .insert(p)
          .values({ ...period!, changes: -1, fee: 1n })
          .then(() => undefined),
      ),
    ).toEqual([expect.stringContaining('(fee)')])
    const mend = (tx: Tx) => tx.update(p).set({ changes: 0, fee: period!.fee }).where(eq(p.firstDay, '2026-11-17'))
    expect(await damaged((tx) => mend(tx).then(() => undefined))).toEqual([])
    const metered = { planId: null, funding: 'metered' as const }
    expect(
      await damaged((tx) =>
        tx
          .update(f)
          .set(metered)
          .where(eq(f.reason, 'correction'))
          .then(() => undefined),
      ),
    ).toEqual([expect.stringContaining('2 corrections of plans are not paid by the plan')])
  })
})
