/** Sessions from telemetry: several per request, within its transaction, and never rejected. */

import type { CallerOf } from '../../../access/caller.ts'
import type { Tx } from '../../../database/database.ts'
import type { TelemetrySource } from '../../../database/schema/values.ts'
import { Problem, type ProblemCode } from '../../../errors.ts'
import { sessionLock } from './locks.ts'
import { type Interned, internNames } from './names.ts'
import { setItem } from './plan.ts'
import { type IdentifiedBy, managerByOf, type Reporter } from './record.ts'
import type { Recorder } from './recorder.ts'
import type { Report } from './report.ts'
import type { Manager } from './store/sessions.ts'

/** A later push may be accepted. */
const REFUSALS: readonly ProblemCode[] = ['session_shrunk', 'session_too_large']

/** The owner of a session if it is new, and how the owner was identified. */
export interface Owner {
  manager: Manager
  identifiedBy: IdentifiedBy
}

/** An existing or new session that telemetry has joined. */
export interface PushedSession {
  id: number
  /** Whether its owner has not been identified yet. */
  isUnidentified: boolean
  /** Of its days. */
  timeZone: string
}

/** Identifies a session by its id and the key of its harness, by which harnesses are compared. */
export interface SessionName {
  harnessKey: number
  session: string
}

export type TelemetryPush = ReturnType<ReturnType<typeof createTelemetrySessions>['push']>

export function createTelemetrySessions(recorder: Recorder, interned: Interned) {
  return {
    /** Sessions of one request, in its transaction, which must be READ COMMITTED. */
    push(tx: Tx, { person, token }: CallerOf<'service' | 'organization'>) {
      const reporterFor = (owner: Owner): Reporter => ({
        manager: owner.manager,
        managerBy: managerByOf(owner.identifiedBy),
        identifiedBy: owner.identifiedBy,
        tokenId: token.id,
        personId: person.id,
      })

      return {
        /** Locks all sessions of the request, and other texts, before anything of them is read. */
        lock: (sessions: readonly { harness: string; session: string }[], others: () => readonly string[]) =>
          tx.lockAll(() => [...sessions.map(({ harness, session }) => sessionLock(harness, session)), ...others()]),

        /** The keys by which the names of harnesses and models are compared. */
        async keysOf(texts: readonly string[]): Promise<number[]> {
          await interned.follow(tx)
          return (await internNames(tx, interned, texts)).map(({ canonicalId }) => canonicalId)
        },

        /** Gets or creates the session. */
        async join(
          { harnessKey, session }: SessionName,
          source: TelemetrySource,
          owner: Owner,
        ): Promise<PushedSession> {
          const key = { sessionKey: session, harnessId: harnessKey }
          const { session: joined, timeZone } = await recorder.join(tx, key, source, reporterFor(owner))
          return { id: joined.id, isUnidentified: joined.unidentified, timeZone: joined.zone ?? timeZone }
        },

        /**
         * Updates the entries of joined sessions to a source's totals so far of one model each. False for a report that
         * would reduce locked entries, or make a session too large: then none of them change, and the next push tries
         * again.
         */
        async record(
          reports: readonly { source: TelemetrySource; report: Report }[],
          owner: Owner,
        ): Promise<boolean[]> {
          const reporter = reporterFor(owner)
          const outcomes = await recorder.recordSet(
            tx,
            reports.map(({ source, report }) => setItem({ source, report, reporter })),
          )
          return outcomes.map((outcome) => {
            if ('value' in outcome) return true
            if (outcome.error instanceof Problem && REFUSALS.includes(outcome.error.code)) return false
            throw outcome.error
          })
        },
      }
    },
  }
}
