/** Models that have a price, and those of entries without one. */
import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import { type Viewer, visibleEntries } from '../../../access/visibility.ts'
import type { Reader } from '../../../database/database.ts'
import { byMatch, contains, type Found, named, type Wanted } from './names.ts'

/** Of models without a price whose name has the text, and of the entries of each: agents choose the names. */
const CANDIDATES = 50
const ENTRIES = 500

interface Model {
  model: string
  /** How well the name matches, less is better. */
  rank: number
  isPriced: boolean
}

/** Models without a price are found if the viewer sees an entry of theirs; none without a viewer. */
export async function findModels(reader: Reader, viewer: Viewer | undefined, wanted: Wanted): Promise<Found[]> {
  const priced = await pricedModels(reader, wanted)
  const names = new Set(priced.map(({ model }) => model))
  const unpriced = viewer ? await unpricedModels(reader, viewer, wanted) : []
  return [...priced, ...unpriced.filter(({ model }) => !names.has(model))]
    .sort((one, other) => one.rank - other.rank)
    .slice(0, wanted.limit)
    .map(({ model, isPriced }) =>
      named('model', { id: model, name: model, detail: isPriced ? null : 'No price', archived: false }),
    )
}

async function pricedModels(reader: Reader, { text, limit }: Wanted): Promise<Model[]> {
  const { prices } = reader.tables
  const rank = rankOf(sql`lower(${prices.model})`, text)
  const rows = await reader
    .select({ model: prices.model, rank: rank.as('rank') })
    .from(prices)
    .where(and(isNull(prices.withdrawnAt), contains(sql`lower(${prices.model})`, text)))
    .groupBy(prices.model)
    .orderBy(asc(sql`rank`), asc(prices.model))
    .limit(limit)
  return rows.map((row) => ({ ...row, isPriced: true }))
}

const rankOf = (folded: SQL, text: string) => byMatch(folded, text).mapWith(Number)

async function unpricedModels(reader: Reader, viewer: Viewer, { text, limit }: Wanted): Promise<Model[]> {
  const { entries, names } = reader.tables
  const name = sql`lower(${names.text})`
  const rank = rankOf(name, text)
  // The condition of the index of entries without a price.
  const unpriced = and(eq(entries.modelId, names.id), isNull(entries.listValue), isNull(entries.reportedCost))
  const candidates = await reader
    .select({ id: names.id, model: names.text, rank: rank.as('rank') })
    .from(names)
    .where(and(contains(name, text), sql`EXISTS (SELECT 1 FROM ${entries} WHERE ${unpriced})`))
    .orderBy(asc(sql`rank`), asc(names.text))
    .limit(CANDIDATES)
  const visible = await visibleEntries(reader, viewer)
  const found: Model[] = []
  for (const { id, model, rank } of candidates) {
    if (found.length === limit) break
    if (!visible || (await hasVisibleEntry(reader, id, visible))) found.push({ model, rank, isPriced: false })
  }
  return found
}

async function hasVisibleEntry(reader: Reader, modelId: number, visible: SQL): Promise<boolean> {
  const { entries } = reader.tables
  const some = reader
    .select({ id: entries.id })
    .from(entries)
    .where(and(eq(entries.modelId, modelId), isNull(entries.listValue), isNull(entries.reportedCost)))
    .limit(ENTRIES)
    .as('some_entries')
  const seen = await reader
    .select({ id: entries.id })
    .from(some)
    .crossJoin(entries)
    .where(and(eq(entries.id, some.id), visible))
    .limit(1)
  return seen.length > 0
}
