/**
 * The history of models.dev's catalog, as the package `model-prices` records it: for each model and mode the prices
 * from each change on, each with the commit or page that it comes from.
 */

import { PER_MILLION_DIGITS } from '../../src/features/prices/formats/reader.ts'
import {
  COUNT_KINDS,
  extraPrices,
  PRICE_FIELDS,
  type PriceTier,
  type PriceVariant,
  type TokenPrices,
} from '../../src/features/prices/rates.ts'
import { numberText, parseExactJson } from '../../src/lib/exact-json.ts'
import { type Picos, parseDecimal } from '../../src/lib/money.ts'
import type { DatedPrice } from './claims.ts'

interface Rates {
  [price: string]: unknown
  tiers?: Rates[]
  above?: number
  cache_write_1h_multiple?: number
  valid_from?: string
  valid_from_basis?: string
}

interface Period {
  rates: Rates | null
  /** Null for always. */
  start: string | null
}

interface History {
  prices: Record<string, Record<string, Record<string, Period[]>>>
}

type Take = (provider: string, name: string, prices: DatedPrice[], isDocumented: boolean) => void

/** Passes each model with its standard prices, and whether the last of them cites the maker's own page. */
export function readHistory(text: string, take: Take): void {
  const { prices } = parseExactJson(text) as History
  for (const [provider, models] of Object.entries(prices)) {
    for (const [name, modes] of Object.entries(models)) {
      const periods = (modes.standard ?? []).filter((period) => period.rates?.input !== undefined)
      const last = periods.at(-1)
      const changes = changesOf(periods.filter(isLasting).map(priceOf))
      if (last)
        take(provider, name, [...changes.slice(0, -1), withFast(changes.at(-1)!, modes.fast)], isDocumented(last))
    }
  }
}

/** The current price with that of the fast mode; other modes are in other sources. */
function withFast(price: DatedPrice, periods: Period[] = []): DatedPrice {
  // After the mode has ended nothing is charged for it any more, but late reports still are.
  const rates = periods.findLast((period) => period.rates)?.rates
  if (!rates) return price
  const fast: PriceVariant = {
    kind: 'speed',
    name: 'fast',
    multiplier: null,
    prices: knownOf(pricesOf(rates, rates.cache_write_1h_multiple)),
    tiers: [],
  }
  return { ...price, extras: extraPrices({ variants: [fast] }) }
}

/** A price that was changed within three days was a mistake of the catalog. */
function isLasting(period: Period, index: number, periods: Period[]): boolean {
  const next = periods[index + 1]
  return !next || Date.parse(sinceOf(next)) - Date.parse(sinceOf(period)) >= 3 * DAY_MS
}

/** When the period began; of the first one, when its price was recorded. */
function sinceOf({ start, rates }: Period): string {
  return start ?? rates!.valid_from!
}

function isDocumented({ rates }: Period): boolean {
  return rates?.valid_from_basis !== 'models.dev commit'
}

function priceOf({ rates, start }: Period): DatedPrice {
  const { tiers = [], cache_write_1h_multiple: multiple } = rates!
  const base = pricesOf(rates!, multiple)
  return {
    ...base,
    tiers: tiers.map(
      (tier): PriceTier => ({
        fromTokens: tier.above! + 1,
        prices: knownOf(pricesOf(tier, base.cacheWrite1h === null ? undefined : multiple)),
      }),
    ),
    effectiveFrom: start === null ? null : dayOf(start, isDocumented({ rates, start })),
  }
}

const DAY_MS = 86_400_000

/** The midnight nearest to a documented change, or before the commit that recorded one some time after it. */
function dayOf(start: string, isDocumented: boolean): number {
  return (isDocumented ? Math.round : Math.floor)(Date.parse(start) / DAY_MS) * DAY_MS
}

/** OpenAI's longer writes are kept for twelve hours instead of one, and are not what is reported as one-hour writes. */
const HOUR_MULTIPLE = 2

function pricesOf(rates: Rates, hourMultiple: number | undefined): TokenPrices {
  const priceAt = (field: string): Picos | null =>
    typeof rates[field] === 'number'
      ? parseDecimal(numberText(rates as Record<string, number>, field), PER_MILLION_DIGITS)!
      : null
  const prices = Object.fromEntries(COUNT_KINDS.map((kind) => [kind, priceAt(PRICE_FIELDS[kind])])) as TokenPrices
  const hasHour = hourMultiple === HOUR_MULTIPLE && prices.input !== null && prices.cacheWrite !== null
  return { ...prices, cacheWrite1h: hasHour ? prices.input! * BigInt(HOUR_MULTIPLE) : null }
}

function knownOf(prices: TokenPrices): PriceTier['prices'] {
  return Object.fromEntries(COUNT_KINDS.flatMap((kind) => (prices[kind] === null ? [] : [[kind, prices[kind]]])))
}

/**
 * The price that has always held, and each change of the price of input or output. What the catalog only recorded
 * later of the same price, such as its cache prices, belongs to it from its start.
 */
function changesOf(prices: DatedPrice[]): DatedPrice[] {
  const changes: DatedPrice[] = []
  for (const price of prices) {
    const held = changes.at(-1)
    if (held && held.input === price.input && held.output === price.output) {
      changes[changes.length - 1] = { ...price, effectiveFrom: held.effectiveFrom }
    } else changes.push({ ...price, effectiveFrom: held ? price.effectiveFrom : null })
  }
  return changes
}
