/**
 * The value of sums of tokens at the standard prices of a row (docs/design/pricing.md, "Values of sums"): without those of
 * long requests, service tiers and hours of the day, which depend on single entries. Pure.
 */
import type { Nanos } from '../../lib/money.ts'
import { type PriceTable, valueAtPrice } from '../prices/service.ts'
import type { SumsRow } from './sums.ts'

export type Tokens = SumsRow['tokens']

export const NO_TOKENS: Tokens = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n, cacheWrite1h: 0n }

/** The limit of a count in a valuation. So many tokens cost whole nano-dollars: only what is left of a sum is rounded. */
const TOKENS_AT_ONCE = 1_000_000_000_000n

/** A session that is longer than the hours of any price has the standard one. */
const SESSION = { startedAt: 0, endedAt: 7 * 86_400_000 }

/** Undefined if the row has no price for some of the tokens. */
export function standardValue(table: PriceTable, priceId: number, tokens: Tokens): Nanos | undefined {
  let [sum, left] = [0n, tokens]
  do {
    const counts = mapTokens(left, (count) => Number(count < TOKENS_AT_ONCE ? count : TOKENS_AT_ONCE))
    const valued = valueAtPrice(table, priceId, { ...SESSION, counts, details: null, requests: null })
    if (!valued) return undefined
    sum += valued.listValueNanos
    left = mapTokens(left, (count, kind) => count - BigInt(counts[kind]))
  } while (Object.values(left).some((count) => count > 0n))
  return sum
}

function mapTokens<To>(tokens: Tokens, map: (count: bigint, kind: keyof Tokens) => To): Record<keyof Tokens, To> {
  return {
    input: map(tokens.input, 'input'),
    output: map(tokens.output, 'output'),
    cacheRead: map(tokens.cacheRead, 'cacheRead'),
    cacheWrite: map(tokens.cacheWrite, 'cacheWrite'),
    cacheWrite1h: map(tokens.cacheWrite1h, 'cacheWrite1h'),
  }
}

export function sumTokens(one: Tokens, other: Tokens): Tokens {
  return mapTokens(one, (count, kind) => count + other[kind])
}
