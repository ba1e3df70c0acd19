import { describe, expect, test } from 'bun:test'
import { type Party, TALLY } from '../../../../src/access/actor.ts'
import { COMMAND_LINE } from '../../../../src/access/asker.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { EVERYTHING, viewerOf } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { Decision } from '../../../../src/features/entries/approval/states.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { isUnguessable } from '../../../../src/features/entries/reporting/same-session.ts'
import type { TokenEntryReport } from '../../../../src/features/entries/schema.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { OPERATOR } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const UUID = '7abded9e-af37-492b-8216-95394ad33034'

describe('a session id', () => {
  test('cannot be guessed if it is a UUID, or a random text as long as a ULID', () => {
    for (const id of [
      UUID,
      UUID.toUpperCase(),
      '019a9b1c-2f60-7cc1-9d3e-5f1f6a7b8c9d',
      `codex-${UUID}`,
      'ses_5b1f3e2a9ffeKq7Zp3xW8rT2mN',
      '01JCZ4N8Q3W9X5Y7R2T6V1B0MK',
      'd41d8cd98f00b204e9800998ecf8427e',
    ]) {
      expect([id, isUnguessable(id)]).toEqual([id, true])
    }
  })

  test('can be guessed if it is short, or made of words, dates and numbers', () => {
    for (const id of [
      'run-4711',
      'nightly-build-2026-11-20-production-database',
      'productiondatabasemigration2026',
      '20261120193000000000000042',
      'build20261120step3',
      // Whoever knows the name that version 5 is made of has the UUID.
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
      '2ed6657d-e927-868b-95e1-2665a8aea6a2',
      // One of a clock and a machine follows from the one before, or is the same for minutes.
      '1ec9414c-232a-11f0-b3c8-9f6bdeced846',
      '000003e8-232a-21f0-9c00-325096b39f47',
      '1f0232a1-ec94-614c-b3c8-9f6bdeced846',
      'x'.repeat(200),
    ]) {
      expect([id, isUnguessable(id)]).toEqual([id, false])
    }
  })
})

async function stage(db: Database) {
  const services = createServices({ db, clock: { now: () => NOW } })
  const { people, prices, entries, reports } = services
  await prices.loadDefaultPrices()
  const callerOf = async (name: string, role: 'member' | 'billing' = 'member') => {
    const user = `${name}@example.com`
    await people.addUser({ email: user, name, role }, TALLY)
    const { secret } = await people.createToken({ kind: 'svc', user, name: 'test' }, TALLY)
    return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  }
  const [ada, bob] = [await callerOf('ada'), await callerOf('bob', 'billing')]
  const partyOf = ({ person }: CallerOf<'service'>): Party => ({
    viewer: viewerOf(person),
    person,
    by: { userId: person.id, tokenId: null, origin: 'test' },
  })
  const report = (caller: CallerOf<'service'>, more: Partial<TokenEntryReport> = {}) =>
    entries.reporting.reportEntry(
      {
        agent_harness: 'claude-code',
        agent_name: 'claude-code',
        model: 'claude-sonnet-4-5',
        started_at: '2026-11-20T10:00:00Z',
        ended_at: '2026-11-20T11:00:00Z',
        tokens: { input: 100_000, output: 1_000 },
        session_id: UUID,
        ...more,
      },
      caller,
    )
  return {
    services,
    ada,
    bob,
    callerOf,
    partyOf,
    report,
    async list(filter: Record<string, string[]> = {}) {
      return (await entries.listing.listEntries(EVERYTHING, readListQuery(filter, 'UTC'))).data
    },
    async statuses() {
      const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({}, 'UTC'))
      return data.map(({ agent_manager, status }) => `${agent_manager.name} ${status}`).sort()
    },
    /** Entries and cost that the usage report counts. */
    async counted() {
      const { data } = await reports.completeness(
        EVERYTHING,
        await reports.readCompleteness({ starting_at: '2026-11-01', ending_at: '2026-12-01' }, COMMAND_LINE),
      )
      const of = (name: string) => data.find(({ check }) => check === name)!
      return { all: of('all'), held: of('held'), discarded: of('discarded') }
    },
  }
}

forEachEngine('a session that two people report', (open) => {
  test('is held with all of its days, and released with them', async () => {
    const { services, ada, bob, callerOf, partyOf, report, statuses, list } = await stage(await open())
    await services.organization.changeSettings({ sameSession: 'hold' }, TALLY)
    const slices = ['19', '20'].map((day) => ({
      ...{ started_at: `2026-11-${day}T10:00:00Z`, ended_at: `2026-11-${day}T11:00:00Z` },
      tokens: { input: 100_000, output: 1_000 },
    }))
    const body = { started_at: slices[0]!.started_at, tokens: { input: 200_000, output: 2_000 }, slices }
    await report(ada, body)
    await report(await callerOf('eve'), body)
    const held = await list({ status: ['held'] })
    expect(held.map(({ slice }) => slice!.day).sort()).toEqual(['2026-11-19', '2026-11-20'])
    await services.entries.approval.decideEntry(held[0]!.id, { action: 'release' }, partyOf(bob))
    expect(await statuses()).toEqual([...Array(2).fill('ada submitted'), ...Array(2).fill('eve submitted')])
  })

  test('is held for the later one, and in no sum, until someone decides', async () => {
    const { services, ada, bob, partyOf, report, list, statuses, counted } = await stage(await open({ priced: true }))
    const first = await report(ada)
    const before = await counted()
    const second = await report(bob)
    expect(second.entry).toMatchObject({ status: 'held', possible_duplicate_of: first.entry.id })
    await report(bob, { model: 'claude-haiku-4-5' })
    await report(bob, { tokens: { input: 120_000, output: 1_000 }, ended_at: '2026-11-20T11:30:00Z' })
    expect(await statuses()).toEqual(['ada submitted', 'bob held', 'bob held'])
    expect((await counted()).all).toEqual(before.all)
    const { held } = await counted()
    expect([held.entries, held.cost]).toEqual([2, expect.any(Number)])
    const listed = await list({ status: ['held'] })
    expect([listed.length, listed.reduce((sum, { cost }) => sum + cost!, 0)]).toEqual([2, held.cost!])

    // The first owner's entry is as it was, and cannot be decided about.
    expect((await list({ agent_manager: ['ada@example.com'] }))[0]).toMatchObject(first.entry)
    const decide = (action: 'release' | 'discard', party: Party, ids = [second.entry.id]) =>
      services.entries.approval.decideEntries({ ids }, { action }, party)
    const codesOf = ({ results }: Awaited<ReturnType<typeof decide>>) => results.map(({ problem }) => problem?.code)
    expect(codesOf(await decide('release', partyOf(bob)))).toEqual(['forbidden'])
    expect(codesOf(await decide('discard', partyOf(ada)))).toEqual(['not_found'])
    expect(codesOf(await decide('discard', OPERATOR, [first.entry.id]))).toEqual(['wrong_status'])
    expect(
      codesOf(
        await services.entries.approval.decideEntries({ ids: [second.entry.id] }, { action: 'approve' }, OPERATOR),
      ),
    ).toEqual(['wrong_status'])

    // The owner may give it up; an admin may count it after all. Each decides about the whole session.
    const discarded = await decide('discard', partyOf(bob))
    expect([discarded.done, await statuses()]).toEqual([2, ['ada submitted', 'bob discarded', 'bob discarded']])
    await report(bob, { model: 'claude-opus-4-5' })
    expect((await counted()).discarded.entries).toBe(3)
    expect((await counted()).all).toEqual(before.all)
    expect((await decide('release', OPERATOR)).done).toBe(3)
    await report(bob, { model: 'gpt-5' })
    expect((await counted()).all.entries).toBe(5)
    const [entry] = await list({ agent_manager: ['bob@example.com'], model: ['gpt-5'] })
    expect(entry).toMatchObject({ status: 'submitted', possible_duplicate_of: first.entry.id })
    expect([...(await services.entries.verify()), ...(await services.reports.verify())]).toEqual([])
    const { data: history } = await services.entries.listing.getHistory(second.entry.id, EVERYTHING)
    expect(history.map(({ action }) => action)).toEqual(['created', 'discarded', 'released'])
  })

  test('counts for both if the id can be guessed, if the times differ, or if the settings say so', async () => {
    const { services, ada, bob, report, statuses } = await stage(await open({ priced: true }))
    await report(ada, { session_id: 'run-4711' })
    await report(bob, { session_id: 'run-4711' })
    await report(ada)
    const later = { started_at: '2026-11-20T14:00:00Z', ended_at: '2026-11-20T15:00:00Z' }
    await report(bob, { ...later, tokens: { input: 7, output: 7 } })
    expect(await statuses()).toEqual(['ada submitted', 'ada submitted', 'bob submitted', 'bob submitted'])
    // As soon as its totals are those of the first one, it may be the same.
    const { entry } = await report(bob, {
      ...later,
      ended_at: '2026-11-20T16:00:00Z',
      tokens: { input: 100_000, output: 1_000 },
    })
    expect(entry.status).toBe('held')
    await services.organization.changeSettings({ sameSession: 'count' }, TALLY)
    const other = UUID.replace('7', '8')
    await report(ada, { session_id: other })
    const { entry: copy } = await report(bob, { session_id: other })
    expect([copy.status, copy.possible_duplicate_of === null]).toEqual(['submitted', false])
  })

  test('is never changed for the first owner by what a later one reports', async () => {
    const { services, ada, bob, report, list } = await stage(await open({ priced: true }))
    await report(ada, { started_at: '2026-11-20T08:00:00Z', ended_at: '2026-11-20T09:00:00Z' })
    const { entry: approved } = await report(ada, { model: 'gpt-5', ended_at: '2026-11-20T10:30:00Z' })
    await services.entries.approval.decideEntries({ ids: [approved.id] }, { action: 'approve' }, OPERATOR)
    const before = await list({ agent_manager: ['ada@example.com'] })
    await report(bob, {
      project: 'mine',
      labels: { team: 'b' },
      reported_cost: 100,
      started_at: '2026-11-20T07:00:00Z',
    })
    await report(bob, { tokens: { input: 0, output: 0 }, ended_at: '2026-11-20T19:00:00Z' })
    expect(await list({ agent_manager: ['ada@example.com'] })).toEqual(before)
    // The first owner's later reports count, and do not release or hold the other's.
    await report(ada, { tokens: { input: 150_000, output: 1_000 }, ended_at: '2026-11-20T11:00:00Z' })
    expect((await list({ agent_manager: ['ada@example.com'] })).map(({ status }) => status).sort()).toEqual([
      'approved',
      'submitted',
    ])
    expect((await list({ agent_manager: ['bob@example.com'] })).map(({ status }) => status)).toEqual(['held'])
  })

  for (const duplicate of ['held', 'discarded'] as const) {
    test(`has entries that were approved, rejected or billed ${duplicate} once they are submitted again`, async () => {
      const { services, ada, bob, report, list, counted } = await stage(await open({ priced: true }))
      const decide = (action: Decision, id: string) =>
        services.entries.approval.decideEntries(
          { ids: [id] },
          { action, ...(action === 'reject' && { reason: 'Test' }) },
          OPERATOR,
        )
      await report(ada)
      const before = (await counted()).all
      const later = { started_at: '2026-11-20T14:00:00Z', ended_at: '2026-11-20T15:00:00Z', project: 'web' }
      await report(bob, { ...later, model: 'gpt-5' })
      const bill = { project: 'web', month: '2026-11' } as const
      await services.bills.send(bill, { by: TALLY })
      const { entry: approved } = await report(bob, { ...later, model: 'claude-opus-4-5' })
      const { entry: rejected } = await report(bob, { ...later, model: 'claude-haiku-4-5' })
      await decide('approve', approved.id)
      await decide('reject', rejected.id)
      const copy = await report(bob)
      expect(copy.entry.status).toBe('held')
      if (duplicate === 'discarded') await decide('discard', copy.entry.id)

      await services.bills.voidBill('2026-0001', { reason: 'Wrong month' }, TALLY)
      const withdrawn = await decide('withdraw_approval', approved.id)
      const reopened = await decide('reopen', rejected.id)
      expect([...withdrawn.results, ...reopened.results].map(({ status }) => status)).toEqual([duplicate, duplicate])
      const entries = await list({ agent_manager: ['bob@example.com'] })
      expect(entries.map(({ status }) => status)).toEqual([duplicate, duplicate, duplicate, duplicate])
      expect((await counted()).all).toEqual(before)
      const { data: history } = await services.entries.listing.getHistory(approved.id, EVERYTHING)
      expect(history.at(-1)).toMatchObject({ action: duplicate, details: { because: 'same_session' } })
      expect([...(await services.entries.verify()), ...(await services.reports.verify())]).toEqual([])

      expect((await decide('release', copy.entry.id)).done).toBe(4)
      expect((await counted()).all.entries).toBe(before.entries + 4)
    })
  }

  test('is on no bill, which says so', async () => {
    const { services, ada, bob, report } = await stage(await open({ priced: true }))
    await report(ada, { project: 'web' })
    await report(bob, { project: 'web' })
    const preview = await services.bills.preview({ project: 'web', month: '2026-11' } as never)
    const { entries, left_out } = preview.document
    expect([entries, left_out.held!.entries, left_out.not_approved.entries]).toEqual([1, 1, 0])
  })

  test('keeps summary and labels that a person has corrected, whatever is reported later', async () => {
    const { services, ada, report } = await stage(await open({ priced: true }))
    const { entry } = await report(ada, { labels: { team: 'a' }, summary: 'as reported' })
    await services.entries.places.changeEntry(entry.id, { labels: { team: 'b' }, summary: null }, OPERATOR)
    const later = await report(ada, {
      labels: { team: 'a', branch: 'x' },
      summary: 'again',
      ended_at: '2026-11-20T12:00:00Z',
    })
    expect([later.entry.labels, later.entry.summary]).toEqual([{ team: 'b' }, null])
  })
})
