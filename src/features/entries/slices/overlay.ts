/**
 * Two statements about the same usage, of which one counts and the other one names places (docs/design/concepts.md,
 * "Merging sources"): the figures of the first are laid over the slices of the second. Pure, and the sum is always that
 * of the statement that counts.
 */
import { totalTokens, withoutRedundant } from '../../../shared/usage.ts'
import { divideNumber } from '../division/shares.ts'
import { isNothing, type Totals, type Usage } from '../totals.ts'
import { ACTIVE, COST, commonThresholds, type Quantities, quantitiesOf, REQUESTS, usageFrom } from './quantities.ts'
import { inOrder, isSameKey, type NamedPlace, NO_PLACE, type Slice, type SliceKey } from './slice.ts'

/** The list value of a usage, by which a cost of the whole is divided; null if it has no price. */
export type Valued = (usage: Totals) => bigint | null

/** Where usage goes that the slices do not have. */
export interface Rest extends NamedPlace {
  key: SliceKey
  /** Not before this moment of the day. */
  startedAt: number
}

/**
 * Lays totals over slices. Of a count that is at least the sum of the slices, each slice keeps its own, and what is left
 * goes to `rest`; a smaller one is divided as the slices are. A cost that only the totals have is divided by list value,
 * or by tokens if there is none. Slices whose figures change are estimated.
 */
export function layOver(totals: Totals, slices: readonly Slice[], rest: Rest, valued: Valued): Slice[] {
  const ordered = inOrder(slices)
  const known = ordered.findIndex(({ key }) => isSameKey(key, rest.key))
  const places = known === -1 ? [...ordered, emptySlice(totals, ordered, rest)] : ordered
  const receiver = known === -1 ? ordered.length : known
  const thresholds = commonThresholds([totals, ...places])
  const before = places.map((slice) => quantitiesOf(slice, thresholds))
  const laid = before.map((): Quantities => new Map())
  const whole = quantitiesOf(totals, thresholds)
  const lay = (name: string, to: number) => {
    const own = before.map((each) => each.get(name) ?? 0n)
    for (const [at, share] of shared(whole.get(name) ?? 0n, own, to).entries()) laid[at]!.set(name, share)
  }
  // Totals that do not list a tool say that it was not used.
  const used = new Set([whole, ...before].flatMap((each) => [...each.keys()].filter((name) => !BESIDES.includes(name))))
  for (const name of used) lay(name, receiver)
  const isUsed = used.values().some((name) => laid[receiver]!.get(name)! > 0n)
  for (const name of [REQUESTS, ACTIVE]) if (whole.has(name)) lay(name, isUsed ? receiver : ordered.length - 1)
  const usages = places.map((slice, at) => usageOf(laid[at]!, thresholds, slice))
  const isKept = laid.map((each, at) => at < ordered.length && isEqual(each, before[at]!))
  const costs = costsOf(
    totals,
    places.map((slice, at) => ({ ...slice, ...usages[at]! })),
    { places, isKept, receiver, valued },
  )
  const result = places.map((slice, at): Slice => {
    const { requests, activeMs, ...usage } = usages[at]!
    const isReceiver = at === receiver && !isKept[at]
    return {
      ...slice,
      ...(isKept[at] ? {} : usage),
      requests: requests ?? (isKept[at] ? slice.requests : null),
      activeMs: activeMs ?? (isKept[at] ? slice.activeMs : null),
      reportedCostNanos: costs[at]!,
      endedAt: isReceiver ? Math.max(slice.endedAt, totals.endedAt) : slice.endedAt,
      estimated: slice.estimated || !isKept[at],
    }
  })
  return inOrder(result.filter((slice, at) => at < ordered.length || !isNothing(slice)))
}

/** For usage after everything else of its day. */
function emptySlice(totals: Totals, slices: readonly Slice[], rest: Rest): Slice {
  const { key, project, ticket, labels } = rest
  const ends = slices.filter((slice) => slice.key.day === key.day).map(({ endedAt }) => endedAt)
  return {
    ...{ key, project, ticket, labels, summary: undefined, estimated: false },
    ...{
      startedAt: Math.min(Math.max(rest.startedAt, totals.startedAt, ...ends), totals.endedAt),
      endedAt: totals.endedAt,
    },
    ...usageFrom(new Map(), [], totals.details),
    ...{ requests: 0, activeMs: 0 },
  }
}

/** Each one keeps what it has if there is enough of it; then what is left goes to the receiver. */
function shared(amount: bigint, own: readonly bigint[], receiver: number): bigint[] {
  const sum = own.reduce((total, each) => total + each, 0n)
  return amount < sum
    ? divideNumber(amount, own)
    : own.map((each, at) => (at === receiver ? each + amount - sum : each))
}

/** The length of requests within the whole, as far as it is known of each slice. */
function usageOf(quantities: Quantities, thresholds: readonly number[], { details }: Usage): Usage {
  const usage = usageFrom(quantities, thresholds, details)
  const above = usage.details?.requestsAbove
  return above ? { ...usage, details: { ...usage.details!, requestsAbove: withoutRedundant(above) } } : usage
}

/** What goes with the usage, and of which totals that lack it say nothing. */
const BESIDES = [COST, REQUESTS, ACTIVE]

function isEqual(one: Quantities, other: Quantities): boolean {
  const names = [...one.keys(), ...other.keys()].filter((name) => !BESIDES.includes(name))
  return names.every((name) => (one.get(name) ?? 0n) === (other.get(name) ?? 0n))
}

interface Places {
  places: readonly Slice[]
  isKept: readonly boolean[]
  receiver: number
  valued: Valued
}

/** Without a cost of the totals, the slices whose figures stay keep theirs. */
function costsOf(
  { reportedCostNanos: cost }: Totals,
  usages: readonly Totals[],
  { places, isKept, receiver, valued }: Places,
): (bigint | null)[] {
  if (cost === null) return places.map(({ reportedCostNanos }, at) => (isKept[at] ? reportedCostNanos : null))
  const isKnown = places.some(({ reportedCostNanos }) => reportedCostNanos !== null)
  const areAllKnown = places.every((slice) => slice.reportedCostNanos !== null || isNothing(slice))
  const own = places.map(({ reportedCostNanos }) => reportedCostNanos ?? 0n)
  return isKnown && areAllKnown ? shared(cost, own, receiver) : divideByValue(cost, usages, valued)
}

function divideByValue(cost: bigint, usages: readonly Totals[], valued: Valued): bigint[] {
  const values = usages.map(valued)
  const isValued = values.every((value) => value !== null) && values.some((value) => value! > 0n)
  const weights = isValued ? (values as bigint[]) : usages.map(({ counts }) => BigInt(totalTokens(counts)))
  if (weights.some((weight) => weight > 0n)) return divideNumber(cost, weights)
  return usages.map((_, at) => (at === 0 ? cost : 0n))
}

/**
 * Lays the slices of the source that counts, which name no places, over those of a source that does, day by day. A day
 * that the second one lacks takes its latest earlier place, or its first one; for a model that it lacks, `others` are
 * its slices of other models.
 */
export function layOverDays(
  counted: readonly Slice[],
  placed: readonly Slice[],
  others: readonly Slice[],
  valued: Valued,
): Slice[] {
  const days = Map.groupBy(placed, ({ key }) => key.day)
  const known = placed.length > 0 ? placed : others
  const laid = inOrder(counted).flatMap((slice) => {
    const { day } = slice.key
    const ofDay = days.get(day)
    return ofDay
      ? layOver(slice, ofDay, { ...placeAmong(ofDay, day), startedAt: slice.startedAt }, valued)
      : [{ ...slice, ...placeAmong(known, day), estimated: true }]
  })
  return inOrder(laid)
}

/** The latest place up to this day, or else the first one. */
export function placeAmong(slices: readonly Slice[], day: number): Omit<Rest, 'startedAt'> {
  const ordered = inOrder(slices)
  const { key, project, ticket, labels } = ordered.findLast(({ key }) => key.day <= day) ?? ordered[0] ?? NOWHERE
  return { key: { day, place: key.place }, project, ticket, labels }
}

const NOWHERE: Omit<Rest, 'startedAt'> = {
  key: { day: 0, place: NO_PLACE },
  project: undefined,
  ticket: undefined,
  labels: undefined,
}
