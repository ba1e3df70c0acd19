/** The table `price_loads`: who loaded which price table when, and what became of it. */
import { aliasedTable, and, asc, count, desc, eq, gt, gte, inArray, isNull, lt, lte, max, sql } from 'drizzle-orm'

import type { Reader, Tx } from '../../../database/database.ts'
import { portionsOf } from '../../../database/portions.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { type Id, newId } from '../../../lib/id.ts'

export type LoadRecord = Tables['priceLoads']['$inferSelect']
export type NewLoad = Pick<LoadRecord, 'format' | 'name' | 'digest' | 'asOf' | 'counts' | 'loadedAt' | 'loadedBy'> &
  Partial<Pick<LoadRecord, 'replacedAliases' | 'notice' | 'noticeDueAt'>>

type Person = { uid: Id<'usr'>; name: string } | null

/** A load with the people who made and undid it; null for the command line and for Tally itself. */
export interface LoadView {
  load: LoadRecord
  loadedBy: Person
  undoneBy: Person
}

/** Records a load. Undefined if it is of a version of the embedded table that another process has loaded. */
export async function insertLoad(tx: Tx, load: NewLoad): Promise<{ id: number; uid: Id<'pld'> } | undefined> {
  const { priceLoads } = tx.tables
  const uid = newId('pld')
  const [row] = await tx
    .insert(priceLoads)
    .values({ uid, ...load })
    .onConflictDoNothing()
    .returning({ id: priceLoads.id })
  return row && { id: row.id, uid }
}

/** The loaded versions of the embedded table, also those that were undone. */
export async function listEmbeddedVersions(reader: Reader): Promise<string[]> {
  const { priceLoads } = reader.tables
  const rows = await reader.select({ name: priceLoads.name }).from(priceLoads).where(eq(priceLoads.format, 'default'))
  return rows.map(({ name }) => name!)
}

function selectViews(reader: Reader) {
  const { priceLoads, users } = reader.tables
  const undoers = aliasedTable(users, 'undoer')
  return reader
    .select({
      load: priceLoads,
      loadedBy: { uid: users.uid, name: users.name },
      undoneBy: { uid: undoers.uid, name: undoers.name },
    })
    .from(priceLoads)
    .leftJoin(users, eq(users.id, priceLoads.loadedBy))
    .leftJoin(undoers, eq(undoers.id, priceLoads.undoneBy))
}

/** A page of loads, the newest first. */
export async function listLoads(
  reader: Reader,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<LoadView[]> {
  const { priceLoads } = reader.tables
  return selectViews(reader)
    .where(after === undefined ? undefined : lt(priceLoads.id, after))
    .orderBy(desc(priceLoads.id))
    .limit(limit)
}

export async function findLoad(reader: Reader, uid: Id<'pld'>): Promise<LoadView | undefined> {
  const [row] = await selectViews(reader).where(eq(reader.tables.priceLoads.uid, uid))
  return row
}

/** The newest load of a file that was not undone. */
export async function findLatestLoad(reader: Reader): Promise<LoadView | undefined> {
  const { priceLoads } = reader.tables
  const [row] = await selectViews(reader)
    .where(and(isNull(priceLoads.undoneAt), sql`${priceLoads.format} <> 'default'`))
    .orderBy(desc(priceLoads.id))
    .limit(1)
  return row
}

/** The newest later load of the same format that was not undone: its rows were planned on top of this load's. */
export async function findLaterLoad(reader: Reader, { id, format }: LoadRecord): Promise<LoadRecord | undefined> {
  const { priceLoads } = reader.tables
  const [row] = await reader
    .select()
    .from(priceLoads)
    .where(and(gt(priceLoads.id, id), eq(priceLoads.format, format), isNull(priceLoads.undoneAt)))
    .orderBy(desc(priceLoads.id))
    .limit(1)
  return row
}

/** The newest load of a file under this name that was not undone. */
export async function findLoadNamed(reader: Reader, name: string): Promise<LoadRecord | undefined> {
  const { priceLoads } = reader.tables
  const [row] = await reader
    .select()
    .from(priceLoads)
    .where(and(eq(priceLoads.name, name), isNull(priceLoads.undoneAt)))
    .orderBy(desc(priceLoads.id))
    .limit(1)
  return row
}

function pricesOf(reader: Reader, loadId: number) {
  const { prices } = reader.tables
  return reader.select({ id: prices.id }).from(prices).where(eq(prices.loadId, loadId))
}

/** The number of entries that have a price of the load. Reads every entry that starts after its first price. */
export async function countValued(reader: Reader, loadId: number): Promise<number> {
  const { entries, prices } = reader.tables
  const [start] = await reader
    .select({
      earliest: sql<number | null>`min(${prices.effectiveFrom})`,
      undated: sql<number>`count(*) - count(${prices.effectiveFrom})`.mapWith(Number),
      rows: count(),
    })
    .from(prices)
    .where(eq(prices.loadId, loadId))
  if (start!.rows === 0) return 0
  const isLate = start!.undated === 0 ? gte(entries.startedAt, Number(start!.earliest)) : undefined
  const [row] = await reader
    .select({ entries: count() })
    .from(entries)
    .where(and(isLate, inArray(entries.priceId, pricesOf(reader, loadId))))
  return row!.entries
}

/** Whether an entry that came after `newest`, by its key, has a price of the load. */
export async function isValuedAfter(reader: Reader, loadId: number, newest: number): Promise<boolean> {
  const { entries } = reader.tables
  const rows = await reader
    .select({ id: entries.id })
    .from(entries)
    .where(and(gt(entries.id, newest), inArray(entries.priceId, pricesOf(reader, loadId))))
    .limit(1)
  return rows.length > 0
}

/** The key of the newest entry; 0 if there is none. */
export async function findNewestEntry(reader: Reader): Promise<number> {
  const { entries } = reader.tables
  const [row] = await reader.select({ newest: max(entries.id) }).from(entries)
  return Number(row!.newest ?? 0)
}

/** Withdraws the prices of a load and puts back the aliases that it changed. False if it was undone meanwhile. */
export async function undoLoad(
  tx: Tx,
  { id, replacedAliases }: LoadRecord,
  { undoneAt, undoneBy }: { undoneAt: number; undoneBy: number | null },
): Promise<boolean> {
  const { priceLoads, prices, priceAliases } = tx.tables
  const undone = await tx
    .update(priceLoads)
    .set({ undoneAt, undoneBy, noticeDueAt: null })
    .where(and(eq(priceLoads.id, id), isNull(priceLoads.undoneAt)))
    .returning({ id: priceLoads.id })
  if (undone.length === 0) return false
  await tx.update(prices).set({ withdrawnAt: undoneAt }).where(eq(prices.loadId, id))
  for (const { alias, provider, model, source, load_id } of replacedAliases ?? []) {
    await tx
      .update(priceAliases)
      .set({ model, loadId: load_id })
      .where(
        and(
          eq(priceAliases.loadId, id),
          eq(priceAliases.alias, alias),
          provider === null ? isNull(priceAliases.provider) : eq(priceAliases.provider, provider),
          eq(priceAliases.source, source),
        ),
      )
  }
  await tx.delete(priceAliases).where(eq(priceAliases.loadId, id))
  return true
}

/** Prices that a newer table confirms are of its date. */
export async function confirmPrices(tx: Tx, ids: readonly number[], asOf: number): Promise<void> {
  const { prices } = tx.tables
  for (const portion of portionsOf(ids)) {
    await tx
      .update(prices)
      .set({ asOf })
      .where(and(inArray(prices.id, portion), lt(prices.asOf, asOf)))
  }
}

/** The notice of price changes that has been due for longest. */
export async function findDueNotice(reader: Reader, now: number): Promise<LoadRecord | undefined> {
  const { priceLoads } = reader.tables
  const [row] = await reader
    .select()
    .from(priceLoads)
    .where(lte(priceLoads.noticeDueAt, now))
    .orderBy(asc(priceLoads.noticeDueAt))
    .limit(1)
  return row
}

/** Moves the notice to another moment, or null for never. False if another process did so meanwhile. */
export async function setNoticeDue(
  tx: Tx,
  { id, noticeDueAt: from }: Pick<LoadRecord, 'id' | 'noticeDueAt'>,
  to: number | null,
): Promise<boolean> {
  const { priceLoads } = tx.tables
  const rows = await tx
    .update(priceLoads)
    .set({ noticeDueAt: to })
    .where(and(eq(priceLoads.id, id), eq(priceLoads.noticeDueAt, from!)))
    .returning({ id: priceLoads.id })
  return rows.length > 0
}

export async function findNewestDate(reader: Reader): Promise<number | null> {
  const { prices } = reader.tables
  const [row] = await reader
    .select({ newest: max(prices.asOf) })
    .from(prices)
    .where(isNull(prices.withdrawnAt))
  return row!.newest
}
