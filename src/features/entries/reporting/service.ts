/** Records reports of agents and telemetry as entries. */

import type { Actor } from '../../../access/actor.ts'
import type { CallerOf } from '../../../access/caller.ts'
import type { Database, Outcome, SetWriter, Tx } from '../../../database/database.ts'
import { rehearse } from '../../../database/dry-run.ts'
import type { SessionSource } from '../../../database/schema/values.ts'
import { Problem, validationFailed } from '../../../errors.ts'
import type { Id } from '../../../lib/id.ts'
import type { FundingRedecision } from '../funding/redecision.ts'
import type { TokenEntry, TokenEntryReport } from '../schema.ts'
import { toTokenEntry } from '../wire.ts'
import { type SetItem, setItem } from './plan.ts'
import type { EntryPlan, Recorded, Reporter } from './record.ts'
import { createRecorder, type RecorderDependencies } from './recorder.ts'
import { isReport, issuesBeyondSchema, issuesOfReport, type Report, readReport } from './report.ts'
import { assignSession, lockSessions, planAssignment, type SessionTransfer } from './session-assignment.ts'
import { createTelemetrySessions } from './telemetry-sessions.ts'
import { withinLimit } from './within-limit.ts'

export interface ReportingDependencies extends RecorderDependencies {
  db: Database
  decideAgain: FundingRedecision['decideAgain']
}

export type ReportingService = ReturnType<typeof createReporting>

/** A report that was recorded. */
export interface Reported {
  outcome: Recorded['outcome']
  /** Whether this is the response to an earlier report with the same Idempotency-Key. */
  replayed: boolean
  entry: TokenEntry
}

/** What became of an entry: a session has one for each of its slices. */
export interface EntryOutcome {
  id: Id<'ent'>
  result: Reported['outcome']
}

/** What a batch would do to an entry. */
export interface PlannedEntry extends Pick<EntryPlan, 'result'> {
  /** Null if it is new. */
  before: TokenEntry | null
  after: TokenEntry
}

export type BatchItem =
  | { outcome: Reported['outcome']; entry: TokenEntry; entries: readonly EntryOutcome[] }
  /** `error` is a Problem, or what went wrong in Tally. */
  | { outcome: 'rejected'; error: unknown }

/** Ten times as long as a full set of usual reports takes: everything else waits meanwhile. */
const LONG_SET_MS = 250

export function createReporting({ db, decideAgain, ...dependencies }: ReportingDependencies) {
  const { clock } = dependencies
  const recorder = createRecorder(dependencies)
  const write = db.setWriter((tx, items: readonly SetItem[]) => recorder.recordSet(tx, items, LONG_SET_MS))

  async function record(item: SetItem): Promise<Recorded> {
    const [outcome] = await write([item])
    if ('error' in outcome!) throw outcome.error
    return outcome!.value
  }

  /** The item of a batch. Throws `validation_failed` with every issue. */
  function readItem(item: unknown, now: number, thresholds: readonly number[] | undefined): Report {
    if (item instanceof Problem) throw item
    if (!isReport(item)) throw validationFailed(issuesOfReport(item, now))
    return readReport(item, now, thresholds)
  }

  /** The thresholds at which single requests are summed; undefined if no report lists them. */
  async function thresholdsFor(bodies: readonly unknown[]): Promise<readonly number[] | undefined> {
    const isListed = bodies.some((body) => typeof body === 'object' && body !== null && 'usage' in body)
    return isListed ? (await dependencies.prices.table(db.read)).thresholds : undefined
  }

  async function recordItems(
    items: readonly unknown[],
    caller: CallerOf<'service'>,
    idempotencyKey: string | undefined,
    recordSet: SetWriter<SetItem, Recorded>,
  ): Promise<BatchItem[]> {
    const reporter = reporterOf(caller)
    const now = clock.now()
    const thresholds = await thresholdsFor(items)
    const results: BatchItem[] = []
    const positions: number[] = []
    const accepted: SetItem[] = []
    for (const [position, item] of items.entries()) {
      try {
        const report = withinLimit(readItem(item, now, thresholds), reporter)
        const submission = { report, source: 'report', reporter } as const
        accepted.push(setItem(submission, idempotencyKey && `${idempotencyKey}#${position}`))
        positions.push(position)
      } catch (error) {
        results[position] = { outcome: 'rejected', error }
      }
    }
    const outcomes = await recordSet(accepted).catch((error): Outcome<Recorded>[] => accepted.map(() => ({ error })))
    for (const [index, outcome] of outcomes.entries()) results[positions[index]!] = batchItem(outcome)
    return results
  }

  return {
    circumstancesOf: recorder.circumstancesOf,

    /**
     * Reads changed prices and rules once, before a write of telemetry: data read inside a transaction is cached only
     * after it.
     */
    async readAhead(): Promise<void> {
      await dependencies.prices.table(db.read)
      await dependencies.placement.rules(db.read)
    },

    /**
     * Records a checked report body for the creator of the caller's token; durable before it returns. `idempotencyKey`
     * is ignored if the report has a session. Throws `validation_failed`, `idempotency_key_reused` (422) and
     * `session_shrunk` or `session_too_large` (409).
     */
    async reportEntry(body: TokenEntryReport, caller: CallerOf<'service'>, idempotencyKey?: string): Promise<Reported> {
      const thresholds = body.usage && (await thresholdsFor([body]))
      const reporter = reporterOf(caller)
      const report = withinLimit(readReport(body, clock.now(), thresholds), reporter)
      const submission = { report, source: 'report', reporter } as const
      const { outcome, replayed, entry } = await record(setItem(submission, idempotencyKey))
      return { outcome, replayed, entry: toTokenEntry(entry) }
    },

    /**
     * Records the items of a batch: as parsed, or, in the place of a line that is not JSON, the Problem of that line.
     * Each is checked on its own, and one that is rejected leaves the others as they are. One result per item, in their
     * order. Never throws: the caller must learn which items are recorded. The Idempotency-Key applies to each item by
     * its position.
     */
    reportEntries: (
      items: readonly unknown[],
      caller: CallerOf<'service'>,
      { idempotencyKey }: { idempotencyKey?: string | undefined } = {},
    ): Promise<BatchItem[]> => recordItems(items, caller, idempotencyKey, write),

    /** What {@link reportEntries} would do, and to which entries. Nothing is saved. */
    async tryOutEntries(
      items: readonly unknown[],
      caller: CallerOf<'service'>,
      { idempotencyKey }: { idempotencyKey?: string | undefined } = {},
    ): Promise<{ items: BatchItem[]; entries: PlannedEntry[] }> {
      let entries: EntryPlan[] = []
      const tryOut = async (accepted: readonly SetItem[]) => {
        const body = (tx: Tx) => recorder.tryOut(tx, accepted, reporterOf(caller))
        const tried = await rehearse(db, body, { isolation: 'read committed' })
        entries = tried.entries
        return tried.outcomes
      }
      const tried = await recordItems(items, caller, idempotencyKey, tryOut)
      return { items: tried, entries: entries.map(plannedEntry) }
    },

    /** Every issue of a report body. */
    issuesOfReport: (body: unknown) => issuesOfReport(body, clock.now()),

    /** Every issue of a report that its schema cannot express. */
    issuesBeyondSchema: (body: unknown) => issuesBeyondSchema(body, clock.now()),

    /** As `reportEntry`, for a report derived from telemetry or an agent's own log. */
    recordFrom: (source: SessionSource, report: Report, caller: CallerOf<'service' | 'organization'>) =>
      record(setItem({ report, source, reporter: reporterOf(caller) })),

    ...createTelemetrySessions(recorder, dependencies.interned),
    lockSessions,
    assignSession: (tx: Tx, transfer: SessionTransfer, { now, by }: { now: number; by: Actor }) =>
      assignSession(tx, transfer, { now, by, decideAgain }),
    planAssignment,
  }
}

function reporterOf({ kind, person: { id, uid, name, email }, token }: CallerOf<'service' | 'organization'>): Reporter {
  return {
    manager: { id, uid, name, email },
    managerBy: 'token',
    identifiedBy: kind === 'service' ? 'token' : 'nothing',
    tokenId: token.id,
    personId: id,
    limit: token.limit,
  }
}

function batchItem(outcome: Outcome<Recorded>): BatchItem {
  if ('error' in outcome) return { outcome: 'rejected', error: outcome.error }
  const { outcome: result, entry, slices = [{ id: entry.entry.uid, outcome: result }] } = outcome.value
  const entries = slices.map(({ id, outcome }): EntryOutcome => ({ id, result: outcome }))
  return { outcome: result, entry: toTokenEntry(entry), entries }
}

function plannedEntry({ result, before, after }: EntryPlan): PlannedEntry {
  return { result, before: before && toTokenEntry(before), after: toTokenEntry(after) }
}
