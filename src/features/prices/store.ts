/** The tables `prices` and `price_aliases`. Price rows are only ever added, ended, and withdrawn if their load is undone. */
import { and, asc, desc, eq, gt, inArray, isNotNull, isNull, lt, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import { portionsOf } from '../../database/portions.ts'
import { type Id, newId } from '../../lib/id.ts'
import type { PriceAlias, StoredPrice } from './price-table.ts'
import { COUNT_KINDS, PRICE_CEILING_PICOS, type PriceRow } from './rates.ts'
import { type PriceRecord, recordOf, rowOf } from './records.ts'
import type { PriceSource } from './sources.ts'

/** Where prices come from; `loadedBy` is null for the embedded table. */
export interface PriceOrigin {
  source: PriceSource
  loadedAt: number
  loadedBy: number | null
  /** The load that added them; absent for prices and aliases set by hand. */
  loadId?: number | null
}

/** A row to add, and the date of the table that it is from. */
export type DatedRow = PriceRow & { asOf?: number | null }
export type DatedRecord = PriceRecord & { asOf?: number | null }

/** The current revision; `reader.revision()` may be as of the start of the current turn of the event loop. */
export async function readRevision(reader: Reader): Promise<number> {
  const { revision } = reader.tables
  const [row] = await reader.select({ value: revision.value }).from(revision)
  return row!.value
}

/**
 * Claims data that was read at a revision for writing. Returns false if cached tables have changed since; then the data
 * must be prepared again.
 */
export async function claimRevision(tx: Tx, revision: number): Promise<boolean> {
  const { revision: current } = tx.tables
  const claimed = await tx
    .update(current)
    .set({ value: revision + 1 })
    .where(eq(current.value, revision))
    .returning({ value: current.value })
  return claimed.length === 1
}

/** Adds rows in order of precedence. Invalid rows must already have been refused when the table was read. */
export async function addPrices(tx: Tx, rows: DatedRow[], origin: PriceOrigin): Promise<void> {
  for (const row of rows) assertWithinCeiling(row)
  await addRecords(tx, rows.map(recordOf), origin)
}

/** The same with rows that are known to be valid, as the database stores them. */
export async function addRecords(tx: Tx, records: DatedRecord[], origin: PriceOrigin): Promise<void> {
  for (const portion of portionsOf(records)) {
    await tx.insertAll(
      tx.tables.prices,
      portion.map((row) => ({
        uid: newId('prc'),
        provider: row.provider,
        model: row.model,
        input: row.input,
        output: row.output,
        cacheRead: row.cacheRead,
        cacheWrite: row.cacheWrite,
        cacheWrite1h: row.cacheWrite1h,
        tiers: row.tiers,
        extras: row.extras,
        effectiveFrom: row.effectiveFrom,
        effectiveUntil: row.effectiveUntil,
        asOf: row.asOf,
        ...origin,
      })),
    )
  }
}

/** Ends prices that do not end before; one that begins later never applies. Returns those that changed. */
export async function endPrices(tx: Tx, { ids, until }: { ids: number[]; until: number }): Promise<number[]> {
  const { prices } = tx.tables
  const end = sql`CASE WHEN ${prices.effectiveFrom} > ${until} THEN ${prices.effectiveFrom} ELSE ${until} END`
  const changed = await tx
    .update(prices)
    .set({ effectiveUntil: end })
    .where(and(inArray(prices.id, ids), or(isNull(prices.effectiveUntil), gt(prices.effectiveUntil, end))))
    .returning({ id: prices.id })
  return changed.map(({ id }) => id)
}

/** Above the ceiling a value could exceed 64 bits, which a database would wrap or reject only much later. */
function assertWithinCeiling(row: PriceRow): void {
  for (const prices of [row, ...row.tiers.map((tier) => tier.prices)]) {
    for (const kind of COUNT_KINDS) {
      const price = prices[kind] ?? 0n
      if (price < 0n || price > PRICE_CEILING_PICOS) {
        throw new RangeError(
          `${row.provider} ${row.model}: ${price} pico-dollars per token is not a valid ${kind} price`,
        )
      }
    }
  }
}

/** Adds aliases; an existing alias of the source gets the new model. */
export async function addAliases(tx: Tx, aliases: Omit<PriceAlias, 'source'>[], origin: PriceOrigin): Promise<void> {
  const { priceAliases } = tx.tables
  const { source, loadedAt: createdAt, loadedBy: createdBy, loadId } = origin
  for (const portion of portionsOf(aliases)) {
    await tx.insertAll(
      priceAliases,
      portion.map(({ alias, provider, model }) => ({ alias, provider, model, source, createdAt, createdBy, loadId })),
      { key: ['alias', 'source', 'provider'], set: ['model', 'loadId'] },
    )
  }
}

/** All prices that apply, or those of one source, in the order of loading: a higher key was loaded later. */
export async function listPrices(reader: Reader, source?: PriceSource): Promise<StoredPrice[]> {
  const { prices } = reader.tables
  return storedPrices(reader, and(isNull(prices.withdrawnAt), source && eq(prices.source, source)))
}

/** The prices of undone loads, which may have valued an entry in the moment before. */
export function listWithdrawn(reader: Reader): Promise<StoredPrice[]> {
  return storedPrices(reader, isNotNull(reader.tables.prices.withdrawnAt))
}

async function storedPrices(reader: Reader, condition: SQL | undefined): Promise<StoredPrice[]> {
  const { prices } = reader.tables
  const rows = await reader.select().from(prices).where(condition).orderBy(asc(prices.id))
  return rows.map((row) => ({ ...rowOf(row), source: row.source as PriceSource }))
}

/** A price with additional information for people. */
export interface PriceView extends StoredPrice {
  loadedAt: number
  /** When its load was undone; null if it applies. */
  withdrawnAt: number | null
  /** Null if the command line or Tally itself loaded it. */
  loadedBy: { uid: Id<'usr'>; name: string } | null
}

/** Filters, all of which must match. */
export interface PriceFilter {
  ids?: number[] | undefined
  /** Text contained in the model name or the provider, ignoring case. */
  search?: string | undefined
  providers?: string[] | undefined
  models?: string[] | undefined
  sources?: PriceSource[] | undefined
}

function selectViews(reader: Reader) {
  const { prices, users } = reader.tables
  return reader
    .select({ price: prices, loadedBy: { uid: users.uid, name: users.name } })
    .from(prices)
    .leftJoin(users, eq(users.id, prices.loadedBy))
}

type ViewRow = Awaited<ReturnType<typeof selectViews>>[number]

function viewOf({ price, loadedBy }: ViewRow): PriceView {
  return { ...rowOf(price), source: price.source as PriceSource, loadedBy }
}

/** Prices, most recently loaded first: all, or a page starting after the key `after`. */
export async function listViews(
  reader: Reader,
  filter: PriceFilter,
  page?: { after: number | undefined; limit: number },
): Promise<PriceView[]> {
  const { prices } = reader.tables
  const query = selectViews(reader)
    .where(and(conditionOf(reader, filter), page?.after === undefined ? undefined : lt(prices.id, page.after)))
    .orderBy(desc(prices.id))
  return (await (page ? query.limit(page.limit) : query)).map(viewOf)
}

export async function findView(reader: Reader, uid: Id<'prc'>): Promise<PriceView | undefined> {
  const [row] = await selectViews(reader).where(eq(reader.tables.prices.uid, uid)).limit(1)
  return row && viewOf(row)
}

function conditionOf(reader: Reader, { ids, search, providers, models, sources }: PriceFilter): SQL | undefined {
  const { prices } = reader.tables
  const pattern = search && `%${search.toLowerCase().replace(/[!%_]/g, (character) => `!${character}`)}%`
  return and(
    isNull(prices.withdrawnAt),
    ids && inArray(prices.id, ids),
    pattern
      ? or(
          sql`lower(${prices.model}) LIKE ${pattern} ESCAPE '!'`,
          sql`lower(${prices.provider}) LIKE ${pattern} ESCAPE '!'`,
        )
      : undefined,
    providers && inArray(prices.provider, providers),
    models && inArray(prices.model, models),
    sources && inArray(prices.source, sources),
  )
}

export async function listAliases(reader: Reader): Promise<PriceAlias[]> {
  const { priceAliases } = reader.tables
  const rows = await reader
    .select({
      alias: priceAliases.alias,
      provider: priceAliases.provider,
      model: priceAliases.model,
      source: priceAliases.source,
      loadId: priceAliases.loadId,
    })
    .from(priceAliases)
    .orderBy(asc(priceAliases.id))
  return rows.map((row) => ({ ...row, source: row.source as PriceSource }))
}

/** An alias with additional information for people. */
export interface AliasView extends PriceAlias {
  createdAt: number
  createdBy: { uid: Id<'usr'>; name: string } | null
}

/** Aliases by name: those that admins set, and with `all` also those from tables. */
export async function listAliasViews(reader: Reader, { all }: { all: boolean }): Promise<AliasView[]> {
  const { priceAliases, users } = reader.tables
  const rows = await reader
    .select({ alias: priceAliases, createdBy: { uid: users.uid, name: users.name } })
    .from(priceAliases)
    .leftJoin(users, eq(users.id, priceAliases.createdBy))
    .where(all ? undefined : eq(priceAliases.source, 'admin'))
    .orderBy(asc(priceAliases.alias), asc(priceAliases.id))
  return rows.map(({ alias, createdBy }) => ({ ...alias, source: alias.source as PriceSource, createdBy }))
}

/** The alias of this name that an admin set. */
export async function findAdminAlias(
  reader: Reader,
  alias: string,
): Promise<Pick<PriceAlias, 'alias' | 'model' | 'provider'> | undefined> {
  const { priceAliases } = reader.tables
  const [found] = await reader
    .select({ alias: priceAliases.alias, model: priceAliases.model, provider: priceAliases.provider })
    .from(priceAliases)
    .where(and(eq(priceAliases.alias, alias), eq(priceAliases.source, 'admin')))
    .limit(1)
  return found
}

/** Adds or changes an admin's alias, of which there is one per name. */
export async function replaceAdminAlias(
  tx: Tx,
  { alias, provider, model }: Omit<PriceAlias, 'source'>,
  { loadedAt: createdAt, loadedBy: createdBy, loadId }: Omit<PriceOrigin, 'source'>,
): Promise<void> {
  await deleteAdminAlias(tx, alias)
  await tx
    .insert(tx.tables.priceAliases)
    .values({ alias, provider, model, source: 'admin', createdAt, createdBy, loadId })
}

export async function deleteAdminAlias(tx: Tx, alias: string): Promise<void> {
  const { priceAliases } = tx.tables
  await tx.delete(priceAliases).where(and(eq(priceAliases.alias, alias), eq(priceAliases.source, 'admin')))
}
