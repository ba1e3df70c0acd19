/** Partitions the entries of a database in PostgreSQL. */
import { refusePooler } from './engines/postgres/link.ts'
import { type Partitioned, partitionEntries } from './engines/postgres/partitions.ts'
import { onOneConnection } from './engines/postgres/postgres.ts'
import { MARK_QUERY, type OpeningMark, refuseMoved } from './move/state.ts'
import { migratePostgres } from './schema/migrate.ts'

/**
 * Migrates the database and partitions its entries; undefined if they are already. Throws as `openPostgres`, and
 * `WrongDatabase` through a pooler.
 */
export async function partitionDatabase(url: string, now: number): Promise<Partitioned | undefined> {
  refusePooler(url, 'to partition the entries')
  let partitioned: Partitioned | undefined
  await onOneConnection(url, async (client, where) => {
    await migratePostgres(client, where, now)
    const [mark] = await client.unsafe<OpeningMark[]>(MARK_QUERY)
    refuseMoved(mark, where)
    partitioned = await partitionEntries(client, where, now)
  })
  return partitioned
}
