import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { CallerOf } from '../../../src/access/caller.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import type { TokenEntry } from '../../../src/features/entries/schema.ts'
import { createServices } from '../../../src/services.ts'
import { type Engine, forEachEngine, opener } from '../../support/databases.ts'
import { addPlan } from '../../support/plans.ts'
import { OPERATOR, reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'
import {
  differencesIn,
  exportOf,
  exportOfEverything,
  fileOf,
  importInto,
  linesOf,
  mergeInto,
} from '../../support/transfer.ts'

const clock = { now: () => Date.UTC(2026, 10, 20, 19, 30) }

/** A Tally with two people, who report. */
async function stage(db: Database) {
  const services = createServices({ db, clock })
  const { people, entries, prices } = services
  await prices.setPrice(
    { model: 'gpt-5-codex', input: 1, output: 2, effective_from: 'always', only: true, force: true },
    TALLY,
  )
  const callerOf = async (email: string, name: string) => {
    await people.addUser({ email, name, role: 'admin' }, TALLY)
    const { secret } = await people.createToken({ kind: 'svc', user: email, name: 'test' }, TALLY)
    return (await people.authenticate(`Bearer ${secret}`)) as CallerOf<'service'>
  }
  const [ada, grace] = [await callerOf('ada@example.com', 'Ada'), await callerOf('grace@example.com', 'Grace')]
  return {
    ...services,
    ada,
    grace,
    report: async (more: Record<string, unknown>, caller = ada, key?: string) =>
      (await entries.reporting.reportEntry(reportBody({ project: 'WEB', ...more }), caller, key)).entry,
    approve: (id: string) => entries.approval.decideEntry(id, { action: 'approve' }, OPERATOR),
    async listed(): Promise<TokenEntry[]> {
      const { data } = await entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '500' }, 'UTC'))
      return data
    },
  }
}

const ids = (entries: TokenEntry[]) => entries.map(({ id }) => id).sort()

forEachEngine('a merge', (open, engine: Engine) => {
  const openOther = opener(engine === 'sqlite' ? 'postgres' : 'sqlite')

  test('adds entries with their sessions, people, places, value and history, and a second one changes nothing', async () => {
    const [from, to] = [await openOther(), await open()]
    const source = await stage(from)
    const first = await source.report({ session_id: 'one', ticket: 'WEB-7', labels: { branch: 'main' } })
    await source.approve(first.id)
    await source.report({ session_id: 'one', ticket: 'WEB-7', tokens: { input: 40, output: 9 } })
    await source.report({ session_id: 'two', project: 'APP' }, source.grace)
    await source.report({ reported_cost: 0.123456789 }, source.ada, 'key')
    const text = await exportOf(from)

    const here = await stage(to)
    // The same person and project under other ids.
    await here.projects.addProject(OPERATOR, { key: 'WEBSITE', name: 'Website', aliases: ['web'] })
    await here.prices.setPrice(
      { model: 'gpt-5-codex', input: 9, output: 9, effective_from: 'always', only: true, force: true },
      TALLY,
    )
    const own = await here.report({ session_id: 'own', project: 'WEBSITE' })
    const rehearsed = await mergeInto(to, text, { dryRun: true })
    expect(ids(await here.listed())).toEqual([own.id])
    const merged = await mergeInto(to, text)
    expect(merged).toEqual(rehearsed)
    expect(merged).toMatchObject({ added: 4, held: 0, skipped: {} })
    expect(merged.created).toEqual({ people: [], clients: [], projects: ['APP'], tickets: ['WEB-7'] })

    const [there, all] = [await source.listed(), await here.listed()]
    expect(ids(all)).toEqual(ids([...there, own]))
    for (const entry of there) {
      const same = all.find(({ id }) => id === entry.id)!
      const { tokens, cost, list_value, reported_cost, status, session_id, part, labels, started_at, summary } = entry
      expect(same).toMatchObject({
        tokens,
        cost,
        list_value,
        reported_cost,
        status,
        session_id,
        part,
        labels,
        started_at,
        summary,
      })
      expect(same.project!.key).toBe(entry.project!.key === 'WEB' ? 'WEBSITE' : entry.project!.key)
      expect(same.ticket?.key).toBe(entry.ticket?.key)
      const history = await here.entries.listing.getHistory(entry.id, EVERYTHING)
      expect(history.data.at(-1)).toMatchObject({ action: 'imported', details: { organization: 'Tally' } })
    }
    expect(await differencesIn(to)).toEqual([])

    // The session goes on here, with its totals, and the repeated report is recognized.
    const grown = await here.report({ session_id: 'one', ticket: 'WEB-7', tokens: { input: 50, output: 9 } })
    expect(grown).toMatchObject({ part: 2, tokens: { input: 40 } })
    await here.report({ reported_cost: 0.123456789 }, here.ada, 'key')
    expect(ids(await here.listed())).toEqual(ids(all))

    const again = await mergeInto(to, text)
    expect(again).toMatchObject({
      added: 0,
      skipped: { already_here: { entries: 3 }, already_here_changed: { entries: 1 } },
    })
    expect(again.created).toEqual({ people: [], clients: [], projects: [], tickets: [] })
    expect(ids(await here.listed())).toEqual(ids(all))
  })

  test('never doubles a session that was reported here as well, nor an entry that was billed there', async () => {
    const [from, to] = [await openOther(), await open()]
    const source = await stage(from)
    await source.report({ session_id: 'shared' })
    const uuid = crypto.randomUUID()
    await source.report({ session_id: uuid })
    await source.report({ session_id: 'run-1' })
    const alone = await source.report({ summary: 'alone' })
    await source.report({ session_id: 'billed', project: 'PAID' })
    await source.bills.send({ project: 'PAID', month: '2026-11' }, { by: TALLY })
    await source.report({ session_id: 'billed', project: 'PAID', tokens: { input: 90, output: 9 } })
    const text = await exportOf(from)

    const here = await stage(to)
    await here.report({ session_id: 'shared' })
    // Nobody else can know this id; many could use the other one.
    await here.report({ session_id: uuid }, here.grace)
    await here.report({ session_id: 'run-1' }, here.grace)
    const same = await here.report({ summary: 'alone' })
    const { added, skipped, not_merged } = await mergeInto(to, text)
    expect(added).toBe(2)
    expect(skipped).toMatchObject({ session_here: { entries: 2 }, billed: { entries: 2 } })
    expect(not_merged).toMatchObject({ bill: 1, settings: 1 })
    const found = (await here.listed()).find(({ id }) => id === alone.id)!
    expect(found.possible_duplicate_of).toBe(same.id)
    expect(await differencesIn(to)).toEqual([])
  })

  test('leaves entries unattributed whose project is not here, if told so', async () => {
    const [from, to] = [await openOther(), await open()]
    const source = await stage(from)
    const { id } = await source.report({ ticket: 'WEB-7' })
    const here = await stage(to)
    const merged = await mergeInto(to, await exportOf(from), { unknownProjects: 'hold' })
    expect(merged).toMatchObject({ added: 1, held: 1, created: { projects: [], tickets: [] } })
    const placement = { by: 'unattributed', named_project: 'WEB', named_ticket: 'WEB-7' }
    expect(await here.listed()).toMatchObject([{ id, project: null, ticket: null, placement }])
  })

  test('adds people who are missing without a password and a role, and disables those who are disabled', async () => {
    const [from, to] = [await openOther(), await open()]
    const source = await stage(from)
    await source.report({}, source.grace)
    await source.people.disableUser('grace@example.com', TALLY)
    const here = createServices({ db: to, clock })
    const merged = await mergeInto(to, await exportOf(from))
    expect(merged.created.people).toEqual(['grace@example.com'])
    const grace = await here.people.findUser('grace@example.com')
    expect(grace).toMatchObject({ name: 'Grace', role: 'member', hasPassword: false })
    expect(grace!.disabledAt).not.toBeNull()
    const { tokens, prices } = to.read.tables
    expect((await to.read.select().from(tokens)).map(({ revokedAt }) => revokedAt === null)).toEqual([false])
    // The price that valued the entry, which applies to nothing else.
    expect((await to.read.select().from(prices)).map(({ withdrawnAt }) => withdrawnAt === null)).toEqual([false])
  })

  test('continues after it was interrupted, between sessions', async () => {
    const [from, to] = [await openOther(), await open()]
    const source = await stage(from)
    for (let at = 0; at < 3; at += 1) await source.report({ session_id: `s-${at}` })
    const divided = await source.report({ session_id: 'divided' })
    await source.entries.division.divide(
      divided.id,
      {
        parts: [
          { project: 'WEB', share: 1 },
          { project: 'WEB', ticket: 'WEB-9', share: 2 },
        ],
      },
      OPERATOR,
    )
    const text = await exportOf(from)
    // The shares of a divided entry are in the same period as it.
    const { counts } = linesOf(await exportOf(from, { from: Date.UTC(2026, 10, 20) })).at(-1) as { counts: object }
    expect(counts).toMatchObject({ session: 4, entry: 5 })
    await stage(to)
    // What an interrupted merge leaves: whole sessions, without the shares of the divided entry.
    const begun = fileOf(
      linesOf(text)
        .slice(0, -1)
        .filter(({ type, in_session }) => type !== 'entry' || in_session),
    )
    expect(await mergeInto(to, begun)).toMatchObject({ added: 4 })
    const { added, skipped } = await mergeInto(to, text)
    expect([added, skipped.already_here?.entries]).toEqual([1, 4])
    expect(await differencesIn(to)).toEqual([])
  })

  test('of a copy of itself adds no parts of an entry that was divided since, there or here', async () => {
    const [from, to] = [await openOther(), await open()]
    const source = await stage(from)
    const { id } = await source.report({ session_id: 'divided', tokens: { input: 300, output: 30 } })
    const here = await stage(to)
    await mergeInto(to, await exportOf(from))
    const parts = [
      { project: 'WEB', share: 1 },
      { project: 'WEB', ticket: 'WEB-9', share: 2 },
    ]
    await source.entries.division.divide(id, { parts }, OPERATOR)
    const text = await exportOf(from)
    const skipped = { already_here_changed: { entries: 1 }, divided: { entries: 1 } }
    expect(await mergeInto(to, text)).toMatchObject({ added: 0, skipped })
    await here.entries.division.divide(id, { parts }, OPERATOR)
    expect(await mergeInto(to, text)).toMatchObject({ added: 0, skipped: { divided: { entries: 1 } } })
    const tokens = (await here.listed()).reduce((sum, entry) => sum + entry.tokens.input, 0)
    expect(tokens).toBe(300)
    expect(await differencesIn(to)).toEqual([])
  })
})

forEachEngine('a merge, whose entries', (open, engine: Engine) => {
  const openOther = opener(engine === 'sqlite' ? 'postgres' : 'sqlite')

  test('stay those of the person by id in a copy, whoever has their address by now', async () => {
    const [from, to] = [await openOther(), await open()]
    const source = await stage(from)
    await source.report({ session_id: 'first' })
    const copy = await exportOf(from)
    await importInto(to, copy)
    await source.report({ session_id: 'second' })
    const here = createServices({ db: to, clock })
    await to.write(async (tx) => {
      const { users } = tx.tables
      await tx.update(users).set({ email: 'lovelace@example.com' }).where(eq(users.email, 'ada@example.com'))
    })
    await here.people.addUser({ email: 'ada@example.com', name: 'Another Ada', role: 'member' }, TALLY)
    expect(await mergeInto(to, await exportOf(from))).toMatchObject({ added: 1, created: { people: [] } })
    const { data } = await here.entries.listing.listEntries(EVERYTHING, readListQuery({ limit: '10' }, 'UTC'))
    expect(data.map(({ agent_manager: { name } }) => name)).toEqual(['Ada', 'Ada'])
    expect(await here.entries.verify()).toEqual([])
  })

  test('are paid for by the plans of this Tally, unless they are locked', async () => {
    const [from, to] = [await openOther(), await open()]
    const source = await stage(from)
    const [open1, approved] = [await source.report({ session_id: 'one' }), await source.report({ session_id: 'two' })]
    await source.approve(approved.id)
    const text = await exportOf(from)
    const here = await stage(to)
    await addPlan(to, { name: 'Max' })
    await here.entries.funding.decideOwed()
    expect(await mergeInto(to, text)).toMatchObject({ added: 2 })
    await here.entries.funding.decideOwed()
    const paid = new Map((await here.listed()).map(({ id, funding }) => [id, funding.plan?.name ?? null]))
    expect([paid.get(open1.id), paid.get(approved.id)]).toEqual(['Max', null])
  })

  test('verify calls another person’s are not taken, whatever a file says of them', async () => {
    const from = await openOther()
    const source = await stage(from)
    for (const [at, caller] of [source.ada, source.grace, source.ada, source.grace].entries()) {
      await source.report({ session_id: `s-${at}`, ticket: 'WEB-7' }, caller)
      await source.report({ summary: `alone ${at}` }, caller)
    }
    const { id } = (await source.listed())[0]!
    await source.entries.approval.decideEntry(id, { action: 'void', reason: 'test' }, OPERATOR)
    // The lead of there is nobody here, and no report of theirs moved anything.
    await source.projects.addProject(OPERATOR, { key: 'LED', name: 'Led', leads: ['grace@example.com'] })
    const [lead] = await from.read.select().from(from.read.tables.users).where(eq(from.read.tables.users.name, 'Grace'))
    await from.write((tx) =>
      tx.insert(tx.tables.entryHistory).values({
        ...{ entryId: 1, at: clock.now(), action: 'placed', userId: lead!.id, tokenId: null },
        details: { because: 'ticket_found_project' },
      }),
    )
    const lines = linesOf(await exportOf(from))
    const people = lines.filter(({ type }) => type === 'person').map((line) => line.id as string)
    const tokens = lines.filter(({ type }) => type === 'token').map((line) => line.id as string)
    const forgeable = lines.flatMap(({ type }, at) => (type === 'entry' || type === 'session' ? [at] : []))
    const forgery = fc.record({
      line: fc.constantFrom(...forgeable),
      manager: fc.option(fc.constantFrom(...people), { nil: undefined }),
      token: fc.option(fc.constantFrom(...tokens), { nil: undefined }),
      status: fc.option(fc.constantFrom('submitted', 'rejected', 'voided', 'approved'), { nil: undefined }),
      step: fc.option(
        fc.record({
          action: fc.constantFrom('shrunk', 'placed', 'adopted', 'approved'),
          token: fc.constantFrom(...tokens),
          because: fc.constantFrom('bill_voided', 'source'),
        }),
        { nil: undefined },
      ),
    })
    let [refused, taken] = [0, 0]
    await fc.assert(
      fc.asyncProperty(fc.array(forgery, { maxLength: 6 }), async (forgeries) => {
        const to = await open()
        const here = createServices({ db: to, clock })
        const forged = structuredClone(lines)
        for (const { line, manager, token, status, step } of forgeries) {
          const of = forged[line] as Record<string, unknown>
          if (manager) of.agent_manager = manager
          if (of.type === 'session') continue
          if (token) of.token = token
          if (status) of.status = status
          if (!step) continue
          const { because, ...rest } = step
          of.history = [...(of.history as object[]), { at: of.created_at, person: null, ...rest, details: { because } }]
        }
        const text = fileOf(forged.slice(0, -1) as never)
        const rehearsed = await mergeInto(to, text, { dryRun: true })
        expect(await mergeInto(to, text)).toEqual(rehearsed)
        expect(await here.entries.verify()).toEqual([])
        const { added, skipped } = rehearsed
        taken += added
        refused += skipped.of_another_person?.entries ?? 0

        // Of everything, the import refuses exactly what a merge would leave out.
        const whole = await importInto(await open(), text).catch((error: Error) => error.message)
        const isRefused = typeof whole === 'string' && /Entry ent_\w+ belongs to/.test(whole)
        expect(isRefused).toBe((skipped.of_another_person?.entries ?? 0) > 0)
      }),
      { numRuns: runs(60, 6) },
    )
    expect(Math.min(refused, taken)).toBeGreaterThan(0)
  }, 300_000)
})

forEachEngine('a merge of everything', (open) => {
  test('that can happen is consistent, and a second one changes nothing', async () => {
    const [to, text] = [await open(), await exportOfEverything()]
    const { added, skipped } = await mergeInto(to, text)
    const counted = Object.values(skipped).reduce((sum, { entries }) => sum + entries, added)
    expect(counted).toBe((linesOf(text).at(-1) as { counts: { entry: number } }).counts.entry)
    expect(await differencesIn(to)).toEqual([])
    const before = await exportOf(to)
    expect(await mergeInto(to, text)).toMatchObject({ added: 0, skipped: { already_here: { entries: added } } })
    expect(await exportOf(to)).toBe(before)
  }, 300_000)
})
