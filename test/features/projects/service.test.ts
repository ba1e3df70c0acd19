import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import { newId } from '../../../src/lib/id.ts'
import { createServices } from '../../../src/services.ts'
import { billRow } from '../../support/bills.ts'
import { canOverlap, type Engine, forEachEngine } from '../../support/databases.ts'
import { OPERATOR } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

interface Said {
  project?: string
  ticket?: string
  session?: string
  input?: number
  endedAt?: string
}

async function stage(db: Database, token?: string) {
  const services = createServices({ db, clock })
  const { people, entries } = services
  let secret = token
  if (!secret) {
    await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'admin' }, TALLY)
    secret = (await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, TALLY)).secret
  }
  const ada = await people.authenticate(`Bearer ${secret}`)
  if (ada.kind !== 'service') throw new Error('It is a service token')
  return {
    ...services,
    secret,
    person: ada.person,
    /** Reports an entry that costs a dollar per token, and answers its id. */
    async report({ project, ticket, session, input = 1, endedAt = '2026-11-20T11:00:00Z' }: Said): Promise<string> {
      const report = readReport(
        {
          agent_harness: 'codex',
          agent_name: 'builder',
          model: 'gpt-5',
          started_at: '2026-11-20T10:00:00Z',
          ended_at: endedAt,
          tokens: { input, output: 0 },
          reported_cost: input,
          session_id: session ?? crypto.randomUUID(),
          ...(project !== undefined && { project }),
          ...(ticket !== undefined && { ticket }),
        },
        NOW,
      )
      const { entry } = await entries.reporting.recordFrom('report', report, ada)
      return entry.entry.uid
    },
    async bill(id: string, of: { clientId?: number; projectId?: number } = {}) {
      await db.write(async (tx) => {
        const { bills, entries: rows } = tx.tables
        const [made] = await tx.insert(bills).values(billRow(of)).returning()
        await tx
          .update(rows)
          .set({ status: 'billed', billId: made!.id })
          .where(eq(rows.uid, id as never))
      })
    },
    /** Key of the project and of the ticket of an entry. */
    async placeOf(id: string): Promise<string> {
      const { project, ticket } = await entries.listing.getEntry(id, EVERYTHING)
      return [project?.key ?? '–', ticket?.key ?? '–'].join(' ')
    },
    /** The audit trail, as actions and objects. */
    async trail(): Promise<string[]> {
      const rows = await db.read.select().from(db.read.tables.audit)
      return rows
        .filter(({ action }) => /^(client|project|ticket)\./.test(action))
        .map(({ action, objectName }) => `${action} ${objectName}`)
    },
    /** Copies an entry, so that there are many. */
    async multiply(id: string, times: number) {
      await db.write(async (tx) => {
        const { entries: rows } = tx.tables
        const [one] = await tx
          .select()
          .from(rows)
          .where(eq(rows.uid, id as never))
        const { id: _, ...columns } = one!
        for (let done = 0; done < times; done += 200) {
          await tx.insert(rows).values(
            Array.from({ length: Math.min(200, times - done) }, (_, index) => ({
              ...columns,
              uid: `ent_${crypto.randomUUID().replaceAll('-', '')}` as const,
              startedAt: columns.startedAt + done + index,
              sessionId: null,
              chainModelId: null,
              part: null,
            })),
          )
        }
      })
    },
    async countOn(key: string): Promise<number> {
      const { project } = await services.projects.showProject(key)
      const { entries: rows } = db.read.tables
      return (await db.read.select({ id: rows.id }).from(rows).where(eq(rows.projectId, project.id))).length
    },
  }
}

/** Two handles of one database, as two processes have; one alone where there is a single connection. */
async function stageTwo(open: (options?: { sharing: Database }) => Promise<Database>, engine: Engine) {
  const db = await open()
  const first = await stage(db)
  const second = canOverlap(engine) ? await stage(await open({ sharing: db }), first.secret) : first
  return { first, second }
}

const outcomes = (settled: PromiseSettledResult<unknown>[]) =>
  settled.map((one) => (one.status === 'fulfilled' ? 'done' : one.reason.code))

forEachEngine('names of a project', (open, engine) => {
  test('lead to it whatever the case, a former key and name included, and each to one project only', async () => {
    const { projects, report, placeOf, trail } = await stage(await open())
    const id = await report({ project: 'Acme Website' })
    await projects.changeProject(OPERATOR, 'acme website', { key: 'ACME', name: 'Acme web', addAliases: ['acme/web'] })
    for (const name of ['acme', 'ACME WEB', ' Acme/Web', 'ACME website'])
      expect(await placeOf(await report({ project: name }))).toBe('ACME –')
    expect(await placeOf(id)).toBe('ACME –')

    await projects.addProject(OPERATOR, { key: 'OTHER' })
    for (const fields of [{ key: 'acme' }, { name: 'Acme website' }, { aliases: ['x', 'ACME/WEB'] }]) {
      const refused = projects.changeProject(OPERATOR, 'OTHER', fields)
      expect(refused).rejects.toMatchObject({ code: 'already_exists', detail: expect.stringContaining('ACME (prj_') })
      await refused.catch(() => undefined)
    }
    expect((await projects.showProject('OTHER')).aliases).toEqual([])
    await projects.changeProject(OPERATOR, 'ACME', { removeAliases: ['Acme/Web'] })
    await projects.changeProject(OPERATOR, 'OTHER', { aliases: ['acme/web'] })
    expect(await placeOf(await report({ project: 'acme/web' }))).toBe('OTHER –')
    expect(await trail()).toEqual([
      'project.changed ACME',
      'project.added OTHER',
      'project.changed ACME',
      'project.changed OTHER',
    ])
  })

  test('a key may become what the project had as an alias, and back', async () => {
    const { projects } = await stage(await open())
    await projects.addProject(OPERATOR, { key: 'one', name: 'Shop', aliases: ['two'] })
    await projects.changeProject(OPERATOR, 'one', { key: 'TWO' })
    const { project, aliases } = await projects.showProject('two')
    expect([project.key, project.name, aliases]).toEqual(['TWO', 'Shop', ['one']])
    await projects.changeProject(OPERATOR, 'two', { key: 'one' })
    expect((await projects.showProject('shop')).aliases).toEqual(['TWO'])
  })

  test('a first mention that races with a manual creation ends in one project', async () => {
    const { first, second } = await stageTwo(open, engine)
    for (let round = 0; round < 8; round += 1) {
      const key = `race-${round}`
      const [made, id] = await Promise.allSettled([
        first.projects.addProject(OPERATOR, { key: key.toUpperCase(), name: `Race ${round}` }),
        second.report({ project: key }),
        first.report({ project: key }),
        second.report({ project: key }),
      ])
      expect(['done', 'already_exists']).toContain(outcomes([made!])[0]!)
      expect(id!.status).toBe('fulfilled')
      expect(await first.countOn(key)).toBe(3)
    }
    expect(await first.projects.projectRows(EVERYTHING).list({}, { after: undefined, limit: 99 })).toHaveLength(8)
  })

  test('if two people assign the same alias at once, one of them is refused', async () => {
    const { first, second } = await stageTwo(open, engine)
    await first.projects.addProject(OPERATOR, { key: 'A' })
    await first.projects.addProject(OPERATOR, { key: 'B' })
    const settled = await Promise.allSettled([
      first.projects.changeProject(OPERATOR, 'A', { addAliases: ['wanted'] }),
      second.projects.changeProject(OPERATOR, 'B', { addAliases: ['WANTED'] }),
    ])
    expect(outcomes(settled).sort()).toEqual(['already_exists', 'done'])
  })
})

forEachEngine('merging a project', (open, engine) => {
  test('moves names, tickets and unbilled entries, leaves billed ones, and is recorded', async () => {
    const { projects, entries, report, bill, placeOf, trail } = await stage(await open())
    await projects.addProject(OPERATOR, { key: 'NEW' })
    const billed = await report({ project: 'old' })
    const onTicket = await report({ project: 'old', ticket: 'OLD-1' })
    const plain = await report({ project: 'old', input: 3 })
    await bill(billed)
    await projects.changeProject(OPERATOR, 'old', { addAliases: ['ancient'] })

    const planned = await entries.places.mergeProject(OPERATOR, 'old', 'NEW', { dryRun: true })
    expect(planned).toMatchObject({ entries: 2, unpriced: 0, costNanos: 4_000_000_000n, billed: 1, tickets: 1 })
    expect(planned.aliases).toEqual(['old', 'ancient'])
    expect(await placeOf(plain)).toBe('old –')

    expect(await entries.places.mergeProject(OPERATOR, 'old', 'NEW', {})).toMatchObject({
      entries: 2,
      isComplete: true,
    })
    expect(await Promise.all([billed, onTicket, plain].map(placeOf))).toEqual(['old –', 'NEW OLD-1', 'NEW –'])
    for (const where of [{ project: 'Old' }, { project: 'ANCIENT' }, { ticket: 'old-1' }])
      expect(await placeOf(await report(where))).toStartWith('NEW ')
    expect((await entries.listing.getHistory(plain, EVERYTHING)).data.at(-1)).toMatchObject({
      action: 'placed',
      details: { because: 'project_merged' },
    })
    expect((await entries.listing.getHistory(billed, EVERYTHING)).data).toHaveLength(1)
    expect(await trail()).toEqual(['project.added NEW', 'project.changed old', 'project.merged old'])
    const [merged] = await projects.projectRows(EVERYTHING).list({ archived: 'true' }, { after: undefined, limit: 9 })
    expect(merged).toMatchObject({ aliases: [], mergedInto: { key: 'NEW' } })
    const refused = projects.changeProject(OPERATOR, merged!.project.uid, { name: 'again' })
    expect(refused).rejects.toMatchObject({ code: 'project_merged' })
    await refused.catch(() => undefined)
  })

  test('resolves names through several merges to the remaining project', async () => {
    const { projects, entries, report, placeOf } = await stage(await open())
    const id = await report({ project: 'first' })
    for (const key of ['second', 'third']) await projects.addProject(OPERATOR, { key })
    await entries.places.mergeProject(OPERATOR, 'first', 'second', {})
    await entries.places.mergeProject(OPERATOR, 'second', 'third', {})
    expect(await placeOf(id)).toBe('third –')
    expect(await placeOf(await report({ project: 'FIRST' }))).toBe('third –')
    expect((await projects.showProject('first')).aliases).toEqual(['first', 'second'])
    const circle = entries.places.mergeProject(OPERATOR, 'third', 'first', {})
    expect(circle).rejects.toMatchObject({ code: 'validation_failed' })
    await circle.catch(() => undefined)
  })

  test('that was interrupted continues when it is requested again', async () => {
    const { projects, entries, report, multiply, countOn, trail } = await stage(await open())
    await projects.addProject(OPERATOR, { key: 'NEW' })
    await multiply(await report({ project: 'old' }), 1200)
    const { project: old } = await projects.showProject('old')
    const calls = []
    do calls.push(await entries.places.mergeProject(OPERATOR, 'old', 'NEW', { budgetMs: 0 }))
    while (!calls.at(-1)!.isComplete && calls.length < 9)
    expect(calls.map((call) => call.entries)).toEqual([1201, 701, 201])
    expect([await countOn(old.uid), await countOn('NEW')]).toEqual([0, 1201])
    expect(await trail()).toEqual([
      'project.added NEW',
      'project.merged old',
      'project.merge_continued old',
      'project.merge_continued old',
    ])
  })

  test('loses nothing that is reported meanwhile, from another process too', async () => {
    const { first, second } = await stageTwo(open, engine)
    await first.projects.addProject(OPERATOR, { key: 'NEW' })
    await first.multiply(await first.report({ project: 'old', ticket: 'OLD-1' }), 600)
    const { project: old } = await first.projects.showProject('old')
    let over = false
    let reported = 0
    const reporting = (async () => {
      while (!over || reported < 40) {
        await Promise.all([
          second.report({ project: 'old' }),
          second.report({ project: 'OLD', ticket: 'old-1' }),
          second.report({ project: 'old', ticket: `OLD-${reported + 2}` }),
        ])
        reported += 3
      }
    })()
    const merged = await first.entries.places.mergeProject(OPERATOR, 'old', 'NEW', {})
    over = true
    await reporting
    expect(merged.isComplete).toBe(true)
    expect([await first.countOn(old.uid), await first.countOn('NEW')]).toEqual([0, 601 + reported])
    const tickets = { after: undefined, limit: 999 }
    expect(await first.projects.ticketRows.list({ projects: [old.uid] }, tickets)).toEqual([])
  })

  // SQLite's single writer lets nobody look before a merge and write after it.
  test.if(engine === 'postgres' && canOverlap(engine))(
    'sends back who looked before it and writes after it',
    async () => {
      const db = await open()
      const { projects, entries, report, person } = await stage(db)
      await projects.addProject(OPERATOR, { key: 'NEW' })
      await report({ project: 'old', ticket: 'OLD-1' })
      const merged = Promise.withResolvers<void>()
      const looked = Promise.withResolvers<void>()
      const adding = db.write(async (tx) => {
        const project = await projects.findProject(tx, 'old')
        looked.resolve()
        await merged.promise
        const { tickets, ticketAssumptions } = tx.tables
        const [ticket] = await tx
          .insert(tickets)
          .values({ uid: newId('tkt'), key: 'OLD-2', keyFolded: 'old-2', reported: true, createdAt: 0 })
          .returning({ id: tickets.id })
        const assumption = { ticketId: ticket!.id, userId: person.id, projectId: project!.id }
        await tx.insert(ticketAssumptions).values(assumption)
      })
      await looked.promise
      await entries.places.mergeProject(OPERATOR, 'old', 'NEW', {})
      merged.resolve()
      await adding
      expect((await projects.showTicket('OLD-2')).assumed[0]?.project?.key).toBe('NEW')
    },
  )

  test('in both directions at once happens in one of them', async () => {
    const { first, second } = await stageTwo(open, engine)
    for (let round = 0; round < 5; round += 1) {
      const [a, b] = [`a-${round}`, `b-${round}`]
      await first.report({ project: a })
      await first.report({ project: b })
      const settled = await Promise.allSettled([
        first.entries.places.mergeProject(OPERATOR, a, b, {}),
        second.entries.places.mergeProject(OPERATOR, b, a, {}),
      ])
      expect(outcomes(settled).filter((outcome) => outcome === 'done')).toHaveLength(1)
      expect(await first.countOn(a)).toBe(2)
    }
  })

  test('is followed by a session whose earlier part is billed', async () => {
    const { projects, entries, report, bill, placeOf } = await stage(await open())
    const session = 's-1'
    await bill(await report({ project: 'old', session }))
    await projects.addProject(OPERATOR, { key: 'NEW' })
    await entries.places.mergeProject(OPERATOR, 'old', 'NEW', {})
    const next = await report({ session, input: 5, endedAt: '2026-11-20T12:00:00Z' })
    expect(await placeOf(next)).toBe('NEW –')
  })
})

forEachEngine('a ticket', (open) => {
  test('takes its unbilled entries along to another project, those placed by hand too', async () => {
    const { projects, entries, report, bill, placeOf, trail } = await stage(await open())
    const [billed, plain] = [await report({ ticket: 'T-1', project: 'A' }), await report({ ticket: 'T-1' })]
    await bill(billed)
    await projects.addProject(OPERATOR, { key: 'B' })
    await entries.places.changeTicket(OPERATOR, 't-1', { project: 'b', title: 'Basket' })
    expect([await placeOf(billed), await placeOf(plain)]).toEqual(['A T-1', 'B T-1'])
    expect(await placeOf(await report({ ticket: 'T-1', project: 'A' }))).toBe('B T-1')
    await entries.places.changeTicket(OPERATOR, 'T-1', { project: null })
    expect(await placeOf(plain)).toBe('– T-1')
    await entries.places.changeTicket(OPERATOR, 'T-1', { project: 'A' })
    expect(await placeOf(plain)).toBe('A T-1')
    expect(
      (await entries.listing.getHistory(plain, EVERYTHING)).data.slice(1).map(({ details }) => details.because),
    ).toEqual(['ticket_moved', 'ticket_moved', 'ticket_moved'])
    expect(await trail()).toEqual(['project.added B', 'ticket.changed T-1', 'ticket.changed T-1', 'ticket.changed T-1'])
  })

  test('moves entries that an interrupted change left when the change is requested again', async () => {
    const { projects, entries, report, placeOf } = await stage(await open())
    const id = await report({ ticket: 'T-1', project: 'A' })
    await projects.addProject(OPERATOR, { key: 'B' })
    // The first step alone, as where the process ended behind it.
    await projects.changeTicket(OPERATOR, 'T-1', { project: 'B' })
    expect(await placeOf(id)).toBe('A T-1')
    await entries.places.changeTicket(OPERATOR, 'T-1', { project: 'B' })
    expect(await placeOf(id)).toBe('B T-1')
  })

  test('that entries are on, and a project that anything refers to, are not removed', async () => {
    const { projects, report } = await stage(await open())
    await report({ project: 'A', ticket: 'T-1' })
    await projects.addNewTicket(OPERATOR, { key: 'T-2', project: 'A' })
    const refusal = (promise: Promise<void>) =>
      promise.then(
        () => 'removed',
        ({ code, detail }) => `${code}: ${detail}`,
      )
    expect(await refusal(projects.removeTicket(OPERATOR, 'T-1'))).toBe(
      'in_use: The ticket T-1 has entries. Archive it instead.',
    )
    expect(await refusal(projects.removeProject(OPERATOR, 'A'))).toBe(
      'in_use: The project A has entries and tickets. Archive it instead.',
    )
    await projects.addClient(OPERATOR, { name: 'Acme' })
    await projects.addProject(OPERATOR, { key: 'B', client: 'acme', aliases: ['b2'], leads: ['ada@example.com'] })
    expect(await refusal(projects.removeClient(OPERATOR, 'Acme'))).toStartWith('in_use')
    expect(await refusal(projects.removeTicket(OPERATOR, 'T-2'))).toBe('removed')
    expect(await refusal(projects.removeProject(OPERATOR, 'b2'))).toBe('removed')
    expect(await refusal(projects.removeClient(OPERATOR, 'Acme'))).toBe('removed')
    await projects.addProject(OPERATOR, { key: 'b2' })
  })

  test('neither is a project or client that a bill names, though nothing else does any more', async () => {
    const { projects, report, bill } = await stage(await open())
    const { id: clientId } = await projects.addClient(OPERATOR, { name: 'Acme' })
    const { project } = await projects.addProject(OPERATOR, { key: 'A' })
    await bill(await report({}), { clientId })
    await bill(await report({}), { projectId: project.id })
    const removals = [() => projects.removeProject(OPERATOR, 'A'), () => projects.removeClient(OPERATOR, 'Acme')]
    for (const remove of removals) {
      const refusal = await remove().then(
        () => 'removed',
        ({ code, detail }) => `${code}: ${detail}`,
      )
      expect(refusal).toMatch(/^in_use: .* has bills\. Archive it instead\.$/)
    }
  })
})

forEachEngine('an archived project', (open) => {
  test('is still assigned to reports that name it, with a note, and is listed on request', async () => {
    const { projects, entries, report } = await stage(await open())
    await report({ project: 'A', ticket: 'A-1' })
    await projects.archiveProject(OPERATOR, 'A')
    const page = { after: undefined, limit: 9 }
    expect(await projects.projectRows(EVERYTHING).list({}, page)).toEqual([])
    expect(await projects.projectRows(EVERYTHING).list({ archived: 'all' }, page)).toHaveLength(1)
    for (const where of [{ project: 'a' }, { ticket: 'A-1' }, { ticket: 'A-2' }]) {
      const { project, placement } = await entries.listing.getEntry(await report(where), EVERYTHING)
      expect([project?.key, placement.note]).toEqual(['A', 'Project A is archived.'])
    }
    await projects.restoreProject(OPERATOR, 'A')
    expect((await entries.listing.getEntry(await report({ project: 'a' }), EVERYTHING)).placement.note).toBeNull()
  })
})
