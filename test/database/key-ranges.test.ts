import { expect, test } from 'bun:test'
import { keyRanges } from '../../src/database/key-ranges.ts'
import { forEachEngine } from '../support/databases.ts'

forEachEngine('key ranges', (open) => {
  test('have every row, and leave out keys that nothing has', async () => {
    const db = await open()
    const ids = [1, 2, 50_000, 50_001, 150_000, 2_026_120_000_000_001]
    const { names } = db.read.tables
    for await (const { range } of keyRanges(db.read, names, names.id)) expect(range).toBeUndefined()
    await db.write(async (tx) => {
      await tx.insertAll(
        names,
        ids.map((id) => ({ id, text: `name ${id}`, canonicalId: null })),
      )
    })
    const found: number[][] = []
    for await (const { range } of keyRanges(db.read, names, names.id)) {
      const rows = await db.read.select({ id: names.id }).from(names).where(range)
      found.push(rows.map(({ id }) => id).sort((a, b) => a - b))
    }
    expect(found).toEqual([[1, 2, 50_000], [50_001], [150_000], [2_026_120_000_000_001]])
  })
})
