/** What a report asks of work: projects by name, tickets by key, and both made on first mention. */
import { eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { type Id, newId } from '../../../lib/id.ts'

export interface ProjectRow {
  id: number
  uid: Id<'prj'>
  key: string
  name: string
  /** Entries still land on an archived project: nothing that is reported may be lost. */
  archivedAt: number | null
  /** Null in what is looked up here, which follows a merged project to the one it was merged into. */
  mergedIntoId: number | null
}

export interface TicketRow {
  id: number
  uid: Id<'tkt'>
  key: string
  projectId: number | null
}

function projectColumns({ tables: { projects } }: Reader) {
  return {
    id: projects.id,
    uid: projects.uid,
    key: projects.key,
    name: projects.name,
    archivedAt: projects.archivedAt,
    mergedIntoId: projects.mergedIntoId,
  }
}

function ticketColumns({ tables: { tickets } }: Reader) {
  return { id: tickets.id, uid: tickets.uid, key: tickets.key, projectId: tickets.projectId }
}

/** The project that goes by this folded key, name or alias; undefined where none does. */
export async function findProjectByName(reader: Reader, folded: string): Promise<ProjectRow | undefined> {
  const [row] = await reader
    .prepared('projects.by-name', (prepare) => {
      const { projects, projectNames } = prepare.tables
      const named = prepare
        .select({ id: projectNames.projectId })
        .from(projectNames)
        .where(eq(projectNames.folded, sql.placeholder('folded')))
      // Not a join: SQLite prepared that anew at every execution, at ten times the cost.
      return prepare.select(projectColumns(prepare)).from(projects).where(eq(projects.id, named))
    })
    .execute({ folded })
  return row && followed(reader, row)
}

/**
 * Where a project's entries belong now. A merge leads all names away in its first transaction, but tickets and rules
 * may point to the old project for good.
 */
async function followed(reader: Reader, row: ProjectRow): Promise<ProjectRow> {
  return row.mergedIntoId === null ? row : getProject(reader, row.mergedIntoId)
}

/** The project with this key, or the one into which it was merged. */
export async function getProject(reader: Reader, id: number): Promise<ProjectRow> {
  const [row] = await reader
    .prepared('projects.by-id', (prepare) =>
      prepare
        .select(projectColumns(prepare))
        .from(prepare.tables.projects)
        .where(eq(prepare.tables.projects.id, sql.placeholder('id'))),
    )
    .execute({ id })
  return followed(reader, row!)
}

/**
 * The project of an entry that goes on where another one was placed, perhaps long ago: its ticket may have moved since,
 * and its project been merged.
 */
export async function findStandingProject(
  reader: Reader,
  { projectId, ticketId }: { projectId: number | null; ticketId: number | null },
): Promise<number | null> {
  const { tickets } = reader.tables
  const [ticket] =
    ticketId === null
      ? []
      : await reader.select({ projectId: tickets.projectId }).from(tickets).where(eq(tickets.id, ticketId))
  const standing = ticket ? ticket.projectId : projectId
  return standing === null ? null : (await getProject(reader, standing)).id
}

/** Adds a project that goes by `name`. Answers the one that another transaction added meanwhile, where there is one. */
export async function insertProject(
  tx: Tx,
  { key, name, folded, now }: { key: string; name: string; folded: string; now: number },
): Promise<ProjectRow> {
  const { projects, projectNames } = tx.tables
  const [project] = await tx
    .insert(projects)
    .values({ uid: newId('prj'), key, name, createdAt: now })
    .returning(projectColumns(tx))
  const taken = await tx
    .insert(projectNames)
    .values({ folded, projectId: project!.id, text: key, kind: 'key' })
    .onConflictDoNothing()
    .returning({ projectId: projectNames.projectId })
  if (taken.length > 0) return project!
  await tx.delete(projects).where(eq(projects.id, project!.id))
  return (await findProjectByName(tx, folded))!
}

export async function findTicketByKey(reader: Reader, folded: string): Promise<TicketRow | undefined> {
  const [row] = await reader
    .prepared('tickets.by-key', (prepare) =>
      prepare
        .select(ticketColumns(prepare))
        .from(prepare.tables.tickets)
        .where(eq(prepare.tables.tickets.keyFolded, sql.placeholder('folded'))),
    )
    .execute({ folded })
  return row
}

/** Adds a ticket. Answers the one that another transaction added meanwhile, where there is one. */
export async function insertTicket(
  tx: Tx,
  { key, folded, projectId, now }: { key: string; folded: string; projectId: number | null; now: number },
): Promise<TicketRow> {
  const [added] = await tx
    .insert(tx.tables.tickets)
    .values({ uid: newId('tkt'), key, keyFolded: folded, projectId, createdAt: now })
    .onConflictDoNothing()
    .returning(ticketColumns(tx))
  return added ?? (await findTicketByKey(tx, folded))!
}

export async function updateTicketProject(tx: Tx, ticketId: number, projectId: number): Promise<void> {
  const { tickets } = tx.tables
  await tx.update(tickets).set({ projectId }).where(eq(tickets.id, ticketId))
}
