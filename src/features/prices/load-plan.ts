/**
 * What loading a table would add (docs/design/pricing.md, "Tables that can be loaded"). Pure: rows are only ever added,
 * so the question is which, and from when they hold.
 */
import type { ListedPrice, RefusedPrice, TableReading } from './formats/reading.ts'
import type { TableFormat } from './formats/table-file.ts'
import { doubtsOf, type Insistence } from './plausibility.ts'
import type { PriceAlias, PriceSource, PriceTable, StoredPrice } from './price-table.ts'
import type { PriceRow } from './rates.ts'
import { ALWAYS, isSamePrice, rowAt } from './update-offer.ts'

export interface LoadOptions extends Insistence {
  /** Dates the rows that the file does not date, in milliseconds; null for always. */
  effectiveFrom?: number | null | undefined
}

/** What is loaded so far, all of one moment. */
export interface Loaded {
  prices: StoredPrice[]
  aliases: PriceAlias[]
  table: PriceTable
}

export interface Addition {
  row: PriceRow
  source: PriceSource
  /** The other price that the same source had of the model at that moment; undefined where it had none. */
  before: PriceRow | undefined
}

export interface LoadPlan {
  additions: Addition[]
  aliases: PriceAlias[]
  /** Rows that say what is loaded already. */
  unchanged: number
  refused: RefusedPrice[]
}

/** A file that was read, and what loading it adds. */
export interface PlannedTable {
  format: TableFormat
  reading: TableReading
  options: LoadOptions
  plan: LoadPlan
  /** As of which the plan holds. */
  revision: number
}

const DAY_MS = 86_400_000

/** The first moment of the day, in UTC: from then on a price holds that was changed on that day. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS
}

/**
 * A table is compared with what was loaded of the same source: what that said already is unchanged, so that loading a
 * file twice adds nothing, whatever other tables say. A price that changed holds from today; a name that no source
 * could price before holds from always; a name that some other source prices already is priced anew from today only,
 * so that late reports of the past are valued as the others were.
 */
export function planLoad(
  { rows, aliases, refused }: Pick<TableReading, 'rows' | 'aliases' | 'refused'>,
  loaded: Loaded,
  now: number,
  options: LoadOptions,
): LoadPlan {
  const known = Map.groupBy(loaded.prices, (price) => keyOf(price.source, price))
  const plan: LoadPlan = { additions: [], aliases: [], unchanged: 0, refused: [...refused] }
  const byId = new Map(loaded.prices.map((price) => [price.id, price]))
  const priceOf = ({ model, provider }: ListedPrice) => {
    const hit = loaded.table.find(model, provider || null, now)
    return hit && byId.get(hit.price.id)
  }
  const ownRows = rows.flatMap((row) => {
    const isEmbedded = row.source === 'default' && isHeld(known.get(keyOf('default', row)) ?? [], row)
    if (isEmbedded) plan.unchanged += 1
    return isEmbedded ? [] : [withHourPrice(withoutDefault(row), priceOf)]
  })
  const positions = new Map(ownRows.map((row, position) => [row, position]))
  const additions: (Addition & { position: number })[] = []
  for (const [key, listed] of Map.groupBy(ownRows, (row) => keyOf(row.source, row))) {
    const { provider, model, source } = listed[0]!
    const own = known.get(key) ?? []
    const isPriced = () => own.length > 0 || priceOf(listed[0]!) !== undefined
    const added = newRows(own, listed, () => (isPriced() ? dayOf(now) : null), options)
    const reasons = added.flatMap(({ row }) => doubtsOf(row, options))
    if (reasons.length > 0) {
      plan.refused.push({ provider, model, reasons })
      continue
    }
    plan.unchanged += listed.length - added.length
    for (const { row, listed: from } of added) {
      const before = rowAt(own, row.effectiveFrom)
      const changed = isSamePrice(row, before) ? undefined : before
      additions.push({ position: positions.get(from)!, row, source, before: changed })
    }
  }
  // Of rows with the same date the last loaded holds, so the file's order is kept across models and sources.
  plan.additions = additions.sort((one, other) => one.position - other.position)
  const priced = new Set([...loaded.prices, ...plan.additions.map(({ row }) => row)].map(modelKey))
  plan.aliases = newAliases(aliases, loaded.aliases).filter(
    (alias) => alias.provider === null || priced.has(modelKey(alias)),
  )
  return plan
}

type Model = { provider: string | null; model: string }

function modelKey({ provider, model }: Model): string {
  return JSON.stringify([provider, model])
}

function keyOf(source: PriceSource, { provider, model }: Model): string {
  return JSON.stringify([source, provider, model])
}

/** A row of the embedded table that an export holds. One that was edited there is the admin's own from now on. */
function withoutDefault(row: ListedPrice): ListedPrice {
  return row.source === 'default' ? { ...row, source: 'tally' } : row
}

/** Tables that have no place for the price of writing to the cache for an hour, so that they say nothing of it. */
const WITHOUT_HOUR_PRICE: readonly PriceSource[] = ['models-dev']

/**
 * What such a table says of a model keeps the hour's price of the row that holds so far, where both agree on what the
 * hour's price is told from. Without it an hour would silently be valued as five minutes, at five eighths.
 */
function withHourPrice(row: ListedPrice, priceOf: (row: ListedPrice) => StoredPrice | undefined): ListedPrice {
  if (!WITHOUT_HOUR_PRICE.includes(row.source) || row.cacheWrite === null || row.cacheWrite1h !== null) return row
  const held = priceOf(row)
  const agrees = held && held.input === row.input && held.cacheWrite === row.cacheWrite
  return agrees ? { ...row, cacheWrite1h: held.cacheWrite1h } : row
}

function isHeld(held: PriceRow[], row: ListedPrice): boolean {
  return row.effectiveFrom !== undefined && isSamePrice(row, rowAt(held, row.effectiveFrom))
}

/** The rows of one model to add, each with what it was listed as. `own` are those loaded of the same source, in order. */
function newRows(
  own: PriceRow[],
  listed: ListedPrice[],
  usualStart: () => number | null,
  { effectiveFrom: asked }: LoadOptions,
): { row: PriceRow; listed: ListedPrice }[] {
  const isDated = listed.some((row) => row.effectiveFrom !== undefined)
  const startOf = ({ effectiveFrom }: ListedPrice) => {
    if (effectiveFrom !== undefined) return effectiveFrom
    // What stands without a date before dated rows of the same model held until the first of them.
    if (isDated) return null
    return asked === undefined ? usualStart() : asked
  }
  const byStart = Map.groupBy(listed, startOf)
  const held = [...own]
  const added: { row: PriceRow; listed: ListedPrice }[] = []
  for (const [effectiveFrom, rows] of [...byStart].sort(([one], [other]) => (one ?? ALWAYS) - (other ?? ALWAYS))) {
    const { source: _source, ...prices } = rows.at(-1)!
    const row = { ...prices, effectiveFrom }
    // A date that the file states is a row of its own, even at the price that holds then; else nothing new is said.
    const said = isDated ? held.findLast((one) => one.effectiveFrom === effectiveFrom) : rowAt(held, effectiveFrom)
    if (isSamePrice(row, said)) continue
    held.push(row)
    added.push({ row, listed: rows.at(-1)! })
  }
  return added
}

function newAliases(listed: PriceAlias[], known: PriceAlias[]): PriceAlias[] {
  const keyOfAlias = ({ alias, provider, source }: PriceAlias) => JSON.stringify([alias, provider, source])
  const models = new Map(known.map((alias) => [keyOfAlias(alias), alias.model]))
  return listed.filter((alias) => models.get(keyOfAlias(alias)) !== alias.model)
}
