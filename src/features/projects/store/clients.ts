import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { pageAfter, pageIn, type SortKeys } from '../../../database/sorting.ts'
import { type Id, newId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'
import type { PageRequest } from '../../../schema/query.ts'
import type { CLIENT_SORTS } from '../sorts.ts'
import { listResponsible, type Responsible, replaceResponsible } from './responsible.ts'

export type ClientRow = Tables['clients']['$inferSelect']
/** A client, with the people who are responsible for all of its projects. */
export interface ClientView extends ClientRow {
  leads: Responsible[]
  approvers: Responsible[]
}
export type ClientChange = Partial<Omit<ClientRow, 'id' | 'uid' | 'createdAt'>>

/** Filter for archived objects, which lists exclude by default. */
export const ARCHIVED_FILTERS = ['false', 'true', 'all'] as const
export type ArchivedFilter = (typeof ARCHIVED_FILTERS)[number]

export interface ClientFilter {
  /** Text contained in the name, ignoring case. */
  search?: string | undefined
  archived?: ArchivedFilter | undefined
}

export function archivedCondition(
  column: Tables['projects' | 'tickets' | 'clients']['archivedAt'],
  filter: ArchivedFilter = 'false',
): SQL | undefined {
  if (filter === 'all') return undefined
  return filter === 'true' ? isNotNull(column) : isNull(column)
}

/** A pattern for `LIKE … ESCAPE '!'` that matches the text anywhere in a folded one. */
export function anywhere(text: string): string {
  return `%${foldName(text).replace(/[!%_]/g, (character) => `!${character}`)}%`
}

export async function findClientByUid(reader: Reader, uid: Id<'cli'>): Promise<ClientRow | undefined> {
  const { clients } = reader.tables
  const [row] = await reader.select().from(clients).where(eq(clients.uid, uid)).limit(1)
  return row
}

export async function findClientByName(reader: Reader, folded: string): Promise<ClientRow | undefined> {
  const { clients } = reader.tables
  const [row] = await reader.select().from(clients).where(eq(clients.nameFolded, folded)).limit(1)
  return row
}

export async function clientViews(reader: Reader, clients: ClientRow[]): Promise<ClientView[]> {
  const ids = clients.map(({ id }) => id)
  const leads = await listResponsible(reader, 'clientLeads', ids)
  const approvers = await listResponsible(reader, 'clientApprovers', ids)
  return clients.map((client) => ({
    ...client,
    leads: leads.get(client.id) ?? [],
    approvers: approvers.get(client.id) ?? [],
  }))
}

const CLIENT_KEYS: SortKeys<typeof CLIENT_SORTS, ClientRow> = {
  name: { sql: ({ clients }) => clients.nameFolded, of: ({ nameFolded }) => nameFolded },
  created_at: { sql: ({ clients }) => clients.createdAt, of: ({ createdAt }) => createdAt },
}

/** The token of the page that follows this row. */
export const pageAfterClient = (view: ClientRow, by: PageRequest<keyof typeof CLIENT_SORTS>['by']): string =>
  pageAfter(CLIENT_KEYS, by, view, view.id)

/** Newest first, unless the page has another order. */
export async function listClients(
  reader: Reader,
  { search, archived }: ClientFilter,
  { limit, ...page }: PageRequest<keyof typeof CLIENT_SORTS>,
): Promise<ClientView[]> {
  const { clients } = reader.tables
  const { behind, order } = pageIn(reader, clients.id, page, CLIENT_KEYS)
  const rows = await reader
    .select()
    .from(clients)
    .where(
      and(
        search === undefined ? undefined : sql`${clients.nameFolded} LIKE ${anywhere(search)} ESCAPE '!'`,
        archivedCondition(clients.archivedAt, archived),
        behind,
      ),
    )
    .orderBy(...order)
    .limit(limit)
  return clientViews(reader, rows)
}

/** Undefined if another client already has the name. */
export async function insertClient(
  tx: Tx,
  client: ClientChange & { name: string },
  now: number,
): Promise<ClientRow | undefined> {
  const { clients } = tx.tables
  const [row] = await tx
    .insert(clients)
    .values({ ...client, nameFolded: foldName(client.name), uid: newId('cli'), createdAt: now })
    .onConflictDoNothing({ target: clients.nameFolded })
    .returning()
  return row
}

/** Writes the row even if none of its columns change, as that of a project. */
export async function updateClient(tx: Tx, id: number, change: ClientChange): Promise<ClientRow> {
  const { clients } = tx.tables
  const [row] = await tx
    .update(clients)
    .set({ createdAt: sql`${clients.createdAt}`, ...change })
    .where(eq(clients.id, id))
    .returning()
  return row!
}

/** The objects that refer to a client, for the error message. */
export async function usesOfClient(reader: Reader, id: number): Promise<string[]> {
  const { projects, bills, webhookEndpoints: webhooks } = reader.tables
  const ofProjects = await reader.select({ id: projects.id }).from(projects).where(eq(projects.clientId, id)).limit(1)
  const ofBills = await reader.select({ id: bills.id }).from(bills).where(eq(bills.clientId, id)).limit(1)
  const ofWebhooks = await reader.select({ id: webhooks.id }).from(webhooks).where(eq(webhooks.clientId, id)).limit(1)
  return [
    ...(ofProjects.length > 0 ? ['projects'] : []),
    ...(ofBills.length > 0 ? ['bills'] : []),
    ...(ofWebhooks.length > 0 ? ['webhooks'] : []),
  ]
}

export async function deleteClient(tx: Tx, id: number): Promise<void> {
  await replaceResponsible(tx, 'clientLeads', id, [])
  await replaceResponsible(tx, 'clientApprovers', id, [])
  await tx.delete(tx.tables.viewerGrants).where(eq(tx.tables.viewerGrants.clientId, id))
  await tx.delete(tx.tables.clients).where(eq(tx.tables.clients.id, id))
}
