/**
 * Plans which rows and aliases loading a table would add, and from when they are in effect (docs/design/pricing.md,
 * "Tables that can be loaded"). Rows are only ever added. Pure.
 */
import { dayAt, spanOf, startOfDay } from '../../lib/calendar.ts'
import { atOnce, type Steps } from '../../lib/portions.ts'
import { completeTiers, type ListedPrice, type RefusedPrice, type TableReading } from './formats/reader.ts'
import { TABLE_ZONE } from './formats/tally.ts'
import type { PriceDifference } from './in-use.ts'
import { type Overrides, reasonsAgainst } from './plausibility.ts'
import { type Hit, isCustom, type PriceAlias, type PriceTable, type StoredPrice } from './price-table.ts'
import type { PriceRow } from './rates.ts'
import type { PriceSource, TableFormat } from './sources.ts'
import { ALWAYS, isSamePrice, rowAt } from './update-offer.ts'

export interface LoadOptions extends Overrides {
  /** The date of rows without a date in the file, in milliseconds; null for always. */
  effectiveFrom?: number | null | undefined
  /** The date of the table, a midnight in UTC; today if absent. */
  asOf?: number | undefined
  /** Loads rows that are older than the prices they replace. */
  allowOlder?: boolean | undefined
}

/** The loaded prices and aliases, as of one moment. */
export interface Loaded {
  prices: StoredPrice[]
  aliases: PriceAlias[]
  table: PriceTable
  /** The organization's, whose day a price without a date takes effect on. */
  timeZone: string
}

export interface Addition {
  row: PriceRow
  source: PriceSource
  /** The date of the table, or the row's own. */
  asOf: number
  /** The price that it replaces, of whichever source; undefined if the model had none at this provider. */
  replaced: StoredPrice | undefined
  /** Whether the replaced price is the same, so that only its source and its date change. */
  isSame: boolean
  /** The price in force for this name on the row's date, by whichever step; undefined if it is unpriced. */
  inForce: StoredPrice | undefined
  outcome: AdditionOutcome
}

/**
 * What a row does to the price in force on its date: `new` prices a name that had no price, `changed` replaces another
 * one, `same` replaces an equal one, and `overridden` replaces none, because a custom price of the name still applies.
 */
export type AdditionOutcome = 'new' | 'changed' | 'same' | 'overridden'

export interface LoadPlan {
  additions: Addition[]
  /** Rows that are skipped, because the different prices that they would replace are newer. */
  older: (Addition & { replaced: StoredPrice })[]
  aliases: PriceAlias[]
  /** The aliases that get another model, as they are. */
  replacedAliases: PriceAlias[]
  /** Rows that are already loaded. */
  unchanged: number
  /** Loaded prices that the table confirms: they become of its date. */
  confirmed: number[]
  /** Prices in force now that this table's sources had, and that it no longer contains. They stay in force. */
  removed: StoredPrice[]
  refused: RefusedPrice[]
}

/**
 * How the date of a table is known: it was given, the file contains it, its newest model has it, the file has that age,
 * or nothing says it.
 */
export const AS_OF_FROM = ['given', 'contents', 'models', 'modified', 'today'] as const

/** Where a file comes from, for the record of its load. */
export interface TableOrigin {
  /** The file or the address, without secrets; null for pasted text. */
  name: string | null
  /** SHA-256 in hexadecimal digits. */
  digest: string
  asOf: AsOf
}

/** The date of a table: the prices are those that were charged on that day. */
export interface AsOf {
  /** A midnight in UTC. */
  date: number
  from: (typeof AS_OF_FROM)[number]
}

/** A parsed file, and the rows and aliases that loading it adds. */
export interface PlannedTable {
  format: TableFormat
  origin: TableOrigin
  reading: TableReading
  options: LoadOptions
  plan: LoadPlan
  /** The models of recent entries whose price changes. */
  inUse: PriceDifference[]
  /** The revision that the plan is valid for. */
  revision: number
}

const DAY_MS = 86_400_000

/** The first moment of today in a time zone: a changed price is in effect from then on. */
export function startOfToday(now: number, timeZone: string): number {
  return startOfDay(dayAt(now, timeZone), timeZone)
}

/** The day of a moment in a time zone, as tables are dated: by the midnight of that day in UTC. */
export function dateOf(moment: number, timeZone: string): number {
  return Date.parse(dayAt(moment, timeZone))
}

/** Of the day in UTC. */
const midnight = (moment: number): number => Math.floor(moment / DAY_MS) * DAY_MS

/** `2026-11-21`, of a midnight in UTC. */
export function dateText(at: number): string {
  return new Date(at).toISOString().slice(0, 10)
}

/**
 * The date of a table. Without one that a person gives or that the file contains, it is that of the newest model, since
 * copying a file often changes when it was last modified. A table without either is as old as its file, and what has no
 * age, such as pasted text, is of today. Never in the future, nor newer than the file: a date may be announced or wrong.
 * What a file contains is a day in UTC, all other dates are days of the organization.
 */
export function asOfTable(
  {
    given,
    contained,
    newestModel,
    modified,
  }: Partial<Record<'given' | 'contained' | 'newestModel' | 'modified', number | undefined>>,
  { now, timeZone }: { now: number; timeZone: string },
): AsOf {
  const dated = (moment: number | undefined, zone: string) => (moment === undefined ? undefined : dateOf(moment, zone))
  const today = dateOf(now, timeZone)
  const file = dated(modified, timeZone)
  const newest = dated(newestModel, TABLE_ZONE)
  const dates = {
    given: dated(given, timeZone),
    contents: dated(contained, TABLE_ZONE),
    models: newest && Math.min(newest, file ?? today),
    modified: file,
    today,
  }
  const from = AS_OF_FROM.find((one) => dates[one] !== undefined) ?? 'today'
  return { date: Math.min(dates[from] ?? today, today), from }
}

/**
 * Compares a table of a date with the prices that were loaded from the same source: rows that are equal are unchanged,
 * so that loading a file twice adds nothing, regardless of other tables. A changed price is in effect from today; the
 * price of a name that no source could price before, always; the price of a name that another source already prices,
 * only from today, so that late reports of the past are valued like the earlier ones.
 *
 * A row replaces the price that its model has at its provider, of whichever source. If that price is another one, and
 * from a newer table, the row is skipped unless `allowOlder`.
 */
export function planLoad(
  table: Pick<TableReading, 'rows' | 'aliases' | 'refused'>,
  loaded: Loaded,
  now: number,
  options: LoadOptions,
): LoadPlan {
  return atOnce(planSteps(table, loaded, now, options))
}

/** The same, model by model. */
export function* planSteps(
  { rows, aliases, refused }: Pick<TableReading, 'rows' | 'aliases' | 'refused'>,
  loaded: Loaded,
  now: number,
  options: LoadOptions,
): Steps<LoadPlan> {
  const today = dateOf(now, loaded.timeZone)
  const { asOf = today } = options
  const known = Map.groupBy(loaded.prices, (price) => keyOf(price.source, price))
  const ranked = Map.groupBy(loaded.prices, rankKey)
  const plan: LoadPlan = {
    additions: [],
    older: [],
    aliases: [],
    replacedAliases: [],
    unchanged: 0,
    confirmed: [],
    removed: [],
    refused: [...refused],
  }
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
    yield
    const { provider, model, source } = listed[0]!
    const own = known.get(key) ?? []
    const isPriced = () => own.length > 0 || priceOf(listed[0]!) !== undefined
    const { added, held } = newRows(listed, {
      own,
      ranked: ranked.get(rankKey(listed[0]!)) ?? [],
      usualStart: () => (isPriced() ? startOfToday(now, loaded.timeZone) : null),
      requested: options.effectiveFrom,
      timeZone: loaded.timeZone,
    })
    const reasons = added.flatMap(({ row }) => reasonsAgainst(row, options))
    if (reasons.length > 0) {
      plan.refused.push({ provider, model, reasons })
      continue
    }
    plan.unchanged += listed.length - new Set(added.map(({ listed: from }) => from)).size
    plan.confirmed.push(...held.filter((price) => (price.asOf ?? asOf) < asOf).map(({ id }) => id))
    for (const { row, listed: from } of added) {
      const hit = hitOn(row, loaded.table, now)
      const replaced = replacedPrice(row, { source, own, hit, byId })
      const isSame = isSamePrice(row, replaced)
      const inForce = hit && byId.get(hit.price.id)
      const addition = {
        position: positions.get(from)!,
        row,
        source,
        asOf: from.asOf === undefined ? asOf : Math.min(midnight(from.asOf), today),
        replaced,
        isSame,
        inForce,
        outcome: outcomeOf(row, source, { hit, inForce }),
      }
      if (!isOlder(addition)) additions.push(addition)
      else if (isSame) plan.unchanged += 1
      else if (options.allowOlder) additions.push(addition)
      else plan.older.push(addition)
    }
  }
  // Of rows with the same date the last loaded one is in effect, so the file's order is kept across models and sources.
  plan.additions = additions.sort((one, other) => one.position - other.position)
  plan.removed = removedPrices(rows, refused, loaded, now)
  const priced = new Set([...loaded.prices, ...plan.additions.map(({ row }) => row)].map(modelKey))
  const { added, replaced } = newAliases(aliases, loaded.aliases)
  const isNewest = (source: PriceSource) =>
    options.allowOlder || !loaded.prices.some((price) => price.source === source && (price.asOf ?? 0) > asOf)
  plan.aliases = added.filter(
    (alias) =>
      (alias.provider === null || priced.has(modelKey(alias))) && (!replaced.has(alias) || isNewest(alias.source)),
  )
  plan.replacedAliases = plan.aliases.flatMap((alias) => replaced.get(alias) ?? [])
  return plan
}

/** Steps that find exactly the name, apart from its spelling; later ones find prices of similar names. */
const LAST_EXACT_STEP = 5

/** Steps that find prices and aliases set by hand and custom tables, which take precedence over published tables. */
const LAST_CUSTOM_STEP = 2

/** The price of the row's name on its date, else the one that it has now. */
function hitOn({ provider, model, effectiveFrom }: PriceRow, table: PriceTable, now: number): Hit | undefined {
  return table.find(model, provider || null, effectiveFrom ?? ALWAYS) ?? table.find(model, provider || null, now)
}

function isOverridden(source: PriceSource, hit: Hit): boolean {
  return hit.step <= LAST_CUSTOM_STEP && !isCustom(source)
}

function outcomeOf(
  row: PriceRow,
  source: PriceSource,
  { hit, inForce }: { hit: Hit | undefined; inForce: StoredPrice | undefined },
): AdditionOutcome {
  if (!hit || !inForce) return 'new'
  if (isOverridden(source, hit)) return 'overridden'
  return isSamePrice(row, inForce) ? 'same' : 'changed'
}

/**
 * The prices in force now of models that an earlier table of the same sources had and this one has not, not even
 * rejected. Custom tables are often parts, so theirs are only those of the providers in this one.
 */
function removedPrices(rows: ListedPrice[], refused: RefusedPrice[], loaded: Loaded, now: number): StoredPrice[] {
  const listed = new Set([...rows, ...refused].map(modelKey))
  const sources = new Set<PriceSource>(rows.map(({ source }) => source).filter((source) => source !== 'admin'))
  const providers = new Set(rows.map(({ provider, source }) => keyOf(source, { provider, model: '' })))
  const gone = loaded.prices.filter(
    (price) =>
      sources.has(price.source) &&
      !listed.has(modelKey(price)) &&
      (!isCustom(price.source) || providers.has(keyOf(price.source, { provider: price.provider, model: '' }))),
  )
  return [...Map.groupBy(gone, (price) => keyOf(price.source, price)).values()].flatMap(
    (held) => rowAt(held, now) ?? [],
  )
}

interface Replaceable {
  source: PriceSource
  own: StoredPrice[]
  hit: Hit | undefined
  byId: Map<number, StoredPrice>
}

/**
 * The price that a row replaces: the one that its name has at its provider from its date on. A custom price still
 * applies after a published table is loaded, which then replaces only its own.
 */
function replacedPrice(
  { provider, effectiveFrom }: PriceRow,
  { source, own, hit, byId }: Replaceable,
): StoredPrice | undefined {
  const before = rowAt(own, effectiveFrom)
  if (!hit || hit.step > LAST_EXACT_STEP || (provider !== '' && hit.price.provider !== provider)) return before
  if (isOverridden(source, hit)) return before
  return byId.get(hit.price.id) ?? before
}

function isOlder(addition: Addition): addition is Addition & { replaced: StoredPrice } {
  const { asOf, replaced } = addition
  return asOf < (replaced?.asOf ?? asOf)
}

type Model = { provider: string | null; model: string }

function modelKey({ provider, model }: Model): string {
  return JSON.stringify([provider, model])
}

function keyOf(source: PriceSource, { provider, model }: Model): string {
  return JSON.stringify([source, provider, model])
}

/** The same for prices of a model of which the newest date decides, and the load of two with one date. */
function rankKey({ source, ...model }: Model & { source: PriceSource }): string {
  return JSON.stringify([source === 'default' ? source : isCustom(source), modelKey(model)])
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
  if (!agrees) return row
  const withHour = { ...row, cacheWrite1h: held.cacheWrite1h }
  return { ...withHour, tiers: completeTiers(withHour, row.tiers) }
}

function isHeld(held: PriceRow[], row: ListedPrice): boolean {
  return row.effectiveFrom !== undefined && isSamePrice(row, rowAt(held, row.effectiveFrom))
}

interface Placing {
  /** The rows loaded from the same source, in order. */
  own: StoredPrice[]
  /** The same with those of other sources that precede a row with an earlier date. */
  ranked: StoredPrice[]
  usualStart: () => number | null
  /** The date of rows without one, if the caller gives one. */
  requested: number | null | undefined
  timeZone: string
}

/**
 * The rows of one model to add, with the listed price of each, and the loaded ones that the others equal.
 *
 * A price from a day on also replaces what begins later on that day. Otherwise it would end after some hours where the
 * same day was dated in another time zone: in UTC in a table and by earlier versions.
 */
function newRows(
  listed: ListedPrice[],
  { own, ranked, usualStart, requested, timeZone }: Placing,
): { added: { row: PriceRow; listed: ListedPrice }[]; held: StoredPrice[] } {
  const isDated = listed.some((row) => row.effectiveFrom !== undefined)
  const startOf = ({ effectiveFrom }: ListedPrice) => {
    if (effectiveFrom !== undefined) return effectiveFrom
    // An undated row next to dated ones of the same model was in effect before the first of them.
    if (isDated) return null
    return requested === undefined ? usualStart() : requested
  }
  const byStart = Map.groupBy(listed, startOf)
  const rows: PriceRow[] = [...own]
  const added: { row: PriceRow; listed: ListedPrice }[] = []
  const held: StoredPrice[] = []
  const add = (row: PriceRow, from: ListedPrice) => {
    rows.push(row)
    added.push({ row, listed: from })
  }
  for (const [effectiveFrom, listedThen] of [...byStart].sort(
    ([one], [other]) => (one ?? ALWAYS) - (other ?? ALWAYS),
  )) {
    const { source: _source, asOf: _asOf, ...prices } = listedThen.at(-1)!
    const row = { ...prices, effectiveFrom }
    // A date in the file always makes a row of its own, even at the price already in effect; without one, only a
    // changed price does.
    const current = isDated ? rows.findLast((one) => one.effectiveFrom === effectiveFrom) : rowAt(rows, effectiveFrom)
    if (current && isSamePrice(row, current) && (row.effectiveUntil ?? null) === (current.effectiveUntil ?? null)) {
      held.push(...own.filter((price) => price === current))
    } else add(row, listedThen.at(-1)!)
    if (isDated || effectiveFrom === null) continue
    const { length } = added
    for (const later of startsOnDayFrom(effectiveFrom, ranked, timeZone)) {
      // Other sources are only replaced by a row that is added: loading a file twice adds nothing.
      const replaced = rowAt<PriceRow>(length > 0 ? [...ranked, ...added.map((one) => one.row)] : rows, later)
      const isEnded = (row.effectiveUntil ?? Number.POSITIVE_INFINITY) <= later
      if (!isEnded && !isSamePrice(row, replaced)) add({ ...row, effectiveFrom: later }, listedThen.at(-1)!)
    }
  }
  return { added, held }
}

/** When rows begin after a moment on the day that it begins, in order; never for another time of day. */
function startsOnDayFrom(start: number, rows: readonly PriceRow[], timeZone: string): number[] {
  const later = rows.flatMap(({ effectiveFrom: from, effectiveUntil: until }) =>
    from !== null && from > start && (until ?? Number.POSITIVE_INFINITY) > from ? [from] : [],
  )
  if (later.length === 0) return later
  const day = dayAt(start, timeZone)
  const { startingAt, endingAt } = spanOf({ from: day, to: day }, timeZone)
  if (startingAt !== start) return []
  return [...new Set(later)].filter((from) => from < endingAt).sort((one, other) => one - other)
}

/** The aliases that are new or lead to another model, and the former ones of these. */
function newAliases(
  listed: PriceAlias[],
  known: PriceAlias[],
): { added: PriceAlias[]; replaced: Map<PriceAlias, PriceAlias> } {
  const keyOfAlias = ({ alias, provider, source }: PriceAlias) => JSON.stringify([alias, provider, source])
  const former = new Map(known.map((alias) => [keyOfAlias(alias), alias]))
  const added = listed.filter((alias) => former.get(keyOfAlias(alias))?.model !== alias.model)
  const pairs = added.flatMap((alias): [PriceAlias, PriceAlias][] => {
    const before = former.get(keyOfAlias(alias))
    return before ? [[alias, before]] : []
  })
  return { added, replaced: new Map(pairs) }
}
