/** Recording a session's totals so far (docs/design/concepts.md, "Sessions"): chains of parts, sources, adoption. */
import type { Tx } from '../../../database/database.ts'
import type { SessionSource } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'
import { type Placement, type Subject, UNATTRIBUTED } from '../../placement/service.ts'
import { valueAtPrice } from '../../prices/service.ts'
import { insertHistory } from '../history/store.ts'
import { countsOf, figureColumns, isLocked, type ModelTotals, partOf, readTotals, writeTotals } from '../rows.ts'
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

function sessionShrunk(figure: string): Problem {
  return new Problem(
    'session_shrunk',
    `The session's ${figure} would fall below the total of its locked entries. Report the session's totals so far, not the usage since the last report. Nothing was changed.`,
  )
}

/** Records what one source says of one model of a session so far. Throws `session_shrunk` (409). */
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
    besidesFigures: true,
  }
  const said: ModelTotals = { model: report.model, provider: report.provider, totals: report }
  if (!session.contested && session.source === source) {
    const parts = await listParts(tx, session.id, identity.chainModelId)
    if (parts.length > 0 && isStale(report, totalsOf(parts))) return repeated(tx, parts.at(-1)!)
    return moveChain(recording, parts, said)
  }
  return recordContested(recording, said)
}

/** One report on its way into its session. */
interface Recording {
  tx: Tx
  session: SessionRecord
  /** Earlier sessions of other people with the same harness and id, of which this one may be a duplicate. */
  others: SessionRecord[]
  report: Report
  source: SessionSource
  identity: Identity
  circumstances: Circumstances
  /** Whether the chain that moves is the report's own, so that what it says besides figures holds for it. */
  besidesFigures: boolean
}

async function repeated(tx: Tx, { id }: EntryRecord): Promise<Recorded> {
  return { outcome: 'repeated', replayed: false, entry: await getView(tx, id) }
}

/** What a chain's parts say together; they are the totals of the one source of an uncontested session. */
function totalsOf(parts: EntryRecord[]): Totals {
  const sum = sumOfParts(parts.map(partOf))
  const knows = (known: (entry: EntryRecord) => unknown) => parts.some((entry) => known(entry) !== null)
  return {
    startedAt: parts[0]!.startedAt,
    endedAt: parts.at(-1)!.endedAt,
    counts: sum.counts,
    over200k: knows((entry) => entry.over200kInput) ? sum.over200k : null,
    requests: knows((entry) => entry.requests) ? sum.requests : null,
    // Without a reported cost a part is worth its list value, also when its session is told by another source.
    reportedCostNanos: knows((entry) => entry.reportedCost) ? sum.costNanos : null,
  }
}

/** A session that a source has joined. */
export interface Joined {
  session: SessionRecord
  /** Sessions of other people with the same harness and id that were begun before it. */
  others: SessionRecord[]
}

/**
 * The session that a source refers to, of those with its harness and id (docs/design/concepts.md, "Whose session"):
 *
 * - A service token changes sessions of its own person only. It adopts one that came by an organization token and whose
 *   owner nothing has identified yet.
 * - An organization token's telemetry joins the session of the person it identifies, else one whose owner is not
 *   identified: that one moves only when an administrator assigns it.
 * - Where it identifies nobody, it stays with the session that it joined before, else it joins the first: one more beside
 *   those that people have reported would count the same use again.
 *
 * Whoever finds none begins one. It is theirs alone, whoever else uses the same id.
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
    const mine = own ?? unidentified
    return mine ? adopted(mine) : begin()
  }
  if (identifiedBy === 'email') {
    if (own?.unidentified) return adopted(own)
    const meant = own ?? unidentified
    return meant ? join(meant) : begin()
  }
  const meant = known.find((session) => session.byOrganization) ?? known[0]
  if (!meant) return begin()
  if (!meant.byOrganization) await updateSession(tx, meant.id, { byOrganization: true })
  return join(meant)
}

/** Whose a session is is certain once a service token has brought something of it. */
export function isCertain({ managerBy, unidentified }: SessionRecord): boolean {
  return managerBy === 'token' && !unidentified
}

/** Whoever brings something of a session, what is added is whose the session is. */
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
 * A session that several sources know: each one's totals are kept, nothing is added up across them, and the one with
 * the most output tokens supplies every model.
 */
async function recordContested(recording: Recording, said: ModelTotals): Promise<Recorded> {
  const { tx, session, source, identity } = recording
  const entries = await listSessionParts(tx, session.id)
  const chains = Map.groupBy(entries, (entry) => entry.chainModelId!)
  if (!session.contested) await keepFirstSource(recording, chains)

  const kept = await listSourceTotals(tx, session.id)
  const own = kept.find((row) => row.source === source && row.chainModelId === identity.chainModelId)
  const shown = () => repeated(tx, chains.get(identity.chainModelId)?.at(-1) ?? entries.at(-1)!)
  if (own && isStale(said.totals, readTotals(own.totals).totals)) return shown()
  const fresh = { chainModelId: identity.chainModelId, source, totals: writeTotals(said) }
  await saveSourceTotals(tx, session.id, fresh)

  const all = [...kept.filter((row) => row !== own), fresh]
  const winner = supplyingSource(outputBySource(all))
  if (winner !== session.source) {
    session.source = winner
    await updateSession(tx, session.id, { source: winner })
    const supplied = all.filter((row) => row.source === winner)
    await supplyOthers(recording, supplied, chains)
    await supersedeUnknown(recording, supplied, chains)
    if (winner !== source) return shown()
  }
  return winner === source ? moveChain(recording, chains.get(identity.chainModelId) ?? [], said) : shown()
}

function outputBySource(rows: SourceTotals[]): Map<SessionSource, number> {
  const outputs = new Map<SessionSource, number>()
  for (const { source, totals } of rows) outputs.set(source, (outputs.get(source) ?? 0) + totals.output)
  return outputs
}

/** From now on the totals of each source stand beside the entries, beginning with the one that was alone so far. */
async function keepFirstSource({ tx, session }: Recording, chains: Map<number, EntryRecord[]>): Promise<void> {
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

/** Moves the chains of the other models to what the session's new source says of them. */
async function supplyOthers(
  recording: Recording,
  supplied: SourceTotals[],
  chains: Map<number, EntryRecord[]>,
): Promise<void> {
  for (const { chainModelId, source, totals } of supplied) {
    if (source === recording.source && chainModelId === recording.identity.chainModelId) continue
    const said = readTotals(totals)
    const model = await intern(recording.tx, recording.circumstances.interned, said.model)
    const identity = { ...recording.identity, modelId: model.id, chainModelId }
    await moveChain({ ...recording, identity, besidesFigures: false }, chains.get(chainModelId) ?? [], said)
  }
}

/** What the new source does not know falls to zero, where it is not locked. */
async function supersedeUnknown(
  { tx, session, circumstances }: Recording,
  supplied: SourceTotals[],
  chains: Map<number, EntryRecord[]>,
): Promise<void> {
  for (const [chainModelId, parts] of chains) {
    const last = parts.at(-1)!
    if (isLocked(last) || supplied.some((row) => row.chainModelId === chainModelId)) continue
    await updateEntry(tx, last.id, {
      ...figureColumns({ counts: ZERO_COUNTS, over200k: null, requests: 0, reportedCostNanos: 0n }),
      listValue: last.listValue === null ? null : 0n,
      superseded: true,
      updatedAt: circumstances.now,
    })
    await insertHistory(tx, changeOf('superseded', circumstances), [
      { entryId: last.id, details: { by: session.source } },
    ])
  }
}

/** Who sold the model of an entry, where that was said. */
async function providerOf(tx: Tx, { providerId }: EntryRecord): Promise<string | undefined> {
  return providerId === null ? undefined : getName(tx, providerId)
}

/** Makes the chain sum to the totals, with what the report says besides figures. */
async function moveChain(recording: Recording, entries: EntryRecord[], said: ModelTotals): Promise<Recorded> {
  const step = nextStep(entries.map(partOf), said.totals)
  const last = entries.at(-1)
  if (step.kind === 'shrunk') throw sessionShrunk(step.figure)
  if (step.kind === 'unchanged') return repeated(recording.tx, last!)
  if (!last) return appendPart(recording, undefined, { ...said, totals: step.figures })
  // What is valued is what the entry will say: a provider that is not named again is still the one that sold it.
  const figures = { ...said, provider: said.provider ?? (await providerOf(recording.tx, last)), totals: step.figures }
  return step.kind === 'append' ? appendPart(recording, last, figures) : changePart(recording, last, figures)
}

async function appendPart(
  recording: Recording,
  last: EntryRecord | undefined,
  figures: ModelTotals,
): Promise<Recorded> {
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
    // What was not said again goes on as it was.
    ...(last && {
      kept: {
        ...(placement ? {} : await placementGoingOn(recording, last)),
        labelSetId: identity.labelSetId ?? last.labelSetId,
        providerId: identity.providerId ?? last.providerId,
        summary: report.summary ?? last.summary,
      },
    }),
  }
  const entry = await addEntry(
    tx,
    draft,
    figures,
    extra,
    { continues: last?.uid ?? null, duplicateOf: duplicate?.uid ?? null },
    circumstances,
  )
  return { outcome: 'created', replayed: false, entry: last ? await getView(tx, entry.entry.id) : entry }
}

/** The first entry of another person's session with the same harness and id, of the same model where there is one. */
async function findPossibleDuplicate({ tx, others, identity }: Recording): Promise<EntryRecord | undefined> {
  if (others.length === 0) return undefined
  const parts: EntryRecord[] = []
  for (const { id } of others) parts.push(...(await listSessionParts(tx, id)))
  return parts.find(({ chainModelId }) => chainModelId === identity.chainModelId) ?? parts[0]
}

async function changePart(recording: Recording, last: EntryRecord, figures: ModelTotals): Promise<Recorded> {
  const { tx, session, identity, report, besidesFigures, circumstances } = recording
  const placement = besidesFigures ? await newPlacement(recording, last) : undefined
  const moved = placement && placementColumns(placement)
  const isMoved = moved !== undefined && !isSame(moved, placementOf(last))
  const change: PartChange = {
    startedAt: figures.totals.startedAt,
    endedAt: figures.totals.endedAt,
    ...figureColumns(figures.totals),
    ...revaluation(recording, last, figures),
    source: session.source,
    superseded: false,
    agentId: besidesFigures ? identity.agentId : last.agentId,
    providerId: (besidesFigures ? identity.providerId : null) ?? last.providerId,
    summary: (besidesFigures ? report.summary : undefined) ?? last.summary,
    labelSetId: (besidesFigures ? identity.labelSetId : null) ?? last.labelSetId,
    ...(moved ?? placementOf(last)),
    updatedAt: last.updatedAt,
  }
  if (isSame(change, last)) return repeated(tx, last)
  await updatePart(tx, last.id, { ...change, updatedAt: circumstances.now })
  const keep = (action: string, details: Record<string, unknown>) =>
    insertHistory(tx, changeOf(action, circumstances), [{ entryId: last.id, details }])
  // Later totals may well be smaller, but an agent that reports what came since the last time looks the same.
  const [before, after] = [totalTokens(countsOf(last)), totalTokens(figures.totals.counts)]
  if (after < before) await keep('shrunk', { tokens_before: before, tokens: after })
  if (isMoved) await keep('placed', becauseOf(placement!))
  if (last.source !== session.source) await keep('source_changed', { from: last.source, to: session.source })
  return { outcome: 'updated', replayed: false, entry: await getView(tx, last.id) }
}

/**
 * Where a later report puts the session; undefined where it stays. A placement by hand stays, one by name until another
 * is named. A placement by rule is looked for again when something is said that rules look at, and no place is lost
 * because none takes the session any more.
 */
async function newPlacement(recording: Recording, last: EntryRecord): Promise<Placement | undefined> {
  const { tx, report, identity, circumstances } = recording
  if (last.placedBy === 'manual') return undefined
  const isNamed = report.project !== undefined || report.ticket !== undefined
  if (!isNamed && (last.placedBy === 'named' || !saysNew(report, identity, last))) return undefined
  const subject = await subjectGoingOn(recording, last)
  // Names that could not be used so far may be known by now.
  const named = isNamed ? report : { project: last.namedProject ?? undefined, ticket: last.namedTicket ?? undefined }
  const placement =
    last.placedBy === 'named'
      ? await circumstances.placement.placeByNames(tx, named, placedBy(circumstances), subject)
      : await circumstances.placement.place(tx, { named, subject }, placedBy(circumstances))
  if (placement.by === null && last.placedBy !== null) return undefined
  return settle(tx, placement, circumstances)
}

/** Whether a report says anything that rules look at and that the session did not say before. */
function saysNew({ summary }: Report, { agentId, providerId, labelSetId }: Identity, last: EntryRecord): boolean {
  return (
    agentId !== last.agentId ||
    (providerId !== null && providerId !== last.providerId) ||
    (labelSetId !== null && labelSetId !== last.labelSetId) ||
    (summary !== undefined && summary !== last.summary)
  )
}

/** What rules look at once the report is in: what it does not say again goes on as it was. */
async function subjectGoingOn({ tx, report, circumstances }: Recording, last: EntryRecord): Promise<Subject> {
  const said = subjectOf(report, circumstances)
  return {
    ...said,
    provider: said.provider ?? (await providerOf(tx, last)) ?? null,
    summary: said.summary ?? last.summary,
    labels: said.labels ?? (last.labelSetId === null ? null : await getLabels(tx, last.labelSetId)),
  }
}

function becauseOf({ by, rule }: Placement): Record<string, unknown> {
  if (by === 'rule' && rule) return { because: 'rule', rule: rule.uid, version: rule.version }
  return { because: 'named_in_report' }
}

function isSame(change: Partial<EntryRecord>, last: Partial<EntryRecord>): boolean {
  return Object.entries(change).every(([column, value]) => last[column as keyof EntryRecord] === value)
}

/** Where a part goes on that follows a locked one, whose work may be elsewhere by now. */
async function placementGoingOn({ tx, circumstances }: Recording, last: EntryRecord) {
  return { ...placementOf(last), projectId: await circumstances.placement.findStandingProject(tx, last) }
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

/** An update keeps to the price row that valued the part, whatever was loaded since; an unpriced part is looked up again. */
function revaluation({ circumstances: { prices } }: Recording, last: EntryRecord, figures: ModelTotals) {
  const kept = last.priceId === null ? undefined : valueAtPrice(prices, last.priceId, figures.totals)
  if (!kept) return valuationColumns(figures, prices).columns
  return { listValue: kept.listValueNanos, priceId: last.priceId, priceStep: last.priceStep, priceNote: kept.note }
}
