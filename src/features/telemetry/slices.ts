/**
 * What each day and place has of telemetry's totals of a model (docs/design/telemetry.md, "Slices"). The sum of the
 * slices is the totals, and the order of data makes no difference. Pure.
 */
import type { TelemetryFigures, TelemetrySlice, TelemetryTotals } from '../../database/schema/records.ts'
import { dayNumberAt } from '../../lib/calendar.ts'
import {
  type Cell,
  type NamedPlace,
  NO_PLACE,
  placeLabelsOf,
  placeOf,
  SLICES_LIMIT,
  type Totals,
  withWhole,
} from '../entries/contract.ts'
import { isReservedName } from '../projects/service.ts'
import type { Observation } from './channels/observation.ts'
import { type Addition, added, noFigures, usageOf } from './figures.ts'

/** The slice that an observation belongs to, if it is certain. */
export type Where = Pick<TelemetrySlice, 'day' | 'place' | 'project' | 'ticket' | 'labels'>

/**
 * The slice of the day on which the usage began, and of what its resource names. Undefined for an increase of a cumulative
 * point, which has no certain day, and for an input that includes the cache: its own share is only known of the totals.
 */
export function sliceOf(
  { usage, ...named }: Pick<Observation, 'usage' | 'project' | 'ticket' | 'labels'>,
  startedAt: number,
  timeZone: string,
): Where | undefined {
  if (usage.kind === 'cumulative' || (usage.kind === 'delta' && usage.part === 'inputSide')) return undefined
  const day = dayNumberAt(startedAt, timeZone)
  const project = allowedName(named.project)
  const ticket = allowedName(named.ticket)
  const labels = placeLabelsOf(named.labels ?? undefined)
  const place = placeOf({ project, ticket, labels })
  if (place === NO_PLACE) return { day }
  return { day, place: `${place}`, ...(project && { project }), ...(ticket && { ticket }), ...(labels && { labels }) }
}

/** Telemetry can't be rejected for a name that reports don't allow, so such a name is ignored. */
export function allowedName(name: string | null | undefined): string | undefined {
  return name && !isReservedName(name) ? name : undefined
}

/** The totals before an observation, and what it adds to which of their slices. */
export interface Sliced {
  where: Where | undefined
  addition: Addition
  /** Whether the session has room for further slices. */
  hasRoom: () => boolean
}

/**
 * The slices after an observation; undefined if it is not certain which one it belongs to, or was not of an earlier one,
 * or if there are too many. Sorted, so that they do not depend on the order of arrival.
 */
export function slicesAfter(
  totals: TelemetryTotals,
  { where, addition, hasRoom }: Sliced,
): TelemetrySlice[] | undefined {
  const { slices } = totals
  if (!slices || !where) return undefined
  const [only] = slices
  if (!only) return [where]
  if (slices.length === 1 && compare(only, where) === 0) return slices
  const own = slices.findIndex((slice) => compare(slice, where) === 0)
  const held = own === -1 && slices.length >= SLICES_LIMIT ? { day: where.day } : where
  const next = slices.findIndex((slice) => compare(slice, held) >= 0)
  const at = next === -1 ? slices.length : next
  const known = slices[at] && compare(slices[at], held) === 0 ? slices[at] : undefined
  if (!known && !hasRoom()) return undefined
  const all = only.figures ? slices : [{ ...only, figures: sparse(totals) }]
  const figures = known ? known.figures! : noFigures(addition.startedAt, totals.above && [])
  const slice = { ...(known ?? held), figures: sparse(added(complete(figures, totals), addition)) }
  return all.toSpliced(at, known ? 1 : 0, slice)
}

function compare(one: Where, other: Where): number {
  if (one.day !== other.day || one.place === other.place) return one.day - other.day
  return (one.place ?? '') < (other.place ?? '') ? -1 : 1
}

/** With all thresholds of the totals. */
function complete(figures: TelemetryFigures, { above }: TelemetryTotals): TelemetryFigures {
  const rowAt = ([threshold, ...counts]: number[]) =>
    figures.above?.find(([exceeded]) => exceeded === threshold) ?? [threshold!, ...counts.map(() => 0)]
  return { ...figures, above: above === null ? null : above.map(rowAt) }
}

/** Only the figures, without thresholds that no call has exceeded. */
function sparse(figures: TelemetryFigures): TelemetryFigures {
  const { started_at, ended_at, parts, above, requests, reported_cost, cost_incomplete } = figures
  const exceeded = above === null ? null : above.filter(([, ...counts]) => counts.some((count) => count > 0))
  return { started_at, ended_at, parts, above: exceeded, requests, reported_cost, cost_incomplete }
}

/** A server of an earlier version adds to the totals alone. Then it is no longer known what each slice has of them. */
export function withoutOutdatedSlices(totals: TelemetryTotals): TelemetryTotals {
  const { slices } = totals
  if (!slices || slices.length < 2) return totals
  const sums = totals.parts.map((_, at) => slices.reduce((sum, { figures }) => sum + figures!.parts[at]!, 0))
  const cost = slices.reduce((sum, { figures }) => sum + BigInt(figures!.reported_cost), 0n)
  const isSum = totals.parts.every((count, at) => count === sums[at]) && `${cost}` === totals.reported_cost
  return isSum ? totals : { ...totals, slices: undefined }
}

/** The slices as the cells of a report, which says of the whole where it was and how much; null if there are none. */
export function cellsOf(totals: TelemetryTotals, place: NamedPlace, usage: Totals): Cell[] | null {
  if (!totals.slices) return null
  return totals.slices.map(({ figures, ...slice }) => {
    const { project, ticket, labels } = slice
    return {
      ...withWhole({ project, ticket, labels }, place),
      place: BigInt(slice.place ?? NO_PLACE),
      summary: undefined,
      funding: undefined,
      ...(figures ? usageOf(complete(figures, totals), totals) : usage),
    }
  })
}
