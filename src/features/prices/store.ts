/** The tables `prices`, `price_aliases` and `price_tables`. Price rows are only ever added. */
import { asc, eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import type { PriceTier as PriceTierRecord } from '../../database/records.ts'
import { newId } from '../../lib/id.ts'
import { PRICE_FIELDS, PRICE_LIMIT_PICOS, PRICED_KINDS, type PriceRow, type PriceTier } from './rate.ts'
import type { PriceAlias, PriceSource, StoredPrice } from './resolve.ts'

/** Who loads what when; `loadedBy` is null for the embedded table. */
export interface Loading {
  source: PriceSource
  loadedAt: number
  loadedBy: number | null
}

/**
 * Rows of one INSERT. A price has 14 columns, so 500 are 7,000 parameters: below the 32,766 of SQLite and the 65,535
 * of PostgreSQL, and beyond a few hundred rows a longer statement is no faster.
 */
const ROWS_PER_INSERT = 500

function chunksOf<Item>(items: Item[]): Item[][] {
  const chunks: Item[][] = []
  for (let start = 0; start < items.length; start += ROWS_PER_INSERT) {
    chunks.push(items.slice(start, start + ROWS_PER_INSERT))
  }
  return chunks
}

/** Adds rows in the order in which they are to count as loaded. What reads a table refuses bad rows by name before. */
export async function addPrices(tx: Tx, rows: PriceRow[], { source, loadedAt, loadedBy }: Loading): Promise<void> {
  for (const row of rows) assertWithinLimit(row)
  for (const chunk of chunksOf(rows)) {
    await tx.insert(tx.tables.prices).values(
      chunk.map(({ provider, model, input, output, cacheRead, cacheWrite, cacheWrite1h, tiers, effectiveFrom }) => ({
        uid: newId('prc'),
        provider,
        model,
        input,
        output,
        cacheRead,
        cacheWrite,
        cacheWrite1h,
        tiers: tiers.length > 0 ? tiers.map(tierRecord) : null,
        effectiveFrom,
        source,
        loadedAt,
        loadedBy,
      })),
    )
  }
}

/** Above the limit a value could exceed 64 bits, which a database would wrap or refuse only much later. */
function assertWithinLimit(row: PriceRow): void {
  for (const prices of [row, ...row.tiers.map((tier) => tier.prices)]) {
    for (const kind of PRICED_KINDS) {
      const price = prices[kind] ?? 0n
      if (price < 0n || price > PRICE_LIMIT_PICOS) {
        throw new RangeError(`${row.provider} ${row.model}: ${price} pico-dollars per token is no ${kind} price`)
      }
    }
  }
}

/** Adds aliases; one that the source has already leads to the new model from now on. */
export async function addAliases(tx: Tx, aliases: Omit<PriceAlias, 'source'>[], loading: Loading): Promise<void> {
  const { priceAliases } = tx.tables
  const { source, loadedAt: createdAt, loadedBy: createdBy } = loading
  for (const chunk of chunksOf(aliases)) {
    await tx
      .insert(priceAliases)
      .values(chunk.map(({ alias, provider, model }) => ({ alias, provider, model, source, createdAt, createdBy })))
      .onConflictDoUpdate({
        target: [priceAliases.alias, priceAliases.source, priceAliases.provider],
        set: { model: sql`excluded.model` },
      })
  }
}

/** Every price of the database, or of one source, in the order of loading: a higher key was loaded later. */
export async function listPrices(reader: Reader, source?: PriceSource): Promise<StoredPrice[]> {
  const { prices } = reader.tables
  const rows = await reader
    .select()
    .from(prices)
    .where(source === undefined ? undefined : eq(prices.source, source))
    .orderBy(asc(prices.id))
  return rows.map((row) => ({ ...row, source: row.source as PriceSource, tiers: (row.tiers ?? []).map(tierOf) }))
}

export async function listAliases(reader: Reader): Promise<PriceAlias[]> {
  const { priceAliases } = reader.tables
  const rows = await reader
    .select({
      alias: priceAliases.alias,
      provider: priceAliases.provider,
      model: priceAliases.model,
      source: priceAliases.source,
    })
    .from(priceAliases)
    .orderBy(asc(priceAliases.id))
  return rows.map((row) => ({ ...row, source: row.source as PriceSource }))
}

/** The versions of a source's tables that were loaded. */
export async function listTableVersions(reader: Reader, source: PriceSource): Promise<string[]> {
  const { priceTables } = reader.tables
  const rows = await reader
    .select({ version: priceTables.version })
    .from(priceTables)
    .where(eq(priceTables.source, source))
  return rows.map((row) => row.version)
}

/** Claims the loading of a table's version. False where another process has loaded it, even a moment ago. */
export async function insertTableVersion(tx: Tx, source: PriceSource, version: string, now: number): Promise<boolean> {
  const { priceTables } = tx.tables
  const inserted = await tx
    .insert(priceTables)
    .values({ source, version, loadedAt: now })
    .onConflictDoNothing()
    .returning({ version: priceTables.version })
  return inserted.length === 1
}

function tierRecord({ fromTokens, prices }: PriceTier): PriceTierRecord {
  const record: PriceTierRecord = { from_tokens: fromTokens }
  for (const kind of PRICED_KINDS) {
    const price = prices[kind]
    if (price !== undefined) record[PRICE_FIELDS[kind]] = price.toString()
  }
  return record
}

function tierOf(record: PriceTierRecord): PriceTier {
  const prices: PriceTier['prices'] = {}
  for (const kind of PRICED_KINDS) {
    const text = record[PRICE_FIELDS[kind]]
    if (text !== undefined) prices[kind] = BigInt(text)
  }
  return { fromTokens: record.from_tokens, prices }
}
