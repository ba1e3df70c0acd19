/** What each report found, in a sentence. Pure. */
import { count, counted, decimalsOf, percent } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import type {
  CacheReport,
  LimitsReport,
  Outliers,
  PriceChanges,
  SeatsReport,
  Surcharges,
  WhatIfReport,
} from './queries.ts'

export function savingsInWords({ saved, uncached_value, hit_rate, unvalued_entries }: CacheReport['totals']): string {
  if (saved === null || uncached_value === null) {
    return `What caching saved is unknown: ${counted(unvalued_entries, 'entry has', 'entries have')} no price.`
  }
  const rate = hit_rate === null ? '' : ` ${percent(hit_rate)} of all input was read from a cache.`
  if (uncached_value === 0) return `No tokens were cached.${rate}`
  const share = percent(Math.abs(saved) / uncached_value)
  const found =
    saved < 0
      ? `Caching cost ${money(-saved)} more: the cached tokens cost ${share} more than without caching, because more was written to caches than was read from them.`
      : `Caching saved ${money(saved)}: the cached tokens cost ${share} less than without caching.`
  return `${found}${rate}${leftOut(unvalued_entries)}`
}

export function whatIfInWords({ as_model, totals }: WhatIfReport): string {
  const { entries, value, other_value, difference, ratio, unvalued_entries } = totals
  if (entries === 0) return 'No usage in this period.'
  if (value === null || other_value === null || difference === null) {
    return `No entry can be compared: ${as_model}, or every model in use, has no price in this period.`
  }
  const change = ratio === null ? '' : `, ${percent(Math.abs(ratio - 1))} ${difference < 0 ? 'less' : 'more'}`
  const compared = `The same tokens would have cost ${money(other_value)} at the prices of ${as_model} instead of ${money(value)}${difference === 0 ? '' : change}.`
  return `${compared}${leftOut(unvalued_entries)}`
}

export function changesInWords({ data }: PriceChanges): string {
  if (data.length === 0) return 'No price of a model in use changed in this period.'
  const [largest] = data
  const changes = counted(data.length, 'price of a model in use changed', 'prices of models in use changed')
  if (!largest || largest.effect === null || largest.effect === 0) return `${changes}, without an effect so far.`
  const direction = largest.effect < 0 ? 'less' : 'more'
  return `${changes}. The largest effect: ${largest.model} cost ${money(Math.abs(largest.effect))} ${direction} since the change.`
}

export function surchargesInWords({
  entries,
  surcharge,
  list_value,
  share,
  unvalued_entries,
}: Surcharges['totals']): string {
  if (entries === 0) return 'No entry in this period is valued at prices of long requests.'
  const valued = `${counted(entries, 'entry is', 'entries are')} valued at prices of long requests`
  if (surcharge === null || list_value === null)
    return `${valued}. What these add is unknown: there are no base prices.`
  const part = share === null ? '' : ` (${percent(Math.abs(share))})`
  const direction = surcharge < 0 ? 'less' : 'more'
  const leftOut =
    unvalued_entries === 0 ? '' : ` Excludes ${counted(unvalued_entries, 'entry', 'entries')} without a base price.`
  return `${valued}, ${money(list_value)} in all. Of this, ${money(Math.abs(surcharge))}${part} is ${direction} than at base prices.${leftOut}`
}

export function outliersInWords({ data }: Outliers): string {
  const [first] = data
  if (!first) return 'No session cost far more than usual in this period.'
  const found = `${counted(data.length, 'session', 'sessions')} cost far more than usual.`
  const times = first.times === null ? '' : `, ${first.times} times what is usual for ${first.agent_manager.name}`
  return `${found} The furthest cost ${money(first.cost)}${times}.`
}

export function limitsInWords({ data, limits, left_out }: LimitsReport): string {
  const [first] = data
  if (!first) return 'No agent has reported a limit in this period.'
  const reaching = data.filter(({ projection }) => projection?.reaches_limit)
  const people = counted(new Set(data.map(({ user }) => user.id)).size, 'person', 'people')
  const found = `${counted(limits, 'limit')} of ${left_out === 0 ? people : `${people} and others`}.`
  const rest =
    left_out === 0 ? '' : ` The ${count(data.length)} most urgent are listed; filter by person to see others.`
  if (reaching.length === 0) return `${found} None would be reached before it resets if use goes on as it has.${rest}`
  const many = counted(reaching.length, 'would be reached before it resets', 'would be reached before they reset')
  return `${found} ${many} if use goes on as it has, first one of ${first.user.name}.${rest}`
}

/** `5 hours`, `7 days`, `90 minutes`. */
export function windowInWords(minutes: number): string {
  if (minutes % DAY_MINUTES === 0) return counted(minutes / DAY_MINUTES, 'day')
  return minutes % 60 === 0 ? counted(minutes / 60, 'hour') : counted(minutes, 'minute')
}

const DAY_MINUTES = 24 * 60

/** `2.15 ×` */
export const timesInWords = (ratio: number): string => `${decimalsOf(ratio, 2, 2)} ×`

/** Seats are compared where their periods have ended; only if none has, as they are so far. */
export function seatsInWords({ data, ended, running }: SeatsReport): string {
  if (data.length === 0) return 'No plan has a period in this date range.'
  const hasEnded = ended.periods > 0
  const sums = hasEnded ? ended : running
  const compared = data.filter(({ state }) => (state !== 'running') === hasEnded)
  const seats = compared
    .flatMap(({ plan, people }) => people.map(({ name, ratio }) => ({ name, plan: plan.name, ratio: ratio! })))
    .filter(({ ratio }) => ratio !== null)
    .sort((one, other) => other.ratio - one.ratio)
  const periods = `${counted(sums.periods, hasEnded ? 'ended period' : 'running period')} of plans`
  const worth = money(sums.list_value - sums.charge)
  const times = sums.ratio === null ? '' : `, ${timesInWords(sums.ratio)} the fees`
  const parts = [
    `The fees of ${periods} are ${money(sums.fee_usd)}; what they paid for is ${worth} at list prices${times}.`,
  ]
  const [best, worst] = [seats[0], seats.at(-1)]
  const seatOf = ({ name, plan, ratio }: (typeof seats)[number]) => `${name} with ${plan} (${timesInWords(ratio)})`
  if (best && worst && seats.length > 1) parts.push(`Best seat: ${seatOf(best)}; worst: ${seatOf(worst)}.`)
  if (sums.unused) parts.push(`Of the fees, ${money(sums.unused)} are for seats that nobody used.`)
  const unclosed = data.filter(({ state }) => state === 'ended').length
  if (unclosed > 0) {
    parts.push(`${counted(unclosed, 'period has ended and is', 'periods have ended and are')} not closed yet.`)
  }
  const unpriced = compared.flatMap(({ people }) => people).reduce((sum, person) => sum + person.unpriced_entries, 0)
  const late = compared.reduce((sum, { late_entries }) => sum + (late_entries ?? 0), 0)
  if (late > 0)
    parts.push(`Excludes ${counted(late, 'late entry that waits', 'late entries that wait')} for a correction.`)
  return `${parts.join(' ')}${leftOut(unpriced)}`
}

function leftOut(entries: number): string {
  return entries === 0 ? '' : ` Excludes ${counted(entries, 'unpriced entry', 'unpriced entries')}.`
}
