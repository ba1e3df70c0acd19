/**
 * The rows that a newer table adds to one that was loaded before (docs/design/pricing.md, "The embedded table"). Pure.
 */
import { COUNT_KINDS, type CountKind, type PriceRow } from './rates.ts'
import { extrasRecord, TOKEN_KINDS } from './records.ts'

/**
 * The rows to add so that from `today` on, and from each date in the offered table, the prices of the offered table are
 * in effect. Earlier prices stay unchanged: a changed price without a date is in effect from today.
 *
 * `known` are the rows loaded so far, in the order of loading; `offered` is the whole new table; `today` is a midnight.
 * `aliases` are those of the offered table: a model that became an alias of another gets that one's prices, because its
 * own rows would precede them. Models that the offered table no longer contains keep their prices.
 */
export function offeredRows<Row extends PriceRow>(
  known: PriceRow[],
  offered: Row[],
  today: number,
  aliases: OfferedAlias[] = [],
): Row[] {
  const knownModels = Map.groupBy(known, modelKey)
  const offeredModels = Map.groupBy(offered, modelKey)
  for (const { provider, alias, model } of aliases) {
    const key = modelKey({ provider, model: alias })
    if (!knownModels.has(key)) continue
    const rows = offeredModels.get(modelKey({ provider, model })) ?? []
    offeredModels.set(key, [...rows.map((row) => ({ ...row, model: alias })), ...(offeredModels.get(key) ?? [])])
  }
  return [...offeredModels].flatMap(([key, rows]) => {
    const loaded = knownModels.get(key)
    return loaded ? changes(loaded, rows, today) : rows
  })
}

interface OfferedAlias {
  alias: string
  provider: string
  model: string
}

function modelKey({ provider, model }: Pick<PriceRow, 'provider' | 'model'>): string {
  return JSON.stringify([provider, model])
}

function changes<Row extends PriceRow>(known: PriceRow[], offered: Row[], today: number): Row[] {
  const knownDays = new Set(known.map((row) => row.effectiveFrom))
  const newDays = offered.map((row) => row.effectiveFrom).filter((day) => day !== null && !knownDays.has(day))
  const laterDays = [...knownDays].filter((day) => day !== null && day > today)
  const days = [...new Set([...newDays, ...laterDays, today])].filter((day) => day !== null).sort((a, b) => a - b)

  const added: Row[] = []
  for (const day of days) {
    const wanted = rowAt(offered, day)
    if (!wanted || isSamePrice(wanted, rowAt<PriceRow>([...known, ...added], day))) continue
    added.push({ ...wanted, effectiveFrom: day })
  }
  return added
}

/** Before every date. Not -Infinity, whose difference from itself is NaN. */
export const ALWAYS = Number.MIN_SAFE_INTEGER

/**
 * The newest row in effect at the moment, and the later one of two with the same date; null returns the row that has
 * always been in effect.
 */
export function rowAt<Row extends PriceRow>(rows: Row[], at: number | null): Row | undefined {
  let found: Row | undefined
  for (const row of rows) {
    const from = row.effectiveFrom ?? ALWAYS
    if ((row.effectiveUntil ?? Number.POSITIVE_INFINITY) <= (at ?? ALWAYS)) continue
    if (from <= (at ?? ALWAYS) && from >= (found?.effectiveFrom ?? ALWAYS)) found = row
  }
  return found
}

type Prices = Pick<PriceRow, CountKind | 'tiers' | 'extras'>

export function isSamePrice(one: Prices, other: Prices | undefined): boolean {
  return (
    other !== undefined &&
    COUNT_KINDS.every((kind) => one[kind] === other[kind]) &&
    extrasText(one) === extrasText(other) &&
    one.tiers.length === other.tiers.length &&
    one.tiers.every((tier, index) => {
      const counterpart = other.tiers[index]!
      return (
        tier.fromTokens === counterpart.fromTokens &&
        TOKEN_KINDS.every((kind) => tier.prices[kind] === counterpart.prices[kind])
      )
    })
  )
}

function extrasText({ extras }: Prices): string {
  return extras ? JSON.stringify(extrasRecord(extras)) : ''
}
