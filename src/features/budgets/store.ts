/** Budgets as people see and change them. */

import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  lte,
  ne,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { ledProjects } from '../../access/visibility.ts'
import type { Reader, Tx } from '../../database/database.ts'
import { type Id, type IdPrefix, isId, newId } from '../../lib/id.ts'
import { foldName } from '../../lib/names.ts'
import type { EntryFilter } from '../selection/contract.ts'
import type { AlertRecord, BudgetRecord, PeriodRecord } from '../spending/contract.ts'
import type { BudgetState } from './schema.ts'

/** A budget with what its scope refers to. */
export interface BudgetView {
  budget: BudgetRecord
  client: { uid: Id<'cli'>; name: string } | null
  project: { uid: Id<'prj'>; key: string; name: string } | null
  ticket: { uid: Id<'tkt'>; key: string } | null
  manager: { uid: Id<'usr'>; name: string } | null
}

/** Whose budgets somebody sees: all, or those of their own entries and of what they lead; by allocated cost if they see fees. */
export type BudgetSight = 'everything' | { userId: number | 'everyone'; seesFees: boolean }

function isSeen(reader: Reader, sight: BudgetSight): SQL | undefined {
  if (sight === 'everything') return undefined
  const { budgets } = reader.tables
  return and(
    sight.userId === 'everyone' ? undefined : isOwnOrLed(reader, sight.userId),
    sight.seesFees ? undefined : ne(budgets.basis, 'allocated'),
  )
}

function isOwnOrLed(reader: Reader, userId: number): SQL | undefined {
  const { budgets, clientLeads, tickets } = reader.tables
  const ledClients = reader.select({ id: clientLeads.clientId }).from(clientLeads).where(eq(clientLeads.userId, userId))
  return or(
    eq(budgets.managerId, userId),
    inArray(budgets.projectId, ledProjects(reader, [userId])),
    inArray(
      budgets.ticketId,
      reader
        .select({ id: tickets.id })
        .from(tickets)
        .where(inArray(tickets.projectId, ledProjects(reader, [userId]))),
    ),
    inArray(budgets.clientId, ledClients),
  )
}

function selectBudgets(reader: Reader) {
  const { budgets, clients, projects, tickets, users } = reader.tables
  return reader
    .select({
      budget: budgets,
      client: { uid: clients.uid, name: clients.name },
      project: { uid: projects.uid, key: projects.key, name: projects.name },
      ticket: { uid: tickets.uid, key: tickets.key },
      manager: { uid: users.uid, name: users.name },
    })
    .from(budgets)
    .leftJoin(clients, eq(clients.id, budgets.clientId))
    .leftJoin(projects, eq(projects.id, budgets.projectId))
    .leftJoin(tickets, eq(tickets.id, budgets.ticketId))
    .leftJoin(users, eq(users.id, budgets.managerId))
}

export interface BudgetFilter {
  archived?: 'exclude' | 'include' | 'only' | undefined
  projects?: string[] | undefined
  clients?: string[] | undefined
  /** By id or key. */
  tickets?: string[] | undefined
  /** By id or e-mail address. */
  managers?: string[] | undefined
}

/** A filter of budgets by what is spent of them, too, which is compared exactly and not by the database. */
export interface BudgetListFilter extends BudgetFilter {
  states?: BudgetState[] | undefined
}

/** More than a large organization has: a job and pages read all of them. */
export const ACTIVE_LIMIT = 2_000

/** All that are active, newest first. */
export const listEveryBudget = (reader: Reader, sight: BudgetSight): Promise<BudgetView[]> =>
  listBudgets(reader, sight, {}, { after: undefined, limit: ACTIVE_LIMIT })

/** Newest first. */
export function listBudgets(
  reader: Reader,
  sight: BudgetSight,
  filter: BudgetFilter,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<BudgetView[]> {
  const { budgets, projects, clients, projectNames, tickets, users } = reader.tables
  const { archived = 'exclude', projects: ofProjects, clients: ofClients } = filter
  const { tickets: ofTickets, managers } = filter
  const named = (texts: string[]) =>
    reader
      .select({ id: projectNames.projectId })
      .from(projectNames)
      .where(inArray(projectNames.folded, texts.map(foldName)))
  return selectBudgets(reader)
    .where(
      and(
        isSeen(reader, sight),
        archived === 'exclude' ? isNull(budgets.archivedAt) : undefined,
        archived === 'only' ? isNotNull(budgets.archivedAt) : undefined,
        ofProjects &&
          or(
            inArray(projects.uid, ofProjects.filter((text) => isId('prj', text)) as Id<'prj'>[]),
            inArray(budgets.projectId, named(ofProjects)),
          ),
        ofClients &&
          or(
            inArray(clients.uid, ofClients.filter((text) => isId('cli', text)) as Id<'cli'>[]),
            inArray(clients.nameFolded, ofClients.map(foldName)),
          ),
        ofTickets &&
          or(
            inArray(tickets.uid, ofTickets.filter((text) => isId('tkt', text)) as Id<'tkt'>[]),
            inArray(tickets.keyFolded, ofTickets.map(foldName)),
          ),
        managers &&
          or(
            inArray(users.uid, managers.filter((text) => isId('usr', text)) as Id<'usr'>[]),
            inArray(users.email, managers.map(foldName)),
          ),
        after === undefined ? undefined : lt(budgets.id, after),
      ),
    )
    .orderBy(desc(budgets.id))
    .limit(limit)
}

export async function findBudgetView(
  reader: Reader,
  uid: Id<'bdg'>,
  sight: BudgetSight,
): Promise<BudgetView | undefined> {
  const [view] = await selectBudgets(reader)
    .where(and(eq(reader.tables.budgets.uid, uid), isSeen(reader, sight)))
    .limit(1)
  return view
}

export async function findBudget(reader: Reader, id: number): Promise<BudgetRecord | undefined> {
  const { budgets } = reader.tables
  const [row] = await reader.select().from(budgets).where(eq(budgets.id, id)).limit(1)
  return row
}

export async function countActive(reader: Reader): Promise<number> {
  const { budgets } = reader.tables
  const [row] = await reader
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(budgets)
    .where(isNull(budgets.archivedAt))
  return row!.count
}

export async function insertBudget(tx: Tx, budget: Omit<BudgetRecord, 'id' | 'uid'>): Promise<BudgetRecord> {
  const [row] = await tx
    .insert(tx.tables.budgets)
    .values({ uid: newId('bdg'), ...budget })
    .returning()
  return row!
}

export async function updateBudget(tx: Tx, id: number, change: Partial<BudgetRecord>): Promise<BudgetRecord> {
  const { budgets } = tx.tables
  const [row] = await tx.update(budgets).set(change).where(eq(budgets.id, id)).returning()
  return row!
}

export async function findPeriod(reader: Reader, id: number): Promise<PeriodRecord | undefined> {
  const { budgetPeriods } = reader.tables
  const [row] = await reader.select().from(budgetPeriods).where(eq(budgetPeriods.id, id)).limit(1)
  return row
}

/** Active budgets without a period that contains the moment; new ones have no period at all. */
export async function listWithoutPeriod(
  reader: Reader,
  moment: number,
): Promise<{ budget: BudgetRecord; isNew: boolean }[]> {
  const { budgets, budgetPeriods: p } = reader.tables
  const current = reader
    .select({ id: p.budgetId })
    .from(p)
    .where(and(lte(p.startsAt, moment), gt(p.endsAt, moment)))
  const rows = await reader
    .select({ budget: budgets, periods: count(p.id) })
    .from(budgets)
    .leftJoin(p, eq(p.budgetId, budgets.id))
    .where(and(isNull(budgets.archivedAt), notInArray(budgets.id, current)))
    .groupBy(budgets.id)
    .orderBy(asc(budgets.id))
  return rows.map(({ budget, periods }) => ({ budget, isNew: periods === 0 }))
}

/** The periods of a budget, the newest first. */
export function listPeriods(reader: Reader, budgetId: number, limit: number): Promise<PeriodRecord[]> {
  const { budgetPeriods: p } = reader.tables
  return reader.select().from(p).where(eq(p.budgetId, budgetId)).orderBy(desc(p.startsAt)).limit(limit)
}

export async function deletePeriods(tx: Tx, budgetId: number): Promise<void> {
  const { budgetPeriods } = tx.tables
  await tx.delete(budgetPeriods).where(eq(budgetPeriods.budgetId, budgetId))
}

/** With another amount, every threshold of the periods that have not ended can be reached again. */
export async function rearm(tx: Tx, budgetId: number, { now, added }: { now: number; added: bigint }): Promise<void> {
  const { budgetPeriods: p } = tx.tables
  await tx
    .update(p)
    .set({
      available: sql`${p.available} + ${added}`,
      alerted: 0,
      countedAt: null,
      counts: sql`${p.counts} + 1`,
    } as never)
    .where(and(eq(p.budgetId, budgetId), gt(p.endsAt, now)))
}

export async function updateAvailable(tx: Tx, { id, available }: { id: number; available: bigint }): Promise<void> {
  const { budgetPeriods } = tx.tables
  await tx.update(budgetPeriods).set({ available }).where(eq(budgetPeriods.id, id))
}

export interface AlertView {
  alert: AlertRecord
  budget: Pick<BudgetRecord, 'uid' | 'name' | 'measure' | 'basis'>
}

/** Newest first; of one budget, or of all that the caller sees. */
export function listAlerts(
  reader: Reader,
  sight: BudgetSight,
  { budget, after, limit }: { budget?: Id<'bdg'> | undefined; after: number | undefined; limit: number },
): Promise<AlertView[]> {
  const { budgetAlerts, budgets } = reader.tables
  return reader
    .select({
      alert: budgetAlerts,
      budget: { uid: budgets.uid, name: budgets.name, measure: budgets.measure, basis: budgets.basis },
    })
    .from(budgetAlerts)
    .innerJoin(budgets, eq(budgets.id, budgetAlerts.budgetId))
    .where(
      and(
        isSeen(reader, sight),
        budget && eq(budgets.uid, budget),
        after === undefined ? undefined : lt(budgetAlerts.id, after),
      ),
    )
    .orderBy(desc(budgetAlerts.id))
    .limit(limit)
}

/** Alerts since a moment about which nobody was told yet, the oldest first. */
export function listUnnotified(reader: Reader, since: number, limit: number): Promise<AlertRecord[]> {
  const { budgetAlerts } = reader.tables
  return reader
    .select()
    .from(budgetAlerts)
    .where(and(isNull(budgetAlerts.notifiedAt), gt(budgetAlerts.at, since)))
    .orderBy(budgetAlerts.id)
    .limit(limit)
}

/** Notes that people were told about an alert; false if another server has. */
export async function claimAlert(tx: Tx, id: number, now: number): Promise<boolean> {
  const { budgetAlerts } = tx.tables
  const rows = await tx
    .update(budgetAlerts)
    .set({ notifiedAt: now })
    .where(and(eq(budgetAlerts.id, id), isNull(budgetAlerts.notifiedAt)))
    .returning({ id: budgetAlerts.id })
  return rows.length > 0
}

/** The keys of what a scope names; null for what it does not name. */
export async function findScope(
  reader: Reader,
  scope: Partial<Record<'client' | 'project' | 'ticket' | 'agent_manager', string | null>>,
) {
  const { clients, projects, projectNames, tickets, users } = reader.tables
  return {
    clientId: await findKey(reader, scope.client, 'cli', clients, [clients.id, clients.nameFolded]),
    projectId: await findKey(reader, scope.project, 'prj', projects, [projectNames.projectId, projectNames.folded]),
    ticketId: await findKey(reader, scope.ticket, 'tkt', tickets, [tickets.id, tickets.keyFolded]),
    managerId: await findKey(reader, scope.agent_manager, 'usr', users, [users.id, users.email]),
  }
}

/** The key of the row with this id, or that one of `byName`, a key and a folded text, leads to. */
async function findKey(
  reader: Reader,
  name: string | null | undefined,
  prefix: IdPrefix,
  { id, uid }: Record<'id' | 'uid', PgColumn>,
  byName: readonly [key: PgColumn, folded: PgColumn],
): Promise<number | null> {
  if (!name) return null
  const [key, column, value] = isId(prefix, name) ? [id, uid, name] : [...byName, foldName(name)]
  const rows: { key: unknown }[] = await reader
    .select({ key })
    .from(key.table as never)
    .where(eq(column, value))
  return (rows[0]?.key as number | undefined) ?? null
}

/** The project that was decided for a ticket; null if none was. */
export async function findProjectOf(reader: Reader, ticketId: number): Promise<number | null> {
  const { tickets } = reader.tables
  const [row] = await reader.select({ id: tickets.projectId }).from(tickets).where(eq(tickets.id, ticketId)).limit(1)
  return row?.id ?? null
}

/** The filter of the entries that a budget is for, without their status. */
export async function scopeFilter(reader: Reader, budget: BudgetRecord): Promise<EntryFilter | undefined> {
  const [view] = await selectBudgets(reader).where(eq(reader.tables.budgets.id, budget.id)).limit(1)
  return view && filterOf(view)
}

/** The same of a budget with its scope. */
export function filterOf({ budget, client, project, ticket, manager }: BudgetView): EntryFilter {
  return {
    ...(client && { client: [client.uid] }),
    ...(project && { project: [project.uid] }),
    ...(ticket && { ticket: [ticket.uid] }),
    ...(manager && { agent_manager: [manager.uid] }),
    ...(budget.agentName !== null && { agent_name: [budget.agentName] }),
    ...(budget.model !== null && { model: [budget.model] }),
    ...(budget.labelName !== null && { label: [{ name: budget.labelName, value: budget.labelValue! }] }),
  }
}

/** People with these ids or addresses, with the role billing, and leads. */
export async function listRecipients(
  reader: Reader,
  {
    people,
    emails,
    billing,
    projectId,
    clientId,
  }: { people: string[]; emails: string[]; billing: boolean; projectId: number | null; clientId: number | null },
) {
  const { users, projectLeads, clientLeads, projects } = reader.tables
  const leadsOfProject = (id: number) =>
    reader.select({ id: projectLeads.userId }).from(projectLeads).where(eq(projectLeads.projectId, id))
  const leadsOfClient = (id: number | SQL) =>
    reader
      .select({ id: clientLeads.userId })
      .from(clientLeads)
      .where(eq(clientLeads.clientId, id as number))
  const clientOfProject = (id: number) =>
    sql`(SELECT ${projects.clientId} FROM ${projects} WHERE ${projects.id} = ${id})`
  return reader
    .select({
      id: users.id,
      email: users.email,
      role: users.role,
      disabledAt: users.disabledAt,
      notifications: users.notifications,
    })
    .from(users)
    .where(
      or(
        people.length > 0 ? inArray(users.uid, people as Id<'usr'>[]) : sql`false`,
        emails.length > 0 ? inArray(users.email, emails) : undefined,
        billing ? eq(users.role, 'billing') : undefined,
        projectId === null ? undefined : inArray(users.id, leadsOfProject(projectId)),
        projectId === null ? undefined : inArray(users.id, leadsOfClient(clientOfProject(projectId))),
        clientId === null ? undefined : inArray(users.id, leadsOfClient(clientId)),
      ),
    )
}

/** The key of the project of a ticket. */
export async function findProjectOfTicket(reader: Reader, ticketId: number): Promise<number | null> {
  const { tickets } = reader.tables
  const [row] = await reader
    .select({ projectId: tickets.projectId })
    .from(tickets)
    .where(eq(tickets.id, ticketId))
    .limit(1)
  return row?.projectId ?? null
}

/** Which of these are ids of webhooks. */
export async function findWebhooks(reader: Reader, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { webhookEndpoints: webhooks } = reader.tables
  const found = await reader
    .select({ uid: webhooks.uid })
    .from(webhooks)
    .where(
      inArray(
        webhooks.uid,
        ids.filter((id): id is Id<'whk'> => isId('whk', id)),
      ),
    )
  return found.map(({ uid }) => uid)
}

/** The public ids of people with these ids or addresses, in their order; undefined for those that do not exist. */
export async function findPeople(reader: Reader, texts: readonly string[]): Promise<(Id<'usr'> | undefined)[]> {
  if (texts.length === 0) return []
  const { users } = reader.tables
  const ids = texts.filter((text) => isId('usr', text)) as Id<'usr'>[]
  const rows = await reader
    .select({ uid: users.uid, email: users.email })
    .from(users)
    .where(or(inArray(users.uid, ids), inArray(users.email, texts.map(foldName))))
  return texts.map((text) => rows.find(({ uid, email }) => uid === text || email === foldName(text))?.uid)
}

/** When the first entry of all started; undefined without entries. */
export async function findFirstStart(reader: Reader): Promise<number | undefined> {
  const { entries } = reader.tables
  const [row] = await reader.select({ at: entries.startedAt }).from(entries).orderBy(asc(entries.startedAt)).limit(1)
  return row?.at
}

/**
 * Periods of active budgets whose entries are to be counted: first those that are not counted, and the oldest first, because
 * what is left of a period is added to the next one.
 */
export function listUncounted(
  reader: Reader,
  now: number,
  limit: number,
): Promise<Pick<PeriodRecord, 'id' | 'budgetId'>[]> {
  const { budgets, budgetPeriods: p } = reader.tables
  return reader
    .select({ id: p.id, budgetId: p.budgetId })
    .from(p)
    .innerJoin(budgets, eq(budgets.id, p.budgetId))
    .where(and(isNull(budgets.archivedAt), or(isNull(p.countedAt), lte(p.recountAt, now))))
    .orderBy(sql`${p.countedAt} IS NOT NULL`, asc(p.startsAt), asc(p.id))
    .limit(limit)
}
