/** Entries that PostgreSQL finds by an index, however many there are. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Tx } from '../../../src/database/database.ts'
import { searchViews } from '../../../src/features/entries/listing/store/search.ts'
import { getViews } from '../../../src/features/entries/store.ts'
import { createServices } from '../../../src/services.ts'
import { canOverlap, locationOf, opener } from '../../support/databases.ts'
import { clientFor } from '../../support/postgres-server.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

describe.skipIf(!canOverlap('postgres'))('of thousands of entries in PostgreSQL', () => {
  const open = opener('postgres')

  /** A database with 5,001 entries, a minute after each other. */
  async function stage() {
    const db = await open()
    const { people, entries } = createServices({ db, clock: { now: () => Date.UTC(2026, 10, 20) } })
    const reporter = await addReporter(people, { name: 'Ada', role: 'member' })
    await entries.reporting.reportEntry(reportBody({ started_at: '2026-11-01T08:00:00Z' }) as never, reporter)
    const client = clientFor(locationOf(db).databaseUrl!)
    await client.unsafe(`
      CREATE TEMP TABLE copies AS SELECT entries.* FROM entries, generate_series(1, 5000);
      UPDATE copies SET id = nextval(pg_get_serial_sequence('entries', 'id')), uid = uuid_send(gen_random_uuid());
      UPDATE copies SET started_at = started_at + id * 60000, ended_at = ended_at + id * 60000;
      INSERT INTO entries SELECT * FROM copies ORDER BY id;
      ANALYZE`)
    await client.end()
    return db
  }

  /** Of rows that this transaction has read without an index. */
  async function scannedEntries(tx: Tx): Promise<number> {
    const scanned = sql`(SELECT seq_tup_read FROM pg_stat_xact_user_tables WHERE relname = 'entries')`
    const query = tx.select({ scanned: scanned.as('scanned') }).from(tx.tables.revision)
    const [row] = await tx.raw<{ scanned: number }>(query).execute()
    return row!.scanned
  }

  test('some are read by their keys', async () => {
    const db = await stage()
    const read = await db.write(async (tx) => {
      const views = await getViews(tx, [4000, 2, 3000])
      return { ids: views.map(({ entry }) => entry.id), scanned: await scannedEntries(tx) }
    })
    expect(read).toEqual({ ids: [4000, 2, 3000], scanned: 0 })
  })

  test('a search looks at some', async () => {
    const db = await stage()
    const read = await db.write(async (tx) => {
      const request = { filter: { q: 'nowhere' }, viewer: EVERYTHING, after: undefined, limit: 51 }
      const { searchedTo } = await searchViews(tx, request, { budgetMs: 0, statementMs: 30, rows: 1_000 })
      return { to: searchedTo!.id, scanned: await scannedEntries(tx) }
    })
    expect(read).toEqual({ to: 4002, scanned: 0 })
  })
})
