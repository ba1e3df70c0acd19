/**
 * Plans which rows and aliases loading a table would add, and from when they are in effect (docs/design/pricing.md,
 * "Tables that can be loaded"). Rows are only ever added. Pure.
 */
import type { ListedPrice, RefusedPrice, TableReading } from './formats/reader.ts'
import type { TableFormat } from './formats/table-file.ts'
import { type Overrides, reasonsAgainst } from './plausibility.ts'
import type { PriceAlias, PriceSource, PriceTable, StoredPrice } from './price-table.ts'
import type { PriceRow } from './rates.ts'
import { ALWAYS, isSamePrice, rowAt } from './update-offer.ts'

export interface LoadOptions extends Overrides {
  /** The date of rows without a date in the file, in milliseconds; null for always. */
  effectiveFrom?: number | null | undefined
}

/** The loaded prices and aliases, as of one moment. */
export interface Loaded {
  prices: StoredPrice[]
  aliases: PriceAlias[]
  table: PriceTable
}

export interface Addition {
  row: PriceRow
  source: PriceSource
  /** The different price that the same source had for the model at that moment; undefined if it had none. */
  before: PriceRow | undefined
}

export interface LoadPlan {
  additions: Addition[]
  aliases: PriceAlias[]
  /** Rows that are already loaded. */
  unchanged: number
  refused: RefusedPrice[]
}

/** A parsed file, and the rows and aliases that loading it adds. */
export interface PlannedTable {
  format: TableFormat
  reading: TableReading
  options: LoadOptions
  plan: LoadPlan
  /** The revision that the plan is valid for. */
  revision: number
}

const DAY_MS = 86_400_000

/** Midnight of the day, in UTC: a changed price is in effect from the start of the day. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS
}

/**
 * Compares a table with the prices that were loaded from the same source: rows that are equal are unchanged, so that
 * loading a file twice adds nothing, regardless of other tables. A changed price is in effect from today; the price of
 * a name that no source could price before, always; the price of a name that another source already prices, only from
 * today, so that late reports of the past are valued like the earlier ones.
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
    const reasons = added.flatMap(({ row }) => reasonsAgainst(row, options))
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
  // Of rows with the same date the last loaded one is in effect, so the file's order is kept across models and sources.
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

/** Converts a row of the embedded table in an export: when it is loaded as part of a file, it becomes custom. */
function withoutDefault(row: ListedPrice): ListedPrice {
  return row.source === 'default' ? { ...row, source: 'tally' } : row
}

/** Tables whose format has no price for one-hour cache writes. */
const WITHOUT_HOUR_PRICE: readonly PriceSource[] = ['models-dev']

/**
 * A row of such a table keeps the one-hour price of the row in effect, if both agree on the prices that it is usually
 * derived from. Otherwise one-hour writes would silently be valued at the five-minute price, which is five eighths of
 * it.
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

/**
 * The rows of one model to add, with the listed price of each. `own` are those loaded from the same source, in order.
 */
function newRows(
  own: PriceRow[],
  listed: ListedPrice[],
  usualStart: () => number | null,
  { effectiveFrom: requested }: LoadOptions,
): { row: PriceRow; listed: ListedPrice }[] {
  const isDated = listed.some((row) => row.effectiveFrom !== undefined)
  const startOf = ({ effectiveFrom }: ListedPrice) => {
    if (effectiveFrom !== undefined) return effectiveFrom
    // An undated row next to dated ones of the same model was in effect before the first of them.
    if (isDated) return null
    return requested === undefined ? usualStart() : requested
  }
  const byStart = Map.groupBy(listed, startOf)
  const held = [...own]
  const added: { row: PriceRow; listed: ListedPrice }[] = []
  for (const [effectiveFrom, rows] of [...byStart].sort(([one], [other]) => (one ?? ALWAYS) - (other ?? ALWAYS))) {
    const { source: _source, ...prices } = rows.at(-1)!
    const row = { ...prices, effectiveFrom }
    // A date in the file always makes a row of its own, even at the price already in effect; without one, only a
    // changed price does.
    const current = isDated ? held.findLast((one) => one.effectiveFrom === effectiveFrom) : rowAt(held, effectiveFrom)
    if (isSamePrice(row, current)) continue
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
