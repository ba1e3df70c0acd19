/** Changes of prices of the models in use, and what their usage since would have cost at the earlier price. */

import type { Viewer } from '../../access/visibility.ts'
import type { Database, SlowTask } from '../../database/database.ts'
import { timestamp } from '../../lib/duration.ts'
import { decimalNumber, moneyNumber, type Nanos } from '../../lib/money.ts'
import { COUNT_KINDS, type CountKind } from '../../shared/usage.ts'
import type { Price } from '../prices/service.ts'
import { listPath } from '../selection/contract.ts'
import { counted } from './counted-entries.ts'
import { type ModelNames, nameOf, type PricedSums, type PriceStep, readPricedSums } from './priced-sums.ts'
import type { PeriodQuery } from './query.ts'
import type { PriceEffect, PriceEffectsReport } from './schema.ts'
import { type Billing, settledRead } from './settled-sums.ts'
import { NO_TOKENS, standardValue, sumTokens } from './standard-value.ts'
import { ROW_LIMIT, tooManyGroups } from './usage.ts'
import { queryBody, ratioNumber } from './wire.ts'

/** Pico-dollars per token; null is unknown. */
type StandardPrices = Record<CountKind, bigint | null>

interface Effect extends ModelNames {
  at: number
  /** The next change of the model's price, or the end of the period. */
  until: number
  before: StandardPrices
  after: StandardPrices
  entries: number
  unvaluedEntries: number
  beforeNanos: Nanos
  afterNanos: Nanos
}

/** Undefined if there are too many. */
export const PRICE_CHANGES_TASK: SlowTask<{ viewer: Viewer; query: PeriodQuery }, Effect[] | undefined> = {
  name: 'reports.price-changes',
  async run(reader, { viewer, query }) {
    const read = await readPricedSums(reader, { ...query, viewer })
    if (!read) return undefined
    const effects = [...Map.groupBy(read.steps, nameOf).values()].flatMap((ofModel) =>
      ofModel.flatMap((step, at) => effectOf(step, ofModel[at + 1]?.at ?? query.endingAt, read)),
    )
    return effects.length > ROW_LIMIT ? undefined : effects.sort(largestFirst)
  },
}

/** None if the model had or has no price, or if only prices other than the standard ones differ. */
function effectOf({ at, before, after, ...names }: PriceStep, until: number, { table, sums }: PricedSums): Effect[] {
  if (!before || !after) return []
  const prices = { before: standardPrices(before), after: standardPrices(after) }
  if (COUNT_KINDS.every((kind) => prices.before[kind] === prices.after[kind])) return []
  const used = sums.filter((sum) => nameOf(sum) === nameOf(names) && sum.at >= at && sum.at < until)
  const entries = used.reduce((sum, each) => sum + each.entries, 0)
  const tokens = used.reduce((sum, each) => sumTokens(sum, each.tokens), NO_TOKENS)
  const [beforeNanos, afterNanos] = [before, after].map(({ id }) => standardValue(table, id, tokens))
  // All or nothing, so that the entries that amounts exclude are a list.
  const isValued = beforeNanos !== undefined && afterNanos !== undefined
  return [
    {
      ...{ ...names, at, until, ...prices, entries },
      unvaluedEntries: isValued ? 0 : entries,
      beforeNanos: isValued ? beforeNanos : 0n,
      afterNanos: isValued ? afterNanos : 0n,
    },
  ]
}

/** With the prices that apply instead of absent ones. */
function standardPrices({ rates }: Price): StandardPrices {
  const { prices } = rates.levels[0]!
  return Object.fromEntries(COUNT_KINDS.map((kind) => [kind, prices[kind]])) as StandardPrices
}

/** By the absolute effect, then by time and name. */
function largestFirst(one: Effect, other: Effect): number {
  const [effect, otherEffect] = [one, other].map(({ beforeNanos, afterNanos }) =>
    afterNanos > beforeNanos ? afterNanos - beforeNanos : beforeNanos - afterNanos,
  ) as [bigint, bigint]
  if (effect !== otherEffect) return effect > otherEffect ? -1 : 1
  return other.at - one.at || (nameOf(one) < nameOf(other) ? -1 : 1)
}

export function createPriceChanges({ db, billing }: { db: Database; billing: Billing }) {
  return {
    /** Throws `validation_failed` (422) for too many changes, and `database_deadline` (503). */
    async priceChanges(viewer: Viewer, query: PeriodQuery): Promise<PriceEffectsReport> {
      const effects = await settledRead(billing, query.filter, () => db.slowly(PRICE_CHANGES_TASK, { viewer, query }))
      if (!effects) throw tooManyGroups(ROW_LIMIT)
      return { ...queryBody(query), data: effects.map((effect) => effectBody(effect, query)) }
    },
  }
}

function effectBody(
  { model, provider, at, until, before, after, entries, unvaluedEntries, beforeNanos, afterNanos }: Effect,
  { filter }: PeriodQuery,
): PriceEffect {
  const names = { model: [model], provider: [provider ?? 'none'] }
  const known = (nanos: Nanos) => moneyNumber(entries > 0 && unvaluedEntries === entries ? null : nanos)
  return {
    model,
    provider,
    changed_at: timestamp(at),
    ending_at: timestamp(until),
    before: pricesBody(before),
    after: pricesBody(after),
    entries,
    unvalued_entries: unvaluedEntries,
    value_before: known(beforeNanos),
    value_after: known(afterNanos),
    effect: known(afterNanos - beforeNanos),
    ratio: ratioNumber(afterNanos, beforeNanos),
    list: listPath({ ...counted(filter), starting_at: at, ending_at: until, ...names }),
  }
}

/** Pico-dollars per token are millionths of a dollar per million tokens. */
const MILLIONTHS = 6

function pricesBody({ input, output, cacheRead, cacheWrite, cacheWrite1h }: StandardPrices): PriceEffect['before'] {
  const dollars = (price: bigint | null) => (price === null ? null : decimalNumber(price, MILLIONTHS))
  return {
    input: dollars(input),
    output: dollars(output),
    cache_read: dollars(cacheRead),
    cache_write: dollars(cacheWrite),
    cache_write_1h: dollars(cacheWrite1h),
  }
}
