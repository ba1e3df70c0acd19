/**
 * The list value of token counts at a price row (docs/design/pricing.md, "Units", "A price row", "Tiers"). Pure, and
 * exact: prices are integers of pico-dollars per token, products are summed as integers, and the sum is rounded once,
 * half to even, to nano-dollars.
 */
import { divideHalfEven, type Nanos, type Picos } from '../../lib/money.ts'

/** The five counts of an entry. They are disjoint: no token is in two of them. */
export const PRICED_KINDS = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWrite1h'] as const
export type PricedKind = (typeof PRICED_KINDS)[number]

/** How JSON names the five prices, in the embedded table as in the database. */
export const PRICE_FIELDS = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
} as const satisfies Record<PricedKind, string>

/** Whole numbers from 0 to 10^12, which JavaScript's numbers hold exactly. */
export type TokenCounts = Record<PricedKind, number>

/** Null is unknown, 0 is free. */
export type TokenPrices = Record<PricedKind, Picos | null>

/** Prices of one request whose input side has `fromTokens` tokens or more; a kind that is absent costs as below. */
export interface PriceTier {
  fromTokens: number
  prices: Partial<Record<PricedKind, Picos>>
}

/** A price as tables give it and the database keeps it. */
export interface PriceRow extends TokenPrices {
  provider: string
  model: string
  /** Ascending by `fromTokens`. */
  tiers: PriceTier[]
  /** The first moment it holds, in milliseconds since 1970; null where it always held. */
  effectiveFrom: number | null
}

/**
 * 1,000 dollars per million tokens. Text costs 600 at the dearest known model; what lists above this is a mistake of
 * units, unless an admin says that it is none.
 */
export const PRICE_LIMIT_PICOS: Picos = 1_000_000_000n

/** Keeps every value within 64 bits, whoever insists: five counts of 10^12 tokens at it are 9 × 10^18 nano-dollars. */
export const PRICE_CEILING_PICOS: Picos = 1_800_000_000n

/** Some cache tokens were valued at the input price, since the row has no price for them. */
const CACHE_PRICE_ASSUMED = 'cache_price_assumed'
/** Some requests may have reached a long-context price; the base price used is the lower bound. */
const TIER_UNCERTAIN = 'tier_uncertain'

/** The five prices that hold from some length on, with what stands in for absent ones. */
interface Level {
  /** Null for the base price. */
  fromTokens: number | null
  prices: TokenPrices
  assumed: Record<PricedKind, boolean>
}

/** A price row made ready for valuing. */
export interface Rates {
  base: Level
  /** Ascending by `fromTokens`. */
  tiers: (Level & { fromTokens: number })[]
}

export interface Usage {
  counts: TokenCounts
  /** The share of `counts` from single requests above 200,000 input-side tokens; null where nothing is known of it. */
  over200k: TokenCounts | null
  /** Model calls; null where unknown. */
  requests: number | null
}

/** One product of the arithmetic. The amounts of all parts together, rounded once, are the list value. */
export interface ValuedPart {
  kind: PricedKind
  /** Where the long-context price used begins; null for the base price. */
  fromTokens: number | null
  tokens: number
  pricePicos: Picos
  amountPicos: Picos
}

export interface CountsValue {
  listValueNanos: Nanos
  /** Null, or `cache_price_assumed`, `tier_uncertain`, or both in this order with a comma between. */
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

/** A missing one-hour write price is the five-minute one; a missing cache price is the input price, and noted. */
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
 * The value of a usage at a row's rates; `over200k` never exceeds `counts`. Undefined where tokens were used for which
 * the row knows no price.
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

/** Adds the amount of some tokens. False where there are any and their price is unknown. */
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
  /** Where the counts are valued that `longLevel` does not take. */
  level: Level
  /** Where the share over 200,000 is valued. */
  longLevel?: Level | undefined
  uncertain: boolean
}

/** Long-context prices hold per request, while an entry sums a session; so what is known of single requests decides. */
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
    // Only requests above 200,000 can reach a later tier; an earlier one may be reached by all that is valued at base.
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
