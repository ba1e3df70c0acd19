/** What a report asks of work: projects by name, tickets by key, and both made on first mention. */
import { and, eq, sql } from 'drizzle-orm'
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
  /** The project that somebody who manages tickets decided on, which binds everybody; null where nobody has. */
  projectId: number | null
  /** Reports named it, and nobody who manages tickets has confirmed it. */
  reported: boolean
}

/** A ticket as it is to one person: until its project is decided, each person's own reports assume one. */
export interface AssumedTicketRow extends TicketRow {
  /** Null where this person's reports found no project for it so far, undefined where they never named it. */
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
 * The project of an entry that continues another one, placed perhaps long ago: somebody may have decided on its ticket's
 * project since, and its project may have been merged.
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
  const standing = ticket?.projectId ?? projectId
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

/** The ticket as it is to a person, or to nobody in particular. */
export async function findTicketByKey(
  reader: Reader,
  folded: string,
  userId: number | null,
): Promise<AssumedTicketRow | undefined> {
  const [row] = await reader
    .prepared('tickets.by-key', (prepare) => {
      const { tickets, ticketAssumptions } = prepare.tables
      // A subquery and no join, for the same reason as above.
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
/** Not NULL, which drizzle leaves as it is. */
const NEVER_NAMED = -1

function readAssumed(value: unknown): AssumedTicketRow['assumedProjectId'] {
  const id = Number(value)
  if (id === NEVER_NAMED) return undefined
  return id === NO_PROJECT ? null : id
}

/** Adds a ticket. Returns the one that another transaction added meanwhile, where there is one. */
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

/** Where a person's reports put a ticket; no project where they found none for it. */
export interface Assumption {
  ticketId: number
  userId: number
  projectId: number | null
}

/** Keeps what the first report of a person assumes. */
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
