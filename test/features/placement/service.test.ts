import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { readReport } from '../../../src/features/entries/reporting/report.ts'
import type { TokenEntryReport } from '../../../src/features/entries/schema.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

const BY_BRANCH = {
  name: 'by branch',
  conditions: [{ field: 'labels.branch', matches: '/(?<ticket>[A-Z]+-[0-9]+)/' }],
  project: 'ACME',
  ticket: '{ticket}',
}

const EVERY_CODEX = {
  name: 'codex',
  conditions: [{ field: 'agent_harness', matches: 'codex' }],
  project: 'ACME',
  ticket: null,
}

async function stage(db: Database) {
  const services = createServices({ db, clock })
  const ada = await addReporter(services.people)
  const addProject = (key: string) => services.projects.addProject(OPERATOR, { key })
  await addProject('ACME')
  let minutes = 0
  return {
    services,
    addProject,
    addRule: (rule: typeof BY_BRANCH | typeof EVERY_CODEX) => services.placement.addRule(TALLY, rule),
    /** Reports, each time with more tokens and a later end, and answers where the entry stands. */
    async report(more: Partial<TokenEntryReport> = {}) {
      minutes += 1
      const body = reportBody({
        ended_at: new Date(Date.UTC(2026, 10, 20, 11, minutes)).toISOString(),
        tokens: { input: 0, output: minutes },
        ...more,
      })
      const { entry } = await services.entries.reporting.recordFrom('report', readReport(body, NOW), ada)
      const id = entry.entry.uid
      const { project, ticket, placement } = await services.entries.listing.getEntry(id, EVERYTHING)
      return { id, place: [project?.key ?? null, ticket?.key ?? null, placement.by], placement }
    },
    projects: async () =>
      (await db.read.select({ key: db.read.tables.projects.key }).from(db.read.tables.projects)).map(({ key }) => key),
    update: (id: string, change: Record<string, unknown>) =>
      db.write(async (tx) => {
        const { entries } = tx.tables
        const { eq } = await import('drizzle-orm')
        await tx
          .update(entries)
          .set(change)
          .where(eq(entries.uid, id as never))
      }),
  }
}

forEachEngine('placement by rules', (open) => {
  test('uses rules only if names do not decide', async () => {
    const { report, addRule } = await stage(await open())
    await addRule(EVERY_CODEX)
    expect((await report({ project: 'Other' })).place).toEqual(['Other', null, 'named'])
    expect((await report({ ticket: 'OTHER-1' })).place).toEqual(['Other', 'OTHER-1', 'named'])
    expect((await report()).place).toEqual(['ACME', null, 'rule'])
  })

  test('gives a named ticket that nothing else does a project, and keeps which rule that was', async () => {
    const { report, addRule } = await stage(await open())
    const before = await report({ ticket: 'LOOSE-1' })
    expect(before.place).toEqual([null, 'LOOSE-1', 'named'])
    await addRule(EVERY_CODEX)
    const named = await report({ ticket: 'NEW-1' })
    expect(named.place).toEqual(['ACME', 'NEW-1', 'named'])
    expect(named.placement.rule).toMatchObject({ name: 'codex', version: 1 })
    // The ticket's earlier entries go along.
    await report({ ticket: 'loose-1' })
    expect((await report({ ticket: 'LOOSE-1' })).place).toEqual(['ACME', 'LOOSE-1', 'named'])
  })

  test('prefers the project of a ticket to the named project, with a note', async () => {
    const { report, addRule, services } = await stage(await open())
    await report({ ticket: 'X-7', project: 'Elsewhere' })
    await addRule(BY_BRANCH)
    const assumed = await report({ labels: { branch: 'fix/X-7' } })
    expect(assumed.place).toEqual(['Elsewhere', 'X-7', 'rule'])
    expect(assumed.placement.note).toBe(
      "Rule 'by branch' assigns project ACME, but earlier reports of the same person placed ticket X-7 in Elsewhere.",
    )
    await services.entries.places.changeTicket(OPERATOR, 'X-7', { project: 'Elsewhere' })
    const { placement } = await report({ labels: { branch: 'fix/X-7' } })
    expect(placement.note).toBe("Rule 'by branch' assigns project ACME, but ticket X-7 belongs to Elsewhere.")
  })

  test('adds tickets also where names that nobody made are held, and keeps those names', async () => {
    const { report, addRule, services, projects } = await stage(await open())
    await services.organization.changeSettings({ unknownProjects: 'hold' }, TALLY)
    await addRule(BY_BRANCH)
    const { place, placement } = await report({ project: 'Typo', labels: { branch: 'ACME-42' } })
    expect(place).toEqual(['ACME', 'ACME-42', 'rule'])
    expect(placement).toMatchObject({ named_project: 'Typo', note: expect.stringContaining('Typo') })
    expect(await projects()).toEqual(['ACME'])
  })

  test('follows a merged project', async () => {
    const db = await open()
    const { report, addRule, addProject, services } = await stage(db)
    await addProject('Successor')
    await addRule(EVERY_CODEX)
    const pair = await services.projects.mergePair(db.read, 'ACME', 'Successor')
    await db.write((tx) => services.projects.beginMerge(tx, pair))
    expect((await report()).place).toEqual(['Successor', null, 'rule'])
  })

  test('is the same for every process at once, also for rules of another', async () => {
    const db = await open()
    const { report, addRule } = await stage(db)
    expect((await report()).place).toEqual([null, null, 'unattributed'])
    const other = createServices({ db: await open({ sharing: db }), clock })
    await other.placement.addRule(TALLY, EVERY_CODEX)
    expect((await report()).place).toEqual(['ACME', null, 'rule'])
    await other.placement.changeRule(TALLY, 'codex', { enabled: false })
    expect((await report()).place).toEqual([null, null, 'unattributed'])
    await addRule(BY_BRANCH)
    expect((await other.placement.listRules()).map(({ rule }) => rule.name)).toEqual(['codex', 'by branch'])
  })
})

forEachEngine('a session', (open) => {
  test('is placed again when its reports change, and keeps its place if no rule matches any more', async () => {
    const { report, addRule } = await stage(await open())
    await addRule(BY_BRANCH)
    const session = { session_id: 's-1' }
    expect((await report(session)).place).toEqual([null, null, 'unattributed'])
    expect((await report({ ...session, labels: { branch: 'ACME-1' } })).place).toEqual(['ACME', 'ACME-1', 'rule'])
    expect((await report(session)).place).toEqual(['ACME', 'ACME-1', 'rule'])
    expect((await report({ ...session, labels: { branch: 'main' } })).place).toEqual(['ACME', 'ACME-1', 'rule'])
    const { id, place } = await report({ ...session, labels: { branch: 'ACME-2' } })
    expect(place).toEqual(['ACME', 'ACME-2', 'rule'])
    expect((await report({ ...session, project: 'Named' })).place).toEqual(['Named', null, 'named'])
    expect((await report({ ...session, labels: { branch: 'ACME-3' } })).place).toEqual(['Named', null, 'named'])
    expect(id).toBe((await report(session)).id)
  })

  test('is matched by its earlier and its current fields together', async () => {
    const { report, services } = await stage(await open())
    const conditions = [
      { field: 'labels.branch', matches: 'main' },
      { field: 'summary', matches: '*login*' },
    ]
    await services.placement.addRule(TALLY, { ...EVERY_CODEX, conditions })
    await report({ session_id: 's-1', labels: { branch: 'main' } })
    expect((await report({ session_id: 's-1', summary: 'Fix the login' })).place).toEqual(['ACME', null, 'rule'])
  })

  test('that a person placed stays there in its next part as well, and no project is made in vain', async () => {
    const { report, addRule, update, projects, services } = await stage(await open())
    await addRule(EVERY_CODEX)
    const { id } = await report({ session_id: 's-1', labels: { branch: 'main' } })
    await update(id, { projectId: null, placedBy: 'manual', ruleVersionId: null, status: 'approved' })
    const next = await report({ session_id: 's-1', project: 'In vain', summary: 'Later' })
    expect(next.id).not.toBe(id)
    expect(next.place).toEqual([null, null, 'manual'])
    expect(await projects()).toEqual(['ACME'])
    const entry = await services.entries.listing.getEntry(next.id, EVERYTHING)
    expect(entry).toMatchObject({ labels: { branch: 'main' }, summary: 'Later', continues: id, updated_at: null })
  })
})
