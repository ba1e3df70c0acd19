/**
 * The data that a bill is composed from: the entries in its scope, the excluded ones, and the objects they refer to.
 */

import {
  and,
  eq,
  gte,
  inArray,
  isNull,
  lt,
  min,
  ne,
  notInArray,
  or,
  type Placeholder,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import type { Prepared, Reader } from '../../../database/database.ts'
import { amountOfParts, amountParts } from '../../../database/exact-amounts.ts'
import { exactTotal } from '../../../database/exact-sum.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { Status } from '../../../database/schema/values.ts'
import type { Id } from '../../../lib/id.ts'
import type { Nanos } from '../../../lib/money.ts'
import type { CostBasis } from '../../../shared/cost-basis.ts'
import { amountOf, OPEN_STATUSES } from '../../selection/contract.ts'
import type { BillableEntry, LineDimension } from '../document.ts'
import type { OpenPeriod, PlanFacts } from './plan-facts.ts'

/** The scope: a client's projects, one project, or everything. */
export type ScopeKeys = ScopeBy<number>

type ScopeBy<Key> = { clientId: Key } | { projectId: Key } | 'everything'

export interface Moments {
  startingAt: number
  endingAt: number
}

/** Entries of a scope and a period that are not on a bill, with any status. */
export type ScopedEntry = Omit<BillableEntry, 'status' | 'costNanos'> & {
  status: Status
  isBillable: boolean
  /** On the basis of the bill; null if it is unknown. */
  costNanos: Nanos | null
  /** The reported cost, or else the list value, if the amount on the basis is unknown though one of them is known. */
  otherCostNanos?: Nanos
  /** Corrects the shares of a closed period, and is counted 0 by the basis of the bill. */
  isUncounted?: boolean
  /** The period of its plan, if its amount may still change until that is closed. */
  openPeriod?: OpenPeriod | undefined
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

function inScope(reader: Reader, scope: ScopeBy<number | Placeholder>): SQL | undefined {
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

function isBillable(reader: Reader): SQL | undefined {
  const { entries, projects } = reader.tables
  const free = reader.select({ id: projects.id }).from(projects).where(eq(projects.billable, false))
  return or(isNull(entries.projectId), notInArray(entries.projectId, free))
}

/** The keys that lines are grouped by. */
const LINE_KEYS = ['ticketId', 'modelId', 'agentId', 'managerId', 'labelSetId'] as const
type LineKey = (typeof LINE_KEYS)[number]

function lineKeyOf(dimension: LineDimension): LineKey | undefined {
  switch (dimension) {
    case 'project':
      return undefined
    case 'ticket':
      return 'ticketId'
    case 'model':
      return 'modelId'
    case 'agent_manager':
      return 'managerId'
    case 'agent_name':
      return 'agentId'
    default:
      return 'labelSetId'
  }
}

function scopedFields({ tables }: Reader, lineKeys: ReadonlySet<LineKey>, basis: CostBasis) {
  const { entries } = tables
  const [reported, list] = [amountParts(entries.reportedCost), amountParts(entries.listValue)]
  return {
    id: entries.id,
    status: entries.status,
    projectId: entries.projectId,
    ...Object.fromEntries([...lineKeys].map((key) => [key, entries[key]])),
    sessionId: entries.sessionId,
    input: entries.input,
    output: entries.output,
    cacheRead: entries.cacheRead,
    cacheWrite: entries.cacheWrite,
    cacheWrite1h: entries.cacheWrite1h,
    activeMs: entries.activeMs,
    reportedDollars: reported.dollars,
    reportedRest: reported.rest,
    listDollars: list.dollars,
    listRest: list.rest,
    ...(hasShares(basis) && {
      fundingId: entries.fundingId,
      startedAt: entries.startedAt,
      marginal: sql`CAST(${amountOf(tables, 'marginal')} AS text)`,
      allocated: basis === 'allocated' ? sql`CAST(${amountOf(tables, 'allocated')} AS text)` : sql`NULL`,
    }),
  } satisfies Record<string, SQLWrapper>
}

type Amounts = 'reportedDollars' | 'reportedRest' | 'listDollars' | 'listRest'

type ScopedRow = Pick<
  ScopedEntry,
  | 'id'
  | 'status'
  | 'projectId'
  | 'sessionId'
  | 'input'
  | 'output'
  | 'cacheRead'
  | 'cacheWrite'
  | 'cacheWrite1h'
  | 'activeMs'
> &
  Partial<Pick<ScopedEntry, LineKey>> &
  Record<Amounts, number | null> &
  Partial<ShareRow>

/** What is read of entries for bills by marginal and allocated cost; nano-dollars as texts. */
interface ShareRow {
  fundingId: number | null
  startedAt: number
  marginal: string | null
  allocated: string | null
}

/** Of what was not read because no line needs it. */
const UNREAD = 0

/** Reads the entries of scopes. A billing run has hundreds of these, for which a query is built only once. */
export class ScopedEntries {
  readonly #queries = new Map<string, Prepared<ScopedRow>>()
  #places: ReturnType<typeof listProjectPlaces> | undefined

  readonly #lineKeys: ReadonlySet<LineKey>

  /** @param dimensions of the lines; entries then have no other keys than theirs, unless it is absent */
  constructor(
    readonly reader: Reader,
    dimensions?: ReadonlySet<LineDimension>,
  ) {
    this.#lineKeys = new Set(dimensions ? [...dimensions].flatMap((one) => lineKeyOf(one) ?? []) : LINE_KEYS)
  }

  /** In order of their keys, so that the same entries result in the same bill. */
  async list(
    scope: ScopeKeys,
    moments: Moments,
    { isEarlier, basis, facts }: { isEarlier: boolean; basis: CostBasis; facts: PlanFacts },
  ): Promise<ScopedEntry[]> {
    this.#places ??= listProjectPlaces(this.reader)
    const places = await this.#places
    const keys = scope === 'everything' ? {} : scope
    const rows = await this.#queryOf(scope, basis).execute({ ...keys, ...moments })
    return rows
      .map((row): ScopedEntry => {
        const listValueNanos = amountOfParts(row.listDollars, row.listRest)
        return {
          id: row.id,
          status: row.status,
          projectId: row.projectId,
          ticketId: row.ticketId ?? null,
          modelId: row.modelId ?? UNREAD,
          agentId: row.agentId ?? UNREAD,
          managerId: row.managerId ?? UNREAD,
          labelSetId: row.labelSetId ?? null,
          sessionId: row.sessionId,
          input: row.input,
          output: row.output,
          cacheRead: row.cacheRead,
          cacheWrite: row.cacheWrite,
          cacheWrite1h: row.cacheWrite1h,
          activeMs: row.activeMs,
          isEarlier,
          isBillable: row.projectId === null || places.get(row.projectId)!.billable,
          ...amountsOf(row, listValueNanos, basis, facts),
          listValueNanos,
        }
      })
      .sort((one, other) => one.id - other.id)
  }

  #queryOf(scope: ScopeKeys, basis: CostBasis): Prepared<ScopedRow> {
    const kind = `${scope === 'everything' ? scope : Object.keys(scope).join()} ${basis}`
    let query = this.#queries.get(kind)
    if (!query) {
      query = this.#build(withPlaceholder(scope), basis)
      this.#queries.set(kind, query)
    }
    return query
  }

  #build(scope: ScopeBy<Placeholder>, basis: CostBasis): Prepared<ScopedRow> {
    const { reader } = this
    const { entries } = reader.tables
    const fields = Object.entries(scopedFields(reader, this.#lineKeys, basis)).map(
      ([name, field]) => [name, sql`${field}`.as(name)] as const,
    )
    return reader.raw<ScopedRow>(
      reader
        .select(Object.fromEntries(fields))
        .from(entries)
        .where(
          and(
            inScope(reader, scope),
            gte(entries.startedAt, sql.placeholder('startingAt')),
            lt(entries.startedAt, sql.placeholder('endingAt')),
            isOpen(reader),
          ),
        ),
    )
  }
}

/** By the bases whose amounts contain shares of fees and charges, and may change until their period is closed. */
export const hasShares = (basis: CostBasis): basis is 'marginal' | 'allocated' =>
  basis === 'marginal' || basis === 'allocated'

function amountsOf(
  row: ScopedRow,
  listValueNanos: Nanos | null,
  basis: CostBasis,
  facts: PlanFacts,
): Pick<ScopedEntry, 'costNanos' | 'otherCostNanos' | 'isUncounted' | 'openPeriod' | 'paid'> {
  const costNanos = amountOfParts(row.reportedDollars, row.reportedRest) ?? listValueNanos
  const isUncounted = facts.isUncounted(row.id) ? { isUncounted: true } : {}
  const unknown = { costNanos: null, ...(costNanos !== null && { otherCostNanos: costNanos }), ...isUncounted }
  if (basis === 'list') return listValueNanos === null ? unknown : { costNanos: listValueNanos, ...isUncounted }
  if (basis === 'cost') return { costNanos, ...isUncounted }
  const { fundingId, startedAt, marginal, allocated } = row as ScopedRow & ShareRow
  const amount = basis === 'marginal' ? marginal : allocated
  if (amount === null || marginal === null) return unknown
  const charge = BigInt(marginal)
  return {
    costNanos: BigInt(amount),
    paid: { charge, fee: basis === 'allocated' ? BigInt(amount) - charge : null },
    openPeriod: facts.openPeriodOf({ id: row.id, fundingId, startedAt }),
    ...isUncounted,
  }
}

function withPlaceholder(scope: ScopeKeys): ScopeBy<Placeholder> {
  if (scope === 'everything') return scope
  return 'clientId' in scope ? { clientId: sql.placeholder('clientId') } : { projectId: sql.placeholder('projectId') }
}

/** Entries from before the period that may still be billed on the basis: their number, and the time of the first. */
export async function countEarlier(
  reader: Reader,
  scope: ScopeKeys,
  { before, basis, facts }: { before: number; basis: CostBasis; facts: PlanFacts },
): Promise<CountedEntries> {
  const { entries } = reader.tables
  const condition = and(
    inScope(reader, scope),
    lt(entries.startedAt, before),
    inArray(entries.status, [...OPEN_STATUSES]),
    isOpen(reader),
    isBillable(reader),
    facts.uncounted && notInArray(entries.id, facts.uncounted as never),
  )
  return count(reader, condition, basis)
}

/** What decides whether and to whom the entries of each project can be billed. */
export async function listProjectPlaces(
  reader: Reader,
): Promise<Map<number, { clientId: number | null; billable: boolean }>> {
  const { projects } = reader.tables
  const rows = await reader
    .select({ id: projects.id, clientId: projects.clientId, billable: projects.billable })
    .from(projects)
  return new Map(rows.map(({ id, ...place }) => [id, place]))
}

async function count(reader: Reader, condition: SQL | undefined, basis: CostBasis): Promise<CountedEntries> {
  const { entries } = reader.tables
  const some = reader
    .select({ cost: sql`${amountOf(reader.tables, basis)}`.as('cost'), at: entries.startedAt })
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

/** Adds what is not known yet. */
async function addByKey<Row extends { id: number }, Value>(
  known: Map<number, Value>,
  keys: Iterable<number | null>,
  list: (keys: number[]) => Promise<Row[]>,
  read: (row: Row) => Value,
): Promise<void> {
  const missing = [...new Set(keys)].filter((key): key is number => key !== null && !known.has(key))
  for (const portion of portionsOf(missing.sort((one, other) => one - other))) {
    for (const row of await list(portion)) known.set(row.id, read(row))
  }
}

const itself = <Row>(row: Row): Row => row

type Keyed = Pick<ScopedEntry, 'projectId' | 'ticketId' | 'modelId' | 'agentId' | 'managerId' | 'labelSetId'>

export interface NamedKeys {
  projects: Map<
    number,
    { uid: Id<'prj'>; key: string; name: string; markupPpm: number | null; clientId: number | null }
  >
  tickets: Map<number, { uid: Id<'tkt'>; key: string; title: string | null }>
  names: Map<number, string>
  managers: Map<number, { uid: Id<'usr'>; name: string }>
  labelSets: Map<number, Record<string, string>>
  /** The markups of the projects' clients. */
  clients: Map<number, { markupPpm: number | null }>
}

/** The current names of objects that lines are grouped by. Bills of one billing run share most of them. */
export class KeyedNames {
  readonly #named: NamedKeys = {
    projects: new Map(),
    tickets: new Map(),
    names: new Map(),
    managers: new Map(),
    labelSets: new Map(),
    clients: new Map(),
  }

  constructor(readonly reader: Reader) {}

  /** At least those of the dimensions that the entries refer to, and their projects, which have markups. */
  async of(rows: readonly Keyed[], dimensions: ReadonlySet<LineDimension>): Promise<NamedKeys> {
    const keysIn = (dimension: LineDimension, keyOf: (row: Keyed) => number | null) =>
      dimensions.has(dimension) ? rows.map(keyOf) : []
    const hasLabels = [...dimensions].some((dimension) => dimension.startsWith('label:'))
    const { reader } = this
    const named = this.#named
    const { projects, tickets, names, users, labelSets, clients } = reader.tables
    await addByKey(
      named.projects,
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
          .where(inArray(projects.id, keys)),
      itself,
    )
    await addByKey(
      named.tickets,
      keysIn('ticket', ({ ticketId }) => ticketId),
      (keys) =>
        reader
          .select({ id: tickets.id, uid: tickets.uid, key: tickets.key, title: tickets.title })
          .from(tickets)
          .where(inArray(tickets.id, keys)),
      itself,
    )
    await addByKey(
      named.names,
      [...keysIn('model', ({ modelId }) => modelId), ...keysIn('agent_name', ({ agentId }) => agentId)],
      (keys) => reader.select({ id: names.id, text: names.text }).from(names).where(inArray(names.id, keys)),
      ({ text }) => text,
    )
    await addByKey(
      named.managers,
      keysIn('agent_manager', ({ managerId }) => managerId),
      (keys) =>
        reader.select({ id: users.id, uid: users.uid, name: users.name }).from(users).where(inArray(users.id, keys)),
      itself,
    )
    await addByKey(
      named.labelSets,
      hasLabels ? rows.map(({ labelSetId }) => labelSetId) : [],
      (keys) =>
        reader
          .select({ id: labelSets.id, labels: labelSets.labels })
          .from(labelSets)
          .where(inArray(labelSets.id, keys)),
      ({ labels }) => labels,
    )
    await addByKey(
      named.clients,
      [...named.projects.values()].map(({ clientId }) => clientId),
      (keys) =>
        reader.select({ id: clients.id, markupPpm: clients.markupPpm }).from(clients).where(inArray(clients.id, keys)),
      itself,
    )
    return named
  }
}
