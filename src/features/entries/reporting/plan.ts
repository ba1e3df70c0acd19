/**
 * Recording as a plan: which rows a set of reports adds and changes, and the answer to each report. The plan reads and
 * changes the state only, so two reports of one session in a set are just two steps of it.
 */
import { Problem } from '../../../errors.ts'
import { chainName } from '../../../shared/usage.ts'
import { funded } from './funding.ts'
import { textOfLabels } from './names.ts'
import { type Circumstances, type EntryDraft, NO_SESSION, newEntry, type Recorded, type Submission } from './record.ts'
import { digestOf, fingerprintOf } from './report.ts'
import { placeReport } from './session-placement.ts'
import { recordInSession } from './sessions.ts'
import type { RecordingState } from './state.ts'
import { requireWithin } from './within-limit.ts'

/** A submission as a set has it. */
export interface SetItem extends Submission {
  idempotencyKey?: string | undefined
  /** Of a report without a session. */
  digest?: Uint8Array | undefined
}

/** An Idempotency-Key is ignored if the report has a session. */
export function setItem({ report, source, reporter }: Omit<Submission, 'labelText'>, idempotencyKey?: string): SetItem {
  const labelText = report.labels && textOfLabels(report.labels)
  if (report.sessionKey !== undefined) return { report, labelText, source, reporter }
  return { report, labelText, source, reporter, idempotencyKey, digest: digestOf(report) }
}

/** Requests what the plan needs at least, so that it is seldom made twice. */
export function wantAll(state: RecordingState, items: readonly SetItem[]): void {
  let sessions = 0
  for (const item of items) {
    const { report, reporter } = item
    state.wantNames(item)
    for (const { ticket, project } of report.cells ?? [report]) {
      if (ticket !== undefined) state.work.wantTicket(ticket, reporter.manager.id)
      else if (project !== undefined) state.work.wantProject(project)
    }
    if (report.sessionKey === undefined) {
      if (item.idempotencyKey === undefined) state.wantContent(contentOf(item))
      else state.wantKey(reporter.manager.id, item.idempotencyKey)
    } else {
      sessions += 1
      const harnessId = state.peekCanonical(report.harness)
      if (harnessId !== undefined) state.wantSession({ sessionKey: report.sessionKey, harnessId })
    }
  }
  state.wantIds({ entries: items.length, sessions })
}

/** Requests the parts that reports of known sessions change. */
export function wantParts(state: RecordingState, items: readonly SetItem[]): void {
  for (const { report, reporter } of items) {
    if (report.sessionKey === undefined) continue
    const harnessId = state.peekCanonical(report.harness)
    const chainModelId = state.peekCanonical(chainName(report.model, report.details))
    if (harnessId === undefined || chainModelId === undefined) continue
    state.wantParts({ sessionKey: report.sessionKey, harnessId }, reporter.manager.id, chainModelId)
  }
}

/** Records one report. Throws `session_shrunk` and `session_too_large` (409), and `idempotency_key_reused` (422). */
export function recordItem(state: RecordingState, item: SetItem, circumstances: Circumstances): Recorded {
  state.reportedBy(item.reporter)
  if (item.reporter.limit) return requireWithin(state, item, () => recordOf(state, item, circumstances))
  return recordOf(state, item, circumstances)
}

function recordOf(state: RecordingState, item: SetItem, circumstances: Circumstances): Recorded {
  return item.report.sessionKey === undefined
    ? recordSingle(state, item, circumstances)
    : recordInSession(state, item, circumstances)
}

/** Records a report without a session: as a new entry, or as the replay of an earlier one. */
function recordSingle(state: RecordingState, item: SetItem, circumstances: Circumstances): Recorded {
  const { report, reporter, idempotencyKey } = item
  const managerId = reporter.manager.id
  const digest = item.digest!
  if (idempotencyKey !== undefined) {
    const known = state.findKey(managerId, idempotencyKey)
    if (known) {
      if (!Buffer.from(known.bodyHash).equals(digest)) throw idempotencyKeyReused(idempotencyKey)
      return { outcome: 'repeated', replayed: true, entry: known.entry }
    }
  }
  const content = contentOf(item)
  const duplicate = idempotencyKey === undefined ? state.findDuplicate(content) : undefined
  const placement = placeReport(state, item, circumstances)
  const draft: EntryDraft = {
    source: 'report',
    status: 'submitted',
    identity: state.identify(item),
    placement,
    report,
    reporter,
  }
  const added = newEntry(
    state.nextEntryId(),
    draft,
    { model: report.model, provider: report.provider, totals: report },
    { ...NO_SESSION, fingerprint: content.fingerprint, possibleDuplicateId: duplicate?.id ?? null },
    { continues: null, duplicateOf: duplicate?.uid ?? null },
    circumstances,
  )
  const entry = funded(state, added, report.funding ?? null)
  state.addEntry(entry)
  if (idempotencyKey !== undefined) {
    state.addKey({ managerId, key: idempotencyKey, bodyHash: digest, entryId: entry.entry.id })
  }
  return { outcome: 'created', replayed: false, entry }
}

function contentOf({ report, reporter, digest }: SetItem) {
  return { managerId: reporter.manager.id, startedAt: report.startedAt, fingerprint: fingerprintOf(digest!) }
}

function idempotencyKeyReused(key: string): Problem {
  return new Problem(
    'idempotency_key_reused',
    `The Idempotency-Key '${key}' was already used with a different body. Use a new key for a new report, or send the original body again.`,
  )
}
