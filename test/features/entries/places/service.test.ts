import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { TALLY } from '../../../../src/access/actor.ts'
import { EVERYTHING } from '../../../../src/access/visibility.ts'
import type { Database } from '../../../../src/database/database.ts'
import type { Status } from '../../../../src/database/schema/values.ts'
import type {
  RuleApplicationOptions,
  RuleApplicationRequest,
} from '../../../../src/features/entries/places/rule-application.ts'
import { readWalk } from '../../../../src/features/entries/places/rule-application.ts'
import { readReport } from '../../../../src/features/entries/reporting/report.ts'
import { createServices } from '../../../../src/services.ts'
import { forEachEngine } from '../../../support/databases.ts'
import { OPERATOR, reportBody } from '../../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

async function stage(db: Database) {
  const services = createServices({ db, clock })
  const { entries, people, placement } = services
  await people.addUser({ email: 'ada@example.com', name: 'Ada', role: 'member' }, TALLY)
  const { secret } = await people.createToken({ kind: 'svc', user: 'ada@example.com', name: 'ci' }, TALLY)
  const ada = await people.authenticate(`Bearer ${secret}`)
  if (ada.kind !== 'service') throw new Error('It is a service token')
  const report = async (what: Record<string, unknown> = {}): Promise<string> => {
    const said = readReport(
      reportBody({
        model: 'gpt-5',
        tokens: { input: 10, output: 1 },
        reported_cost: 1,
        session_id: crypto.randomUUID(),
        ...what,
      }),
      NOW,
    )
    return (await entries.reporting.recordFrom('report', said, ada)).entry.entry.uid
  }
  // Projects are made on first mention.
  await report({ project: 'ACME' })
  await report({ project: 'BETA' })
  return {
    ...services,
    report,
    /** A rule for the label `team`, which places on the project. */
    rule: (team: string, project: string, ticket: string | null = null) =>
      placement.addRule(TALLY, {
        name: team,
        conditions: [{ field: 'labels.team', matches: team }],
        project,
        ticket,
      }),
    apply: (asked: Partial<RuleApplicationRequest> = {}, options: Partial<RuleApplicationOptions> = {}) =>
      entries.places.applyRules(
        { scope: 'unattributed', filter: {}, ...asked },
        { by: TALLY, limit: 1_000, ...options },
      ),
    async setStatus(id: string, status: Status) {
      await db.write((tx) =>
        tx
          .update(tx.tables.entries)
          .set({ status })
          .where(eq(tx.tables.entries.uid, id as never))
          .returning(),
      )
    },
    async where(id: string): Promise<string> {
      const { project, ticket, placement: placed } = await entries.listing.getEntry(id, EVERYTHING)
      return [project?.key ?? '–', ticket?.key ?? '–', placed.by].join(' ')
    },
  }
}

forEachEngine('applying rules', (open) => {
  test('leaves what is named, placed by hand or locked', async () => {
    const { report, rule, apply, entries, setStatus, where } = await stage(await open())
    const labels = { team: 'a' }
    const open_ = await report({ labels })
    const named = await report({ labels, project: 'BETA' })
    const nowhere = await report({ labels })
    const locked = await report({ labels })
    const other = await report({ labels: { team: 'b' } })
    await entries.places.placeEntries({ ids: [nowhere] }, { project: null }, OPERATOR)
    await setStatus(locked, 'approved')
    await rule('a', 'ACME', 'A-1')

    const planned = await apply({}, { dryRun: true })
    expect(await where(open_)).toBe('– – unattributed')
    const applied = await apply()
    expect(applied).toMatchObject({ entries: 1, costNanos: 1_000_000_000n, isComplete: true })
    expect(planned.moves.map(({ placed }) => placed.entry.uid as string)).toEqual([open_])
    expect(await Promise.all([open_, named, nowhere, locked, other].map(where))).toEqual([
      'ACME A-1 rule',
      'BETA – named',
      '– – manual',
      '– – unattributed',
      '– – unattributed',
    ])
    expect((await apply()).entries).toBe(0)
  })

  test('moves what a rule placed to where rules say now, and takes it off where none does', async () => {
    const { report, rule, apply, placement, where } = await stage(await open())
    const { rule: first } = await rule('a', 'ACME')
    const { rule: second } = await rule('b', 'ACME')
    const [a, b] = [await report({ labels: { team: 'a' } }), await report({ labels: { team: 'b' } })]
    await placement.changeRule(TALLY, first.uid, { project: 'BETA' })
    await placement.removeRule(TALLY, second.uid)
    expect((await apply()).entries).toBe(0)
    const groups = async (dryRun: boolean) =>
      (await apply({ scope: 'rule_placed' }, { dryRun })).groups.map(({ from, to, entries }) => [
        from.project?.key,
        to.project?.key ?? 'nothing',
        to.placed_by,
        entries,
      ])
    const expected = [
      ['ACME', 'BETA', 'rule', 1],
      ['ACME', 'nothing', 'unattributed', 1],
    ]
    expect((await groups(true)).sort()).toEqual(expected)
    expect((await groups(false)).sort()).toEqual(expected)
    expect([await where(a), await where(b)]).toEqual(['BETA – rule', '– – unattributed'])
  })

  test('looks again within the transaction: what was placed or locked meanwhile stays, and rules are those of then', async () => {
    const db = await open()
    let meanwhile = async () => {}
    const racing: Database = {
      ...db,
      write: async (body) => {
        const before = meanwhile
        meanwhile = async () => {}
        await before()
        return db.write(body)
      },
    }
    const { report, rule, apply, entries, placement, setStatus, where } = await stage(racing)
    const ids: string[] = []
    for (let count = 0; count < 3; count += 1) ids.push(await report({ labels: { team: 'a' } }))
    const { rule: only } = await rule('a', 'ACME')
    meanwhile = async () => {
      await entries.places.placeEntries({ ids: [ids[0]!] }, { project: 'BETA' }, OPERATOR)
      await setStatus(ids[1]!, 'approved')
      await placement.changeRule(TALLY, only.uid, { project: 'BETA' })
    }
    const applied = await apply()
    expect(applied.moves.map(({ placed, to }) => [placed.entry.uid as string, to.project?.key])).toEqual([
      [ids[2]!, 'BETA'],
    ])
    expect(await Promise.all(ids.map(where))).toEqual(['BETA – manual', '– – unattributed', 'BETA – rule'])
  })

  test('ends with its budget or its list, and goes on from there without missing or moving anything twice', async () => {
    const { report, rule, apply } = await stage(await open())
    for (let count = 0; count < 7; count += 1) await report({ labels: { team: 'a' } })
    await rule('a', 'ACME')
    const walk = async (dryRun: boolean) => {
      const seen: string[] = []
      let page: string | null | undefined
      for (let calls = 0; page !== null && calls < 20; calls += 1) {
        const answer = await apply({ after: page === undefined ? undefined : readWalk(page) }, { dryRun, limit: 2 })
        expect(answer.moves.length).toBeLessThanOrEqual(2)
        seen.push(...answer.moves.map(({ placed }) => placed.entry.uid))
        page = answer.nextPage
      }
      return seen
    }
    const planned = await walk(true)
    expect(new Set(planned).size).toBe(7)
    expect(await walk(false)).toEqual(planned)
    expect((await apply({}, { budgetMs: 0 })).entries).toBe(0)
  })

  test('beside sessions that go on loses no token, and every session is where the rule says', async () => {
    const { report, rule, apply, entries, where } = await stage(await open())
    const sessions = Array.from({ length: 12 }, (_, index) => `s-${index}`)
    const tell = (session_id: string, input: number) =>
      report({
        session_id,
        labels: { team: 'a' },
        tokens: { input, output: 1 },
        ended_at: new Date(Date.UTC(2026, 10, 20, 11, input)).toISOString(),
      })
    const ids = await Promise.all(sessions.map((session) => tell(session, 1)))
    await rule('a', 'ACME', 'A-1')
    const growing = (async () => {
      for (let input = 2; input <= 6; input += 1) await Promise.all(sessions.map((session) => tell(session, input)))
    })()
    await Promise.all([growing, apply(), apply(), apply({ scope: 'rule_placed' })])
    for (const id of ids) {
      const entry = await entries.listing.getEntry(id, EVERYTHING)
      expect([await where(id), entry.tokens.input]).toEqual(['ACME A-1 rule', 6])
    }
  })

  test('finds a held name that somebody has made since', async () => {
    const db = await open()
    const { report, apply, projects, where } = await stage(db)
    await db.write((tx) => tx.update(tx.tables.organization).set({ unknownProjects: 'hold' }).returning())
    const id = await report({ project: 'Later' })
    expect(await where(id)).toBe('– – unattributed')
    expect((await apply()).entries).toBe(0)
    await projects.addProject(OPERATOR, { key: 'Later' })
    expect((await apply()).entries).toBe(1)
    expect(await where(id)).toBe('Later – named')
  })
})

forEachEngine('placing many by hand', (open) => {
  test('is one transaction with a row of history each and one in the audit trail', async () => {
    const db = await open()
    const { report, entries, where } = await stage(db)
    const first = await report({ labels: { team: 'a' } })
    await db.write(async (tx) => {
      const { entries: rows } = tx.tables
      const [one] = await tx
        .select()
        .from(rows)
        .where(eq(rows.uid, first as never))
      const { id: _, ...columns } = one!
      for (let batch = 0; batch < 5; batch += 1) {
        const made = Array.from({ length: 300 }, () => ({
          ...columns,
          uid: `ent_${crypto.randomUUID().replaceAll('-', '')}` as const,
          sessionId: null,
          chainModelId: null,
          part: null,
        }))
        await tx.insert(rows).values(made)
      }
    })
    const filter = { label: [{ name: 'team', value: 'a' }] }
    const placed = await entries.places.placeEntries({ filter }, { ticket: 'ACME-1', project: 'ACME' }, OPERATOR)
    expect(placed.results.map(({ result }) => result)).toEqual(Array(1_501).fill('placed'))
    expect(await where(first)).toBe('ACME ACME-1 manual')
    const kept = await db.read.select().from(db.read.tables.audit)
    expect(kept.filter(({ action }) => action === 'entries.placed').map(({ after }) => after)).toEqual([
      { entries: 1_501, cost: 1_501, project: 'ACME', ticket: 'ACME-1' },
    ])
    const history = await db.read.select({ id: db.read.tables.entryHistory.id }).from(db.read.tables.entryHistory)
    expect(history).toHaveLength(1_501)
    const again = await entries.places.placeEntries({ filter }, { ticket: 'acme-1' }, OPERATOR)
    expect(new Set(again.results.map(({ result }) => result))).toEqual(new Set(['unchanged']))
  })

  test('a dry run says what would be placed, and places nothing', async () => {
    const { report, entries, where, db } = await stage(await open())
    const ids = [await report({ reported_cost: 2 }), await report({ reported_cost: 3 })]
    const place = { ticket: 'NEW-1', project: 'ACME' }
    const planned = await entries.places.placeEntries({ ids }, place, OPERATOR, { dryRun: true })
    expect(planned).toMatchObject({ results: ids.map((id) => ({ id, result: 'placed' })), costNanos: 5_000_000_000n })
    expect(await where(ids[0]!)).toBe('– – unattributed')
    expect(await db.read.select().from(db.read.tables.tickets)).toEqual([])
    const { digest, ...done } = planned
    expect(digest).toHaveLength(43)
    expect(await entries.places.placeEntries({ ids }, place, OPERATOR)).toEqual(done)
    expect(await where(ids[0]!)).toBe('ACME NEW-1 manual')
  })

  test('gives a ticket its project, and takes the ticket’s other entries along', async () => {
    const { report, entries, where } = await stage(await open())
    const orphan = await report({ ticket: 'loose' })
    const id = await report()
    expect(await where(orphan)).toBe('– loose named')
    await entries.places.placeEntries({ ids: [id] }, { ticket: 'LOOSE', project: 'ACME' }, OPERATOR)
    expect([await where(id), await where(orphan)]).toEqual(['ACME loose manual', 'ACME loose named'])
  })
})
