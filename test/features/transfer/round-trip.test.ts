/** An export that is imported into the other engine, and exported from there, is the same. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { KINDS } from '../../../src/features/transfer/kinds.ts'
import { newLocation, opener, startPostgres } from '../../support/databases.ts'
import { contentOf, copyEverything, differencesIn, exportOf, importInto, linesOf } from '../../support/transfer.ts'

describe('everything', () => {
  beforeAll(async () => void (await startPostgres()), { timeout: 300_000 })
  const [openSqlite, openPostgres] = [opener('sqlite'), opener('postgres')]
  const cleanUps: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const step of cleanUps) await step()
  })

  test('comes back from PostgreSQL as it was on SQLite, and each database is consistent', async () => {
    const location = await newLocation('sqlite', cleanUps)
    await copyEverything(location.dataDir!)
    const db = await openSqlite({ at: location })
    expect(await differencesIn(db)).toEqual([])
    const text = await exportOf(db)
    const types = new Set(linesOf(text).map(({ type }) => type))
    expect(KINDS.map(({ type }) => type).filter((type) => !types.has(type))).toEqual([])

    const postgres = await openPostgres()
    const imported = await importInto(postgres, text)
    expect(imported.counts).toEqual(linesOf(text).at(-1)!.counts as never)
    expect(imported.tokens.length).toBeGreaterThan(10)
    expect(await differencesIn(postgres)).toEqual([])
    const there = await exportOf(postgres)
    expect(differing(contentOf(there), contentOf(text))).toEqual([])

    const sqlite = await openSqlite()
    await importInto(sqlite, there)
    expect(await differencesIn(sqlite)).toEqual([])
    expect(differing(contentOf(await exportOf(sqlite)), contentOf(text))).toEqual([])
  }, 300_000)
})

/** The first lines that differ. */
function differing(lines: string[], others: string[]): unknown[] {
  const found: unknown[] = lines.length === others.length ? [] : [`${lines.length} and ${others.length} lines`]
  for (const [at, line] of lines.entries()) {
    if (line !== others[at] && found.length < 3) found.push([line, others[at]])
  }
  return found
}
