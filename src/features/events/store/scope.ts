/** Events of one client or one project. */
import { eq, inArray, or, type SQL, sql } from 'drizzle-orm'
import type { Database, Reader } from '../../../database/database.ts'

export interface EventScope {
  engine: Database['engine']
  /** One of them. */
  clientId: number | null
  projectId: number | null
}

/**
 * Events of entries and budgets in the projects of the scope, and those of these projects, their client and their bills.
 * `entries` is joined.
 */
export function isWithin(reader: Reader, { engine, clientId, projectId }: EventScope): SQL {
  const { events, entries, projects, clients, bills } = reader.tables
  const isInScope =
    clientId === null
      ? or(
          eq(projects.id, projectId!),
          // Where the work of a merged project went.
          sql`${projects.id} = (SELECT merged_into_id FROM projects AS merged WHERE merged.id = ${projectId})`,
        )
      : eq(projects.clientId, clientId)
  const scope = reader.select({ id: projects.id }).from(projects).where(isInScope)
  const publicId = (prefix: string, uid: SQL) =>
    engine === 'postgres'
      ? sql<string>`${prefix} || encode(${uid}, 'hex')`
      : sql<string>`${prefix} || lower(hex(${uid}))`
  const ofProjects = reader
    .select({ id: publicId('prj_', sql`${projects.uid}`) })
    .from(projects)
    .where(isInScope)
  const ofBills = reader
    .select({ id: publicId('bil_', sql`${bills.uid}`) })
    .from(bills)
    .where(or(inArray(bills.projectId, scope), clientId === null ? undefined : eq(bills.clientId, clientId)))
  const ofClient = reader
    .select({ id: publicId('cli_', sql`${clients.uid}`) })
    .from(clients)
    .where(eq(clients.id, clientId ?? 0))
  return or(
    inArray(sql`coalesce(${entries.projectId}, ${events.projectId})`, scope),
    inArray(events.objectId, ofProjects),
    inArray(events.objectId, ofBills),
    inArray(events.objectId, ofClient),
  )!
}
