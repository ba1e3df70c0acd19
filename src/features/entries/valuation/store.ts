/** Entries as they are valued again: those without a price, and those that a new table would value otherwise. */
import { and, asc, desc, eq, gt, inArray, isNull, notInArray, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Id } from '../../../lib/id.ts'
import type { EntryFilter, Position } from '../listing/filter.ts'
import { conditionOf } from '../listing/store/conditions.ts'
import { isBehind } from '../listing/store/lists.ts'
import { type EntryRecord, LOCKED_STATUSES, placeholdersFor, viewTables } from '../store.ts'

/** An entry with the names by which its price is found. */
export interface PricedEntry {
  entry: EntryRecord
  model: string
  provider: string | null
  price: Id<'prc'> | null
}

function selectPriced(reader: Reader) {
  const { entries, prices, models, providers } = viewTables(reader.tables)
  return reader
    .select({ entry: entries, model: models.text, provider: providers.text, price: prices.uid })
    .from(entries)
    .innerJoin(models, eq(models.id, entries.modelId))
    .leftJoin(providers, eq(providers.id, entries.providerId))
    .leftJoin(prices, eq(prices.id, entries.priceId))
}

/** The terms of the index that holds the entries whose cost is unknown. */
function isUnpriced({ entries }: Tables): SQL | undefined {
  return and(isNull(entries.listValue), isNull(entries.reportedCost))
}

/** A model that entries without a cost used, and who sold it. */
export interface UnpricedModel {
  modelId: number
  providerId: number | null
  model: string
  provider: string | null
}

export async function listUnpricedModels(reader: Reader): Promise<UnpricedModel[]> {
  const { entries, models, providers } = viewTables(reader.tables)
  const pairs = reader
    .selectDistinct({ modelId: entries.modelId, providerId: entries.providerId })
    .from(entries)
    .where(isUnpriced(reader.tables))
    .as('pairs')
  return reader
    .select({ modelId: pairs.modelId, providerId: pairs.providerId, model: models.text, provider: providers.text })
    .from(pairs)
    .innerJoin(models, eq(models.id, pairs.modelId))
    .leftJoin(providers, eq(providers.id, pairs.providerId))
    .orderBy(asc(pairs.modelId), asc(pairs.providerId))
}

/** How many entries have no cost and are on no bill. */
export async function countUnpriced(reader: Reader): Promise<number> {
  const { entries } = reader.tables
  const [row] = await reader
    .select({ count: sql<number>`count(*)`.mapWith(Number) })
    .from(entries)
    .where(and(isUnpriced(reader.tables), isNull(entries.billId)))
  return row!.count
}

/** Entries of a model that have no cost and are on no bill, by key starting after `after`. */
export async function listUnpriced(
  reader: Reader,
  { modelId, providerId }: Pick<UnpricedModel, 'modelId' | 'providerId'>,
  { after, limit }: { after: number; limit: number },
): Promise<PricedEntry[]> {
  const { entries } = reader.tables
  return selectPriced(reader)
    .where(
      and(
        isUnpriced(reader.tables),
        eq(entries.modelId, modelId),
        providerId === null ? isNull(entries.providerId) : eq(entries.providerId, providerId),
        gt(entries.id, after),
        isNull(entries.billId),
      ),
    )
    .orderBy(asc(entries.id))
    .limit(limit)
}

/** Entries whose value may still change: not locked, or without a cost and on no bill. Newest first, after `after`. */
export async function listRepriceable(
  reader: Reader,
  { filter, after, limit }: { filter: EntryFilter; after: Position | undefined; limit: number },
): Promise<PricedEntry[]> {
  const { entries } = reader.tables
  return selectPriced(reader)
    .where(
      and(
        conditionOf(reader, filter),
        or(notInArray(entries.status, [...LOCKED_STATUSES]), and(isUnpriced(reader.tables), isNull(entries.billId))),
        isBehind(reader, after),
      ),
    )
    .orderBy(desc(entries.startedAt), desc(entries.id))
    .limit(limit)
}

export async function listPriced(reader: Reader, ids: number[]): Promise<PricedEntry[]> {
  return selectPriced(reader).where(inArray(reader.tables.entries.id, ids))
}

export type ValuationChange = Pick<EntryRecord, 'listValue' | 'priceId' | 'priceStep' | 'priceNote' | 'updatedAt'>

export async function updateValuation(tx: Tx, id: number, change: ValuationChange): Promise<void> {
  await tx
    .prepared('entries.update-valuation', (prepare) => {
      const { entries } = prepare.tables
      return prepare
        .update(entries)
        .set(placeholdersFor(['listValue', 'priceId', 'priceStep', 'priceNote', 'updatedAt']) as never)
        .where(eq(entries.id, sql.placeholder('id')))
        .returning({ id: entries.id })
    })
    .execute({ ...change, id })
}
