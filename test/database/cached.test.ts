import { expect, test } from 'bun:test'
import { Cached } from '../../src/database/cached.ts'
import type { Reader } from '../../src/database/database.ts'
import { forEachEngine } from '../support/databases.ts'

forEachEngine('Cached, asked by many at once', (open) => {
  test('loads once for all of them, and again after a failure', async () => {
    const db = await open()
    let [loads, asked] = [0, 0]
    // On PostgreSQL, each of them first waits for the revision.
    const reader = Object.assign(Object.create(db.read) as Reader, {
      async revision() {
        const revision = await db.read.revision()
        asked += 1
        return revision
      },
    })
    const cached = new Cached(async ({ select, tables }) => {
      loads += 1
      const first = loads === 1
      while (asked % 50 !== 0) await Bun.sleep(1)
      const [row] = await select().from(tables.organization)
      if (first) throw new Error('the first one fails')
      return row!.name
    })
    const ask = () => Promise.allSettled(Array.from({ length: 50 }, async () => cached.get(reader)))
    expect(new Set((await ask()).map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(loads).toBe(1)
    expect(new Set((await ask()).map((answer) => (answer as { value?: string }).value))).toEqual(new Set(['Tally']))
    expect(loads).toBe(2)
  })
})
