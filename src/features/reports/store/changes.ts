/** The log of changes by people, as a clock. */
import { desc, max, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'

/** A transaction that takes a while commits after so many others at most. */
const LATEST = 100

/**
 * A text that changes with the audit log. It is of several changes, because on PostgreSQL one may appear before another
 * that has a larger number.
 */
export async function lastChanges(reader: Reader): Promise<string> {
  const latest = reader.prepared('audit.latest', (prepare) => {
    const { audit } = prepare.tables
    const some = prepare.select({ id: audit.id }).from(audit).orderBy(desc(audit.id)).limit(LATEST).as('latest')
    return prepare.select({ last: max(some.id), sum: sql<number | null>`sum(${some.id})`.mapWith(Number) }).from(some)
  })
  const [row] = await latest.execute()
  return `${row!.last} ${row!.sum}`
}
