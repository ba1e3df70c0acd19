/** Lookups for reports: projects by name and tickets by key, and their creation on first mention. */
import { and, eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { type Id, newId } from '../../../lib/id.ts'

export interface ProjectRow {
  id: number
  uid: Id<'prj'>
  key: string
  name: string
  /** Entries may still be placed on an archived project: reported usage must not get lost. */
  archivedAt: number | null
  /** Always null here, since lookups follow a merged project to the one it was merged into. */
  mergedIntoId: number | null
}

export interface TicketRow {
  id: number
  uid: Id<'tkt'>
  key: string
  /** The project that was decided for the ticket, for everyone; null if none was. */
  projectId: number | null
  /** Whether it was only named in reports, and not confirmed by a person who manages tickets. */
  reported: boolean
}

/** A ticket with one person's assumption: until its project is decided, each person's own reports assume one. */
export interface AssumedTicketRow extends TicketRow {
  /** Null if this person's reports found no project for it, undefined if they never named it. */
  assumedProjectId: number | null | undefined
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
  return {
    id: tickets.id,
    uid: tickets.uid,
    key: tickets.key,
    projectId: tickets.projectId,
    reported: tickets.reported,
  }
}

/** The project with this folded key, name or alias; undefined if there is none. */
export async function findProjectByName(reader: Reader, folded: string): Promise<ProjectRow | undefined> {
  const [row] = await reader
    .prepared('projects.by-name', (prepare) => {
      const { projects, projectNames } = prepare.tables
      const named = prepare
        .select({ id: projectNames.projectId })
        .from(projectNames)
        .where(eq(projectNames.folded, sql.placeholder('folded')))
      // Not a join: SQLite would prepare it again at every execution, at ten times the cost.
      return prepare.select(projectColumns(prepare)).from(projects).where(eq(projects.id, named))
    })
    .execute({ folded })
  return row && followed(reader, row)
}

/**
 * The current project of a project's entries. A merge redirects all names in its first transaction, but tickets and
 * rules may refer to the old project permanently.
 */
async function followed(reader: Reader, row: ProjectRow): Promise<ProjectRow> {
  return row.mergedIntoId === null ? row : getProject(reader, row.mergedIntoId)
}

/** The project with this key, or the one it was merged into. */
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
 * The current project of an entry that may have been placed long ago, to continue it: since then a project may have
 * been decided for its ticket, and its project may have been merged.
 */
export async function findCurrentProject(
  reader: Reader,
  { projectId, ticketId }: { projectId: number | null; ticketId: number | null },
): Promise<number | null> {
  const { tickets } = reader.tables
  const [ticket] =
    ticketId === null
      ? []
      : await reader.select({ projectId: tickets.projectId }).from(tickets).where(eq(tickets.id, ticketId))
  const standing = ticket?.projectId ?? projectId
  return standing === null ? null : (await getProject(reader, standing)).id
}

/** Adds a project named `name`. Returns the one that another transaction has added meanwhile, if there is one. */
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

/** The ticket, with a person's assumption if one is given. */
export async function findTicketByKey(
  reader: Reader,
  folded: string,
  userId: number | null,
): Promise<AssumedTicketRow | undefined> {
  const [row] = await reader
    .prepared('tickets.by-key', (prepare) => {
      const { tickets, ticketAssumptions } = prepare.tables
      // A subquery instead of a join, for the same reason as above.
      const assumed = prepare
        .select({ projectId: sql`coalesce(${ticketAssumptions.projectId}, ${NO_PROJECT})` })
        .from(ticketAssumptions)
        .where(and(eq(ticketAssumptions.ticketId, tickets.id), eq(ticketAssumptions.userId, sql.placeholder('userId'))))
      return prepare
        .select({
          ...ticketColumns(prepare),
          assumedProjectId: sql<AssumedTicketRow['assumedProjectId']>`coalesce((${assumed}), ${NEVER_NAMED})`.mapWith(
            readAssumed,
          ),
        })
        .from(tickets)
        .where(eq(tickets.keyFolded, sql.placeholder('folded')))
    })
    .execute({ folded, userId: userId ?? NOBODY })
  return row
}

/** No person and no project has the key 0. */
const NOBODY = 0
const NO_PROJECT = 0
/** Not NULL, which drizzle would not map. */
const NEVER_NAMED = -1

function readAssumed(value: unknown): AssumedTicketRow['assumedProjectId'] {
  const id = Number(value)
  if (id === NEVER_NAMED) return undefined
  return id === NO_PROJECT ? null : id
}

/** Adds a ticket. Returns the one that another transaction has added meanwhile, if there is one. */
export async function insertTicket(
  tx: Tx,
  ticket: { key: string; folded: string; projectId: number | null; reported: boolean; now: number },
): Promise<TicketRow> {
  const { key, folded, projectId, reported, now } = ticket
  const [added] = await tx
    .insert(tx.tables.tickets)
    .values({ uid: newId('tkt'), key, keyFolded: folded, projectId, reported, createdAt: now })
    .onConflictDoNothing()
    .returning(ticketColumns(tx))
  return added ?? (await findTicketByKey(tx, folded, null))!
}

/** The project that a person's reports assume for a ticket; null if they found none. */
export interface Assumption {
  ticketId: number
  userId: number
  projectId: number | null
}

/** Saves the assumption of a person's first report. */
export async function insertAssumption(tx: Tx, assumption: Assumption): Promise<void> {
  await tx
    .prepared('ticket-assumptions.insert', (prepare) => {
      const { ticketAssumptions: table } = prepare.tables
      return prepare
        .insert(table)
        .values({
          ticketId: sql.placeholder('ticketId'),
          userId: sql.placeholder('userId'),
          projectId: sql.placeholder('projectId'),
        } as never)
        .onConflictDoNothing()
        .returning({ ticketId: table.ticketId })
    })
    .execute({ ...assumption })
}

export async function updateAssumption(tx: Tx, { ticketId, userId, projectId }: Assumption): Promise<void> {
  const { ticketAssumptions: table } = tx.tables
  await tx
    .update(table)
    .set({ projectId })
    .where(and(eq(table.ticketId, ticketId), eq(table.userId, userId)))
}
