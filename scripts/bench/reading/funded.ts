/** Plans for the entries of a seeded database, before a server runs on it. */
import { Database as Connection } from 'bun:sqlite'
import type { Subject } from './subject.ts'

/** Of four entries one is metered, two are paid by a plan, each with a share of its fee, and of one nothing is known. */
export function fundEntries({ database }: Subject): void {
  const connection = new Connection((database as unknown as { file: string }).file)
  try {
    connection.run('PRAGMA foreign_keys = OFF')
    connection.run('BEGIN IMMEDIATE')
    connection.run(
      `INSERT INTO plans (id, uid, name, vendor, product, holder, vendor_codes, created_at)
       VALUES (1, randomblob(16), 'Max', 'V', 'P', 'organization', '[]', 0)`,
    )
    connection.run(
      `INSERT INTO fundings (id, uid, funding, plan_id, reason)
       VALUES (1, randomblob(16), 'metered', NULL, 'rule'), (2, randomblob(16), 'plan', 1, 'person')`,
    )
    connection.run('UPDATE entries SET funding_id = CASE id % 4 WHEN 0 THEN NULL WHEN 1 THEN 1 ELSE 2 END')
    const hasShares = connection.query("SELECT 1 FROM sqlite_schema WHERE name = 'plan_shares'").get() !== null
    if (hasShares) {
      connection.run("INSERT INTO plan_generations (id, plan_id, first_day, created_at) VALUES (1, 1, '2020-01-01', 0)")
      connection.run(
        `INSERT INTO plan_periods
           (plan_id, first_day, generation_id, fee, unused, unused_seats, pending, entries, unpriced_entries, late_entries)
         VALUES (1, '2020-01-01', 1, 0, 0, 0, 0, 1, 0, 0)`,
      )
      connection.run(
        `INSERT INTO plan_shares (entry_id, generation_id, fee, charge)
         SELECT id, 1, abs(random() % 1000000000), CASE id % 8 WHEN 2 THEN abs(random() % 100000000) ELSE 0 END
         FROM entries WHERE funding_id = 2`,
      )
    }
    connection.run('COMMIT')
    connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
  } finally {
    connection.close()
  }
}
