import { expect, test } from 'bun:test'
import { eq, sql } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { systemClock } from '../../../src/lib/clock.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, OPERATOR, reportBody } from '../../support/reports.ts'

const DAY_MS = 86_400_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

/** An entry of 40 days ago and one of yesterday, with texts; the log of two years ago. */
async function seed(db: Database) {
  const services = createServices({ db, clock: systemClock })
  // The only one with a period from the start.
  await services.organization.changeSettings({ retentionEvents: null }, TALLY)
  const ada = await addReporter(services.people)
  const report = (days: number, more: Record<string, unknown>) =>
    services.entries.reporting.reportEntry(
      reportBody({ started_at: daysAgo(days), ended_at: daysAgo(days), ...more }),
      ada,
    )
  const old = await report(40, { session_id: 'old', summary: 'Secret of old', labels: { branch: 'old-secret' } })
  const recent = await report(1, { session_id: 'new', summary: 'Recent', labels: { branch: 'recent' } })
  await services.entries.places.changeEntry(old.entry.id, { summary: 'Corrected secret' }, OPERATOR)
  return { services, report, old: old.entry.id, recent: recent.entry.id }
}

const listed = async (services: ReturnType<typeof createServices>) =>
  (await services.entries.listing.listEntries(EVERYTHING, { filter: {}, limit: 10, after: undefined })).data

/** Makes rows as old as they would be, past the triggers that keep them. */
async function age(db: Database, table: 'entryHistory' | 'audit', days: number) {
  await db.write(async (tx) => {
    const of = tx.tables[table]
    const rows = await tx.select().from(of)
    const at = Date.now() - days * DAY_MS
    await tx.insert(of as never).values(rows.map(({ id: _, ...row }) => ({ ...row, at })) as never)
  })
}

forEachEngine('retention', (open) => {
  test('removes nothing until a period is set', async () => {
    const { services } = await seed(await open())
    const before = await listed(services)
    expect(await services.personalData.retention.plan()).toEqual([])
    expect(await services.personalData.retention.apply(TALLY)).toEqual([])
    expect(await listed(services)).toEqual(before)
  })

  test('removes old texts from entries, history and label sets, and no figure', async () => {
    const db = await open()
    const { services, old, recent, report } = await seed(db)
    const before = await listed(services)
    await services.organization.changeSettings({ retentionTexts: 1 }, TALLY)
    expect(await services.personalData.retention.plan()).toMatchObject([{ kind: 'texts', rows: 1 }])
    expect(await services.personalData.retention.apply(TALLY)).toMatchObject([{ kind: 'texts', months: 1, rows: 1 }])
    const after = await listed(services)
    const byId = (entries: typeof after, id: string) => entries.find((entry) => entry.id === id)!
    expect(byId(after, old)).toMatchObject({ summary: null, labels: {} })
    expect(byId(after, recent)).toMatchObject({ summary: 'Recent', labels: { branch: 'recent' } })
    const figures = (entries: typeof after) => entries.map(({ tokens, cost }) => [tokens, cost])
    expect(figures(after)).toEqual(figures(before))
    // PostgreSQL empties sets of labels only once no report can refer to them any more.
    if (db.engine === 'sqlite') {
      const texts = await db.read
        .select({ text: sql<string>`${db.read.tables.labelPairs.value}` })
        .from(db.read.tables.labelPairs)
      expect(texts.map(({ text }) => text)).toEqual(['recent'])
    }
    const history = await db.read
      .select({ details: sql<string>`${db.read.tables.entryHistory.details}` })
      .from(db.read.tables.entryHistory)
    expect(history.filter(({ details }) => details.includes('ecret'))).toEqual([])
    expect([...(await services.entries.verify()), ...(await services.reports.verify(() => {}))]).toEqual([])
    expect((await services.personalData.retention.apply(TALLY))[0]!.rows).toBe(0)

    // A server that still holds the key of the removed set adds it again.
    const again = await report(0.1, { labels: { branch: 'old-secret' } })
    expect(again.entry.labels).toEqual({ branch: 'old-secret' })
    expect(await services.entries.verify()).toEqual([])
  })

  test('gives a retired set of labels back to a report that has referred to it meanwhile', async () => {
    const db = await open()
    const { services, recent } = await seed(db)
    const { retireLabelSets, emptyLabelSets, listUnusedLabelSets } = await import(
      '../../../src/features/personal-data/retention/store.ts'
    )
    await services.organization.changeSettings({ retentionTexts: 1 }, TALLY)
    const { entries } = db.read.tables
    const setOf = async () =>
      (await db.read.select({ id: entries.labelSetId }).from(entries).where(eq(entries.summary, 'Recent')))[0]!.id!
    const id = await setOf()
    await db.write(async (tx) => void (await tx.update(entries).set({ labelSetId: null })))
    expect(await listUnusedLabelSets(db.read)).toContain(id)
    await db.write((tx) => retireLabelSets(tx, [id], Date.now()))
    await db.write(
      async (tx) => void (await tx.update(entries).set({ labelSetId: id }).where(eq(entries.summary, 'Recent'))),
    )
    await db.write((tx) => emptyLabelSets(tx, [id]))
    expect((await listed(services)).find((entry) => entry.id === recent)!.labels).toEqual({ branch: 'recent' })
    expect(await services.entries.verify()).toEqual([])
  })

  test('replaces ids of old sessions by hashes, under which they continue', async () => {
    const { services, old, report } = await seed(await open())
    await services.organization.changeSettings({ retentionSessionIds: 1 }, TALLY)
    expect(await services.personalData.retention.apply(TALLY)).toMatchObject([{ kind: 'session_ids', rows: 1 }])
    const ids = Object.fromEntries((await listed(services)).map(({ id, session_id }) => [id, session_id]))
    expect(ids[old]).toStartWith('sha256:')
    expect(Object.values(ids)).toContain('new')
    const later = await report(0.1, { session_id: 'old', started_at: daysAgo(40), tokens: { input: 20, output: 9 } })
    expect(later).toMatchObject({ outcome: 'updated', entry: { id: old } })
    expect(await listed(services)).toHaveLength(2)
  })

  test('removes old history and audit records, and keeps those of the last twelve months', async () => {
    const db = await open()
    const { services } = await seed(db)
    await age(db, 'entryHistory', 800)
    await age(db, 'audit', 800)
    const count = async (table: 'entryHistory' | 'audit') => (await db.read.select().from(db.read.tables[table])).length
    const before = [await count('entryHistory'), await count('audit')]
    await services.organization.changeSettings({ retentionHistory: 12, retentionAudit: 12 }, TALLY)
    const applied = await services.personalData.retention.apply(TALLY)
    expect(applied.map(({ kind, rows }) => [kind, rows])).toEqual([
      ['history', before[0]! / 2],
      ['audit', before[1]! / 2],
    ])
    // The change of the settings and the run itself are recorded, too.
    expect([await count('entryHistory'), await count('audit')]).toEqual([before[0]! / 2, before[1]! / 2 + 2])
    const remove = () => db.write(async (tx) => void (await tx.delete(tx.tables.audit)))
    await expect(remove()).rejects.toThrow()
    for (const months of [0, 11, 121, 12.5]) {
      await expect(services.organization.changeSettings({ retentionAudit: months }, TALLY)).rejects.toMatchObject({
        code: 'validation_failed',
      })
    }
  })
})
