/**
 * The entries whose tokens cannot be valued at standard prices. They are left out by model, provider and span of prices:
 * whatever else sums are divided by, so that groups add up and each part is a list. Pure.
 */

import type { Span } from '../../lib/calendar.ts'
import { type EntryFilter, listPath } from '../selection/contract.ts'
import { counted } from './counted-entries.ts'
import { type ModelNames, nameOf, type PricedSum } from './priced-sums.ts'
import type { LeftOutPart } from './schema.ts'
import { NO_TOKENS, sumTokens, type Tokens } from './standard-value.ts'
import { periodBody } from './wire.ts'

export interface LeftOut extends ModelNames, Span {
  entries: number
}

/** The sums of a model in a span in which none of the prices that value it change. */
type SpanSum = Pick<PricedSum, keyof ModelNames | 'at' | 'span' | 'price' | 'entries'> & { tokens: Tokens }

const spanOf = ({ span, ...names }: Pick<PricedSum, keyof ModelNames | 'span'>) => `${nameOf(names)} ${span.startingAt}`

export interface Valuable {
  /** Whether the tokens of this sum are valued, with all others of its model and span. */
  isValued: (sum: PricedSum) => boolean
  /** In the order of time, then of names. */
  leftOut: LeftOut[]
}

/** @param canValue whether all tokens of a model in a span have a value */
export function valuable(sums: readonly PricedSum[], canValue: (sum: SpanSum) => boolean): Valuable {
  const spans = new Map<string, SpanSum>()
  for (const sum of sums) {
    const before = spans.get(spanOf(sum)) ?? { ...sum, entries: 0, tokens: NO_TOKENS }
    spans.set(spanOf(sum), {
      ...before,
      entries: before.entries + sum.entries,
      tokens: sumTokens(before.tokens, sum.tokens),
    })
  }
  const unvalued = new Map([...spans].filter(([, sum]) => !canValue(sum)))
  return { isValued: (sum) => !unvalued.has(spanOf(sum)), leftOut: joined([...unvalued.values()]) }
}

/** Consecutive spans of a model as one. */
function joined(sums: readonly SpanSum[]): LeftOut[] {
  const parts: LeftOut[] = []
  for (const ofModel of Map.groupBy(sums, nameOf).values()) {
    let last: LeftOut | undefined
    for (const { model, provider, span, entries } of ofModel.toSorted(
      (a, b) => a.span.startingAt - b.span.startingAt,
    )) {
      if (last?.endingAt === span.startingAt) {
        last.endingAt = span.endingAt
        last.entries += entries
        continue
      }
      last = { model, provider, ...span, entries }
      parts.push(last)
    }
  }
  return parts.sort((one, other) => one.startingAt - other.startingAt || (nameOf(one) < nameOf(other) ? -1 : 1))
}

export function leftOutBody({ model, provider, entries, ...span }: LeftOut, filter: EntryFilter): LeftOutPart {
  const names = { model: [model], provider: [provider ?? 'none'] }
  const period = { starting_at: span.startingAt, ending_at: span.endingAt }
  return { model, provider, ...periodBody(span), entries, list: listPath({ ...counted(filter), ...period, ...names }) }
}
