import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { getViews } from '../../../src/features/entries/store.ts'
import { createServices } from '../../../src/services.ts'
import { canOverlap, locationOf, opener } from '../../support/databases.ts'
import { clientFor } from '../../support/postgres-server.ts'
import { addReporter, reportBody } from '../../support/reports.ts'

describe.skipIf(!canOverlap('postgres'))('views of entries in PostgreSQL', () => {
  const open = opener('postgres')

  test('are read by their keys, however many entries there are', async () => {
    const db = await open()
    const { people, entries } = createServices({ db, clock: { now: () => Date.UTC(2026, 10, 20) } })
    const reporter = await addReporter(people, { name: 'Ada', role: 'member' })
    await entries.reporting.reportEntry(reportBody({ started_at: '2026-11-01T08:00:00Z' }) as never, reporter)
    const client = clientFor(locationOf(db).databaseUrl!)
    await client.unsafe(`
      CREATE TEMP TABLE copies AS SELECT entries.* FROM entries, generate_series(1, 5000);
      UPDATE copies SET id = nextval(pg_get_serial_sequence('entries', 'id')), uid = uuid_send(gen_random_uuid());
      INSERT INTO entries SELECT * FROM copies;
      ANALYZE`)
    await client.end()

    const read = await db.write(async (tx) => {
      const views = await getViews(tx, [4000, 2, 3000])
      const scans = sql`pg_stat_xact_user_tables WHERE relname = 'entries'`
      const [row] = await tx
        .raw<{ scanned: number }>(
          tx.select({ scanned: sql`(SELECT seq_tup_read FROM ${scans})`.as('scanned') }).from(tx.tables.revision),
        )
        .execute()
      return { ids: views.map(({ entry }) => entry.id), scanned: row!.scanned }
    })
    expect(read).toEqual({ ids: [4000, 2, 3000], scanned: 0 })
  })
})
