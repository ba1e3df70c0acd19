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

/** On PostgreSQL, new entries get keys after those that were imported. */
export async function continueKeys(tx: Tx): Promise<void> {
  const { revision } = tx.tables
  await tx
    .select({
      last: sql`setval(pg_get_serial_sequence('entries', 'id'), greatest(1, (SELECT coalesce(max(id), 1) FROM entries)))`,
    })
    .from(revision)
}
