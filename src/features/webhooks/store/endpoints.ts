/** Endpoints: what people configured, and how far each one has got in the event log. */
import { aliasedTable, and, count, desc, eq, gt, isNotNull, isNull, lt, lte, ne, not, or, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { type Id, newId } from '../../../lib/id.ts'
import { FARTHEST_LEASE_MS, GIVE_UP_MS } from '../schedule.ts'

export type EndpointRow = Tables['webhookEndpoints']['$inferSelect']
export type NewEndpointRow = Pick<
  EndpointRow,
  | 'name'
  | 'url'
  | 'format'
  | 'types'
  | 'clientId'
  | 'projectId'
  | 'secret'
  | 'createdBy'
  | 'createdAt'
  | 'ownerId'
  | 'ownerTokenId'
  | 'cursor'
>

/** Of an endpoint whose next attempt may be made at once. */
export const NOT_FAILING = { attempts: 0, failingSince: null, nextAttemptAt: null } as const

/** The endpoint with the objects that it names. */
export interface EndpointView {
  row: EndpointRow
  client: { uid: Id<'cli'>; name: string } | null
  project: { uid: Id<'prj'>; key: string; name: string } | null
  creator: { uid: Id<'usr'>; name: string } | null
  owner: { uid: Id<'usr'>; name: string } | null
  ownerToken: { uid: Id<'tok'>; name: string } | null
}

function selectEndpoints(reader: Reader) {
  const { webhookEndpoints, clients, projects, users, tokens } = reader.tables
  const owners = aliasedTable(users, 'owners')
  return reader
    .select({
      row: webhookEndpoints,
      client: { uid: clients.uid, name: clients.name },
      project: { uid: projects.uid, key: projects.key, name: projects.name },
      creator: { uid: users.uid, name: users.name },
      owner: { uid: owners.uid, name: owners.name },
      ownerToken: { uid: tokens.uid, name: tokens.name },
    })
    .from(webhookEndpoints)
    .leftJoin(clients, eq(clients.id, webhookEndpoints.clientId))
    .leftJoin(projects, eq(projects.id, webhookEndpoints.projectId))
    .leftJoin(users, eq(users.id, webhookEndpoints.createdBy))
    .leftJoin(owners, eq(owners.id, webhookEndpoints.ownerId))
    .leftJoin(tokens, eq(tokens.id, webhookEndpoints.ownerTokenId))
}

/** Fails, is suspended, or was disabled because it failed; one that a person disabled is as they want it. */
function failingCondition(reader: Reader, isFailing: boolean | undefined) {
  if (isFailing === undefined) return undefined
  const { disabledAt, disabledReason, failingSince, suspendedAt } = reader.tables.webhookEndpoints
  const fails = or(
    and(isNull(disabledAt), or(isNotNull(failingSince), isNotNull(suspendedAt))),
    and(isNotNull(disabledAt), ne(disabledReason, 'person')),
  )!
  return isFailing ? fails : not(fails)
}

export async function countFailingEndpoints(reader: Reader): Promise<number> {
  const [row] = await reader
    .select({ endpoints: count() })
    .from(reader.tables.webhookEndpoints)
    .where(failingCondition(reader, true))
  return row!.endpoints
}

/** Newest first. */
export async function listEndpoints(
  reader: Reader,
  { after, limit, isFailing }: { after: number | undefined; limit: number; isFailing?: boolean | undefined },
): Promise<EndpointView[]> {
  const { webhookEndpoints } = reader.tables
  return selectEndpoints(reader)
    .where(and(after === undefined ? undefined : lt(webhookEndpoints.id, after), failingCondition(reader, isFailing)))
    .orderBy(desc(webhookEndpoints.id))
    .limit(limit)
}

export async function findEndpoint(reader: Reader, uid: Id<'whk'>): Promise<EndpointView | undefined> {
  const [found] = await selectEndpoints(reader).where(eq(reader.tables.webhookEndpoints.uid, uid)).limit(1)
  return found
}

export async function countEndpoints(reader: Reader): Promise<number> {
  const [row] = await reader.select({ endpoints: count() }).from(reader.tables.webhookEndpoints)
  return row!.endpoints
}

export async function insertEndpoint(tx: Tx, row: NewEndpointRow): Promise<EndpointView> {
  const uid = newId('whk')
  await tx.insert(tx.tables.webhookEndpoints).values({ ...row, uid })
  return (await findEndpoint(tx, uid))!
}

export async function updateEndpoint(tx: Tx, id: number, changed: Partial<EndpointRow>): Promise<void> {
  const { webhookEndpoints } = tx.tables
  if (Object.keys(changed).length > 0) {
    await tx.update(webhookEndpoints).set(changed).where(eq(webhookEndpoints.id, id))
  }
}

/** Suspends an endpoint or ends that; false if its owner or its state has changed meanwhile. Its failures are forgotten. */
export async function updateSuspension(
  tx: Tx,
  { id, ownerId, ownerTokenId, suspendedReason }: EndpointRow,
  changed: Pick<EndpointRow, 'suspendedAt' | 'suspendedReason' | 'noticeDueAt'>,
): Promise<boolean> {
  const { webhookEndpoints: table } = tx.tables
  const is = (column: PgColumn, value: number | string | null) => (value === null ? isNull(column) : eq(column, value))
  const rows = await tx
    .update(table)
    .set({ ...changed, ...NOT_FAILING })
    .where(
      and(
        eq(table.id, id),
        is(table.ownerId, ownerId),
        is(table.ownerTokenId, ownerTokenId),
        is(table.suspendedReason, suspendedReason),
        isNull(table.disabledAt),
      ),
    )
    .returning({ id: table.id })
  return rows.length > 0
}

/** With its deliveries. */
export async function deleteEndpoint(tx: Tx, id: number): Promise<void> {
  const { webhookEndpoints, webhookDeliveries } = tx.tables
  await tx.delete(webhookDeliveries).where(eq(webhookDeliveries.endpointId, id))
  await tx.delete(webhookEndpoints).where(eq(webhookEndpoints.id, id))
}

/** The enabled endpoints. Read once a second, so the query is prepared. */
export async function listActiveEndpoints(reader: Reader): Promise<EndpointRow[]> {
  const active = reader.prepared('webhooks.active', (prepare) => {
    const { webhookEndpoints } = prepare.tables
    return prepare.select().from(webhookEndpoints).where(isNull(webhookEndpoints.disabledAt))
  })
  return active.execute()
}

/** One of them, as it is now. Read before each event. */
export async function findActiveEndpoint(reader: Reader, id: number): Promise<EndpointRow | undefined> {
  const active = reader.prepared('webhooks.active-one', (prepare) => {
    const { webhookEndpoints } = prepare.tables
    return prepare
      .select()
      .from(webhookEndpoints)
      .where(and(eq(webhookEndpoints.id, sql.placeholder('id')), isNull(webhookEndpoints.disabledAt)))
  })
  const [found] = await active.execute({ id })
  return found
}

export interface Lease {
  /** A server. */
  holder: string
  now: number
  until: number
}

/**
 * Claims an endpoint, so that one server at a time delivers to it. Returns it as it is now; undefined if another server
 * has it, or if it is disabled or must wait. A lease that nobody renews ends by itself, because its holder has died.
 */
export async function claimEndpoint(
  tx: Tx,
  id: number,
  { holder, now, until }: Lease,
): Promise<EndpointRow | undefined> {
  const { webhookEndpoints: table } = tx.tables
  const [claimed] = await tx
    .update(table)
    .set({ leaseHolder: holder, leasedUntil: until })
    .where(
      and(
        eq(table.id, id),
        isNull(table.disabledAt),
        // As `isDue`.
        or(isNull(table.nextAttemptAt), lte(table.nextAttemptAt, now), gt(table.nextAttemptAt, now + GIVE_UP_MS)),
        or(
          isNull(table.leasedUntil),
          lte(table.leasedUntil, now),
          gt(table.leasedUntil, now + FARTHEST_LEASE_MS),
          eq(table.leaseHolder, holder),
        ),
      ),
    )
    .returning()
  return claimed
}

/**
 * Writes the state of an endpoint after an attempt. Returns it as it is now; undefined, and nothing is written, if the
 * holder has lost its lease or the cursor was moved meanwhile: then somebody else delivers to it.
 */
export async function advanceEndpoint(
  tx: Tx,
  { id, cursor }: Pick<EndpointRow, 'id' | 'cursor'>,
  holder: string,
  changed: Partial<EndpointRow>,
): Promise<EndpointRow | undefined> {
  const { webhookEndpoints: table } = tx.tables
  const [advanced] = await tx
    .update(table)
    .set(changed)
    .where(and(eq(table.id, id), eq(table.cursor, cursor), eq(table.leaseHolder, holder), isNull(table.disabledAt)))
    .returning()
  return advanced
}

/**
 * The same after a delivery, which moves the cursor and renews the lease. Prepared, because building and compiling the
 * statement for each of a hundred thousand events would take more of the main thread than everything else about them.
 */
export async function advanceDelivered(
  tx: Tx,
  { id, cursor }: Pick<EndpointRow, 'id' | 'cursor'>,
  holder: string,
  { next, leasedUntil }: { next: number; leasedUntil: number },
): Promise<EndpointRow | undefined> {
  const [advanced] = await tx
    .prepared('webhooks.delivered', (prepare) => {
      const { webhookEndpoints: table } = prepare.tables
      const columns = { cursor: sql.placeholder('next'), leasedUntil: sql.placeholder('leasedUntil') }
      return prepare
        .update(table)
        .set({ ...columns, attempts: 0, failingSince: null, nextAttemptAt: null } as never)
        .where(
          and(
            eq(table.id, sql.placeholder('id')),
            eq(table.cursor, sql.placeholder('cursor')),
            eq(table.leaseHolder, sql.placeholder('holder')),
            isNull(table.disabledAt),
          ),
        )
        .returning()
    })
    .execute({ id, cursor, holder, next, leasedUntil })
  return advanced
}

/** Ends the lease of its holder. */
export async function releaseEndpoint(tx: Tx, id: number, holder: string): Promise<void> {
  const { webhookEndpoints: table } = tx.tables
  await tx
    .update(table)
    .set({ leaseHolder: null, leasedUntil: null })
    .where(and(eq(table.id, id), eq(table.leaseHolder, holder)))
}

/** A disabled or suspended endpoint whose notice is due. */
export async function findDueNotice(reader: Reader, now: number): Promise<EndpointView | undefined> {
  const { webhookEndpoints } = reader.tables
  const [due] = await selectEndpoints(reader)
    .where(and(isNotNull(webhookEndpoints.noticeDueAt), lte(webhookEndpoints.noticeDueAt, now)))
    .limit(1)
  return due
}

/** Sets when the notice is due next; false if another server has done so meanwhile. */
export async function setNoticeDue(
  tx: Tx,
  { id, noticeDueAt }: Pick<EndpointRow, 'id' | 'noticeDueAt'>,
  next: number | null,
): Promise<boolean> {
  const { webhookEndpoints: table } = tx.tables
  const rows = await tx
    .update(table)
    .set({ noticeDueAt: next })
    .where(and(eq(table.id, id), eq(table.noticeDueAt, noticeDueAt!)))
    .returning({ id: table.id })
  return rows.length > 0
}

/** What a chat says of an entry. */
export async function findShownEntry(
  reader: Reader,
  uid: Id<'ent'>,
): Promise<{ model: string; project: { key: string; name: string } | null; costNanos: bigint | null } | undefined> {
  const { entries, names, projects } = reader.tables
  const [row] = await reader
    .select({
      model: names.text,
      project: { key: projects.key, name: projects.name },
      reportedCost: entries.reportedCost,
      listValue: entries.listValue,
    })
    .from(entries)
    .innerJoin(names, eq(names.id, entries.modelId))
    .leftJoin(projects, eq(projects.id, entries.projectId))
    .where(eq(entries.uid, uid))
    .limit(1)
  return row && { model: row.model, project: row.project, costNanos: row.reportedCost ?? row.listValue }
}
