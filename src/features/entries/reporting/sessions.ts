/** Recording a session's totals so far (docs/design/concepts.md, "Sessions"): chains of parts, sources, adoption. */
import type { Tx } from '../../../database/database.ts'
import type { SessionSource } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'
import { type Placement, type Subject, UNATTRIBUTED } from '../../placement/service.ts'
import { valueAtPrice } from '../../prices/service.ts'
import { insertHistory } from '../history/store.ts'
import { countsOf, isLocked, type ModelTotals, partOf, readTotals, usageColumns, writeTotals } from '../rows.ts'
import { type EntryRecord, getView, type PartChange, updateEntry, updatePart } from '../store.ts'
import { isStale, nextStep, sumOfParts, supplyingSource, type Totals, totalTokens, ZERO_COUNTS } from '../totals.ts'
import {
  addEntry,
  type Circumstances,
  changeOf,
  type Identity,
  identify,
  intern,
  managerByOf,
  type NewEntryDraft,
  place,
  placedBy,
  placementColumns,
  type Recorded,
  type Reporter,
  settle,
  subjectOf,
  valuationColumns,
} from './record.ts'
import type { Report } from './report.ts'
import { getLabels, getName } from './store/names.ts'
import {
  changeManager,
  getManager,
  listParts,
  listSessionParts,
  listSessions,
  listSourceTotals,
  lockSession,
  type SessionRecord,
  type SourceTotals,
  saveSourceTotals,
  takeTurn,
  updateSession,
} from './store/sessions.ts'

function sessionShrunk(metric: string): Problem {
  return new Problem(
    'session_shrunk',
    `The session's ${metric} would fall below the total of its locked entries. Report the session's totals so far, not the usage since the last report. Nothing was changed.`,
  )
}

/** Records a source's totals so far of one model of a session. Throws `session_shrunk` (409). */
export async function recordInSession(
  tx: Tx,
  report: Report,
  source: SessionSource,
  circumstances: Circumstances,
): Promise<Recorded> {
  const identity = await identify(tx, report, circumstances)
  const key = { sessionKey: report.sessionKey!, harnessId: identity.canonicalHarnessId }
  const { session, others } = await joinSession(tx, key, source, circumstances)
  const reporter = await reporterIn(tx, session, circumstances)
  const recording: Recording = {
    tx,
    session,
    others,
    report,
    source,
    identity,
    circumstances: { ...circumstances, reporter },
    isOwnChain: true,
  }
  const reported: ModelTotals = { model: report.model, provider: report.provider, totals: report }
  if (!session.contested && session.source === source) {
    const parts = await listParts(tx, session.id, identity.chainModelId)
    if (parts.length > 0 && isStale(report, totalsOf(parts))) return repeated(tx, parts.at(-1)!)
    return moveChain(recording, parts, reported)
  }
  return recordContested(recording, reported)
}

/** A report while it is recorded in its session. */
interface Recording {
  tx: Tx
  session: SessionRecord
  /** Earlier sessions of other people with the same harness and id, of which this one may be a duplicate. */
  others: SessionRecord[]
  report: Report
  source: SessionSource
  identity: Identity
  circumstances: Circumstances
  /**
   * Whether the chain to change is that of the report's own model, so that its other fields apply as well as its usage.
   */
  isOwnChain: boolean
}

async function repeated(tx: Tx, { id }: EntryRecord): Promise<Recorded> {
  return { outcome: 'repeated', replayed: false, entry: await getView(tx, id) }
}

/** The sum of a chain's parts: the totals of the only source of an uncontested session. */
function totalsOf(parts: EntryRecord[]): Totals {
  const sum = sumOfParts(parts.map(partOf))
  const hasKnown = (columnOf: (entry: EntryRecord) => unknown) => parts.some((entry) => columnOf(entry) !== null)
  return {
    startedAt: parts[0]!.startedAt,
    endedAt: parts.at(-1)!.endedAt,
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
  others: SessionRecord[]
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
export async function joinSession(
  tx: Tx,
  key: { sessionKey: string; harnessId: number },
  source: SessionSource,
  circumstances: Circumstances,
): Promise<Joined> {
  const { manager, identifiedBy } = circumstances.reporter
  const known = await listSessions(tx, key)
  const own = known.find((session) => session.managerId === manager.id)
  const joined = (session: SessionRecord): Joined => ({ session, others: known.filter(({ id }) => id < session.id) })
  const join = async (session: SessionRecord) => joined(await lockSession(tx, session))
  const adopted = async (session: SessionRecord) => joined(await adopt(tx, session, circumstances))
  const begin = async () => {
    await takeTurn(tx, key)
    const session = await lockSession(tx, {
      ...key,
      source,
      managerId: manager.id,
      managerBy: managerByOf(identifiedBy),
      unidentified: identifiedBy === 'nothing',
      byOrganization: identifiedBy === 'nothing',
    })
    return joined(session)
  }
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
  if (!session.byOrganization) await updateSession(tx, session.id, { byOrganization: true })
  return join(session)
}

/** The owner of a session is certain once a service token has reported part of it. */
export function isCertain({ managerBy, unidentified }: SessionRecord): boolean {
  return managerBy === 'token' && !unidentified
}

/** Everything that is added to a session belongs to its owner, regardless of the reporter. */
async function reporterIn(
  tx: Tx,
  { managerId, managerBy }: SessionRecord,
  { reporter }: Circumstances,
): Promise<Reporter> {
  if (managerId === reporter.manager.id) return { ...reporter, managerBy }
  return { ...reporter, manager: await getManager(tx, managerId), managerBy }
}

async function adopt(tx: Tx, session: SessionRecord, circumstances: Circumstances): Promise<SessionRecord> {
  const { manager, identifiedBy } = circumstances.reporter
  const owner = { managerId: manager.id, managerBy: managerByOf(identifiedBy) }
  const because = identifiedBy === 'token' ? 'reported_with_a_service_token' : 'identified_by_email'
  await updateSession(tx, session.id, { ...owner, unidentified: false })
  const entryIds = await changeManager(tx, session.id, owner)
  await insertHistory(
    tx,
    changeOf('adopted', circumstances),
    entryIds.map((entryId) => ({ entryId, details: { because } })),
  )
  return { ...session, ...owner, unidentified: false }
}

/**
 * Records a session with several sources: the totals of each are stored separately and never added up. The source with
 * the most output tokens supplies every model.
 */
async function recordContested(recording: Recording, reported: ModelTotals): Promise<Recorded> {
  const { tx, session, source, identity } = recording
  const entries = await listSessionParts(tx, session.id)
  const chains = Map.groupBy(entries, (entry) => entry.chainModelId!)
  if (!session.contested) await saveFirstSource(recording, chains)

  const kept = await listSourceTotals(tx, session.id)
  const own = kept.find((row) => row.source === source && row.chainModelId === identity.chainModelId)
  const unchanged = () => repeated(tx, chains.get(identity.chainModelId)?.at(-1) ?? entries.at(-1)!)
  if (own && isStale(reported.totals, readTotals(own.totals).totals)) return unchanged()
  const current = { chainModelId: identity.chainModelId, source, totals: writeTotals(reported) }
  await saveSourceTotals(tx, session.id, current)

  const all = [...kept.filter((row) => row !== own), current]
  const winner = supplyingSource(outputBySource(all))
  if (winner !== session.source) {
    session.source = winner
    await updateSession(tx, session.id, { source: winner })
    const supplied = all.filter((row) => row.source === winner)
    await supplyOthers(recording, supplied, chains)
    await supersedeUnknown(recording, supplied, chains)
    if (winner !== source) return unchanged()
  }
  return winner === source ? moveChain(recording, chains.get(identity.chainModelId) ?? [], reported) : unchanged()
}

function outputBySource(rows: SourceTotals[]): Map<SessionSource, number> {
  const outputs = new Map<SessionSource, number>()
  for (const { source, totals } of rows) outputs.set(source, (outputs.get(source) ?? 0) + totals.output)
  return outputs
}

/** From now on, the totals of each source are stored next to the entries, starting with those of the first source. */
async function saveFirstSource({ tx, session }: Recording, chains: Map<number, EntryRecord[]>): Promise<void> {
  await updateSession(tx, session.id, { contested: true })
  for (const [chainModelId, parts] of chains) {
    const last = parts.at(-1)!
    const model = await getName(tx, last.modelId)
    const provider = await providerOf(tx, last)
    await saveSourceTotals(tx, session.id, {
      chainModelId,
      source: session.source,
      totals: writeTotals({ model, provider, totals: totalsOf(parts) }),
    })
  }
}

/** Updates the chains of the other models to the totals of the session's new source. */
async function supplyOthers(
  recording: Recording,
  supplied: SourceTotals[],
  chains: Map<number, EntryRecord[]>,
): Promise<void> {
  for (const { chainModelId, source, totals } of supplied) {
    if (source === recording.source && chainModelId === recording.identity.chainModelId) continue
    const reported = readTotals(totals)
    const model = await intern(recording.tx, recording.circumstances.interned, reported.model)
    const identity = { ...recording.identity, modelId: model.id, chainModelId }
    await moveChain({ ...recording, identity, isOwnChain: false }, chains.get(chainModelId) ?? [], reported)
  }
}

/** Sets models that the new source does not report to zero, unless they are locked. */
async function supersedeUnknown(
  { tx, session, circumstances }: Recording,
  supplied: SourceTotals[],
  chains: Map<number, EntryRecord[]>,
): Promise<void> {
  for (const [chainModelId, parts] of chains) {
    const last = parts.at(-1)!
    if (isLocked(last) || supplied.some((row) => row.chainModelId === chainModelId)) continue
    await updateEntry(tx, last.id, {
      ...usageColumns({ counts: ZERO_COUNTS, over200k: null, requests: 0, reportedCostNanos: 0n }),
      listValue: last.listValue === null ? null : 0n,
      superseded: true,
      updatedAt: circumstances.now,
    })
    await insertHistory(tx, changeOf('superseded', circumstances), [
      { entryId: last.id, details: { by: session.source } },
    ])
  }
}

/** The provider of an entry's model, if it is known. */
async function providerOf(tx: Tx, { providerId }: EntryRecord): Promise<string | undefined> {
  return providerId === null ? undefined : getName(tx, providerId)
}

/** Updates the chain so that it sums to the totals, and applies the report's other fields. */
async function moveChain(recording: Recording, entries: EntryRecord[], reported: ModelTotals): Promise<Recorded> {
  const step = nextStep(entries.map(partOf), reported.totals)
  const last = entries.at(-1)
  if (step.kind === 'shrunk') throw sessionShrunk(step.metric)
  if (step.kind === 'unchanged') return repeated(recording.tx, last!)
  if (!last) return appendPart(recording, undefined, { ...reported, totals: step.usage })
  // Valued with the fields that the entry will have: without a new provider, the previous one remains.
  const usage = {
    ...reported,
    provider: reported.provider ?? (await providerOf(recording.tx, last)),
    totals: step.usage,
  }
  return step.kind === 'append' ? appendPart(recording, last, usage) : changePart(recording, last, usage)
}

async function appendPart(recording: Recording, last: EntryRecord | undefined, usage: ModelTotals): Promise<Recorded> {
  const { tx, session, report, identity, circumstances } = recording
  const placement = last ? await newPlacement(recording, last) : await place(tx, report, circumstances)
  const duplicate = last ? undefined : await findPossibleDuplicate(recording)
  const extra = {
    sessionId: session.id,
    part: (last?.part ?? 0) + 1,
    continuesId: last?.id ?? null,
    fingerprint: null,
    possibleDuplicateId: duplicate?.id ?? null,
  }
  const draft: NewEntryDraft = {
    source: session.source,
    identity,
    placement: placement ?? UNATTRIBUTED,
    report,
    // Fields that the report does not repeat keep their values.
    ...(last && {
      kept: {
        ...(placement ? {} : await continuedPlacement(recording, last)),
        labelSetId: identity.labelSetId ?? last.labelSetId,
        providerId: identity.providerId ?? last.providerId,
        summary: report.summary ?? last.summary,
      },
    }),
  }
  const entry = await addEntry(
    tx,
    draft,
    usage,
    extra,
    { continues: last?.uid ?? null, duplicateOf: duplicate?.uid ?? null },
    circumstances,
  )
  return { outcome: 'created', replayed: false, entry: last ? await getView(tx, entry.entry.id) : entry }
}

/** The first entry of another person's session with the same harness and id, preferably of the same model. */
async function findPossibleDuplicate({ tx, others, identity }: Recording): Promise<EntryRecord | undefined> {
  if (others.length === 0) return undefined
  const parts: EntryRecord[] = []
  for (const { id } of others) parts.push(...(await listSessionParts(tx, id)))
  return parts.find(({ chainModelId }) => chainModelId === identity.chainModelId) ?? parts[0]
}

async function changePart(recording: Recording, last: EntryRecord, usage: ModelTotals): Promise<Recorded> {
  const { tx, session, identity, report, isOwnChain, circumstances } = recording
  const placement = isOwnChain ? await newPlacement(recording, last) : undefined
  const moved = placement && placementColumns(placement)
  const isMoved = moved !== undefined && !isSame(moved, placementOf(last))
  const change: PartChange = {
    startedAt: usage.totals.startedAt,
    endedAt: usage.totals.endedAt,
    ...usageColumns(usage.totals),
    ...revaluation(recording, last, usage),
    source: session.source,
    superseded: false,
    agentId: isOwnChain ? identity.agentId : last.agentId,
    providerId: (isOwnChain ? identity.providerId : null) ?? last.providerId,
    summary: (isOwnChain ? report.summary : undefined) ?? last.summary,
    labelSetId: (isOwnChain ? identity.labelSetId : null) ?? last.labelSetId,
    ...(moved ?? placementOf(last)),
    updatedAt: last.updatedAt,
  }
  if (isSame(change, last)) return repeated(tx, last)
  await updatePart(tx, last.id, { ...change, updatedAt: circumstances.now })
  const record = (action: string, details: Record<string, unknown>) =>
    insertHistory(tx, changeOf(action, circumstances), [{ entryId: last.id, details }])
  // Totals may decrease legitimately, but an agent that reports only the usage since its last report looks the same.
  const [before, after] = [totalTokens(countsOf(last)), totalTokens(usage.totals.counts)]
  if (after < before) await record('shrunk', { tokens_before: before, tokens: after })
  if (isMoved) await record('placed', becauseOf(placement!))
  if (last.source !== session.source) await record('source_changed', { from: last.source, to: session.source })
  return { outcome: 'updated', replayed: false, entry: await getView(tx, last.id) }
}

/**
 * The new placement of a session by a later report; undefined if it stays. A manual placement stays, a placement by
 * name stays until another one is named. A placement by rule is repeated if a field that rules match has changed, and
 * is kept if no rule matches the session any more.
 */
async function newPlacement(recording: Recording, last: EntryRecord): Promise<Placement | undefined> {
  const { tx, report, identity, circumstances } = recording
  if (last.placedBy === 'manual') return undefined
  const isNamed = report.project !== undefined || report.ticket !== undefined
  if (!isNamed && (last.placedBy === 'named' || !changesSubject(report, identity, last))) return undefined
  const subject = await continuedSubject(recording, last)
  // Names that could not be resolved before may exist by now.
  const named = isNamed ? report : { project: last.namedProject ?? undefined, ticket: last.namedTicket ?? undefined }
  const placement =
    last.placedBy === 'named'
      ? await circumstances.placement.placeByNames(tx, named, placedBy(circumstances), subject)
      : await circumstances.placement.place(tx, { named, subject }, placedBy(circumstances))
  if (placement.by === null && last.placedBy !== null) return undefined
  return settle(tx, placement, circumstances)
}

/** Whether the report changes a field that rules match. */
function changesSubject(
  { summary }: Report,
  { agentId, providerId, labelSetId }: Identity,
  last: EntryRecord,
): boolean {
  return (
    agentId !== last.agentId ||
    (providerId !== null && providerId !== last.providerId) ||
    (labelSetId !== null && labelSetId !== last.labelSetId) ||
    (summary !== undefined && summary !== last.summary)
  )
}

/** The fields that rules match after the report: those that it does not repeat keep their values. */
async function continuedSubject({ tx, report, circumstances }: Recording, last: EntryRecord): Promise<Subject> {
  const reported = subjectOf(report, circumstances)
  return {
    ...reported,
    provider: reported.provider ?? (await providerOf(tx, last)) ?? null,
    summary: reported.summary ?? last.summary,
    labels: reported.labels ?? (last.labelSetId === null ? null : await getLabels(tx, last.labelSetId)),
  }
}

function becauseOf({ by, rule }: Placement): Record<string, unknown> {
  if (by === 'rule' && rule) return { because: 'rule', rule: rule.uid, version: rule.version }
  return { because: 'named_in_report' }
}

function isSame(change: Partial<EntryRecord>, last: Partial<EntryRecord>): boolean {
  return Object.entries(change).every(([column, value]) => last[column as keyof EntryRecord] === value)
}

/** The placement of a part after a locked one, whose project may have been merged or whose ticket may have moved. */
async function continuedPlacement({ tx, circumstances }: Recording, last: EntryRecord) {
  return { ...placementOf(last), projectId: await circumstances.placement.findCurrentProject(tx, last) }
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
function revaluation({ circumstances: { prices } }: Recording, last: EntryRecord, usage: ModelTotals) {
  const kept = last.priceId === null ? undefined : valueAtPrice(prices, last.priceId, usage.totals)
  if (!kept) return valuationColumns(usage, prices).columns
  return { listValue: kept.listValueNanos, priceId: last.priceId, priceStep: last.priceStep, priceNote: kept.note }
}
