/** Chains of parts (docs/design/concepts.md, "Sessions"): steps of a plan, which read and change its state only. */
import type { SessionSource } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'
import { dayText } from '../../../lib/calendar.ts'
import type { HistoryAction } from '../../../shared/history-sentences.ts'
import { serviceOf, totalTokens, ZERO_COUNTS } from '../../../shared/usage.ts'
import { type Placement, UNATTRIBUTED } from '../../placement/service.ts'
import { valueAtPrice } from '../../prices/service.ts'
import { fundingChange, saidOfEntry } from '../funding/decided.ts'
import {
  countsOf,
  detailsOf,
  ignoresReports,
  isFixed,
  type ModelTotals,
  partOf,
  reportedPart,
  usageColumns,
} from '../rows.ts'
import { submittedStatus } from '../session-owner.ts'
import type { Slice } from '../slices/slice.ts'
import type { EntryRecord, EntryView } from '../store.ts'
import { completeTotals, nextStep, sumOfParts, type Totals } from '../totals.ts'
import { attributesOf, attributesOfEntry, missingAttributes, namesAgent, withAttributes } from './attributes.ts'
import { funded } from './funding.ts'
import { textOfLabels } from './names.ts'
import { changeOf, newEntry, placementColumns, type Recorded, valuationColumns } from './record.ts'
import { newPlacement, type PlacedReport, placeNew } from './session-placement.ts'
import type { SessionRecord } from './store/sessions.ts'

export function sessionShrunk(metric: string): Problem {
  return new Problem(
    'session_shrunk',
    `The session's ${metric} would fall below the total of its locked entries. Report the session's totals so far, not the usage since the last report. Nothing was changed.`,
  )
}

/** A report while it is recorded in its session. */
export interface Recording extends PlacedReport {
  session: SessionRecord
  /** Earlier sessions of other people with the same harness and id, of which this one may be a duplicate. */
  others: readonly SessionRecord[]
  source: SessionSource
  /** The slices of the report, if it has any; null if earlier ones of its source do not count any more. */
  slices?: readonly Slice[] | null | undefined
  /** Of a session with several sources: labels that only slices have, even if another source has them of the whole. */
  hidden?: ReadonlySet<string> | undefined
  /** The slice that is recorded. */
  slice?: Slice | undefined
}

export function repeated(entry: EntryView): Recorded {
  return { outcome: 'repeated', replayed: false, entry }
}

/** The sum of a chain's parts: the totals of the only source of an uncontested session. */
export function totalsOf(parts: readonly EntryView[]): Totals {
  // That nothing is left of a slice says nothing of the requests and the cost of the others.
  const counted = parts.filter(({ entry }) => !entry.superseded)
  const usages = (counted.length > 0 ? counted : parts).map(({ entry }) => reportedPart(entry))
  const sum = sumOfParts(usages)
  return {
    startedAt: Math.min(...usages.map(({ startedAt }) => startedAt)),
    endedAt: Math.max(...usages.map(({ endedAt }) => endedAt)),
    counts: sum.counts,
    details: sum.details,
    requests: usages.some(({ requests }) => requests !== null) ? sum.requests : null,
    // Without a reported cost, a part counts with its list value, even if another source supplies the session.
    reportedCostNanos: usages.some(({ reportedCostNanos }) => reportedCostNanos !== null) ? sum.costNanos : null,
    activeMs: usages.some(({ activeMs }) => activeMs !== null) ? sum.activeMs : null,
  }
}

/**
 * A report that is older than what is known changes no count. It fills in what later ones did not repeat, so that the
 * order of arrival makes no difference.
 */
export function fillIn(recording: Recording, parts: readonly EntryView[]): Recorded {
  const { state, report } = recording
  const last = parts.at(-1)!
  if (isFixed(last.entry) || last.entry.superseded) return repeated(last)
  const missing = missingAttributes(attributesOfEntry(last), attributesOf(report)) ?? {}
  const older = withAttributes(report, missing)
  const labelText = older.labels && textOfLabels(older.labels)
  const identity = state.identify({ ...recording, report: older, labelText })
  const usage: Totals = partOf(last.entry)
  const isWhole = parts.length === 1
  const totals = isWhole ? completeTotals(usage, [report]) : usage
  const isSlice = last.entry.sliceDay !== null
  const startedAt = isWhole && !isSlice ? Math.min(usage.startedAt, report.startedAt) : usage.startedAt
  // If later reports left it unattributed, the fields of this one alone may place it.
  const ranked = last.entry.placedBy === null ? [attributesOf(report)] : []
  const stale: Recording = { ...recording, report: older, identity, ranked, hasNews: ranked.length > 0 }
  return changePart(stale, last, { ...totals, startedAt })
}

/** Updates the chain so that it sums to the totals, and applies the report's other fields. */
export function moveChain(reported: Recording, parts: readonly EntryView[], totals: Totals): Recorded {
  const last = parts.at(-1)
  if (!last) return appendPart(reported, FIRST, totals)
  if (ignoresReports(last.entry)) return repeated(last)
  const step = nextStep(
    parts.map(({ entry }) => reportedPart(entry)),
    totals,
  )
  if (step.kind === 'shrunk') throw sessionShrunk(step.metric)
  if (step.kind === 'unchanged') return repeated(last)
  return step.kind === 'append'
    ? appendPart(reported, { last, part: last.entry.part! + 1 }, step.usage)
    : changePart(reported, last, step.usage)
}

/** Where a new part is in its session and model. */
interface Appended {
  part: number
  /** The locked part that it goes on from. */
  last?: EntryView | undefined
  /** A part of another day that a person has placed or divided, which this one follows. */
  bound?: EntryView | undefined
}

export const FIRST: Appended = { part: 1 }

export function appendPart(reported: Recording, { part, last, bound }: Appended, totals: Totals): Recorded {
  const recording = last ? withoutCorrected(reported, last) : reported
  const { state, session, report, reporter, identity, slice } = recording
  const placement = last ? newPlacement(recording, last) : bound ? undefined : placeNew(recording)
  const duplicate = last ? undefined : findPossibleDuplicate(recording)
  const entry = newEntry(
    state.nextEntryId(),
    {
      source: session.source,
      status: submittedStatus(session.duplicate),
      identity,
      placement: placement ?? UNATTRIBUTED,
      report,
      reporter,
      slice,
    },
    usageOf(recording, last, totals),
    {
      sessionId: session.id,
      part,
      continuesId: last?.entry.id ?? null,
      fingerprint: null,
      possibleDuplicateId: duplicate?.entry.id ?? null,
    },
    { continues: last?.entry.uid ?? null, duplicateOf: duplicate?.entry.uid ?? null },
    recording,
  )
  const placed = last
    ? continued(recording, entry, last, placement !== undefined)
    : bound
      ? placedLike(recording, entry, bound)
      : entry
  const view = funded(state, placed, report.funding ?? (last ? saidOfEntry(last) : null))
  state.addEntry(view, last ?? bound)
  return { outcome: 'created', replayed: false, entry: view }
}

/** What a person has corrected stays, whatever is reported later. */
function withoutCorrected(recording: Recording, { entry: { corrected } }: EntryView): Recording {
  if (corrected === null) return recording
  const { report, identity, ranked = [] } = recording
  const hasLabels = corrected.includes('labels')
  const hasSummary = corrected.includes('summary')
  const kept = { ...(hasLabels && { labels: undefined }), ...(hasSummary && { summary: undefined }) }
  return {
    ...recording,
    report: { ...report, ...kept },
    identity: { ...identity, ...(hasLabels && { labelSetId: null }) },
    ranked: ranked.map((attributes) => ({ ...attributes, ...kept })),
  }
}

/** Valued with the fields that the entry will have: without a new provider, the previous one remains. */
function usageOf({ report }: Recording, last: EntryView | undefined, totals: Totals): ModelTotals {
  return { model: report.model, provider: report.provider ?? last?.provider ?? undefined, totals }
}

/**
 * A new part with the values that the report does not repeat. Its project is the current one: the locked part's may have
 * been merged, or its ticket may have moved.
 */
function continued({ state, identity, report }: Recording, view: EntryView, last: EntryView, isPlaced: boolean) {
  const kept: EntryView = {
    ...view,
    entry: {
      ...view.entry,
      agentId: namesAgent(report) ? identity.agentId : last.entry.agentId,
      labelSetId: identity.labelSetId ?? last.entry.labelSetId,
      providerId: identity.providerId ?? last.entry.providerId,
      summary: report.summary ?? last.entry.summary,
      corrected: withoutFigures(last.entry.corrected),
      amendment: continuedDivision(last.entry, view.entry.uid),
    },
    agent: namesAgent(report) ? report.agent : last.agent,
    labels: identity.labelSetId === null ? last.labels : view.labels,
    provider: identity.providerId === null ? last.provider : view.provider,
  }
  return isPlaced ? kept : placedLike({ state }, kept, last)
}

/** At the current place of another part, which may have been merged or moved, and divided like it. */
function placedLike({ state }: Pick<Recording, 'state'>, view: EntryView, like: EntryView): EntryView {
  const project = state.work.findCurrentProject(like.entry)
  return {
    ...view,
    entry: {
      ...view.entry,
      ...placementOf(like.entry),
      projectId: project?.id ?? null,
      amendment: continuedDivision(like.entry, view.entry.uid),
    },
    project,
    ticket: like.ticket,
    rule: like.rule,
    ruleVersion: like.ruleVersion,
  }
}

/** A session that goes on keeps its division. */
function continuedDivision({ amendment }: EntryRecord, of: EntryRecord['uid']): EntryRecord['amendment'] {
  return amendment?.division ? { division: { ...amendment.division, of } } : null
}

/** The figures of a part were corrected, not those of the session. */
function withoutFigures(corrected: EntryRecord['corrected']): EntryRecord['corrected'] {
  const kept = corrected?.filter((field) => field !== 'figures') ?? []
  return kept.length > 0 ? kept : null
}

/** The first entry of another person's session with the same harness and id, preferably of the same model. */
function findPossibleDuplicate({ state, others, identity }: Recording): EntryView | undefined {
  for (const { id } of others) {
    const [part] = state.parts(id, identity.chainModelId)
    if (part) return part
  }
  for (const { id } of others) {
    const part = state.somePart(id)
    if (part) return part
  }
  return undefined
}

export function changePart(reported: Recording, last: EntryView, totals: Totals): Recorded {
  const recording = withoutCorrected(reported, last)
  const { slice } = recording
  const { state, session, identity, report, reporter, now } = recording
  const placement = newPlacement(recording, last)
  const usage = usageOf(recording, last, totals)
  const before = last.entry
  const moved = placement && placementColumns(placement)
  const isMoved = moved !== undefined && !isSame(moved, placementOf(before))
  const valued = revaluation(recording, last, usage)
  const change = {
    startedAt: usage.totals.startedAt,
    endedAt: usage.totals.endedAt,
    ...usageColumns(usage.totals),
    ...valued.columns,
    source: session.source,
    superseded: false,
    agentId: namesAgent(report) ? identity.agentId : before.agentId,
    providerId: identity.providerId ?? before.providerId,
    summary: report.summary ?? before.summary,
    labelSetId: identity.labelSetId ?? before.labelSetId,
    ...(moved ?? placementOf(before)),
    ...(slice && { sliceDay: slice.key.day, slicePlace: slice.key.place, estimated: slice.estimated }),
  }
  const changed: EntryView = {
    ...last,
    entry: { ...before, ...change },
    agent: namesAgent(report) ? report.agent : last.agent,
    provider: report.provider ?? last.provider,
    labels: report.labels ?? last.labels,
    price: valued.price,
    ...(placement && {
      project: placement.project,
      ticket: placement.ticket,
      rule: placement.rule?.uid ?? null,
      ruleVersion: placement.rule,
    }),
  }
  const paid = funded(state, changed, report.funding ?? saidOfEntry(last))
  const isPaidAsBefore = paid.entry.fundingId === before.fundingId
  if (isPaidAsBefore && isSame(change, before)) return repeated(last)
  const view: EntryView = { ...paid, entry: { ...paid.entry, updatedAt: now } }
  state.changeEntry(view)
  const record = (action: HistoryAction, details: Record<string, unknown>) =>
    state.addHistory(before.id, changeOf(action, recording, reporter), details)
  // Totals may decrease legitimately, but an agent that reports only the usage since its last report looks the same.
  const [tokensBefore, tokens] = [totalTokens(countsOf(before)), totalTokens(usage.totals.counts)]
  if (tokens < tokensBefore) record('shrunk', { tokens_before: tokensBefore, tokens })
  if (slice && before.sliceDay === null) record('sliced', { day: dayText(slice.key.day) })
  if (isMoved) record('placed', becauseOf(placement!))
  if (!isPaidAsBefore) record('funding_decided', fundingChange(last, view))
  if (before.source !== session.source) record('source_changed', { from: before.source, to: session.source })
  return { outcome: 'updated', replayed: false, entry: view }
}

function becauseOf({ by, rule }: Placement): Record<string, unknown> {
  if (by === 'rule' && rule) return { because: 'rule', rule: rule.uid, version: rule.version }
  return { because: 'named_in_report' }
}

function isSame(change: Partial<EntryRecord>, last: Partial<EntryRecord>): boolean {
  for (const column in change) {
    if (last[column as keyof EntryRecord] !== change[column as keyof EntryRecord]) return false
  }
  return true
}

function placementOf({
  projectId,
  ticketId,
  placedBy,
  ruleVersionId,
  placementNote,
  namedProject,
  namedTicket,
}: EntryRecord) {
  return { projectId, ticketId, placedBy, ruleVersionId, placementNote, namedProject, namedTicket }
}

/**
 * An update keeps the price row that valued the part, even if prices were loaded since. It is looked up again if the
 * part was unpriced, or if its provider or its start, by which the price was found, has changed.
 */
function revaluation({ prices }: Recording, last: EntryView, usage: ModelTotals) {
  const { priceId, priceStep, startedAt } = last.entry
  const isSamePrice = startedAt === usage.totals.startedAt && last.provider === (usage.provider ?? null)
  const kept = priceId === null || !isSamePrice ? undefined : valueAtPrice(prices, priceId, usage.totals)
  if (!kept) return valuationColumns(usage, prices)
  return {
    columns: { listValue: kept.listValueNanos, priceId, priceStep, priceNote: kept.note },
    price: last.price,
  }
}

/** Sets a part of which the supplying source says nothing any more to zero, unless it is fixed. */
export function supersede({ state, now, reporter, session }: Recording, last: EntryView): Recorded {
  if (isFixed(last.entry) || last.entry.superseded) return repeated(last)
  const view: EntryView = {
    ...last,
    entry: {
      ...last.entry,
      ...usageColumns({
        counts: ZERO_COUNTS,
        details: serviceOf(detailsOf(last.entry)),
        requests: 0,
        reportedCostNanos: 0n,
        activeMs: null,
      }),
      listValue: last.entry.listValue === null ? null : 0n,
      superseded: true,
      updatedAt: now,
    },
  }
  state.changeEntry(view)
  state.addHistory(last.entry.id, changeOf('superseded', { now }, reporter), { by: session.source })
  return { outcome: 'updated', replayed: false, entry: view }
}
