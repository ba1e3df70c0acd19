/** What a database contains before anybody uses it. */
import { and, eq, isNull, not, sql } from 'drizzle-orm'
import type { Tx } from '../../../database/database.ts'

/** Whether the organization is set up, and how many changes somebody else than Tally itself has made. */
export async function countPeopleAndSettings(tx: Tx): Promise<{ isSetUp: boolean; changes: number }> {
  const { organization, audit } = tx.tables
  const [settings] = await tx.select({ setUpAt: organization.setUpAt }).from(organization)
  const byItself = and(isNull(audit.userId), eq(audit.origin, 'tally'))!
  const [changes] = await tx
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(audit)
    .where(not(byItself))
  return { isSetUp: settings!.setUpAt !== null, changes: changes!.count }
}

/** Removes the prices that Tally has loaded by itself, and the link to set it up. */
export async function removeDefaults(tx: Tx): Promise<void> {
  const { prices, priceAliases, priceLoads, oneTimeLinks } = tx.tables
  await tx.delete(priceAliases)
  await tx.delete(prices)
  await tx.delete(priceLoads)
  await tx.delete(oneTimeLinks)
}

/** On PostgreSQL, new sessions and entries get keys after those that were imported, and never below those that were drawn. */
export async function continueKeys(tx: Tx): Promise<void> {
  const { revision } = tx.tables
  for (const table of ['sessions', 'entries']) {
    const sequence = sql.raw(`pg_get_serial_sequence('${table}', 'id')::regclass`)
    const highest = sql.raw(`(SELECT coalesce(max(id), 1) FROM ${table})`)
    await tx
      .select({
        last: sql`setval(${sequence}, greatest(coalesce(pg_sequence_last_value(${sequence}), 1), ${highest}))`,
      })
      .from(revision)
  }
}
