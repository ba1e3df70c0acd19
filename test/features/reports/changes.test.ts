import { expect, test } from 'bun:test'
import { TALLY } from '../../../src/access/actor.ts'
import type { Tx } from '../../../src/database/database.ts'
import { lastChanges } from '../../../src/features/reports/store/changes.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine } from '../../support/databases.ts'

forEachEngine('the last changes', (open, engine) => {
  async function stage() {
    const db = await open()
    const { audit } = createServices({ db, clock: { now: Date.now } })
    const record = (tx: Tx) => audit.record(tx, TALLY, { action: 'client.changed' })
    return { db, record, last: () => lastChanges(db.read) }
  }

  test('differ after each change', async () => {
    const { db, record, last } = await stage()
    const seen = [await last()]
    for (let at = 0; at < 3; at += 1) {
      await db.write(record)
      seen.push(await last())
    }
    expect(new Set(seen).size).toBe(4)
    expect(await last()).toBe(seen.at(-1)!)
  })

  // SQLite has one writer.
  test.if(engine === 'postgres')('differ also after one that commits after a later one', async () => {
    const { db, record, last } = await stage()
    const [recorded, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = db.write(async (tx) => {
      await record(tx)
      recorded.resolve()
      await gate.promise
    })
    await recorded.promise
    await db.write(record)
    const before = await last()
    gate.resolve()
    await slow
    expect(await last()).not.toBe(before)
  })
})
