/** Which hours the triggers on entries mark for the roll-up, when entries change in sets. */
import { expect, test } from 'bun:test'
import { asc, inArray } from 'drizzle-orm'
import type { Database, Tx } from '../../src/database/database.ts'
import { newId } from '../../src/lib/id.ts'
import { forEachEngine } from '../support/databases.ts'

const HOUR = 3_600_000

/** Adds an entry per time, and returns their ids. */
async function addEntries(tx: Tx, times: readonly number[]): Promise<number[]> {
  const { users, sheets, names, entries } = tx.tables
  const uid = newId('usr')
  const [user] = await tx
    .insert(users)
    .values({ uid, email: `${uid}@example.com`, name: 'Ada', role: 'admin', createdAt: 0 })
    .returning()
  const managerId = user!.id
  const days = { firstDay: '1970-01-01', lastDay: '1970-01-02', startingAt: 0, endingAt: 48 * HOUR }
  const [sheet] = await tx
    .insert(sheets)
    .values({ uid: newId('sht'), managerId, ...days, status: 'open', createdAt: 0 })
    .returning()
  const [name] = await tx.insert(names).values({ text: uid }).returning()
  const ids = await tx.reserveIds(entries, times.length)
  await tx.insertAll(
    entries,
    times.map((startedAt, position) => ({
      id: ids[position]!,
      uid: newId('ent'),
      managerId,
      sheetId: sheet!.id,
      source: 'sheet',
      // Nothing but a draft can be deleted.
      status: 'draft',
      harnessId: name!.id,
      agentId: name!.id,
      modelId: name!.id,
      startedAt,
      endedAt: startedAt + 1,
      input: 1,
      output: 1,
      cacheRead: 0,
      cacheWrite: 0,
      cacheWrite1h: 0,
      createdAt: startedAt,
    })),
  )
  return ids
}

/** The hours that a change marks. */
async function marked(db: Database, change: (tx: Tx) => Promise<unknown> | unknown): Promise<number[]> {
  const { staleHours } = db.read.tables
  await db.write((tx) => tx.delete(staleHours))
  await db.write(async (tx) => {
    await change(tx)
  })
  const rows = await db.read.selectDistinct({ hour: staleHours.hour }).from(staleHours).orderBy(asc(staleHours.hour))
  return rows.map(({ hour }) => hour)
}

forEachEngine('the marks of changed hours', (open, engine) => {
  test('are those of the inserted, changed and deleted entries', async () => {
    const db = await open()
    const { entries } = db.read.tables
    let ids: number[] = []
    const inserting = await marked(db, async (tx) => {
      ids = await addEntries(tx, [HOUR, HOUR + 1, 3 * HOUR, 5 * HOUR])
    })
    expect(inserting).toEqual([1, 3, 5])
    const [first, , third, fourth] = ids as [number, number, number, number]
    const ofSums = await marked(db, (tx) =>
      tx.updateAll(entries, [
        { id: first, input: 2 },
        { id: third, input: 2 },
      ]),
    )
    expect(ofSums).toEqual([1, 3])
    const ofNull = await marked(db, (tx) => tx.updateAll(entries, [{ id: first, reportedCost: 5n }]))
    expect(ofNull).toEqual([1])
    expect(await marked(db, (tx) => tx.updateAll(entries, [{ id: third, activeMs: 5 }]))).toEqual([3])
    const moving = await marked(db, (tx) =>
      tx.updateAll(entries, [{ id: fourth, startedAt: 4 * HOUR, endedAt: 6 * HOUR }]),
    )
    expect(moving).toEqual([4, 5])
    expect(await marked(db, (tx) => tx.updateAll(entries, [{ id: first, summary: 'Review' }]))).toEqual([])
    expect(await marked(db, (tx) => tx.delete(entries).where(inArray(entries.id, [third, fourth])))).toEqual([3, 4])
  })

  test.skipIf(engine === 'sqlite')('are not made by statements that write what is there, or no row', async () => {
    const db = await open()
    const { entries } = db.read.tables
    const ids = await db.write((tx) => addEntries(tx, [HOUR, 3 * HOUR]))
    const rows = ids.map((id, position) => ({ id, input: position + 1, listValue: null }))
    expect(await marked(db, (tx) => tx.updateAll(entries, rows))).toEqual([3])
    expect(await marked(db, (tx) => tx.updateAll(entries, [{ id: -1, input: 9 }]))).toEqual([])
  })
})
