import { expect, test } from 'bun:test'
import { Cached } from '../../src/database/cached.ts'
import { forEachEngine } from '../support/databases.ts'

forEachEngine('Cached, asked by many at once', (open) => {
  test('loads once for all of them, and again after a failure', async () => {
    const db = await open()
    let loads = 0
    const cached = new Cached(async (reader) => {
      loads += 1
      const first = loads === 1
      // Long enough for all of them to ask, on PostgreSQL too, where the revision is a question of its own.
      await Bun.sleep(50)
      const [row] = await reader.select().from(reader.tables.organization)
      if (first) throw new Error('the first one fails')
      return row!.name
    })
    const ask = () => Promise.allSettled(Array.from({ length: 50 }, async () => cached.get(db.read)))
    expect(new Set((await ask()).map(({ status }) => status))).toEqual(new Set(['rejected']))
    expect(loads).toBe(1)
    expect(new Set((await ask()).map((answer) => (answer as { value?: string }).value))).toEqual(new Set(['Tally']))
    expect(loads).toBe(2)
  })
})
