/** The log of changes by people, as a clock. */
import { max } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'

/** The number of the last change in the audit log; 0 if there is none. */
export async function lastChange(reader: Reader): Promise<number> {
  const { audit } = reader.tables
  const [row] = await reader.select({ id: max(audit.id) }).from(audit)
  return row?.id ?? 0
}
