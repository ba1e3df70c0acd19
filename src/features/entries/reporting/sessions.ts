/**
 * Recording a session's totals so far (docs/design/concepts.md, "Sessions"): chains of parts, sources, adoption. Steps
 * of a plan: they read and change the state only.
 */
import type { SessionSource } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'
import { type Placement, place, placeByNames, type Subject, UNATTRIBUTED } from '../../placement/service.ts'
import { valueAtPrice } from '../../prices/service.ts'
import { countsOf, isLocked, type ModelTotals, partOf, readTotals, usageColumns, writeTotals } from '../rows.ts'
import type { EntryRecord, EntryView } from '../store.ts'
import { isStale, nextStep, sumOfParts, supplyingSource, type Totals, totalTokens, ZERO_COUNTS } from '../totals.ts'
import {
  type Circumstances,
  changeOf,
  type Identity,
  managerByOf,
  newEntry,
  placedBy,
  placementColumns,
  type Recorded,
  type Reporter,
  type Submission,
  subjectOf,
  valuationColumns,
} from './record.ts'
import type { Report } from './report.ts'
import type { RecordingState } from './state.ts'
import type { SessionKey, SessionRecord, SourceTotals } from './store/sessions.ts'

function sessionShrunk(metric: string): Problem {
  return new Problem(
    'session_shrunk',
    `The session's ${metric} would fall below the total of its locked entries. Report the session's totals so far, not the usage since the last report. Nothing was changed.`,
  )
}

/** A report while it is recorded in its session. */
interface Recording extends Circumstances {
  state: RecordingState
  session: SessionRecord
  /** Earlier sessions of other people with the same harness and id, of which this one may be a duplicate. */
  others: readonly SessionRecord[]
  report: Report
  source: SessionSource
  /** With the owner of the session, to whom everything that is added to it belongs, regardless of the reporter. */
  reporter: Reporter
  identity: Identity
  /**
   * Whether the chain to change is that of the report's own model, so that its other fields apply as well as its usage.
   */
  isOwnChain: boolean
}

/** Records a source's totals so far of one model of a session. Throws `session_shrunk` (409). */
export function recordInSession(state: RecordingState, submission: Submission, circumstances: Circumstances): Recorded {
  const { report, source, reporter } = submission
  const identity = state.identify(submission)
  const key = { sessionKey: report.sessionKey!, harnessId: identity.canonicalHarnessId }
  const { session, others } = joinSession(state, key, source, reporter)
  const recording: Recording = {
    now: circumstances.now,
    prices: circumstances.prices,
    rules: circumstances.rules,
    unknownProjects: circumstances.unknownProjects,
    state,
    session,
    others,
    report,
    source,
    reporter: ownerOf(state, session, reporter),
    identity,
    isOwnChain: true,
  }
  const reported: ModelTotals = { model: report.model, provider: report.provider, totals: report }
  if (session.contested || session.source !== source) return recordContested(recording, reported)
  const parts = state.parts(session.id, identity.chainModelId)
  if (parts.length > 0 && isStale(report, totalsOf(parts))) return repeated(parts.at(-1)!)
  return moveChain(recording, parts, reported)
}

function repeated(entry: EntryView): Recorded {
  return { outcome: 'repeated', replayed: false, entry }
}

/** The sum of a chain's parts: the totals of the only source of an uncontested session. */
function totalsOf(parts: readonly EntryView[]): Totals {
  const sum = sumOfParts(parts.map(({ entry }) => partOf(entry)))
  const hasKnown = (columnOf: (entry: EntryRecord) => unknown) => parts.some(({ entry }) => columnOf(entry) !== null)
  return {
    startedAt: parts[0]!.entry.startedAt,
    endedAt: parts.at(-1)!.entry.endedAt,
    counts: sum.counts,
    over200k: hasKnown((entry) => entry.over200kInput) ? sum.over200k : null,
    requests: hasKnown((entry) => entry.requests) ? sum.requests : null,
    // Without a reported cost, a part counts with its list value, even if another source supplies the session.
    reportedCostNanos: hasKnown((entry) => entry.reportedCost) ? sum.costNanos : null,
  }
}

/** A session that a source has joined. */
export interface Joined {
  session: SessionRecord
  /** Earlier sessions of other people with the same harness and id. */
  others: readonly SessionRecord[]
}

/**
 * Finds the session that a source refers to, of those with its harness and id (docs/design/concepts.md, "Whose
 * session"):
 *
 * - A service token changes only sessions of its own person. It adopts one that came by an organization token and has
 *   no identified owner yet.
 * - Telemetry with an organization token joins the session of the person it identifies, otherwise one without an
 *   identified owner: that one moves only when an administrator assigns it.
 * - If it identifies no one, it stays with the session that it joined before, otherwise it joins the first: another
 *   session next to those that people have reported would count the same usage twice.
 *
 * If there is no such session, a new one is created for this person alone, regardless of others with the same id.
 */
export function joinSession(state: RecordingState, key: SessionKey, source: SessionSource, reporter: Reporter): Joined {
  const { manager, identifiedBy } = reporter
  const known = state.sessions(key)
  const own = known.find((session) => session.managerId === manager.id)
  const join = (session: SessionRecord): Joined => ({
    session,
    others: known.length === 0 ? known : known.filter(({ id }) => id < session.id),
  })
  const adopted = (session: SessionRecord) => join(adopt(state, session, reporter))
  const begin = () =>
    join(
      state.addSession({
        sessionKey: key.sessionKey,
        harnessId: key.harnessId,
        managerId: manager.id,
        source,
        managerBy: managerByOf(identifiedBy),
        unidentified: identifiedBy === 'nothing',
        byOrganization: identifiedBy === 'nothing',
      }),
    )
  const unidentified = known.find((session) => session.unidentified)
  if (identifiedBy === 'token') {
    if (own && isCertain(own)) return join(own)
    const session = own ?? unidentified
    return session ? adopted(session) : begin()
  }
  if (identifiedBy === 'email') {
    if (own?.unidentified) return adopted(own)
    const session = own ?? unidentified
    return session ? join(session) : begin()
  }
  const session = known.find((session) => session.byOrganization) ?? known[0]
  if (!session) return begin()
  return join(session.byOrganization ? session : state.changeSession(session, { byOrganization: true }))
}

/** The owner of a session is certain once a service token has reported part of it. */
export function isCertain({ managerBy, unidentified }: SessionRecord): boolean {
  return managerBy === 'token' && !unidentified
}

function ownerOf(state: RecordingState, { managerId, managerBy }: SessionRecord, reporter: Reporter): Reporter {
  if (managerId === reporter.manager.id && managerBy === reporter.managerBy) return reporter
  const manager = managerId === reporter.manager.id ? reporter.manager : state.managers.get(managerId)
  return { ...reporter, manager, managerBy }
}

/** Gives a session and its unlocked entries to the reporter. */
function adopt(state: RecordingState, before: SessionRecord, reporter: Reporter): SessionRecord {
  const { manager, identifiedBy } = reporter
  const managerBy = managerByOf(identifiedBy)
  const because = identifiedBy === 'token' ? 'reported_with_a_service_token' : 'identified_by_email'
  const session = state.changeSession(before, { managerId: manager.id, managerBy, unidentified: false })
  const change = changeOf('adopted', state, reporter)
  for (const parts of state.chains(session.id).values()) {
    for (const part of parts) {
      const { entry } = part
      if (isLocked(entry) || (entry.managerId === manager.id && entry.managerBy === managerBy)) continue
      state.changeEntry({ ...part, entry: { ...entry, managerId: manager.id, managerBy }, manager })
      state.addHistory(entry.id, change, { because })
    }
  }
  return session
}

/**
 * Records a session with several sources: the totals of each are stored separately and never added up. The source with
 * the most output tokens supplies every model.
 */
function recordContested(recording: Recording, reported: ModelTotals): Recorded {
  const { state, source, identity } = recording
  const { chainModelId } = identity
  const chains = state.chains(recording.session.id)
  if (!recording.session.contested) saveFirstSource(recording, chains)

  const kept = state.sources(recording.session.id)
  const own = kept.find((row) => row.source === source && row.chainModelId === chainModelId)
  const unchanged = () =>
    repeated(state.current(chains.get(chainModelId)?.at(-1) ?? [...chains.values()].at(-1)!.at(-1)!))
  if (own && isStale(reported.totals, readTotals(own.totals).totals)) return unchanged()
  const current = { chainModelId, source, totals: writeTotals(reported) }
  state.saveSource(recording.session.id, current)

  const all = [...kept.filter((row) => row !== own), current]
  const winner = supplyingSource(outputBySource(all))
  if (winner !== recording.session.source) {
    recording.session = state.changeSession(recording.session, { source: winner })
    const supplied = all.filter((row) => row.source === winner)
    supplyOthers(recording, supplied, chains)
    supersedeUnknown(recording, supplied, chains)
    if (winner !== source) return unchanged()
  }
  return winner === source ? moveChain(recording, chains.get(chainModelId) ?? [], reported) : unchanged()
}

function outputBySource(rows: SourceTotals[]): Map<SessionSource, number> {
  const outputs = new Map<SessionSource, number>()
  for (const { source, totals } of rows) outputs.set(source, (outputs.get(source) ?? 0) + totals.output)
  return outputs
}

type Chains = Map<number, readonly EntryView[]>

/** From now on, the totals of each source are stored next to the entries, starting with those of the first source. */
function saveFirstSource(recording: Recording, chains: Chains): void {
  const { state } = recording
  recording.session = state.changeSession(recording.session, { contested: true })
  const { id, source } = recording.session
  for (const [chainModelId, parts] of chains) {
    const { model, provider } = parts.at(-1)!
    const totals = writeTotals({ model, provider: provider ?? undefined, totals: totalsOf(parts) })
    state.saveSource(id, { chainModelId, source, totals })
  }
}

/** Updates the chains of the other models to the totals of the session's new source. */
function supplyOthers(recording: Recording, supplied: SourceTotals[], chains: Chains): void {
  for (const { chainModelId, source, totals } of supplied) {
    if (source === recording.source && chainModelId === recording.identity.chainModelId) continue
    const reported = readTotals(totals)
    const model = recording.state.name(reported.model)
    const identity = { ...recording.identity, modelId: model.id, chainModelId }
    moveChain({ ...recording, identity, isOwnChain: false }, chains.get(chainModelId) ?? [], reported)
  }
}

/** Sets models that the new source does not report to zero, unless they are locked. */
function supersedeUnknown(recording: Recording, supplied: SourceTotals[], chains: Chains): void {
  const { state, now } = recording
  for (const [chainModelId, parts] of chains) {
    const last = parts.at(-1)!
    if (isLocked(last.entry) || supplied.some((row) => row.chainModelId === chainModelId)) continue
    state.changeEntry({
      ...last,
      entry: {
        ...last.entry,
        ...usageColumns({ counts: ZERO_COUNTS, over200k: null, requests: 0, reportedCostNanos: 0n }),
        listValue: last.entry.listValue === null ? null : 0n,
        superseded: true,
        updatedAt: now,
      },
    })
    state.addHistory(last.entry.id, changeOf('superseded', recording, recording.reporter), {
      by: recording.session.source,
    })
  }
}

/** Updates the chain so that it sums to the totals, and applies the report's other fields. */
function moveChain(recording: Recording, parts: readonly EntryView[], reported: ModelTotals): Recorded {
  const last = parts.at(-1)
  if (!last) return appendPart(recording, undefined, reported)
  const step = nextStep(
    parts.map(({ entry }) => partOf(entry)),
    reported.totals,
  )
  if (step.kind === 'shrunk') throw sessionShrunk(step.metric)
  if (step.kind === 'unchanged') return repeated(last)
  // Valued with the fields that the entry will have: without a new provider, the previous one remains.
  const usage = { ...reported, provider: reported.provider ?? last.provider ?? undefined, totals: step.usage }
  return step.kind === 'append' ? appendPart(recording, last, usage) : changePart(recording, last, usage)
}

function appendPart(recording: Recording, last: EntryView | undefined, usage: ModelTotals): Recorded {
  const { state, session, report, reporter, identity } = recording
  const placement = last ? newPlacement(recording, last) : placeReport(state, recording, recording)
  const duplicate = last ? undefined : findPossibleDuplicate(recording)
  const entry = newEntry(
    state.nextEntryId(),
    { source: session.source, identity, placement: placement ?? UNATTRIBUTED, report, reporter },
    usage,
    {
      sessionId: session.id,
      part: (last?.entry.part ?? 0) + 1,
      continuesId: last?.entry.id ?? null,
      fingerprint: null,
      possibleDuplicateId: duplicate?.entry.id ?? null,
    },
    { continues: last?.entry.uid ?? null, duplicateOf: duplicate?.entry.uid ?? null },
    recording,
  )
  const view = last ? continued(recording, entry, last, placement !== undefined) : entry
  state.addEntry(view)
  return { outcome: 'created', replayed: false, entry: view }
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
      labelSetId: identity.labelSetId ?? last.entry.labelSetId,
      providerId: identity.providerId ?? last.entry.providerId,
      summary: report.summary ?? last.entry.summary,
    },
    labels: identity.labelSetId === null ? last.labels : view.labels,
    provider: identity.providerId === null ? last.provider : view.provider,
  }
  if (isPlaced) return kept
  const project = state.work.findCurrentProject(last.entry)
  return {
    ...kept,
    entry: { ...kept.entry, ...placementOf(last.entry), projectId: project?.id ?? null },
    project,
    ticket: last.ticket,
    rule: last.rule,
    ruleVersion: last.ruleVersion,
  }
}

/** The first entry of another person's session with the same harness and id, preferably of the same model. */
function findPossibleDuplicate({ state, others, identity }: Recording): EntryView | undefined {
  if (others.length === 0) return undefined
  const parts = others.flatMap(({ id }) => [...state.chains(id).values()].flat())
  return parts.find(({ entry }) => entry.chainModelId === identity.chainModelId) ?? parts[0]
}

function changePart(recording: Recording, last: EntryView, usage: ModelTotals): Recorded {
  const { state, session, identity, report, reporter, isOwnChain, now } = recording
  const placement = isOwnChain ? newPlacement(recording, last) : undefined
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
    agentId: isOwnChain ? identity.agentId : before.agentId,
    providerId: (isOwnChain ? identity.providerId : null) ?? before.providerId,
    summary: (isOwnChain ? report.summary : undefined) ?? before.summary,
    labelSetId: (isOwnChain ? identity.labelSetId : null) ?? before.labelSetId,
    ...(moved ?? placementOf(before)),
  }
  if (isSame(change, before)) return repeated(last)
  const view: EntryView = {
    ...last,
    entry: { ...before, ...change, updatedAt: now },
    agent: isOwnChain ? report.agent : last.agent,
    provider: isOwnChain && report.provider !== undefined ? report.provider : last.provider,
    labels: isOwnChain && report.labels ? report.labels : last.labels,
    price: valued.price,
    ...(placement && {
      project: placement.project,
      ticket: placement.ticket,
      rule: placement.rule?.uid ?? null,
      ruleVersion: placement.rule,
    }),
  }
  state.changeEntry(view)
  const record = (action: string, details: Record<string, unknown>) =>
    state.addHistory(before.id, changeOf(action, recording, reporter), details)
  // Totals may decrease legitimately, but an agent that reports only the usage since its last report looks the same.
  const [tokensBefore, tokens] = [totalTokens(countsOf(before)), totalTokens(usage.totals.counts)]
  if (tokens < tokensBefore) record('shrunk', { tokens_before: tokensBefore, tokens })
  if (isMoved) record('placed', becauseOf(placement!))
  if (before.source !== session.source) record('source_changed', { from: before.source, to: session.source })
  return { outcome: 'updated', replayed: false, entry: view }
}

/** The placement of a new entry by the report's names or by rules. */
export function placeReport(
  state: RecordingState,
  { report, reporter }: Pick<Submission, 'report' | 'reporter'>,
  circumstances: Circumstances,
): Placement {
  const setting = { work: state.work, rules: circumstances.rules }
  const placeable = { named: report, subject: subjectOf(report, reporter) }
  return settled(state, place(setting, placeable, placedBy(circumstances, reporter)), reporter)
}

/**
 * The new placement of a session by a later report; undefined if it stays. A manual placement stays, a placement by
 * name stays until another one is named. A placement by rule is repeated if a field that rules match has changed, and
 * is kept if no rule matches the session any more.
 */
function newPlacement(recording: Recording, last: EntryView): Placement | undefined {
  const { state, report, reporter, rules } = recording
  const { placedBy: wasPlacedBy, namedProject, namedTicket } = last.entry
  if (wasPlacedBy === 'manual') return undefined
  const isNamed = report.project !== undefined || report.ticket !== undefined
  if (!isNamed && (wasPlacedBy === 'named' || !changesSubject(recording, last.entry))) return undefined
  const setting = { work: state.work, rules }
  const subject = continuedSubject(recording, last)
  // Names that could not be resolved before may exist by now.
  const named = isNamed ? report : { project: namedProject ?? undefined, ticket: namedTicket ?? undefined }
  const decide = wasPlacedBy === 'named' ? placeByNames : place
  const placement = decide(setting, { named, subject }, placedBy(recording, reporter))
  if (placement.by === null && wasPlacedBy !== null) return undefined
  return settled(state, placement, reporter)
}

/** If a ticket got its project for this person, their earlier entries on it move as well. */
function settled(state: RecordingState, placement: Placement, reporter: Reporter): Placement {
  const { ticket, project, ticketFoundProject } = placement
  if (ticketFoundProject) {
    const change = changeOf('placed', state, reporter)
    state.moveOwnEntries({ ticketId: ticket!.id, managerId: reporter.manager.id, project: project!, change })
  }
  return placement
}

/** Whether the report changes a field that rules match. */
function changesSubject({ report: { summary }, identity }: Recording, last: EntryRecord): boolean {
  const { agentId, providerId, labelSetId } = identity
  return (
    agentId !== last.agentId ||
    (providerId !== null && providerId !== last.providerId) ||
    (labelSetId !== null && labelSetId !== last.labelSetId) ||
    (summary !== undefined && summary !== last.summary)
  )
}

/** The fields that rules match after the report: those that it does not repeat keep their values. */
function continuedSubject({ report, reporter }: Recording, last: EntryView): Subject {
  const reported = subjectOf(report, reporter)
  return {
    ...reported,
    provider: reported.provider ?? last.provider,
    summary: reported.summary ?? last.entry.summary,
    labels: reported.labels ?? last.labels,
  }
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
 * An update keeps the price row that valued the part, even if prices were loaded since; an unpriced part is looked up
 * again.
 */
function revaluation({ prices }: Recording, last: EntryView, usage: ModelTotals) {
  const { priceId, priceStep } = last.entry
  const kept = priceId === null ? undefined : valueAtPrice(prices, priceId, usage.totals)
  if (!kept) return valuationColumns(usage, prices)
  return {
    columns: { listValue: kept.listValueNanos, priceId, priceStep, priceNote: kept.note },
    price: last.price,
  }
}
