import { expect, test } from 'bun:test'
import { type Party, TALLY } from '../../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../../src/access/asker.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { approvalViewerOf, EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { Decision } from '../../../../src/features/entries/approval/states.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import type { TokenEntryReport } from '../../../../src/features/entries/schema.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { OPERATOR, reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const REASON = 'A wrong price'
const NOVEMBER = { starting_at: '2026-11-01', ending_at: '2026-12-01' }

async function stage(db: Database) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, projects, entries, reports } = services
  const reporter = async (name: string) => {
    const user = `${name}@example.com`
    await people.addUser({ email: user, name, role: 'member' }, TALLY)
    const { secret } = await people.createToken({ kind: 'svc', user, name: 'test' }, TALLY)
    const caller = (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
    const { person } = caller
    const by = { userId: person.id, tokenId: null, origin: 'test' }
    return { caller, party: { viewer: approvalViewerOf(person), person, by } satisfies Party }
  }
  const [ada, lead] = [await reporter('ada'), await reporter('lead')]
  await projects.addProject(OPERATOR, { key: 'ACME', leads: ['lead@example.com'] })
  /** A session of Ada's with this many input tokens so far, which cost a dollar each. */
  const report = async (input: number, more: Partial<TokenEntryReport> = {}, who = ada) => {
    const at = {
      started_at: '2026-11-20T10:00:00Z',
      ended_at: new Date(Date.UTC(2026, 10, 20, 11, 0, input)).toISOString(),
    }
    const body = reportBody({
      ...at,
      tokens: { input, output: 0 },
      reported_cost: input,
      project: 'ACME',
      session_id: 's',
      ...more,
    })
    return (await entries.reporting.reportEntry(body, who.caller)).entry
  }
  return {
    services,
    ada,
    lead,
    report,
    decide: (id: string, action: Decision, more: object = {}, party: Party = OPERATOR) =>
      entries.approval.decideEntry(id, { action, ...more }, party),
    async parts(filter: Record<string, string[]> = {}) {
      const { data } = await entries.listing.listEntries(
        EVERYTHING,
        readListQuery({ sort: 'started_at', ...filter }, 'UTC'),
      )
      return data.map(({ status, tokens }) => `${status} ${tokens.input}`).sort()
    },
    /** The cost that completeness has, which counts as usage reports do. */
    async counted() {
      const { data } = await reports.completeness(EVERYTHING, await reports.readCompleteness(NOVEMBER, COMMAND_LINE))
      const of = (name: string) => data.find(({ check }) => check === name)!.cost
      return { all: of('all'), voided: of('voided') }
    },
  }
}

forEachEngine('a voided entry', (open) => {
  test('is kept, but counted nowhere, until it is restored', async () => {
    const { report, decide, parts, counted, lead } = await stage(await open())
    await report(5, { session_id: 'right' })
    const wrong = await report(125)
    expect((await counted()).all as unknown).toBe(130)
    expect(await decide(wrong.id, 'void', { reason: REASON }, lead.party)).toMatchObject({ status: 'voided' })
    const { all, voided } = await counted()
    expect([all, voided] as unknown[]).toEqual([5, 125])
    expect(await parts({ status: ['voided'] })).toEqual(['voided 125'])
    expect(await decide(wrong.id, 'restore', {}, lead.party)).toMatchObject({ status: 'submitted' })
    expect((await counted()).all as unknown).toBe(130)
  })

  test('names the reason in its history, and what happens to later reports', async () => {
    const { services, report, decide } = await stage(await open())
    const { id } = await report(125)
    await decide(id, 'void', { reason: REASON, laterReports: 'ignore' })
    const { data } = await services.entries.listing.getHistory(id, EVERYTHING)
    expect(data.at(-1)).toMatchObject({
      action: 'voided',
      details: { status: { from: 'submitted', to: 'voided' }, reason: REASON, later_reports: 'ignore' },
    })
  })

  test('has a further part for what its session uses later, or ignores that by choice', async () => {
    const { report, decide, parts } = await stage(await open())
    const { id } = await report(100)
    await decide(id, 'void', { reason: REASON })
    await report(130)
    expect(await parts()).toEqual(['submitted 30', 'voided 100'])
    const last = (await report(140)).id
    await decide(last, 'void', { reason: REASON, laterReports: 'ignore' })
    expect((await report(200)).status).toBe('voided')
    expect(await parts()).toEqual(['voided 100', 'voided 40'])
    // Only of this model, and only until it is restored: then the totals so far catch up.
    await report(7, { model: 'gpt-5-mini' })
    expect(await parts()).toEqual(['submitted 7', 'voided 100', 'voided 40'])
    await decide(last, 'restore')
    await report(201)
    expect(await parts()).toEqual(['submitted 101', 'submitted 7', 'voided 100'])
  })

  test('stays as it is when another source supplies its session', async () => {
    const { services, ada, report, decide, parts } = await stage(await open())
    const { id } = await report(100)
    await decide(id, 'void', { reason: REASON, laterReports: 'ignore' })
    const body = reportBody({
      started_at: '2026-11-20T10:00:00Z',
      ended_at: '2026-11-20T12:00:00Z',
      tokens: { input: 500, output: 50 },
      session_id: 's',
    })
    const { readReport } = await import('../../../../src/features/entries/reporting/report.ts')
    await services.entries.reporting.recordFrom('log', readReport(body, NOW), ada.caller)
    expect(await parts()).toEqual(['voided 100'])
  })

  test('does not make the session of somebody else a possible duplicate', async () => {
    const { report, decide, lead, parts } = await stage(await open())
    const session = { session_id: '7abded9e-af37-492b-8216-95394ad33034' }
    const { id } = await report(100, session)
    await decide(id, 'void', { reason: 'Reported with the wrong token' })
    await report(100, session, lead)
    expect(await parts()).toEqual(['submitted 100', 'voided 100'])
  })

  test('is voided by leads, billing and admins with a reason, and never while it is billed or on a sheet', async () => {
    const { services, ada, lead, report, decide } = await stage(await open())
    const { id } = await report(100)
    const code = (deciding: Promise<unknown>) => deciding.then(() => 'done').catch(({ code }) => code)
    expect(await code(decide(id, 'void', { reason: REASON }, ada.party))).toBe('forbidden')
    expect(await code(decide(id, 'void', {}, lead.party))).toBe('validation_failed')
    expect(await code(decide(id, 'approve', { laterReports: 'ignore' }, lead.party))).toBe('validation_failed')
    expect(await code(decide(id, 'restore', {}, lead.party))).toBe('wrong_status')
    // A lead's own usage counts again only if somebody else says so.
    const own = await report(1, { session_id: 'own' }, lead)
    await decide(own.id, 'void', { reason: REASON }, lead.party)
    expect(await code(decide(own.id, 'restore', {}, lead.party))).toBe('forbidden')
    await decide(id, 'approve')
    await decide(id, 'void', { reason: REASON }, lead.party)
    expect(await code(services.entries.places.changeEntry(id, { project: null }, OPERATOR))).toBe('entry_locked')
    await decide(id, 'restore')
    await services.bills.send({ month: '2026-11', project: 'ACME' }, { by: TALLY })
    expect(await code(decide(id, 'void', { reason: REASON }))).toBe('wrong_status')
  })
})
