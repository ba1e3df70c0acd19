/** The people with the role viewer to whom a project was granted, by itself or with its client. */
import { asc, eq, inArray, or } from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import type { Responsible } from './responsible.ts'

/** By name. */
export async function listViewers(
  reader: Reader,
  { id, clientId }: { id: number; clientId: number | null },
): Promise<Responsible[]> {
  const { users, viewerGrants } = reader.tables
  const granted = reader
    .select({ id: viewerGrants.userId })
    .from(viewerGrants)
    .where(or(eq(viewerGrants.projectId, id), clientId === null ? undefined : eq(viewerGrants.clientId, clientId)))
  return reader
    .select({ id: users.id, uid: users.uid, name: users.name })
    .from(users)
    .where(inArray(users.id, granted))
    .orderBy(asc(users.name), asc(users.id))
}
