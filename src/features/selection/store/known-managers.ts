/** Which people have entries, for filters that name them. */
import { and, eq, exists, inArray, or, sql } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { isId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'

/**
 * The ids and e-mail addresses of those of the people who have entries, whoever can see them. One query, so that
 * somebody without entries takes no longer than somebody who does not exist.
 */
export async function listKnownManagers(reader: Reader, values: readonly string[]): Promise<string[]> {
  const { entries, users } = reader.tables
  const ids = values.filter((value) => isId('usr', value))
  const emails = values.filter((value) => !isId('usr', value)).map(foldName)
  const ofUser = reader.select({ one: sql`1` }).from(entries).where(eq(entries.managerId, users.id))
  const rows = await reader
    .select({ uid: users.uid, email: users.email })
    .from(users)
    .where(and(or(inArray(users.uid, ids), inArray(users.email, emails)), exists(ofUser)))
  return rows.flatMap(({ uid, email }) => [uid, email])
}
