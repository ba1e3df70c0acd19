/**
 * Recording a session's totals so far (docs/design/concepts.md, "Sessions"): which session a report belongs to, and
 * whose it is. Steps of a plan: they read and change the state only.
 */
import type { SessionSource } from '../../../database/schema/values.ts'
import { saidOfEntry } from '../funding/decided.ts'
import { isLocked } from '../rows.ts'
import type { EntryView } from '../store.ts'
import { completeTotals, isStale } from '../totals.ts'
import { appendPart, FIRST, fillIn, moveChain, type Recording, totalsOf } from './chains.ts'
import { funded } from './funding.ts'
import {
  type Circumstances,
  changeOf,
  type Identity,
  managerByOf,
  type Recorded,
  type Reporter,
  type Submission,
} from './record.ts'
import type { Report } from './report.ts'
import { foldCells, spanOf } from './report-slices.ts'
import { holdSession, isUnguessable, repeatsOneOf } from './same-session.ts'
import { isSliced, recordSlices } from './session-slices.ts'
import { recordFromSources } from './session-sources.ts'
import type { RecordingState } from './state.ts'
import type { SessionKey, SessionRecord } from './store/sessions.ts'

/** Records a source's totals so far of one model of a session. Throws `session_shrunk` and `session_too_large` (409). */
export function recordInSession(state: RecordingState, submission: Submission, circumstances: Circumstances): Recorded {
  const { source, reporter } = submission
  const identity = state.identify(submission)
  const key = { sessionKey: submission.report.sessionKey!, harnessId: identity.canonicalHarnessId }
  const { cells } = submission.report
  const { timeZone } = circumstances
  const { session: joined, others } = joinSession(state, key, source, reporter, cells ? timeZone : null)
  const screenedOne = screened(state, { session: joined, others }, submission, identity, circumstances)
  const zone = screenedOne.zone ?? timeZone
  const session = cells && screenedOne.zone === null ? state.changeSession(screenedOne, { zone }) : screenedOne
  const slices = cells && foldCells(cells, zone)
  const report = slices && cells!.length > 1 ? { ...submission.report, ...spanOf(slices) } : submission.report
  const { now, prices, rules, funding, unknownProjects, sameSession, hashedSessionIds } = circumstances
  // Written out, as for each report.
  const recording: Recording = {
    now,
    prices,
    rules,
    funding,
    unknownProjects,
    sameSession,
    hashedSessionIds,
    timeZone,
    state,
    session,
    others,
    report,
    source,
    reporter: ownerOf(state, session, reporter),
    identity,
    slices,
  }
  if (session.contested || session.source !== source) return recordFromSources(recording)
  const parts = state.parts(session.id, identity.chainModelId)
  if (parts.length > 0 && mixes(report, parts)) return recordFromSources(recording)
  if (slices) return recordSlices(recording, parts, slices)
  if (parts.length === 0) return appendPart(recording, FIRST, report)
  const known = totalsOf(parts)
  if (isStale(report, known)) return fillIn(recording, parts)
  return moveChain(recording, parts, completeTotals(report, [known]))
}

/** Whether the totals of a report and the slices that are known of the model have to be kept beside each other. */
function mixes(report: Report, parts: readonly EntryView[]): boolean {
  const hasCells = Boolean(report.cells)
  return isSliced(parts) !== hasCells && isStale(report, totalsOf(parts)) === hasCells
}

/** The joined session, held if it may be a copy of another person's and nobody has decided about it. */
function screened(
  state: RecordingState,
  { session, others }: Joined,
  { report, reporter }: Submission,
  { chainModelId }: Identity,
  { sameSession }: Circumstances,
): SessionRecord {
  if (others.length === 0 || session.duplicate !== null || sameSession !== 'hold') return session
  if (!isUnguessable(report.sessionKey!) || !repeatsOneOf(state, others, report, chainModelId)) return session
  return holdSession(state, session, reporter)
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
 * If there is no such session, a new one is created for this person alone, regardless of others with the same id, and in
 * this time zone if its slices are known.
 */
export function joinSession(
  state: RecordingState,
  key: SessionKey,
  source: SessionSource,
  reporter: Reporter,
  zone: string | null = null,
): Joined {
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
        zone,
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
      const moved = { ...part, entry: { ...entry, managerId: manager.id, managerBy }, manager }
      state.changeEntry(funded(state, moved, saidOfEntry(part)))
      state.addHistory(entry.id, change, { because })
    }
  }
  return session
}
