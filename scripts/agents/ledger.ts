/** What the mock of the vendors served, and what the vendors would charge for it. */

import type { Counts } from '../../src/agents/agent.ts'

export const COUNTS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const

/** Why an agent made a request. Only those that some source of usage lacks have a purpose of their own. */
export type Purpose = 'conversation' | 'title' | 'summary' | 'router' | 'compaction'

/** In the home folder of a run that is kept: the requests that were served. */
export const SERVED = 'served.json'

export interface ServedRequest {
  /** The run of an agent that it belongs to: the first part of the path. */
  run: string
  /** The number of the run's step. */
  step: number
  /** In milliseconds, by the clock of this machine. */
  at: number
  /** It answers the result of a tool. */
  isOfResult: boolean
  purpose: Purpose
  model: string
  /** Tier or speed; empty for the standard one. */
  service: string
  counts: Counts
}

/** Sums of one model with one service, on one day and branch. */
export interface Sum extends Counts {
  requests: number
  /** In billionths of a dollar, if the model has a price here. */
  nanos: string | null
}

/** By day, branch, ticket, model and service: `2026-11-28 feature/ACME-1 ACME-1 claude-opus-4-8 fast`. */
export type Sums = Record<string, Sum>

/** Dollars per million tokens, as thousandths: integers. */
type Price = readonly [input: number, output: number, cacheRead: number, cacheWrite: number, cacheWrite1h: number]

interface Model {
  base: Price
  /** For requests with more input-side tokens than this. */
  long?: { above: number; price: Price }
  /** By service. */
  services?: Record<string, Price>
}

/** From the vendors' pages of prices, not from Tally's table. */
const PRICES: Record<string, Model> = {
  'claude-sonnet-4-5': { base: [3_000, 15_000, 300, 3_750, 6_000] },
  'claude-opus-4-8': {
    base: [5_000, 25_000, 500, 6_250, 10_000],
    services: { fast: [10_000, 50_000, 1_000, 12_500, 20_000] },
  },
  'gpt-5.4': {
    base: [2_500, 15_000, 250, 0, 0],
    long: { above: 272_000, price: [5_000, 22_500, 500, 0, 0] },
    services: { priority: [5_000, 30_000, 500, 0, 0] },
  },
  'gemini-2.5-pro': { base: [1_250, 10_000, 125, 0, 0], long: { above: 200_000, price: [2_500, 15_000, 250, 0, 0] } },
  'gemini-2.5-flash': { base: [300, 2_500, 30, 0, 0] },
}

/** @param placeOf the day, branch and ticket that a request should be counted at */
export function sumsOf(requests: readonly ServedRequest[], placeOf: (request: ServedRequest) => string): Sums {
  const sums: Sums = {}
  for (const request of requests) {
    const { model, service, counts } = request
    const key = [placeOf(request), model, service].filter(Boolean).join(' ')
    sums[key] ??= { requests: 0, input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0, nanos: '0' }
    const sum = sums[key]
    sum.requests += 1
    for (const count of COUNTS) sum[count] += counts[count]
    const nanos = nanosOf(model, service, counts)
    sum.nanos = sum.nanos === null || nanos === null ? null : String(BigInt(sum.nanos) + nanos)
  }
  return sums
}

/** A thousandth of a dollar per million tokens is a billionth per token. */
function nanosOf(model: string, service: string, counts: Counts): bigint | null {
  const { base, long, services } = PRICES[model] ?? {}
  const length = counts.input + counts.cache_read + counts.cache_write + counts.cache_write_1h
  const price = service === '' ? (long && length > long.above ? long.price : base) : services?.[service]
  if (!price) return null
  return COUNTS.reduce((sum, count, index) => sum + BigInt(counts[count]) * BigInt(price[index]!), 0n)
}
