/** What the database itself holds of sheets and their entries, against somebody who goes around the services. */
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database, Tx } from '../../../src/database/database.ts'
import type { Status } from '../../../src/database/schema/values.ts'
import { newId } from '../../../src/lib/id.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const actor = { userId: null, tokenId: null, origin: 'test' }
const anybody = { viewer: EVERYTHING, person: null, by: actor }

const body = reportBody({ model: 'gpt-5', tokens: { input: 1000, output: 10 } })

async function stage(db: Database) {
  const { people, entries, sheets } = createServices({ db, clock: { now: () => NOW } })
  const caller = await addReporter(people, { name: 'Mia', role: 'member' })
  const sheet = await sheets.openSheet({ person: 'mia@example.com', month: '2026-11' }, anybody)
  const row = async (uid: string) => {
    const { entries: rows } = db.read.tables
    return (
      await db.read
        .select()
        .from(rows)
        .where(eq(rows.uid, uid as never))
    )[0]!
  }
  return {
    entries,
    sheets,
    userId: caller.person.id,
    sheet,
    row,
    reported: (await entries.reporting.reportEntry(body, caller)).entry,
    draft: await sheets.addEntry(sheet.id, body, anybody),
    /** Whether the database takes the statement. */
    async takes(statement: (tx: Tx) => Promise<unknown>): Promise<boolean> {
      try {
        await db.write(async (tx) => void (await statement(tx)))
        return true
      } catch (error) {
        const refusal = String((error as Error).cause ?? error)
        expect(refusal).toMatch(/constraint|an entry is as far as its sheet is|only drafts|kept as they are/i)
        return false
      }
    },
  }
}

forEachEngine('the database', (open) => {
  test('puts no reported entry on a sheet, and takes none made by hand off it', async () => {
    const db = await open()
    const { takes, row, reported, draft } = await stage(db)
    const { sheetId } = await row(draft.id)
    const set = (id: string, change: object) => (tx: Tx) =>
      tx
        .update(tx.tables.entries)
        .set(change)
        .where(eq(tx.tables.entries.uid, id as never))
    expect(await takes(set(reported.id, { sheetId }))).toBe(false)
    expect(await takes(set(reported.id, { sheetId, source: 'sheet' }))).toBe(false)
    expect(await takes(set(reported.id, { sheetId, source: 'sheet', status: 'draft' }))).toBe(false)
    expect(await takes(set(reported.id, { source: 'sheet' }))).toBe(false)
    expect(await takes(set(draft.id, { sheetId: null }))).toBe(false)
    expect(await takes(set(draft.id, { sheetId: null, source: 'report', status: 'submitted' }))).toBe(false)
    expect(await takes(set(draft.id, { source: 'report' }))).toBe(false)
    // The same statement does what is allowed.
    expect(await takes(set(draft.id, { summary: 'changed' }))).toBe(true)
  })

  test('knows no submitted or rejected entry on a sheet, and no draft or pending one beside', async () => {
    const { takes, row, userId, reported, draft } = await stage(await open())
    const like = await row(draft.id)
    const { id: _id, ...reportedRow } = await row(reported.id)
    const insert = (status: Status, sheetId: number | null) => (tx: Tx) =>
      tx.insert(tx.tables.entries).values({
        ...reportedRow,
        uid: newId('ent'),
        managerId: userId,
        source: sheetId === null ? 'report' : 'sheet',
        status,
        sheetId,
      })
    for (const status of ['submitted', 'rejected'] as const)
      expect(await takes(insert(status, like.sheetId))).toBe(false)
    for (const status of ['draft', 'pending'] as const) expect(await takes(insert(status, null))).toBe(false)
    expect(await takes(insert('draft', like.sheetId))).toBe(true)
    expect(await takes(insert('submitted', null))).toBe(true)
  })

  test('lets an entry be only as far as its sheet is', async () => {
    const { takes, row, sheets, sheet, draft } = await stage(await open())
    const { id, ...like } = await row(draft.id)
    const status = (to: Status) => (tx: Tx) =>
      tx.update(tx.tables.entries).set({ status: to }).where(eq(tx.tables.entries.id, id))
    const taken = async () => {
      const all: Status[] = []
      for (const to of ['draft', 'pending', 'approved'] as const) if (await takes(status(to))) all.push(to)
      return all
    }
    expect(await taken()).toEqual(['draft'])
    await sheets.submitSheet(sheet.id, anybody, { confirmOverlaps: true })
    expect(await taken()).toEqual(['pending'])
    // Nor does a submitted sheet take another draft.
    const another = { ...like, uid: newId('ent'), status: 'draft' as const }
    expect(await takes((tx) => tx.insert(tx.tables.entries).values(another))).toBe(false)
    await sheets.approveSheet(sheet.id, anybody)
    expect(await taken()).toEqual(['approved'])
    await sheets.withdrawApproval(sheet.id, anybody)
    await sheets.returnSheet(sheet.id, 'once more', anybody)
    expect(await taken()).toEqual(['draft'])
  })

  test('removes drafts alone, and of nothing else the history', async () => {
    const { takes, row, sheets, entries, sheet, reported, draft } = await stage(await open())
    const remove = (uid: string) => (tx: Tx) =>
      tx.delete(tx.tables.entries).where(eq(tx.tables.entries.uid, uid as never))
    await entries.approval.decideEntry(reported.id, { action: 'reject', reason: 'a test' }, anybody)
    const { id } = await row(reported.id)
    expect(await takes((tx) => tx.delete(tx.tables.entryHistory).where(eq(tx.tables.entryHistory.entryId, id)))).toBe(
      false,
    )
    expect(await takes(remove(reported.id))).toBe(false)
    await sheets.submitSheet(sheet.id, anybody, { confirmOverlaps: true })
    expect(await takes(remove(draft.id))).toBe(false)
    await sheets.returnSheet(sheet.id, 'once more', anybody)
    // It has a history by now, which goes with it.
    await sheets.removeEntry(sheet.id, draft.id, anybody)
    expect(await entries.listing.getEntry(draft.id, EVERYTHING).catch(({ code }) => code)).toBe('not_found')
  })

  test('never leaves a draft on a sheet that is submitted while entries are added', async () => {
    const { sheets, entries, sheet } = await stage(await open())
    const adding = Array.from({ length: 6 }, () => sheets.addEntry(sheet.id, body, anybody))
    const submitting = sheets.submitSheet(sheet.id, anybody, { confirmOverlaps: true })
    const more = Array.from({ length: 6 }, () => sheets.addEntry(sheet.id, body, anybody))
    const ended = await Promise.allSettled([...adding, ...more])
    await submitting
    const added = ended.filter(({ status }) => status === 'fulfilled').length
    for (const one of ended) if (one.status === 'rejected') expect(one.reason.code).toBe('wrong_status')
    const { data } = await entries.listing.listEntries(EVERYTHING, {
      filter: { sheet: [sheet.id] },
      limit: 100,
      after: undefined,
    })
    expect(data.map(({ status }) => status)).toEqual(Array(1 + added).fill('pending'))
  })

  test('has a sheet hold the entries of its own person only', async () => {
    const db = await open()
    const { takes, row, draft } = await stage(db)
    const services = createServices({ db, clock: { now: () => NOW } })
    const other = await services.people.addUser({ email: 'bob@example.com', name: 'Bob', role: 'member' }, actor)
    const { id } = await row(draft.id)
    expect(
      await takes((tx) =>
        tx.update(tx.tables.entries).set({ managerId: other.id }).where(eq(tx.tables.entries.id, id)),
      ),
    ).toBe(false)
  })
})
