import { expect, test } from 'bun:test'
import { type Party, TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { EVERYTHING, viewerOf } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import type { Role } from '../../../src/database/schema/values.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import type { EntryCorrection, TokenEntryReport } from '../../../src/features/entries/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const REASON = 'The script reported cents'

async function stage(db: Database) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, projects, prices, placement, entries } = services
  const caller = async (name: string, role: Role) => {
    const user = `${name}@example.com`
    await people.addUser({ email: user, name, role }, TALLY)
    const { secret } = await people.createToken({ kind: 'svc', user, name: 'test' }, TALLY)
    return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  }
  const partyOf = ({ person }: CallerOf<'service'>): Party => ({
    viewer: viewerOf(person),
    person,
    by: { userId: person.id, tokenId: null, origin: 'test' },
  })
  const [ada, lead, billing] = [
    await caller('ada', 'member'),
    await caller('lead', 'member'),
    await caller('bo', 'billing'),
  ]
  await projects.addProject(OPERATOR, { key: 'ACME', leads: ['lead@example.com'] })
  for (const [model, input] of [
    ['small', 1],
    ['large', 10],
  ] as const) {
    await prices.setPrice({ model, input, output: 0, effective_from: 'always', only: true, force: true }, TALLY)
  }
  const body = (input: number, more: Partial<TokenEntryReport> = {}) =>
    reportBody({
      model: 'small',
      started_at: '2026-11-20T10:00:00Z',
      ended_at: new Date(Date.UTC(2026, 10, 20, 11, 0, input % 3_000)).toISOString(),
      tokens: { input, output: 0 },
      session_id: 's',
      ...more,
    })
  return {
    services,
    placement,
    parties: { ada: partyOf(ada), lead: partyOf(lead), billing: partyOf(billing) },
    report: async (input: number, more: Partial<TokenEntryReport> = {}) =>
      (await entries.reporting.reportEntry(body(input, more), ada)).entry,
    push: async (input: number, more: Partial<TokenEntryReport> = {}) =>
      entries.reporting.recordFrom('log', readReport(body(input, more), NOW), ada),
    correct: (id: string, correction: EntryCorrection, party: Party = OPERATOR) =>
      entries.places.changeEntry(id, correction, party),
    async parts() {
      const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ order: 'asc' }, 'UTC'))
      return data.map(({ tokens, reported_cost, corrected }) =>
        [tokens.input, ...(reported_cost === null ? [] : [`$${JSON.stringify(reported_cost)}`]), ...corrected].join(
          ' ',
        ),
      )
    },
  }
}

const codeOf = (changing: Promise<unknown>) => changing.then(() => 'done').catch(({ code }) => code)

forEachEngine('figures that were reported by mistake', (open) => {
  test('are corrected with a reason, and the history has both', async () => {
    const { services, report, correct } = await stage(await open())
    const { id } = await report(100, { reported_cost: 125 })
    const corrected = await correct(id, { reported_cost: 1.25, tokens: { input: 90, output: 7 }, reason: REASON })
    expect(corrected).toMatchObject({
      status: 'submitted',
      tokens: { input: 90, output: 7 },
      cost: 1.25,
      corrected: ['figures'],
    })
    const { data } = await services.entries.listing.getHistory(id, EVERYTHING)
    expect(data.at(-1)).toMatchObject({
      action: 'corrected',
      details: {
        reason: REASON,
        reported_cost: { from: 125, to: 1.25 },
        tokens: { from: { input: 100, output: 0, total: 100 }, to: { input: 90, output: 7, total: 97 } },
      },
    })
    const { data: audited } = await services.audit.listChanges({ filter: {}, limit: 1, after: undefined } as never)
    expect(audited).toMatchObject([{ action: 'entry.corrected', after: { reason: REASON } }])
  })

  test('are valued again: by another model, another time, or without the reported cost', async () => {
    const { services, report, correct } = await stage(await open())
    const { id } = await report(1_000_000, { reported_cost: 125 })
    const valued = await correct(id, { reported_cost: null, reason: REASON })
    expect(valued.cost).toBe(valued.list_value)
    const halved = await correct(id, { tokens: { input: 500_000, output: 0 }, reason: REASON })
    expect(2 * Number(halved.list_value)).toBe(Number(valued.list_value))
    const { valuation } = await services.entries.listing.getEntry(id, EVERYTHING)
    expect(valuation).toMatchObject({ list_value: halved.list_value })
    const larger = await correct(id, { model: 'large', reason: REASON })
    expect([larger.model, Number(larger.list_value)]).toEqual(['large', 5 * Number(valued.list_value)])
    expect(await correct(id, { started_at: '2026-11-19T10:00:00Z', reason: REASON })).toMatchObject({
      started_at: '2026-11-19T10:00:00.000Z',
    })
  })

  test('stay corrected, whatever their session reports later, which becomes a further part', async () => {
    const { services, report, push, correct, parts } = await stage(await open())
    const { id } = await report(100, { reported_cost: 125 })
    await correct(id, { reported_cost: 1.25, tokens: { input: 50, output: 0 }, reason: REASON })
    await report(100, { reported_cost: 125 })
    expect(await parts()).toEqual(['50 $1.25 figures'])
    await report(130, { reported_cost: 126 })
    expect(await parts()).toEqual(['50 $1.25 figures', '30 $1'])
    expect(await codeOf(report(90, { reported_cost: 126, ended_at: '2026-11-20T12:00:00Z' }))).toBe('session_shrunk')
    // Another source supplies the session.
    await push(150, { ended_at: '2026-11-20T12:00:00Z', tokens: { input: 150, output: 9 } })
    expect(await parts()).toEqual(['50 $1.25 figures', '50'])
    expect(await services.entries.verify()).toEqual([])
  })

  test('go on as if nothing had been corrected once they are corrected back', async () => {
    const { report, correct, parts } = await stage(await open())
    const { id } = await report(100, { reported_cost: 125 })
    await correct(id, { tokens: { input: 50, output: 0 }, model: 'large', reason: REASON })
    await correct(id, { tokens: { input: 100, output: 0 }, model: 'small', reason: 'It was right' })
    expect(await parts()).toEqual(['100 $125'])
    await report(130, { reported_cost: 126 })
    expect(await parts()).toEqual(['130 $126'])
  })

  test('keep what is reported apart from them', async () => {
    const { report, correct, push, parts } = await stage(await open())
    const { id } = await report(100, { labels: { team: 'red' } })
    await correct(id, { model: 'large', labels: { team: 'blue' }, reason: REASON })
    expect(await parts()).toEqual(['100 figures labels'])
    await report(130)
    expect(await parts()).toEqual(['100 figures labels', '30 labels'])
    // The telemetry names the model as the report did.
    await push(140, { ended_at: '2026-11-20T12:00:00Z', tokens: { input: 140, output: 3 } })
    expect(await parts()).toEqual(['100 figures labels', '40 labels'])
  })

  test('are corrected by billing and admins only, and never while they are locked', async () => {
    const { services, parties, report, correct } = await stage(await open())
    const { id } = await report(100, { project: 'ACME' })
    const correction = { tokens: { input: 1, output: 0 }, reason: REASON }
    expect(await codeOf(correct(id, correction, parties.ada))).toBe('forbidden')
    expect(await codeOf(correct(id, correction, parties.lead))).toBe('forbidden')
    expect(await codeOf(correct(id, { tokens: { input: 1, output: 0 } }, parties.billing))).toBe('validation_failed')
    expect(await codeOf(correct(id, { summary: 'x', reason: REASON }, parties.billing))).toBe('validation_failed')
    expect(await codeOf(correct(id, { ended_at: '2026-11-20T09:00:00Z', reason: REASON }, parties.billing))).toBe(
      'validation_failed',
    )
    expect(await codeOf(correct(id, { ended_at: '2026-11-29T09:00:00Z', reason: REASON }, parties.billing))).toBe(
      'validation_failed',
    )
    await services.entries.approval.decideEntry(id, { action: 'approve' }, OPERATOR)
    expect(await codeOf(correct(id, correction, parties.billing))).toBe('entry_locked')
    await services.entries.approval.decideEntry(id, { action: 'withdraw_approval' }, OPERATOR)
    expect(await codeOf(correct(id, correction, parties.billing))).toBe('done')
  })

  test('let rules place an entry again that nobody else has placed', async () => {
    const { placement, report, correct } = await stage(await open())
    await placement.addRule(TALLY, {
      ticket: null,
      name: 'large',
      conditions: [{ field: 'model', matches: 'large' }],
      project: 'ACME',
    })
    const { id } = await report(100)
    expect(await correct(id, { model: 'large', reason: REASON })).toMatchObject({ project: { key: 'ACME' } })
  })
})
