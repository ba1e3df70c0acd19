/**
 * Which slices a session with several sources has (docs/design/concepts.md, "Merging sources"): the source that counts
 * gives the figures, and if it names no places, another one gives the places. Pure: the result does not depend on the
 * order in which the sources arrive.
 */
import type { SessionSource } from '../../../database/schema/values.ts'
import { dayNumberAt, dayText, startOfDay } from '../../../lib/calendar.ts'
import { usageDetails } from '../../../shared/usage.ts'
import type { Statement } from '../rows.ts'
import { layOver, layOverDays, placeAmong, type Rest, type Valued } from '../slices/overlay.ts'
import { quantitiesOf } from '../slices/quantities.ts'
import { isSameKey, keyText, NO_PLACE, placeLabelsOf, placeOf, type Slice } from '../slices/slice.ts'
import { completeTotals, SOURCE_ORDER, sumOfUsages, type Totals } from '../totals.ts'
import { spanOf, sumOfTotals } from './report-slices.ts'

/** What a source says of one model of a session. */
export interface SourceStatement extends Statement {
  source: SessionSource
  chainModelId: number
}

/**
 * The slices of a model; undefined if no source of the session has slices. `counted` is what the source says that counts,
 * `statements` is everything that all sources say of all models.
 */
export function slicesFrom(
  counted: SourceStatement,
  statements: readonly SourceStatement[],
  timeZone: string,
  valued: Valued,
): readonly Slice[] | undefined {
  const ofCounted = ownSlices(counted, timeZone, valued)
  const placing = placingSource(statements)
  if (placing === undefined || placing === counted.source) return ofCounted
  const from = statements.filter(({ source }) => source === placing)
  if (ofCounted && precisionOf([counted]) >= precisionOf(from)) return ofCounted
  const slicesOf = (each: SourceStatement) => ownSlices(each, timeZone, valued) ?? []
  const placed = from.filter(({ chainModelId }) => chainModelId === counted.chainModelId).flatMap(slicesOf)
  const others = from.flatMap(slicesOf)
  if (ofCounted) return layOverDays(daysOf(ofCounted), placed, others, valued)
  const { totals } = counted
  if (placed.length > 0) return layOver(totals, placed, restOf(counted, placed, timeZone), valued)
  const day = dayNumberAt(totals.startedAt, timeZone)
  return [{ ...totals, summary: undefined, ...placeAmong(others, day), estimated: true }]
}

/** The first of the sources with slices that names places most precisely. */
function placingSource(statements: readonly SourceStatement[]): SessionSource | undefined {
  const bySource = Map.groupBy(
    statements.filter(({ slices }) => slices),
    ({ source }) => source,
  )
  const sliced = SOURCE_ORDER.filter((source) => bySource.has(source))
  const precisions = sliced.map((source) => precisionOf(bySource.get(source)!))
  return sliced[precisions.indexOf(Math.max(...precisions))]
}

/** 2 if the slices name branches, which no project says; 1 if they name only projects or tickets; else 0. */
function precisionOf(statements: readonly SourceStatement[]): number {
  const places = statements.flatMap(({ slices = [] }) => slices.filter(({ key }) => key.place !== NO_PLACE))
  if (places.length === 0) return 0
  return places.some(({ labels }) => placeLabelsOf(labels)) ? 2 : 1
}

/** The usage of each day, at whatever place. */
function daysOf(slices: readonly Slice[]): Slice[] {
  const days = Map.groupBy(slices, ({ key }) => key.day).values()
  return days
    .map((ofDay): Slice => {
      const estimated = ofDay.some((slice) => slice.estimated)
      const key = { day: ofDay[0]!.key.day, place: NO_PLACE }
      const named = { project: undefined, ticket: undefined, labels: undefined, summary: undefined }
      return { key, ...named, ...sumOfTotals(ofDay), estimated }
    })
    .toArray()
}

/** The slices of a source, over which its later totals are laid if it has reported any without slices. */
function ownSlices(statement: SourceStatement, timeZone: string, valued: Valued): readonly Slice[] | undefined {
  const { slices, totals } = statement
  if (!slices) return undefined
  return sumTo(slices, totals) ? slices : layOver(totals, slices, restOf(statement, slices, timeZone), valued)
}

/** Whether the slices have together what the totals list. */
function sumTo(slices: readonly Slice[], totals: Totals): boolean {
  const sum = quantitiesOf(sumOfUsages(slices), [])
  return quantitiesOf({ ...totals, requests: null, activeMs: null }, [])
    .entries()
    .every(([name, amount]) => sum.get(name) === amount)
}

/** What the slices do not have was used at the end, where the totals say that the session works, else at the last place. */
function restOf({ totals, attributes }: Statement, slices: readonly Slice[], timeZone: string): Rest {
  const day = dayNumberAt(totals.endedAt, timeZone)
  const startedAt = startOfDay(dayText(day), timeZone)
  const labels = placeLabelsOf(attributes?.labels)
  if (!labels) return { ...placeAmong(slices, day), startedAt }
  const named = { project: undefined, ticket: undefined, labels }
  const known = slices.find(({ key }) => isSameKey(key, { day, place: placeOf(named) }))
  return { key: { day, place: placeOf(named) }, ...(known ?? { ...named, labels: attributes!.labels }), startedAt }
}

/**
 * The slices with what is known besides of exactly their usage. One without tools used none if others list some: what
 * another statement says may be of other calls that used as many tokens.
 */
export function completedBy(slices: readonly Slice[], othersOf: (slice: Slice) => readonly Totals[]): Slice[] {
  const listsTools = slices.some(({ details }) => details?.tools)
  return slices.map((slice): Slice => {
    const { details, requests, reportedCostNanos, activeMs } = completeTotals(slice, othersOf(slice))
    const known = listsTools && details ? usageDetails({ ...details, tools: slice.details?.tools ?? null }) : details
    return { ...slice, details: known, requests, reportedCostNanos, activeMs }
  })
}

/**
 * The slices with what other sources know of exactly their usage: a cost, the number of requests, tools. A cost that is
 * only known of the whole is divided by list value.
 */
export function completeSlices(
  slices: readonly Slice[],
  statements: readonly SourceStatement[],
  valued: Valued,
): Slice[] {
  const others = Map.groupBy(
    statements.flatMap((each) => each.slices ?? []),
    ({ key }) => keyText(key),
  )
  const completed = completedBy(slices, ({ key }) => others.get(keyText(key)) ?? [])
  if (completed.some(({ reportedCostNanos }) => reportedCostNanos !== null)) return completed
  const sum: Totals = { ...sumOfUsages(completed), ...spanOf(completed) }
  const { reportedCostNanos } = completeTotals(
    sum,
    statements.map(({ totals }) => totals),
  )
  if (reportedCostNanos === null) return completed
  return layOver({ ...sum, reportedCostNanos }, completed, { ...completed.at(-1)!, startedAt: sum.endedAt }, valued)
}
