/** Tickets as people see and change them. */
import { and, desc, eq, inArray, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'
import { type Id, isId, newId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'
import { type ArchivedFilter, anywhere, archivedCondition, type Page } from './clients.ts'

type TicketRecord = Tables['tickets']['$inferSelect']

/** A ticket with the project that it has, even where that one was merged and the ticket is still to follow. */
export interface TicketView {
  ticket: TicketRecord
  project: { id: number; uid: Id<'prj'>; key: string; name: string } | null
  /** Of its project. */
  leads: { id: number }[]
}

export interface TicketFilter {
  /** A text that the key or the title contains, whatever the case. */
  search?: string | undefined
  /** Ids (`prj_…`), keys, names or aliases, or `none` for tickets without a project. */
  projects?: string[] | undefined
  archived?: ArchivedFilter | undefined
}

function selectTickets(reader: Reader) {
  const { tickets, projects } = reader.tables
  return reader
    .select({
      ticket: tickets,
      project: { id: projects.id, uid: projects.uid, key: projects.key, name: projects.name },
    })
    .from(tickets)
    .leftJoin(projects, eq(projects.id, tickets.projectId))
}

async function viewsOf(reader: Reader, rows: Awaited<ReturnType<typeof selectTickets>>): Promise<TicketView[]> {
  const { projectLeads } = reader.tables
  const ids = [...new Set(rows.flatMap(({ project }) => project?.id ?? []))]
  const leads =
    ids.length === 0
      ? []
      : await reader
          .select({ projectId: projectLeads.projectId, id: projectLeads.userId })
          .from(projectLeads)
          .where(inArray(projectLeads.projectId, ids))
  const leadsOf = Map.groupBy(leads, ({ projectId }) => projectId)
  return rows.map((row) => ({ ...row, leads: (row.project && leadsOf.get(row.project.id)) ?? [] }))
}

export async function findTicketView(
  reader: Reader,
  by: { uid: Id<'tkt'> } | { folded: string },
): Promise<TicketView | undefined> {
  const { tickets } = reader.tables
  const condition = 'uid' in by ? eq(tickets.uid, by.uid) : eq(tickets.keyFolded, by.folded)
  return (await viewsOf(reader, await selectTickets(reader).where(condition).limit(1)))[0]
}

/** Newest first, from behind the key `after`. */
export async function listTicketViews(
  reader: Reader,
  { search, projects: named, archived }: TicketFilter,
  { after, limit }: Page,
): Promise<TicketView[]> {
  const { tickets, projects, projectNames } = reader.tables
  const under = (query: unknown) => inArray(tickets.projectId, query as never)
  const isNamed = (texts: string[]): SQL | undefined =>
    or(
      texts.includes('none') ? isNull(tickets.projectId) : undefined,
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
        archivedCondition(tickets.archivedAt, archived),
        after === undefined ? undefined : lt(tickets.id, after),
      ),
    )
    .orderBy(desc(tickets.id))
    .limit(limit)
  return viewsOf(reader, rows)
}

/** Undefined where there is a ticket with this key. */
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

export async function updateTicket(tx: Tx, id: number, change: TicketChange): Promise<void> {
  const { tickets } = tx.tables
  if (Object.keys(change).length > 0) await tx.update(tickets).set(change).where(eq(tickets.id, id))
}

/** As `holdProject`: nobody places an entry on the ticket by what it was before. */
export async function holdTicket(tx: Tx, { id, uid }: Pick<TicketRecord, 'id' | 'uid'>): Promise<void> {
  const { tickets } = tx.tables
  await tx
    .update(tickets)
    .set({ uid: newId('tkt') })
    .where(eq(tickets.id, id))
  await tx.update(tickets).set({ uid }).where(eq(tickets.id, id))
}

export async function hasEntries(reader: Reader, ticketId: number): Promise<boolean> {
  const { entries } = reader.tables
  const rows = await reader.select({ id: entries.id }).from(entries).where(eq(entries.ticketId, ticketId)).limit(1)
  return rows.length > 0
}

export async function deleteTicket(tx: Tx, id: number): Promise<void> {
  await tx.delete(tx.tables.tickets).where(eq(tx.tables.tickets.id, id))
}

export async function countTickets(reader: Reader, projectId: number): Promise<number> {
  const { tickets } = reader.tables
  const [row] = await reader
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(tickets)
    .where(eq(tickets.projectId, projectId))
  return row!.count
}

/** Gives up to `limit` tickets of a project to another one, and answers how many. */
export async function moveTickets(
  tx: Tx,
  { fromId, toId, limit }: { fromId: number; toId: number; limit: number },
): Promise<number> {
  const { tickets } = tx.tables
  const some = await tx.select({ id: tickets.id }).from(tickets).where(eq(tickets.projectId, fromId)).limit(limit)
  if (some.length === 0) return 0
  const moved = await tx
    .update(tickets)
    .set({ projectId: toId })
    .where(
      and(
        inArray(
          tickets.id,
          some.map(({ id }) => id),
        ),
        eq(tickets.projectId, fromId),
      ),
    )
    .returning({ id: tickets.id })
  return moved.length
}
