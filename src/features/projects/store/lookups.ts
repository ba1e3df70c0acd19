/** Lookups for reports: projects by name and tickets by key, and their creation on first mention. */
import { and, eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Id } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'

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

function selectProjectByName(reader: Reader) {
  const { projects, projectNames } = reader.tables
  const named = reader
    .select({ id: projectNames.projectId })
    .from(projectNames)
    .where(eq(projectNames.folded, sql.placeholder('folded')))
  return reader.select(projectColumns(reader)).from(projects).where(eq(projects.id, named))
}

function selectProjectById(reader: Reader) {
  const { projects } = reader.tables
  return reader
    .select(projectColumns(reader))
    .from(projects)
    .where(eq(projects.id, sql.placeholder('id')))
}

/** The project with this folded key, name or alias; undefined if there is none. */
export async function findProjectByName(reader: Reader, folded: string): Promise<ProjectRow | undefined> {
  const [row] = await reader.prepared('projects.by-name', selectProjectByName).execute({ folded })
  return row && followed(reader, row)
}

/**
 * The projects with these folded keys, names or aliases, which may be merged; undefined if there is none. Like the other
 * queries of a plan, it locks what it finds: a merge, or a decision about a ticket, waits for entries that are about to
 * be placed, and moves them afterwards.
 */
export async function lockProjectsByName(tx: Tx, names: readonly string[]): Promise<(ProjectRow | undefined)[]> {
  const found = await tx.findEach(
    'projects.lock-by-name',
    (prepare) => prepare.locking(selectProjectByName(prepare), prepare.tables.projects, 'share'),
    names.map((folded) => ({ folded })),
  )
  return found.map(([row]) => row)
}

/** The projects with these keys, which may be merged. */
export async function lockProjects(tx: Tx, ids: readonly number[]): Promise<ProjectRow[]> {
  const found = await tx.findEach(
    'projects.lock-by-id',
    (prepare) => prepare.locking(selectProjectById(prepare), prepare.tables.projects, 'share'),
    ids.map((id) => ({ id })),
  )
  return found.map(([row]) => row!)
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
  const [row] = await reader.prepared('projects.by-id', selectProjectById).execute({ id })
  return followed(reader, row!)
}

/** The projects that were decided for these tickets. */
export async function lockDecidedProjects(tx: Tx, ticketIds: readonly number[]): Promise<(number | null)[]> {
  const found = await tx.findEach(
    'tickets.decided-project',
    (prepare) => {
      const { tickets } = prepare.tables
      const decided = prepare
        .select({ projectId: tickets.projectId })
        .from(tickets)
        .where(eq(tickets.id, sql.placeholder('id')))
      return prepare.locking(decided, tickets, 'share')
    },
    ticketIds.map((id) => ({ id })),
  )
  return found.map(([row]) => row!.projectId)
}

/** Adds projects with one name each, their key. */
export async function insertProjects(tx: Tx, rows: readonly ProjectRow[], now: number): Promise<void> {
  const { projects, projectNames } = tx.tables
  await tx.insertAll(
    projects,
    rows.map(({ id, uid, key, name }) => ({ id, uid, key, name, billable: true, createdAt: now })),
  )
  await tx.insertAll(
    projectNames,
    rows.map(({ id, key }) => ({ folded: foldName(key), projectId: id, text: key, kind: 'key' })),
  )
}

function selectTicketByKey(reader: Reader) {
  const { tickets, ticketAssumptions } = reader.tables
  // A subquery instead of a join, for the same reason as above.
  const assumed = reader
    .select({ projectId: sql`coalesce(${ticketAssumptions.projectId}, ${NO_PROJECT})` })
    .from(ticketAssumptions)
    .where(and(eq(ticketAssumptions.ticketId, tickets.id), eq(ticketAssumptions.userId, sql.placeholder('userId'))))
  return reader
    .select({
      ...ticketColumns(reader),
      assumedProjectId: sql<AssumedTicketRow['assumedProjectId']>`coalesce((${assumed}), ${NEVER_NAMED})`.mapWith(
        readAssumed,
      ),
    })
    .from(tickets)
    .where(eq(tickets.keyFolded, sql.placeholder('folded')))
}

/** The tickets with these folded keys, each with the assumption of a person. */
export async function lockTicketsByKey(
  tx: Tx,
  keys: readonly { folded: string; userId: number | null }[],
): Promise<(AssumedTicketRow | undefined)[]> {
  const found = await tx.findEach(
    'tickets.lock-by-key',
    (prepare) => prepare.locking(selectTicketByKey(prepare), prepare.tables.tickets, 'share'),
    keys.map(({ folded, userId }) => ({ folded, userId: userId ?? NOBODY })),
  )
  return found.map(([row]) => row)
}

/** The ticket, with a person's assumption if one is given. */
export async function findTicketByKey(
  reader: Reader,
  folded: string,
  userId: number | null,
): Promise<AssumedTicketRow | undefined> {
  const [row] = await reader.prepared('tickets.by-key', selectTicketByKey).execute({ folded, userId: userId ?? NOBODY })
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

/** Adds tickets that reports name. */
export async function insertTickets(tx: Tx, rows: readonly TicketRow[], now: number): Promise<void> {
  await tx.insertAll(
    tx.tables.tickets,
    rows.map((row) => ({ ...row, keyFolded: foldName(row.key), createdAt: now })),
  )
}

/** The project that a person's reports assume for a ticket; null if they found none. */
export interface Assumption {
  ticketId: number
  userId: number
  projectId: number | null
}

/** Saves the assumptions of persons' first reports. */
export async function insertAssumptions(tx: Tx, assumptions: readonly Assumption[]): Promise<void> {
  await tx.insertAll(tx.tables.ticketAssumptions, assumptions)
}

export async function updateAssumption(tx: Tx, { ticketId, userId, projectId }: Assumption): Promise<void> {
  const { ticketAssumptions: table } = tx.tables
  await tx
    .update(table)
    .set({ projectId })
    .where(and(eq(table.ticketId, ticketId), eq(table.userId, userId)))
}
