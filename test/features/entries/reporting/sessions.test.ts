import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../../src/access/actor.ts'
import type { CallerOf } from '../../../../src/access/caller.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { SessionSource, Status } from '../../../../src/database/schema/values.ts'
import { readListQuery } from '../../../../src/features/entries/listing/query.ts'
import { type Report, readReport } from '../../../../src/features/entries/reporting/report.ts'
import type { TokenEntry } from '../../../../src/features/entries/schema.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

interface Said {
  output: number
  input?: number
  model?: string
  session?: string
  endedAt?: string
  cost?: number
  project?: string
  provider?: string
}

function said({
  output,
  input = 0,
  model = 'gpt-5-codex',
  session = 's-1',
  endedAt = '2026-11-20T11:00:00Z',
  cost,
  project,
  provider,
}: Said): Report {
  return readReport(
    {
      agent_harness: 'codex',
      agent_name: 'builder',
      model,
      started_at: '2026-11-20T10:00:00Z',
      ended_at: endedAt,
      tokens: { input, output },
      session_id: session,
      ...(cost === undefined ? {} : { reported_cost: cost }),
      ...(project === undefined ? {} : { project }),
      ...(provider === undefined ? {} : { provider }),
    },
    NOW,
  )
}

async function stage(db: Database) {
  const services = createServices({ db, clock })
  await services.prices.loadDefaultPrices()
  const callerFor = async <Kind extends 'svc' | 'org' = 'svc'>(email: string, kind?: Kind) => {
    await services.people.addUser({ email, name: email, role: kind === 'org' ? 'admin' : 'member' }, TALLY)
    const { secret } = await services.people.createToken({ kind: kind ?? 'svc', user: email, name: 'test' }, TALLY)
    return services.people.authenticate(`Bearer ${secret}`) as Promise<
      CallerOf<Kind extends 'svc' ? 'service' : 'organization'>
    >
  }
  const ada = await callerFor('ada@example.com')
  return {
    services,
    ada,
    callerFor,
    tell: (source: SessionSource, what: Said, caller: CallerOf<'service' | 'organization'> = ada) =>
      services.entries.reporting.recordFrom(source, said(what), caller),
    /** Model, output, source and part of every entry, by arrival. */
    async shown(session = 's-1'): Promise<string[]> {
      const { data } = await services.entries.listing.listEntries(
        EVERYTHING,
        readListQuery({ session_id: [session] }, 'UTC'),
      )
      return data
        .map(
          (entry: TokenEntry) =>
            `${entry.model} ${entry.tokens.output} ${entry.source} ${entry.part}${entry.superseded ? ' superseded' : ''}`,
        )
        .sort()
    },
    async setStatus(id: string, status: Status) {
      await db.write(
        async (tx) =>
          void (await tx
            .update(tx.tables.entries)
            .set({ status })
            .where(eq(tx.tables.entries.uid, id as never))),
      )
    },
  }
}

forEachEngine('a session told by several sources', (open) => {
  test('is supplied by the one with the most output, and never added up', async () => {
    const { tell, shown } = await stage(await open({ priced: true }))
    await tell('log', { output: 100 })
    await tell('metric', { output: 90 })
    expect(await shown()).toEqual(['gpt-5-codex 100 log 1'])
    await tell('metric', { output: 130, endedAt: '2026-11-20T12:00:00Z' })
    expect(await shown()).toEqual(['gpt-5-codex 130 metric 1'])
    await tell('log', { output: 131, endedAt: '2026-11-20T12:00:00Z' })
    expect(await shown()).toEqual(['gpt-5-codex 131 log 1'])
  })

  test('on a tie goes by the report, then logs, spans and metrics', async () => {
    const { tell, shown } = await stage(await open({ priced: true }))
    await tell('metric', { output: 100 })
    await tell('span', { output: 100 })
    expect(await shown()).toEqual(['gpt-5-codex 100 span 1'])
    await tell('log', { output: 100 })
    await tell('report', { output: 100 })
    await tell('log', { output: 100 })
    expect(await shown()).toEqual(['gpt-5-codex 100 report 1'])
  })

  test('takes all models from one source: what that does not know falls to zero, and comes back with its source', async () => {
    const { tell, shown } = await stage(await open({ priced: true }))
    await tell('log', { output: 100, model: 'gpt-5-codex' })
    await tell('log', { output: 50, model: 'gpt-5' })
    await tell('span', { output: 120, model: 'gpt-5-codex' })
    expect(await shown()).toEqual(['gpt-5 50 log 1', 'gpt-5-codex 100 log 1'])
    await tell('span', { output: 60, model: 'gpt-5-mini' })
    expect(await shown()).toEqual(['gpt-5 0 log 1 superseded', 'gpt-5-codex 120 span 1', 'gpt-5-mini 60 span 1'])
    await tell('log', { output: 200, model: 'gpt-5', endedAt: '2026-11-20T12:00:00Z' })
    expect(await shown()).toEqual(['gpt-5 200 log 1', 'gpt-5-codex 100 log 1', 'gpt-5-mini 0 span 1 superseded'])
  })

  test('costs nothing where it was superseded', async () => {
    const { tell, services } = await stage(await open({ priced: true }))
    const { entry } = await tell('log', { output: 100, model: 'gpt-5' })
    await tell('span', { output: 120, model: 'gpt-5-codex' })
    const superseded = await services.entries.listing.getEntry(entry.entry.uid, EVERYTHING)
    expect([JSON.stringify(superseded.cost), superseded.tokens.total, superseded.superseded]).toEqual(['0', 0, true])
    const history = await services.entries.listing.getHistory(entry.entry.uid, EVERYTHING)
    expect(history.data.map(({ action }) => action)).toEqual(['created', 'superseded'])
  })

  test('repeats and stale ones of each source change nothing', async () => {
    const { tell, shown } = await stage(await open({ priced: true }))
    await tell('log', { output: 100 })
    await tell('metric', { output: 120, endedAt: '2026-11-20T12:00:00Z' })
    for (const source of ['log', 'metric'] as const) {
      expect((await tell(source, { output: 5, endedAt: '2026-11-20T10:30:00Z' })).outcome).toBe('repeated')
    }
    expect((await tell('metric', { output: 120, endedAt: '2026-11-20T12:00:00Z' })).outcome).toBe('repeated')
    expect(await shown()).toEqual(['gpt-5-codex 120 metric 1'])
  })

  test('counts locked parts in when the source changes, and refuses to fall below them', async () => {
    const { tell, shown, setStatus } = await stage(await open({ priced: true }))
    const { entry } = await tell('log', { output: 100 })
    await setStatus(entry.entry.uid, 'approved')
    await tell('metric', { output: 130, endedAt: '2026-11-20T12:00:00Z' })
    expect(await shown()).toEqual(['gpt-5-codex 100 log 1', 'gpt-5-codex 30 metric 2'])
    const other = await tell('log', { output: 10, session: 's-2', input: 5 })
    await setStatus(other.entry.entry.uid, 'approved')
    expect(tell('metric', { output: 11, session: 's-2', input: 4 })).rejects.toMatchObject({ code: 'session_shrunk' })
    // The refused totals left nothing behind.
    expect(
      (await tell('log', { output: 12, session: 's-2', input: 5, endedAt: '2026-11-20T12:00:00Z' })).entry.entry.part,
    ).toBe(2)
  })
})

forEachEngine('whose session it is', (open) => {
  test('telemetry of an organization token joins the session with its harness and id, whoever owns it', async () => {
    const { tell, shown, callerFor } = await stage(await open({ priced: true }))
    await tell('report', { output: 100 })
    const pushed = await tell('log', { output: 150 }, await callerFor('telemetry@example.com', 'org'))
    expect(pushed.entry.manager.name).toBe('ada@example.com')
    expect(await shown()).toEqual(['gpt-5-codex 150 log 1'])
  })

  test('a report adopts a session that so far had only telemetry which identified nobody', async () => {
    const { tell, shown, callerFor, services } = await stage(await open({ priced: true }))
    const pushed = await tell('log', { output: 100 }, await callerFor('telemetry@example.com', 'org'))
    const reported = await tell('report', { output: 100, project: 'acme' })
    expect([reported.entry.entry.id, reported.entry.manager.name, reported.entry.project?.key]).toEqual([
      pushed.entry.entry.id,
      'ada@example.com',
      'acme',
    ])
    expect(await shown()).toEqual(['gpt-5-codex 100 report 1'])
    const history = await services.entries.listing.getHistory(reported.entry.entry.uid, EVERYTHING)
    expect(history.data.map(({ action, actor, details }) => [action, actor?.user?.name, details])).toEqual([
      ['created', 'telemetry@example.com', { source: 'log' }],
      ['adopted', 'ada@example.com', { because: 'reported_with_a_service_token' }],
      ['placed', 'ada@example.com', { because: 'named_in_report' }],
      ['source_changed', 'ada@example.com', { from: 'log', to: 'report' }],
    ])
  })

  test('a service token changes sessions of its own person only, whatever brings them', async () => {
    for (const [first, second] of [
      ['report', 'log'],
      ['log', 'report'],
      ['log', 'log'],
      ['report', 'report'],
    ] as const) {
      const { tell, callerFor, services } = await stage(await open({ priced: true }))
      const mine = await tell(first, { output: 100, project: 'acme', cost: 1 })
      const before = await services.entries.listing.getEntry(mine.entry.entry.uid, EVERYTHING)
      const bob = await callerFor('bob@example.com')
      const theirs = await tell(second, { output: 900, project: 'other', cost: 9_999.5 }, bob)
      expect(await services.entries.listing.getEntry(mine.entry.entry.uid, EVERYTHING)).toEqual(before)
      const beside = await services.entries.listing.getEntry(theirs.entry.entry.uid, EVERYTHING)
      expect([beside.agent_manager.name, beside.possible_duplicate_of]).toEqual(['bob@example.com', before.id])
      // The first one goes on as if nobody else had used the id.
      const later = await tell(first, { output: 120, cost: 2, endedAt: '2026-11-20T12:00:00Z' })
      expect([later.outcome, later.entry.entry.uid as string]).toEqual(['updated', before.id])
    }
  })

  test('telemetry that identified nobody stays where it was, when somebody else uses the id', async () => {
    const { tell, callerFor } = await stage(await open({ priced: true }))
    const organization = await callerFor('telemetry@example.com', 'org')
    const bob = await callerFor('bob@example.com')
    const mine = await tell('report', { output: 100 })
    await tell('log', { output: 150 }, organization)
    await tell('report', { output: 200 }, bob)
    const later = await tell('log', { output: 170, endedAt: '2026-11-20T12:00:00Z' }, organization)
    expect([later.entry.entry.uid, later.entry.entry.output]).toEqual([mine.entry.entry.uid, 170])
  })

  test('an approved part stays whose it is and gets no continuation of another person', async () => {
    const { tell, shown, setStatus, callerFor } = await stage(await open({ priced: true }))
    const { entry } = await tell('report', { output: 100 })
    await setStatus(entry.entry.uid, 'approved')
    const theirs = await tell('metric', { output: 500 }, await callerFor('bob@example.com'))
    expect([theirs.entry.entry.part, theirs.entry.manager.name]).toEqual([1, 'bob@example.com'])
    expect(await shown()).toEqual(['gpt-5-codex 100 report 1', 'gpt-5-codex 500 metric 1'])
  })

  test('a report of a second person does not adopt what a first one reported', async () => {
    const { tell, callerFor } = await stage(await open({ priced: true }))
    await tell('report', { output: 100 })
    const other = await tell('report', { output: 100 }, await callerFor('bob@example.com'))
    expect([other.outcome, other.entry.manager.name]).toEqual(['created', 'bob@example.com'])
  })
})

forEachEngine('a chain of parts', (open) => {
  test('goes on behind a part that is approved', async () => {
    const { tell, shown, setStatus } = await stage(await open({ priced: true }))
    const { entry } = await tell('report', { output: 100 })
    await setStatus(entry.entry.uid, 'approved')
    expect((await tell('report', { output: 120, endedAt: '2026-11-20T12:00:00Z' })).outcome).toBe('created')
    expect(await shown()).toEqual(['gpt-5-codex 100 report 1', 'gpt-5-codex 20 report 2'])
  })

  test('updates a rejected part, which stays rejected', async () => {
    const { tell, setStatus } = await stage(await open({ priced: true }))
    const { entry } = await tell('report', { output: 100 })
    await setStatus(entry.entry.uid, 'rejected')
    const updated = await tell('report', { output: 120, endedAt: '2026-11-20T12:00:00Z' })
    expect([updated.outcome, updated.entry.entry.status, updated.entry.entry.output]).toEqual([
      'updated',
      'rejected',
      120,
    ])
  })

  test('keeps a placement made by hand, and takes a newer named one otherwise', async () => {
    const db = await open({ priced: true })
    const { tell } = await stage(db)
    const { entry } = await tell('report', { output: 1, project: 'first' })
    const named = await tell('report', { output: 2, project: 'second' })
    expect(named.entry.project?.key).toBe('second')
    await db.write(
      async (tx) =>
        void (await tx
          .update(tx.tables.entries)
          .set({ placedBy: 'manual' })
          .where(eq(tx.tables.entries.id, entry.entry.id))),
    )
    expect((await tell('report', { output: 3, project: 'third' })).entry.project?.key).toBe('second')
    expect((await tell('report', { output: 4 })).entry.project?.key).toBe('second')
  })

  test('is valued at the provider it had, also by reports that do not name it again', async () => {
    const { tell, setStatus, shown } = await stage(await open({ priced: true }))
    // A name that has a price at this provider alone.
    const model = 'llama-3.3-70b-versatile'
    const { entry } = await tell('report', { output: 100, model, provider: 'groq' })
    const priceId = entry.entry.priceId
    expect(priceId).not.toBeNull()
    await setStatus(entry.entry.uid, 'approved')
    const { entry: next } = await tell('report', { output: 120, model, endedAt: '2026-11-20T12:00:00Z' })
    expect([next.provider, next.entry.output, next.entry.priceId]).toEqual(['groq', 20, priceId])
    expect(await shown()).toHaveLength(2)
  })

  test('may shrink by a later report while nothing is locked, and its history says so', async () => {
    const { tell, services } = await stage(await open({ priced: true }))
    const { entry } = await tell('report', { output: 100 })
    await tell('report', { output: 6, endedAt: '2026-11-20T12:00:00Z' })
    const { data } = await services.entries.listing.getHistory(entry.entry.uid, EVERYTHING)
    expect(data[1]).toMatchObject({ action: 'shrunk', details: { tokens_before: 100, tokens: 6 } })
  })

  test('of 200 reports at once ends at the largest totals', async () => {
    const { tell, shown } = await stage(await open({ priced: true }))
    const outputs = Array.from({ length: 200 }, (_, index) => index + 1).sort(() => Math.random() - 0.5)
    await Promise.all(outputs.map((output) => tell('report', { output, project: 'acme' })))
    expect(await shown()).toEqual(['gpt-5-codex 200 report 1'])
  })
})
