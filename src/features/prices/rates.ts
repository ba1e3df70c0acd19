/**
 * The list value of token counts at a price row (docs/design/pricing.md, "Units", "A price row", "Tiers"). Pure, and
 * exact: prices are integers of pico-dollars per token, products are summed as integers, and the sum is rounded once,
 * half to even, to nano-dollars.
 */
import { divideHalfEven, type Nanos, type Picos } from '../../lib/money.ts'

/** The five counts of an entry. They are disjoint: no token counts in two of them. */
export const PRICED_KINDS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const
export type PricedKind = (typeof PRICED_KINDS)[number]

/** The JSON fields of the five prices, in the embedded table and in the database. */
export const PRICE_FIELDS = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
} as const satisfies Record<PricedKind, string>

/** Whole numbers from 0 to 10^12, which are exact in JavaScript. */
export type TokenCounts = Record<PricedKind, number>

/** Null is unknown, 0 is free. */
export type TokenPrices = Record<PricedKind, Picos | null>

/** Prices of a request with `fromTokens` or more input-side tokens; an absent kind has the price of the level below. */
export interface PriceTier {
  fromTokens: number
  prices: Partial<Record<PricedKind, Picos>>
}

/** A price in tables and in the database. */
export interface PriceRow extends TokenPrices {
  provider: string
  model: string
  /** Ascending by `fromTokens`. */
  tiers: PriceTier[]
  /** The start of its effect, in milliseconds since 1970; null if it has always been in effect. */
  effectiveFrom: number | null
}

/**
 * 1,000 dollars per million tokens. The most expensive known model charges 600 for text; higher prices are mistakes of
 * units, unless an admin confirms them.
 */
export const PRICE_LIMIT_PICOS: Picos = 1_000_000_000n

/**
 * Keeps every value within 64 bits, even with `force`: five counts of 10^12 tokens at this price are 9 × 10^18
 * nano-dollars.
 */
export const PRICE_CEILING_PICOS: Picos = 1_800_000_000n

/** Some cache tokens were valued at the input price, since the row has no price for them. */
const CACHE_PRICE_ASSUMED = 'cache_price_assumed'
/** Some requests may have reached a long-context price; the base price used is the lower bound. */
const TIER_UNCERTAIN = 'tier_uncertain'

/** The five prices from a certain length on, with substitutes for absent ones. */
interface Level {
  /** Null for the base price. */
  fromTokens: number | null
  prices: TokenPrices
  assumed: Record<PricedKind, boolean>
}

/** A price row prepared for valuation. */
export interface Rates {
  base: Level
  /** Ascending by `fromTokens`. */
  tiers: (Level & { fromTokens: number })[]
}

export interface Usage {
  counts: TokenCounts
  /** The share of `counts` from single requests above 200,000 input-side tokens; null if unknown. */
  over200k: TokenCounts | null
  /** Model calls; null if unknown. */
  requests: number | null
}

/** One product of the calculation. The list value is the sum of all amounts, rounded once. */
export interface ValuedPart {
  kind: PricedKind
  /** The threshold of the long-context price; null for the base price. */
  fromTokens: number | null
  tokens: number
  pricePicos: Picos
  amountPicos: Picos
}

export interface CountsValue {
  listValueNanos: Nanos
  /** Null, or `cache_price_assumed`, `tier_uncertain`, or both in this order, separated by a comma. */
  note: string | null
  parts: ValuedPart[]
}

export function ratesOf(row: Pick<PriceRow, PricedKind | 'tiers'>): Rates {
  let known: TokenPrices = row
  const tiers = row.tiers.map(({ fromTokens, prices }) => {
    known = { ...known, ...prices }
    return { ...levelOf(known), fromTokens }
  })
  return { base: { ...levelOf(row), fromTokens: null }, tiers }
}

/**
 * A missing one-hour write price is replaced with the five-minute price; a missing cache price with the input price,
 * which is noted.
 */
function levelOf({ input, output, cacheRead, cacheWrite, cacheWrite1h }: TokenPrices): Omit<Level, 'fromTokens'> {
  return {
    prices: {
      input,
      output,
      cacheRead: cacheRead ?? input,
      cacheWrite: cacheWrite ?? input,
      cacheWrite1h: cacheWrite1h ?? cacheWrite ?? input,
    },
    assumed: {
      input: false,
      output: false,
      cacheRead: cacheRead === null,
      cacheWrite: cacheWrite === null,
      cacheWrite1h: cacheWrite1h === null && cacheWrite === null,
    },
  }
}

/**
 * The value of a usage at a row's rates; `over200k` never exceeds `counts`. Undefined if the row has no price for some
 * of the tokens.
 */
export function valueCounts(rates: Rates, usage: Usage): CountsValue | undefined {
  const { counts } = usage
  const { level, longLevel, uncertain } = levelsFor(rates, usage)
  const sum: Sum = { picos: 0n, assumed: false, parts: [] }
  for (const kind of PRICED_KINDS) {
    const longTokens = longLevel && usage.over200k ? usage.over200k[kind] : 0
    const priced = add(sum, kind, counts[kind] - longTokens, level) && add(sum, kind, longTokens, longLevel ?? level)
    if (!priced) return undefined
  }
  return {
    listValueNanos: divideHalfEven(sum.picos, PICOS_PER_NANO),
    note: noteOf(sum.assumed, uncertain),
    parts: sum.parts,
  }
}

const PICOS_PER_NANO = 1_000n

interface Sum {
  picos: Picos
  assumed: boolean
  parts: ValuedPart[]
}

/** Adds the amount of some tokens. Returns false if there are any and their price is unknown. */
function add(sum: Sum, kind: PricedKind, tokens: number, { prices, assumed, fromTokens }: Level): boolean {
  if (tokens === 0) return true
  const pricePicos = prices[kind]
  if (pricePicos === null) return false
  const amountPicos = BigInt(tokens) * pricePicos
  sum.picos += amountPicos
  sum.assumed ||= assumed[kind]
  sum.parts.push({ kind, fromTokens, tokens, pricePicos, amountPicos })
  return true
}

function noteOf(assumed: boolean, uncertain: boolean): string | null {
  if (assumed) return uncertain ? `${CACHE_PRICE_ASSUMED},${TIER_UNCERTAIN}` : CACHE_PRICE_ASSUMED
  return uncertain ? TIER_UNCERTAIN : null
}

interface Levels {
  /** The level for counts that `longLevel` does not apply to. */
  level: Level
  /** The level for the share above 200,000. */
  longLevel?: Level | undefined
  uncertain: boolean
}

/** Long-context prices apply per request, but an entry sums a session; so the known data of single requests decides. */
function levelsFor({ base, tiers }: Rates, { counts, over200k, requests }: Usage): Levels {
  if (tiers.length === 0) return { level: base, uncertain: false }
  const length = inputSide(counts)
  if (requests === 1) {
    return { level: tiers.findLast((tier) => tier.fromTokens <= length) ?? base, uncertain: false }
  }
  if (!over200k) return { level: base, uncertain: tiers[0]!.fromTokens <= length }

  const longLevel = tiers.find(beginsAt200k)
  const longLength = inputSide(over200k)
  const uncertain = tiers.some((tier) => {
    if (tier === longLevel) return false
    // Only requests above 200,000 can reach a later tier; an earlier tier may be reached by all counts that are valued
    // at base.
    if (tier.fromTokens > 200_001) return tier.fromTokens <= longLength
    return tier.fromTokens <= (longLevel ? length - longLength : length)
  })
  return { level: base, longLevel, uncertain }
}

/** Vendors charge more from 200,000 tokens on (xAI) or above 200,000 (Anthropic, Google). */
function beginsAt200k({ fromTokens }: { fromTokens: number }): boolean {
  return fromTokens === 200_000 || fromTokens === 200_001
}

function inputSide({ input, cacheRead, cacheWrite, cacheWrite1h }: TokenCounts): number {
  return input + cacheRead + cacheWrite + cacheWrite1h
}
