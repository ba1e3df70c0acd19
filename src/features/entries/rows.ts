/** Converts usage between its database columns and its domain type. */
import type {
  SessionAttributes,
  SessionTotals,
  UsageDetails as StoredDetails,
  StoredSlice,
} from '../../database/schema/records.ts'
import { UNCOUNTED_STATUSES } from '../../database/schema/values.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import {
  COUNT_KINDS,
  type Counts,
  MEDIA_FIELDS,
  MEDIA_KINDS,
  mapCounts,
  SERVICE_FIELDS,
  SERVICE_KINDS,
  type UsageDetails,
  usageDetails,
} from '../../shared/usage.ts'
import type { Slice } from './slices/slice.ts'
import { type EntryRecord, type EntryView, LOCKED_STATUSES } from './store.ts'
import type { Part, Totals, Usage } from './totals.ts'

export function costNanosOf({
  reportedCost,
  listValue,
}: Pick<EntryRecord, 'reportedCost' | 'listValue'>): bigint | null {
  return reportedCost ?? listValue
}

/** What an entry has of the fee of its plan, and its charge beyond the allowance, in nano-dollars. */
export interface EntryShare {
  fee: bigint
  charge: bigint
  /** Whether its period is, so that both stay. */
  isClosed: boolean
  /** Whether entries are charged for their cost, so that the charge is unknown without one. */
  chargesCost: boolean
}

interface PaidView {
  entry: Pick<EntryRecord, 'reportedCost' | 'listValue'>
  funding: Pick<NonNullable<EntryView['funding']>, 'funding'> | null
  fundingPlan: EntryView['fundingPlan']
}

/** As `amountOf` of the selection, of an entry that was read; a share that is not calculated yet is undefined. */
export function amountOfEntry(
  { entry, funding, fundingPlan }: PaidView,
  share: EntryShare | undefined,
  basis: CostBasis,
): bigint | null {
  if (basis === 'cost') return costNanosOf(entry)
  if (basis === 'list') return entry.listValue
  if (fundingPlan === null) return isPaidByPrice(funding) ? costNanosOf(entry) : null
  if (!share || ((share.chargesCost || funding?.funding === 'mixed') && costNanosOf(entry) === null)) return null
  return basis === 'marginal' ? share.charge : share.fee + share.charge
}

/** What an entry has of the fee of a plan: 0 if none pays for it, null if that is unknown. */
export function feeOfEntry(
  { funding, fundingPlan }: Pick<PaidView, 'funding' | 'fundingPlan'>,
  share: EntryShare | undefined,
): bigint | null {
  if (fundingPlan !== null) return share?.fee ?? null
  return isPaidByPrice(funding) ? 0n : null
}

function isPaidByPrice(funding: PaidView['funding']): boolean {
  return funding?.funding === 'metered' || funding?.funding === 'credits'
}

/** Whether reports and budgets count the entry. */
export function isCounted({ status }: Pick<EntryRecord, 'status'>): boolean {
  return !UNCOUNTED_STATUSES.includes(status)
}

export function countsOf(entry: EntryRecord): Counts {
  return mapCounts((kind) => entry[kind])
}

export function detailsOf({ usageDetails: text }: Pick<EntryRecord, 'usageDetails'>): UsageDetails | null {
  return text === null ? null : readDetails(JSON.parse(text))
}

/** The column's text. Equal details have equal text, by which a change is recognized. */
export function detailsText(details: UsageDetails | null): string | null {
  return details && JSON.stringify(writeDetails(details))
}

function writeDetails({ requestsAbove, tools, media, ...service }: UsageDetails): StoredDetails {
  const stored: StoredDetails = {}
  if (requestsAbove) {
    stored.above = requestsAbove.map(({ threshold, counts }) => [threshold, ...COUNT_KINDS.map((kind) => counts[kind])])
  }
  for (const kind of SERVICE_KINDS) if (service[kind] !== null) stored[SERVICE_FIELDS[kind]] = service[kind]
  if (tools) stored.tools = Object.fromEntries(Object.entries(tools).sort(([one], [other]) => (one < other ? -1 : 1)))
  for (const kind of MEDIA_KINDS) if (media?.[kind] !== undefined) stored[MEDIA_FIELDS[kind]] = media[kind]
  return stored
}

function readDetails({ above, service_tier, speed, region, tools, ...shares }: StoredDetails): UsageDetails | null {
  const media = MEDIA_KINDS.flatMap((kind) => {
    const tokens = shares[MEDIA_FIELDS[kind]]
    return tokens === undefined ? [] : [[kind, tokens] as const]
  })
  return usageDetails({
    requestsAbove:
      above?.map(([threshold, ...counts]) => ({
        threshold: threshold!,
        counts: mapCounts((kind) => counts[COUNT_KINDS.indexOf(kind)]!),
      })) ?? null,
    serviceTier: service_tier ?? null,
    speed: speed ?? null,
    region: region ?? null,
    tools: tools ?? null,
    media: media.length > 0 ? Object.fromEntries(media) : null,
  })
}

export function isLocked({ status }: Pick<EntryRecord, 'status'>): boolean {
  return LOCKED_STATUSES.includes(status)
}

/** Whether reports of its session leave the counts of an entry alone: it is locked, or a person has corrected them. */
export function isFixed(entry: Pick<EntryRecord, 'status' | 'corrected'>): boolean {
  return isLocked(entry) || (entry.corrected?.includes('figures') ?? false)
}

/** Whether the entry is voided together with what its session reports later of the same model. */
export function ignoresReports({ status, amendment }: Pick<EntryRecord, 'status' | 'amendment'>): boolean {
  return status === 'voided' && amendment?.later_reports === 'ignore'
}

export function partOf(entry: EntryRecord): Part {
  return {
    locked: isFixed(entry),
    startedAt: entry.startedAt,
    endedAt: entry.endedAt,
    counts: countsOf(entry),
    details: detailsOf(entry),
    requests: entry.requests,
    reportedCostNanos: entry.reportedCost,
    activeMs: entry.activeMs,
    costNanos: costNanosOf(entry),
  }
}

/** A part with the figures that were reported, even if they were corrected since: what the session's totals consist of. */
export function reportedPart(entry: EntryRecord): Part {
  const reported = entry.amendment?.reported
  if (!reported) return partOf(entry)
  const { totals } = readTotals(reported)
  const listValue = reported.list_value === null ? null : BigInt(reported.list_value)
  return { ...totals, locked: true, costNanos: totals.reportedCostNanos ?? listValue }
}

/** The model that was reported, if another one was corrected to it. */
export function reportedModel({ entry, model }: { entry: EntryRecord; model: string }): string {
  return entry.amendment?.reported?.model ?? model
}

/** The columns that store usage. */
export function usageColumns({ counts, details, requests, reportedCostNanos, activeMs }: Usage) {
  return {
    ...counts,
    usageDetails: detailsText(details),
    requests,
    reportedCost: reportedCostNanos,
    activeMs,
  }
}

/** The totals of one model of a session from one source. */
export interface ModelTotals {
  model: string
  provider: string | undefined
  totals: Totals
}

/** The totals of one model of a session from one source, with what it says besides. */
export interface Statement extends ModelTotals {
  /** Undefined if an earlier version of Tally did not keep them. */
  attributes: SessionAttributes | undefined
  /** Undefined if it has reported none. */
  slices?: readonly Slice[] | undefined
}

export function writeTotals({ model, provider, totals, attributes, slices }: Statement): SessionTotals {
  return {
    attributes,
    model,
    provider: provider ?? null,
    ...writeUsage(totals),
    ...(slices && { slices: slices.map(writeSlice) }),
  }
}

function writeSlice({ key, project, ticket, labels, summary, funding, ...totals }: Slice): StoredSlice {
  return { day: key.day, place: `${key.place}`, ...writeUsage(totals), project, ticket, labels, summary, funding }
}

function writeUsage(totals: Totals) {
  const { counts, details, reportedCostNanos } = totals
  return {
    started_at: totals.startedAt,
    ended_at: totals.endedAt,
    input: counts.input,
    output: counts.output,
    cache_read: counts.cacheRead,
    cache_write: counts.cacheWrite,
    cache_write_1h: counts.cacheWrite1h,
    details: details && writeDetails(details),
    requests: totals.requests,
    reported_cost: reportedCostNanos === null ? null : reportedCostNanos.toString(),
    ...(totals.activeMs === null ? {} : { active_ms: totals.activeMs }),
  }
}

export function readTotals(kept: SessionTotals): Statement {
  return {
    attributes: kept.attributes,
    model: kept.model,
    provider: kept.provider ?? undefined,
    totals: readKeptUsage(kept),
    ...(kept.slices && { slices: kept.slices.map(readSlice) }),
  }
}

function readSlice({ day, place, project, ticket, labels, summary, funding, ...kept }: StoredSlice): Slice {
  const key = { day, place: BigInt(place) }
  return { ...{ key, project, ticket, labels, summary, funding, estimated: false }, ...readKeptUsage(kept) }
}

function readKeptUsage(kept: Omit<StoredSlice, 'day' | 'place'>): Totals {
  return {
    startedAt: kept.started_at,
    endedAt: kept.ended_at,
    counts: {
      input: kept.input,
      output: kept.output,
      cacheRead: kept.cache_read,
      cacheWrite: kept.cache_write,
      cacheWrite1h: kept.cache_write_1h,
    },
    details: kept.details && readDetails(kept.details),
    requests: kept.requests,
    reportedCostNanos: kept.reported_cost === null ? null : BigInt(kept.reported_cost),
    activeMs: kept.active_ms ?? null,
  }
}
