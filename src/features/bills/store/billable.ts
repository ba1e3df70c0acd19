/**
 * The data that a bill is composed from: the entries in its scope, the excluded ones, and the objects they refer to.
 */
import {
  and,
  type Column,
  eq,
  gte,
  inArray,
  isNotNull,
  isNull,
  lt,
  min,
  ne,
  notInArray,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { Reader } from '../../../database/database.ts'
import { exactTotal } from '../../../database/exact-sum.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { Id } from '../../../lib/id.ts'
import type { Nanos } from '../../../lib/money.ts'
import type { BillableEntry } from '../document.ts'

/** The scope: a client's projects, one project, or everything. */
export type ScopeKeys = { clientId: number } | { projectId: number } | 'everything'

export interface Moments {
  startingAt: number
  endingAt: number
}

/** Entries of a scope and a period that are not on a bill, with any status. */
export type ScopedEntry = Omit<BillableEntry, 'status' | 'costNanos'> & {
  status: string
  isBillable: boolean
  costNanos: Nanos | null
}

/** Counting stops here: there may be years of entries before a period. */
const COUNT_LIMIT = 100_000

export interface LeftOutEntries {
  entries: number
  /** The number of these without a cost. */
  unpriced: number
  costNanos: Nanos
  /** Whether there are more than were counted. */
  isMore: boolean
}

/** With the time of the first one, among those that were counted. */
export interface CountedEntries extends LeftOutEntries {
  firstAt: number | null
}

function inScope(reader: Reader, scope: ScopeKeys): SQL | undefined {
  const { entries, projects } = reader.tables
  if (scope === 'everything') return undefined
  if ('projectId' in scope) return eq(entries.projectId, scope.projectId)
  const own = reader.select({ id: projects.id }).from(projects).where(eq(projects.clientId, scope.clientId))
  return inArray(entries.projectId, own)
}

/** Not on a bill, and not superseded by another source. */
function isOpen({ tables: { entries } }: Reader): SQL | undefined {
  return and(ne(entries.status, 'billed'), eq(entries.superseded, false))
}

const within = ({ tables: { entries } }: Reader, { startingAt, endingAt }: Moments) =>
  and(gte(entries.startedAt, startingAt), lt(entries.startedAt, endingAt))

function isBillable(reader: Reader): SQL | undefined {
  const { entries, projects } = reader.tables
  const free = reader.select({ id: projects.id }).from(projects).where(eq(projects.billable, false))
  return or(isNull(entries.projectId), notInArray(entries.projectId, free))
}

export const costOf = ({ tables: { entries } }: Reader) => sql`coalesce(${entries.reportedCost}, ${entries.listValue})`

const NANOS = 1_000_000_000

/** The amounts as dollars and the rest: above 2^53 nano-dollars they would not be exact in one number. */
function scopedFields({ tables: { entries, projects } }: Reader) {
  const nanos = sql.raw(String(NANOS))
  return {
    id: entries.id,
    status: entries.status,
    projectId: entries.projectId,
    ticketId: entries.ticketId,
    modelId: entries.modelId,
    agentId: entries.agentId,
    managerId: entries.managerId,
    labelSetId: entries.labelSetId,
    sessionId: entries.sessionId,
    input: entries.input,
    output: entries.output,
    cacheRead: entries.cacheRead,
    cacheWrite: entries.cacheWrite,
    cacheWrite1h: entries.cacheWrite1h,
    costDollars: sql`coalesce(${entries.reportedCost}, ${entries.listValue}) / ${nanos}`,
    costRest: sql`coalesce(${entries.reportedCost}, ${entries.listValue}) % ${nanos}`,
    listDollars: sql`${entries.listValue} / ${nanos}`,
    listRest: sql`${entries.listValue} % ${nanos}`,
    isFree: sql`CASE WHEN ${projects.billable} THEN 0 ELSE 1 END`,
  } satisfies Record<string, SQLWrapper>
}

type Amounts = 'costDollars' | 'costRest' | 'listDollars' | 'listRest'

type ScopedRow = Omit<ScopedEntry, 'isEarlier' | 'isBillable' | 'costNanos' | 'listValueNanos'> &
  Record<Amounts, number | null> & { isFree: number }

function nanosOf(dollars: number | null, rest: number | null): Nanos | null {
  if (dollars === null) return null
  const nanos = dollars * NANOS + rest!
  return Number.isSafeInteger(nanos) ? BigInt(nanos) : BigInt(dollars) * BigInt(NANOS) + BigInt(rest!)
}

/** In order of their keys, so that the same entries result in the same bill. */
export async function listScoped(
  reader: Reader,
  scope: ScopeKeys,
  moments: Moments,
  { isEarlier }: { isEarlier: boolean },
): Promise<ScopedEntry[]> {
  const { entries, projects } = reader.tables
  const fields = Object.entries(scopedFields(reader)).map(([name, field]) => [name, sql`${field}`.as(name)] as const)
  const rows = await reader
    .raw<ScopedRow>(
      reader
        .select(Object.fromEntries(fields))
        .from(entries)
        .leftJoin(projects, eq(projects.id, entries.projectId))
        .where(and(inScope(reader, scope), within(reader, moments), isOpen(reader))),
    )
    .execute()
  return rows
    .map(
      (row): ScopedEntry => ({
        id: row.id,
        status: row.status,
        projectId: row.projectId,
        ticketId: row.ticketId,
        modelId: row.modelId,
        agentId: row.agentId,
        managerId: row.managerId,
        labelSetId: row.labelSetId,
        sessionId: row.sessionId,
        input: row.input,
        output: row.output,
        cacheRead: row.cacheRead,
        cacheWrite: row.cacheWrite,
        cacheWrite1h: row.cacheWrite1h,
        isEarlier,
        isBillable: row.projectId === null || row.isFree === 0,
        costNanos: nanosOf(row.costDollars, row.costRest),
        listValueNanos: nanosOf(row.listDollars, row.listRest),
      }),
    )
    .sort((one, other) => one.id - other.id)
}

/** Billable entries from before the period: their number, and the time of the first. */
export async function countEarlier(
  reader: Reader,
  scope: ScopeKeys,
  { before, statuses }: { before: number; statuses: readonly ('submitted' | 'approved')[] },
): Promise<CountedEntries> {
  const { entries } = reader.tables
  const condition = and(
    inScope(reader, scope),
    lt(entries.startedAt, before),
    inArray(entries.status, [...statuses]),
    isOpen(reader),
    isBillable(reader),
  )
  return count(reader, condition)
}

/** Entries of the period without a client or project, which would be forgotten if they were not counted. */
export async function countOutside(
  reader: Reader,
  moments: Moments,
  statuses: readonly ('submitted' | 'approved')[],
): Promise<Record<'unattributed' | 'withoutClient' | 'withoutProject', LeftOutEntries>> {
  const { entries, projects } = reader.tables
  const open = and(within(reader, moments), inArray(entries.status, [...statuses]), isOpen(reader))
  const clientless = reader
    .select({ id: projects.id })
    .from(projects)
    .where(and(isNull(projects.clientId), eq(projects.billable, true)))
  return {
    unattributed: await count(reader, and(open, isNull(entries.projectId), isNull(entries.ticketId))),
    withoutClient: await count(reader, and(open, inArray(entries.projectId, clientless))),
    withoutProject: await count(reader, and(open, isNull(entries.projectId), isNotNull(entries.ticketId))),
  }
}

async function count(reader: Reader, condition: SQL | undefined): Promise<CountedEntries> {
  const { entries } = reader.tables
  const some = reader
    .select({ cost: costOf(reader).as('cost'), at: entries.startedAt })
    .from(entries)
    .where(condition)
    .limit(COUNT_LIMIT + 1)
    .as('some')
  const [row] = await reader
    .select({
      entries: sql<number>`count(*)`.mapWith(Number),
      unpriced: sql<number>`count(*) - count(${some.cost})`.mapWith(Number),
      costNanos: exactTotal(some.cost),
      firstAt: min(some.at),
    })
    .from(some)
  const { entries: found, unpriced, costNanos, firstAt } = row!
  return { entries: Math.min(found, COUNT_LIMIT), unpriced, costNanos, isMore: found > COUNT_LIMIT, firstAt }
}

async function byKey<Row>(
  keys: Iterable<number | null>,
  list: (keys: number[]) => Promise<(Row & { id: number })[]>,
): Promise<Map<number, Row>> {
  const sorted = [...new Set(keys)].filter((key): key is number => key !== null).sort((one, other) => one - other)
  const found = new Map<number, Row>()
  for (const portion of portionsOf(sorted)) {
    for (const row of await list(portion)) found.set(row.id, row)
  }
  return found
}

type Keyed = Pick<ScopedEntry, 'projectId' | 'ticketId' | 'modelId' | 'agentId' | 'managerId' | 'labelSetId'>

export interface NamedKeys {
  projects: Map<
    number,
    { uid: Id<'prj'>; key: string; name: string; markupPpm: number | null; clientId: number | null }
  >
  tickets: Map<number, { uid: Id<'tkt'>; key: string; title: string | null }>
  names: Map<number, { text: string }>
  managers: Map<number, { uid: Id<'usr'>; name: string }>
  labelSets: Map<number, { labels: Record<string, string> }>
  /** The markups of the projects' clients. */
  clients: Map<number, { markupPpm: number | null }>
}

/** The current names of the objects that entries refer to. */
export async function nameKeys(reader: Reader, rows: readonly Keyed[]): Promise<NamedKeys> {
  const { projects, tickets, names, users, labelSets, clients } = reader.tables
  const of = (column: Column, keys: number[]) => inArray(column, keys)
  const named = await byKey(
    rows.map(({ projectId }) => projectId),
    (keys) =>
      reader
        .select({
          id: projects.id,
          uid: projects.uid,
          key: projects.key,
          name: projects.name,
          markupPpm: projects.markupPpm,
          clientId: projects.clientId,
        })
        .from(projects)
        .where(of(projects.id, keys)),
  )
  return {
    projects: named,
    tickets: await byKey(
      rows.map(({ ticketId }) => ticketId),
      (keys) =>
        reader
          .select({ id: tickets.id, uid: tickets.uid, key: tickets.key, title: tickets.title })
          .from(tickets)
          .where(of(tickets.id, keys)),
    ),
    names: await byKey(
      rows.flatMap(({ modelId, agentId }) => [modelId, agentId]),
      (keys) => reader.select({ id: names.id, text: names.text }).from(names).where(of(names.id, keys)),
    ),
    managers: await byKey(
      rows.map(({ managerId }) => managerId),
      (keys) => reader.select({ id: users.id, uid: users.uid, name: users.name }).from(users).where(of(users.id, keys)),
    ),
    labelSets: await byKey(
      rows.map(({ labelSetId }) => labelSetId),
      (keys) =>
        reader.select({ id: labelSets.id, labels: labelSets.labels }).from(labelSets).where(of(labelSets.id, keys)),
    ),
    clients: await byKey(
      [...named.values()].map(({ clientId }) => clientId),
      (keys) =>
        reader.select({ id: clients.id, markupPpm: clients.markupPpm }).from(clients).where(of(clients.id, keys)),
    ),
  }
}
