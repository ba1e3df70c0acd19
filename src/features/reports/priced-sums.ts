/** Sums of tokens by model and provider over spans in which no price of these changes. */

import type { Viewer } from '../../access/visibility.ts'
import type { Reader } from '../../database/database.ts'
import type { Span } from '../../lib/calendar.ts'
import { COUNT_KINDS } from '../../shared/usage.ts'
import { type Price, type PriceTable, readPriceTable } from '../prices/service.ts'
import { exactAt, sumColumns } from '../rollup/service.ts'
import type { EntryFilter } from '../selection/contract.ts'
import type { Tokens } from './standard-value.ts'
import { type Dimension, type Key, readSums } from './sums.ts'

/** The names by which a price is looked up. */
export interface ModelNames {
  model: string
  provider: string | null
}

/** A change of the price of a model; undefined where it has none. */
export interface PriceStep extends ModelNames {
  at: number
  before: Price | undefined
  after: Price | undefined
}

export interface PricedSum extends ModelNames {
  /** The start of its span, whose prices hold for all of it. */
  at: number
  /** The part of the period around it in which neither the price of the model nor those of `others` change. */
  span: Span
  /** In the dimension that was asked for; null without a value or a dimension. */
  key: Key | null
  /** The price in effect; undefined if there is none. */
  price: Price | undefined
  entries: number
  tokens: Tokens
}

export interface PricedSumsQuery extends Span {
  viewer: Viewer
  filter: EntryFilter
  dimension?: Dimension | undefined
  /** Moments that divide the period, besides changes of prices. */
  bounds?: readonly number[]
  /** Models that are not in use, whose prices divide the period as well. */
  others?: readonly ModelNames[]
}

export interface PricedSums {
  table: PriceTable
  sums: PricedSum[]
  /** In the order of time. */
  steps: PriceStep[]
}

/** By span, model, provider and group: more than any organization has, and a few hundred megabytes at most. */
const SUMS_LIMIT = 200_000

/** In the order of time. Undefined if there are too many. */
export async function readPricedSums(reader: Reader, query: PricedSumsQuery): Promise<PricedSums | undefined> {
  const { viewer, filter, startingAt, endingAt, dimension, bounds = [], others = [] } = query
  const { table, moments } = await readPriceTable(reader)
  const common = { viewer, filter }
  const models = await readModels(reader, { ...common, startingAt, endingAt })
  const steps = priceSteps(
    table,
    [...models, ...others],
    moments.filter((at) => at > startingAt && at < endingAt),
    startingAt,
  )
  const spans = [...new Set([startingAt, ...bounds, ...steps.map(({ at }) => at), endingAt])].sort((a, b) => a - b)
  const { sums, keys } = await readSums(
    reader,
    (task) => sumColumns(reader, task),
    {
      ...common,
      dimensions: ['model', 'provider', ...(dimension === undefined ? [] : [dimension])],
      bounds: spans,
      limit: SUMS_LIMIT + 1,
    },
    COUNT_KINDS,
  )
  if (sums.length > SUMS_LIMIT) return undefined
  const spanAt = spansOf(steps, others, { startingAt, endingAt })
  const rows = Array.from({ length: sums.length }, (_, row): PricedSum => {
    const [model, provider] = [keys[0]!(row) as string, keys[1]!(row) as string | null]
    const at = spans[sums.buckets[row]!]!
    const [input, output, cacheRead, cacheWrite, cacheWrite1h] = COUNT_KINDS.map(
      (_kind, figure) => exactAt(sums.figures[figure]!, row) ?? 0n,
    ) as [bigint, bigint, bigint, bigint, bigint]
    return {
      model,
      provider,
      at,
      span: spanAt({ model, provider }, at),
      key: keys[2]?.(row) ?? null,
      price: table.find(model, provider, at)?.price,
      entries: sums.entries[row]!,
      tokens: { input, output, cacheRead, cacheWrite, cacheWrite1h },
    }
  })
  return { table, sums: rows, steps }
}

/** A text that is the same for the same model and provider. */
export const nameOf = ({ model, provider }: ModelNames) => JSON.stringify([model, provider])

/** The span around a moment in which neither the price of a model nor those of `others` change. */
function spansOf(steps: readonly PriceStep[], others: readonly ModelNames[], { startingAt, endingAt }: Span) {
  const moments = Map.groupBy(steps, nameOf)
  const ofOthers = others.flatMap((other) => moments.get(nameOf(other)) ?? [])
  return (names: ModelNames, moment: number): Span => {
    const span = { startingAt, endingAt }
    for (const { at } of [...(moments.get(nameOf(names)) ?? []), ...ofOthers]) {
      if (at <= moment) span.startingAt = Math.max(span.startingAt, at)
      else span.endingAt = Math.min(span.endingAt, at)
    }
    return span
  }
}

/** The models in use. */
async function readModels(
  reader: Reader,
  { viewer, filter, startingAt, endingAt }: PricedSumsQuery,
): Promise<ModelNames[]> {
  const query = { viewer, filter, dimensions: ['model', 'provider'], bounds: [startingAt, endingAt] } as const
  const { sums, keys } = await readSums(reader, (task) => sumColumns(reader, task), query, [])
  return Array.from({ length: sums.length }, (_, row) => ({
    model: keys[0]!(row) as string,
    provider: keys[1]!(row) as string | null,
  }))
}

/** The changes of prices at these moments, of which each is compared with the one before. */
function priceSteps(
  table: PriceTable,
  models: readonly ModelNames[],
  moments: readonly number[],
  startingAt: number,
): PriceStep[] {
  const steps = models.flatMap(({ model, provider }) => {
    let before = table.find(model, provider, startingAt)?.price
    return moments.flatMap((at) => {
      const after = table.find(model, provider, at)?.price
      if (after === before) return []
      const step = { model, provider, at, before, after }
      before = after
      return [step]
    })
  })
  return steps.sort((one, other) => one.at - other.at)
}
