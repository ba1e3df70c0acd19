/** Tickets as people see and change them. */
import { and, asc, desc, eq, inArray, isNotNull, isNull, not, or, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { lowered, pageAfter, pageIn, type SortKeys } from '../../../database/sorting.ts'
import { type Id, isId, newId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'
import type { PageRequest } from '../../../schema/query.ts'
import type { TICKET_SORTS } from '../sorts.ts'
import { type ArchivedFilter, anywhere, archivedCondition } from './clients.ts'

type TicketRecord = Tables['tickets']['$inferSelect']

interface ProjectReference {
  id: number
  uid: Id<'prj'>
  key: string
  name: string
}

/** A project that reports assume for a ticket, or null if they found none. */
export interface Assumed {
  project: ProjectReference | null
  people: number
  /** The leads of the project. */
  leads: { id: number }[]
}

/** A ticket with its project, even if that was merged and the ticket has not moved yet. */
export interface TicketView {
  ticket: TicketRecord
  /** The decided project; null if there is none. */
  project: ProjectReference | null
  /** The leads of that project. */
  leads: { id: number }[]
  /** The projects that reports assume, if none is decided. */
  assumed: Assumed[]
}

export interface TicketFilter {
  /** Text contained in the key or the title, ignoring case. */
  search?: string | undefined
  /** Ids (`prj_…`), keys, names or aliases, or `none` for tickets without a project. */
  projects?: string[] | undefined
  /** Whether reports of different people assume different projects, and none is decided. */
  conflicting?: boolean | undefined
  archived?: ArchivedFilter | undefined
}

function selectTickets(reader: Reader) {
  const { tickets, projects } = reader.tables
  return reader
    .select({ ticket: tickets, project: projectReference(reader) })
    .from(tickets)
    .leftJoin(projects, eq(projects.id, tickets.projectId))
}

function projectReference({ tables: { projects } }: Reader) {
  return { id: projects.id, uid: projects.uid, key: projects.key, name: projects.name }
}

async function viewsOf(reader: Reader, rows: Awaited<ReturnType<typeof selectTickets>>): Promise<TicketView[]> {
  const assumed = await listAssumed(
    reader,
    rows.filter(({ project }) => project === null).map(({ ticket }) => ticket.id),
  )
  const leadsOf = await listLeads(reader, [
    ...rows.flatMap(({ project }) => project?.id ?? []),
    ...assumed.flatMap(({ project }) => project?.id ?? []),
  ])
  const assumedOf = Map.groupBy(assumed, ({ ticketId }) => ticketId)
  const leads = (project: ProjectReference | null) => (project && leadsOf.get(project.id)) ?? []
  return rows.map((row) => ({
    ...row,
    leads: leads(row.project),
    assumed: (assumedOf.get(row.ticket.id) ?? []).map(({ project, people }) => ({
      project,
      people,
      leads: leads(project),
    })),
  }))
}

/** The projects that reports assume for each ticket, those of most people first. */
async function listAssumed(reader: Reader, ticketIds: number[]) {
  if (ticketIds.length === 0) return []
  const { ticketAssumptions: table, projects } = reader.tables
  const people = sql<number>`count(*)`.mapWith(Number)
  const found = []
  for (const portion of portionsOf(ticketIds)) {
    found.push(
      ...(await reader
        .select({ ticketId: table.ticketId, project: projectReference(reader), people })
        .from(table)
        .leftJoin(projects, eq(projects.id, table.projectId))
        .where(inArray(table.ticketId, portion))
        .groupBy(table.ticketId, projects.id)
        .orderBy(desc(people), asc(projects.id))),
    )
  }
  return found
}

/** The leads of each project, including those of its client. */
async function listLeads(reader: Reader, projectIds: number[]): Promise<Map<number, { id: number }[]>> {
  if (projectIds.length === 0) return new Map()
  const { projects, projectLeads, clientLeads } = reader.tables
  const own = await reader
    .select({ projectId: projectLeads.projectId, id: projectLeads.userId })
    .from(projectLeads)
    .where(inArray(projectLeads.projectId, [...new Set(projectIds)]))
  const ofClients = await reader
    .select({ projectId: projects.id, id: clientLeads.userId })
    .from(projects)
    .innerJoin(clientLeads, eq(clientLeads.clientId, projects.clientId))
    .where(inArray(projects.id, [...new Set(projectIds)]))
  return Map.groupBy([...own, ...ofClients], ({ projectId }) => projectId)
}

export async function findTicketView(
  reader: Reader,
  by: { uid: Id<'tkt'> } | { folded: string },
): Promise<TicketView | undefined> {
  const { tickets } = reader.tables
  const condition = 'uid' in by ? eq(tickets.uid, by.uid) : eq(tickets.keyFolded, by.folded)
  return (await viewsOf(reader, await selectTickets(reader).where(condition).limit(1)))[0]
}

const TICKET_KEYS: SortKeys<typeof TICKET_SORTS, TicketView> = {
  key: { sql: ({ tickets }) => tickets.keyFolded, of: ({ ticket }) => ticket.keyFolded },
  title: {
    sql: ({ tickets }) => sql`lower(${tickets.title})`,
    of: ({ ticket }) => (ticket.title === null ? null : lowered(ticket.title)),
  },
  created_at: { sql: ({ tickets }) => tickets.createdAt, of: ({ ticket }) => ticket.createdAt },
}

/** The token of the page that follows this row. */
export const pageAfterTicket = (view: TicketView, by: PageRequest<keyof typeof TICKET_SORTS>['by']): string =>
  pageAfter(TICKET_KEYS, by, view, view.ticket.id)

/** Newest first, unless the page has another order. */
export async function listTicketViews(
  reader: Reader,
  { search, projects: named, conflicting, archived }: TicketFilter,
  { limit, ...page }: PageRequest<keyof typeof TICKET_SORTS>,
): Promise<TicketView[]> {
  const { tickets, ticketAssumptions, projects, projectNames } = reader.tables
  const assumedIn = (condition: SQL) =>
    inArray(tickets.id, reader.select({ id: ticketAssumptions.ticketId }).from(ticketAssumptions).where(condition))
  const under = (query: unknown) =>
    or(inArray(tickets.projectId, query as never), assumedIn(inArray(ticketAssumptions.projectId, query as never)))
  const isNamed = (texts: string[]): SQL | undefined =>
    or(
      texts.includes('none')
        ? and(isNull(tickets.projectId), not(assumedIn(isNotNull(ticketAssumptions.projectId))))
        : undefined,
      under(
        reader
          .select({ id: projects.id })
          .from(projects)
          .where(inArray(projects.uid, texts.filter((text) => isId('prj', text)) as Id<'prj'>[])),
      ),
      under(
        reader
          .select({ id: projectNames.projectId })
          .from(projectNames)
          .where(inArray(projectNames.folded, texts.map(foldName))),
      ),
    )
  const isConflicting = conflictingTickets(reader)
  const { behind, order } = pageIn(reader, tickets.id, page, TICKET_KEYS)
  const rows = await selectTickets(reader)
    .where(
      and(
        search === undefined
          ? undefined
          : or(
              sql`${tickets.keyFolded} LIKE ${anywhere(search)} ESCAPE '!'`,
              sql`lower(${tickets.title}) LIKE ${anywhere(search)} ESCAPE '!'`,
            ),
        named && isNamed(named),
        conflicting === undefined ? undefined : conflicting ? isConflicting : not(isConflicting),
        archivedCondition(tickets.archivedAt, archived),
        behind,
      ),
    )
    .orderBy(...order)
    .limit(limit)
  return viewsOf(reader, rows)
}

/** Tickets that reports name under different projects, and nobody has decided. */
function conflictingTickets(reader: Reader): SQL {
  const { tickets, ticketAssumptions } = reader.tables
  return inArray(
    tickets.id,
    reader
      .select({ id: ticketAssumptions.ticketId })
      .from(ticketAssumptions)
      .groupBy(ticketAssumptions.ticketId)
      .having(sql`count(DISTINCT coalesce(${ticketAssumptions.projectId}, 0)) > 1`),
  )
}

/** As many as the list of conflicting tickets has, without the archived ones. */
export async function countConflictingTickets(reader: Reader): Promise<number> {
  const { tickets } = reader.tables
  const [row] = await reader
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(tickets)
    .where(and(conflictingTickets(reader), archivedCondition(tickets.archivedAt, undefined)))
  return row!.count
}

/** Undefined if a ticket with this key exists. */
export async function insertTicketRecord(
  tx: Tx,
  ticket: Pick<TicketRecord, 'key' | 'title' | 'projectId'>,
  now: number,
): Promise<Id<'tkt'> | undefined> {
  const { tickets } = tx.tables
  const [row] = await tx
    .insert(tickets)
    .values({ ...ticket, keyFolded: foldName(ticket.key), uid: newId('tkt'), createdAt: now })
    .onConflictDoNothing({ target: tickets.keyFolded })
    .returning({ uid: tickets.uid })
  return row?.uid
}

export type TicketChange = Partial<Pick<TicketRecord, 'title' | 'projectId' | 'archivedAt'>>

/** Changes a ticket, which confirms it. A decided project replaces the assumptions of reports. */
export async function updateTicket(tx: Tx, id: number, change: TicketChange): Promise<void> {
  const { tickets, ticketAssumptions } = tx.tables
  if (Object.keys(change).length === 0) return
  await tx
    .update(tickets)
    .set({ ...change, reported: false })
    .where(eq(tickets.id, id))
  if (change.projectId != null) await tx.delete(ticketAssumptions).where(eq(ticketAssumptions.ticketId, id))
}

/** Whether the ticket has entries that the viewer does not see. */
export async function hasHiddenEntries(reader: Reader, ticketId: number, viewer: Viewer): Promise<boolean> {
  const { entries } = reader.tables
  const count = async (condition?: SQL) => {
    const [row] = await reader
      .select({ count: sql<number>`count(*)`.mapWith(Number) })
      .from(entries)
      .where(and(eq(entries.ticketId, ticketId), condition))
    return row!.count
  }
  // Not the complement of the visible entries: for an entry without a project the condition is neither true nor false.
  return (await count()) > (await count(await visibleEntries(reader, viewer)))
}

/** Like `holdProject`: no entry can be placed on the ticket based on its previous state. */
export async function holdTicket(tx: Tx, { id, uid }: Pick<TicketRecord, 'id' | 'uid'>): Promise<void> {
  const { tickets } = tx.tables
  await tx
    .update(tickets)
    .set({ uid: newId('tkt') })
    .where(eq(tickets.id, id))
  await tx.update(tickets).set({ uid }).where(eq(tickets.id, id))
}

/** Whether the ticket has entries, or had some whose shares of a plan were corrected. */
export async function hasEntries(reader: Reader, ticketId: number): Promise<boolean> {
  const { entries, planCorrections: corrections } = reader.tables
  const rows = await reader.select({ id: entries.id }).from(entries).where(eq(entries.ticketId, ticketId)).limit(1)
  if (rows.length > 0) return true
  const isOf = eq(corrections.ticketId, ticketId)
  return (await reader.select({ id: corrections.entryId }).from(corrections).where(isOf).limit(1)).length > 0
}

export async function deleteTicket(tx: Tx, id: number): Promise<void> {
  const { tickets, ticketAssumptions } = tx.tables
  await tx.delete(ticketAssumptions).where(eq(ticketAssumptions.ticketId, id))
  await tx.delete(tickets).where(eq(tickets.id, id))
}

/** Tickets of a project, by decision or by the assumption of reports. */
export async function countTickets(reader: Reader, projectId: number): Promise<number> {
  const { tickets, ticketAssumptions } = reader.tables
  const [decided] = await reader
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(tickets)
    .where(eq(tickets.projectId, projectId))
  const [assumed] = await reader
    .select({ count: sql<number>`count(DISTINCT ${ticketAssumptions.ticketId})`.mapWith(Number) })
    .from(ticketAssumptions)
    .where(eq(ticketAssumptions.projectId, projectId))
  return decided!.count + assumed!.count
}

/**
 * Moves up to `limit` tickets of a project to another one, and as many assumptions of reports, and returns the larger
 * of the two numbers.
 */
export async function moveTickets(
  tx: Tx,
  { fromId, toId, limit }: { fromId: number; toId: number; limit: number },
): Promise<number> {
  const { tickets, ticketAssumptions: assumptions } = tx.tables
  const some = await tx.select({ id: tickets.id }).from(tickets).where(eq(tickets.projectId, fromId)).limit(limit)
  const ids = some.map(({ id }) => id)
  if (ids.length > 0) {
    await tx
      .update(tickets)
      .set({ projectId: toId })
      .where(and(inArray(tickets.id, ids), eq(tickets.projectId, fromId)))
  }
  const assumed = await tx
    .select({ ticketId: assumptions.ticketId })
    .from(assumptions)
    .where(eq(assumptions.projectId, fromId))
    .limit(limit)
  const ticketIds = [...new Set(assumed.map(({ ticketId }) => ticketId))]
  if (ticketIds.length > 0) {
    await tx
      .update(assumptions)
      .set({ projectId: toId })
      .where(and(inArray(assumptions.ticketId, ticketIds), eq(assumptions.projectId, fromId)))
  }
  return Math.max(ids.length, assumed.length)
}
