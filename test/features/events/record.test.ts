/** What the log keeps of a change, on both engines. */
import { expect, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import type { Database } from '../../../src/database/database.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const clock = { now: () => NOW }

const recorded = (db: Database) => db.read.select().from(db.read.tables.events).orderBy(asc(db.read.tables.events.id))

forEachEngine('the event log', (open) => {
  test('keeps events in the order in which they were recorded, with ids that ascend', async () => {
    const db = await open()
    const { events } = createServices({ db, clock })
    await db.write((tx) =>
      events.record(tx, [
        { type: 'entry.created', entryId: 7, managerId: 1, by: { userId: 1, tokenId: 2 } },
        { type: 'backup.failed', at: NOW - 5, object: { id: 'backup', name: 'daily' }, after: { error: 'disk full' } },
      ]),
    )
    await db.write((tx) => events.record(tx, []))
    const [first, second, ...others] = await recorded(db)
    expect(others).toEqual([])
    expect(first).toMatchObject({ type: 'entry.created', at: NOW, entryId: 7, objectId: null, userId: 1, tokenId: 2 })
    expect(first!.details).toBeNull()
    expect(second).toMatchObject({ at: NOW - 5, objectId: 'backup', objectName: 'daily', userId: null })
    expect(second!.details).toEqual({ after: { error: 'disk full' } })
    expect(second!.id).toBeGreaterThan(first!.id)
  })

  test('has what the audit log has, in the same transaction', async () => {
    const db = await open()
    const { audit } = createServices({ db, clock })
    const change = {
      action: 'project.changed' as const,
      object: { id: 'prj_1', name: 'web' },
      before: { name: 'Web' },
      after: { name: 'Site' },
    }
    await db.write((tx) => audit.record(tx, TALLY, change))
    const lost = db.write(async (tx) => {
      await audit.record(tx, TALLY, change)
      throw new Error('lost')
    })
    expect(await lost.catch((error) => error.message)).toBe('lost')
    expect(await recorded(db)).toMatchObject([
      {
        type: 'project.changed',
        at: NOW,
        objectId: 'prj_1',
        objectName: 'web',
        details: { before: { name: 'Web' }, after: { name: 'Site' } },
      },
    ])
  })

  test('has the bills under their own names, and no change of entries twice', async () => {
    const db = await open()
    const { audit } = createServices({ db, clock })
    const actions = [
      'bill.sent',
      'credit_note.sent',
      'credit_note.voided',
      'bill.payment_reversed',
      'credit_note.payment_recorded',
      'entry.approved',
      'entries.approved',
      'entries.imported',
      'session.begun',
      'user.exported',
      'project.merge_continued',
    ] as const
    await db.write(async (tx) => {
      for (const action of actions) await audit.record(tx, TALLY, { action })
    })
    expect((await recorded(db)).map(({ type }) => type)).toEqual([
      'bill.sent',
      'bill.credited',
      'bill.voided',
      'bill.unpaid',
      'bill.payment_recorded',
      'entries.imported',
    ])
  })
})
