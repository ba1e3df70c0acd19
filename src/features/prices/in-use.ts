/** How another price table values the models that entries name: which prices change, and by how much. Pure. */
import { lowered } from '../../database/sorting.ts'
import type { ListedPrice as FileRow } from './formats/reader.ts'
import { largestChange } from './price-change.ts'
import { type PriceAlias, PriceTable, type StoredPrice } from './price-table.ts'
import type { TableFormat } from './sources.ts'
import type { ModelInUse } from './store/updates.ts'
import type { PriceView } from './store.ts'
import { ALWAYS, isSamePrice } from './update-offer.ts'

/** Prices and aliases in the order of loading, with the table for lookups. */
export interface PriceSet {
  prices: StoredPrice[]
  aliases: PriceAlias[]
  table: PriceTable
}

export function priceSet(prices: StoredPrice[], aliases: PriceAlias[]): PriceSet {
  return { prices, aliases, table: new PriceTable(prices, aliases) }
}

/** A row of a file as if it were stored under this key. */
export function withIdentity(row: FileRow, id: number): StoredPrice {
  const { effectiveFrom = null, asOf = null, ...price } = row
  return { ...price, effectiveFrom, asOf, id, uid: `prc_${id}` }
}

/** Finds the price of a model at a moment. */
function priceIn({ prices, table }: PriceSet): (model: ModelInUse, at: number) => StoredPrice | undefined {
  const byId = new Map(prices.map((price) => [price.id, price]))
  return ({ model, provider }, at) => {
    const hit = table.find(model, provider, at)
    return hit && byId.get(hit.price.id)
  }
}

/** A price in a list for people. */
export interface ListedPrice extends PriceView {
  /** Whether recent entries are valued at prices of its model. */
  inUse: boolean
}

const modelOf = ({ provider, model }: Pick<StoredPrice, 'provider' | 'model'>) => JSON.stringify([provider, model])

/** The models of the price table, as {@link listed} needs them, that value these models of entries. */
export function pricedModels(models: readonly ModelInUse[], table: PriceTable, now: number): ReadonlySet<string> {
  return new Set(
    models.flatMap(({ model, provider }) => {
      const hit = table.find(model, provider, now)
      return hit ? [modelOf(hit.price)] : []
    }),
  )
}

export const listed = (views: readonly PriceView[], used: ReadonlySet<string>): ListedPrice[] =>
  views.map((view) => ({ ...view, inUse: used.has(modelOf(view)) }))

const byName = (one: string, other: string) => {
  const [first, second] = [lowered(one), lowered(other)]
  return Number(first > second) - Number(first < second)
}

/** The order of prices for people: models in use first, then the others, by name; of a model, the newest price first. */
export function inOrder(prices: readonly ListedPrice[], order: 'asc' | 'desc' = 'asc'): ListedPrice[] {
  const sign = order === 'asc' ? 1 : -1
  return prices.toSorted(
    (one, other) =>
      Number(other.inUse) - Number(one.inUse) ||
      sign * (byName(one.model, other.model) || byName(one.provider, other.provider)) ||
      (other.effectiveFrom ?? ALWAYS) - (one.effectiveFrom ?? ALWAYS) ||
      other.id - one.id,
  )
}

/** The models whose price is as of a day before `before`, the oldest first; a price that was set by hand has no such day. */
export function outdatedInUse(
  models: readonly ModelInUse[],
  loaded: PriceSet,
  { now, before }: { now: number; before: number },
): (ModelInUse & { asOf: number })[] {
  const find = priceIn(loaded)
  return models
    .flatMap((model) => {
      const asOf = find(model, now)?.asOf ?? Number.POSITIVE_INFINITY
      return asOf < before ? [{ ...model, asOf }] : []
    })
    .sort((one, other) => one.asOf - other.asOf)
}

/** A model whose price differs between two sets. */
export interface PriceDifference extends ModelInUse {
  /** The moment from which it differs. */
  at: number
  /** Undefined where the model has no price. */
  before: StoredPrice | undefined
  after: StoredPrice | undefined
  /** The largest change of a single price, 0.05 for 5%; null if one of both has no price. */
  change: number | null
}

/** Announced changes that are looked at: tables date few, and only a broken one dates thousands. */
const MOMENTS_LIMIT = 20

/** The models whose price differs now or from one of the later moments on, in the order of `models`. */
export function differencesInUse(
  models: readonly ModelInUse[],
  before: PriceSet,
  after: PriceSet,
  { now, later = [] }: { now: number; later?: Iterable<number> },
): PriceDifference[] {
  const moments = [now, ...[...new Set(later)].filter((at) => at > now).sort((one, other) => one - other)]
  const [findBefore, findAfter] = [priceIn(before), priceIn(after)]
  return models.flatMap((model) => {
    for (const at of moments.slice(0, MOMENTS_LIMIT)) {
      const [one, other] = [findBefore(model, at), findAfter(model, at)]
      if (one === other || (one && other && isSamePrice(one, other))) continue
      return [{ ...model, at, before: one, after: other, change: one && other ? largestChange(one, other) : null }]
    }
    return []
  })
}

/** The prices in use next to those of another table. */
export interface PriceComparison {
  /** Null for the embedded table. */
  format: TableFormat | null
  /** Models of recent entries, compared by name and provider. */
  models: number
  differences: PriceDifference[]
}
