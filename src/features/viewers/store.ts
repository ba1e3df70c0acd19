/** The projects that grants reach. */
import { asc, eq, inArray, or } from 'drizzle-orm'
import type { Reader } from '../../database/database.ts'
import type { Id } from '../../lib/id.ts'

export interface ReachedProject {
  id: number
  uid: Id<'prj'>
  key: string
  name: string
  client: { id: number; uid: Id<'cli'>; name: string } | null
}

/** These projects and all of these clients at the moment, by name. */
export async function listReachedProjects(
  reader: Reader,
  { clientIds, projectIds }: { clientIds: readonly number[]; projectIds: readonly number[] },
): Promise<ReachedProject[]> {
  const { projects, clients } = reader.tables
  return reader
    .select({
      id: projects.id,
      uid: projects.uid,
      key: projects.key,
      name: projects.name,
      client: { id: clients.id, uid: clients.uid, name: clients.name },
    })
    .from(projects)
    .leftJoin(clients, eq(clients.id, projects.clientId))
    .where(or(inArray(projects.clientId, [...clientIds]), inArray(projects.id, [...projectIds])))
    .orderBy(asc(projects.name), asc(projects.id))
}
