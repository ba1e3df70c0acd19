/** Sessions as telemetry brings them, several in one request: within its transaction, and nothing of them is refused. */

import type { CallerOf } from '../../../access/caller.ts'
import type { Tx } from '../../../database/database.ts'
import type { TelemetrySource } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'
import { type Circumstances, type IdentifiedBy, intern, managerByOf, type Reporter } from './record.ts'
import type { Report } from './report.ts'
import { joinSession, recordInSession } from './sessions.ts'
import type { Manager } from './store/sessions.ts'

/** Whose a session becomes where it is new, and what says so. */
export interface Owner {
  manager: Manager
  identifiedBy: IdentifiedBy
}

/** A session as telemetry finds it, whoever began it. */
export interface PushedSession {
  id: number
  /** Whether nothing has identified its owner yet. */
  isUnidentified: boolean
}

/** Which session is meant: the key of its harness, by which harnesses are compared, and its id. */
export interface SessionName {
  harnessKey: number
  session: string
}

export type TelemetryPush = Awaited<ReturnType<ReturnType<typeof createTelemetrySessions>['push']>>

interface Dependencies {
  circumstancesFor(tx: Tx, reporter: Reporter): Promise<Circumstances>
}

export function createTelemetrySessions({ circumstancesFor }: Dependencies) {
  return {
    /** For one request, in its transaction. */
    async push(tx: Tx, caller: CallerOf<'service' | 'organization'>) {
      const { id, uid, name, email } = caller.person
      const creator: Reporter = {
        manager: { id, uid, name, email },
        managerBy: 'token',
        identifiedBy: 'token',
        tokenId: caller.token.id,
        personId: id,
      }
      const circumstances = await circumstancesFor(tx, creator)
      const owned = (owner: Owner): Circumstances => ({
        ...circumstances,
        reporter: { ...creator, ...owner, managerBy: managerByOf(owner.identifiedBy) },
      })
      const keyOf = async (text: string) => (await intern(tx, circumstances.interned, text)).canonicalId

      return {
        /** The keys by which names of harnesses and models are compared. */
        keyOf,

        /** The session, begun where it is missing, and locked until the transaction ends. */
        async join(
          { harnessKey, session }: SessionName,
          source: TelemetrySource,
          owner: Owner,
        ): Promise<PushedSession> {
          const key = { sessionKey: session, harnessId: harnessKey }
          const joined = await joinSession(tx, key, source, owned(owner))
          return { id: joined.session.id, isUnidentified: joined.session.unidentified }
        },

        /**
         * Brings a joined session's entries to what a source says of one model so far. False where that would take
         * from what is locked: then nothing of them changes, and the next push tries again.
         */
        async record(source: TelemetrySource, report: Report, owner: Owner): Promise<boolean> {
          try {
            await tx.attempt(() => recordInSession(tx, report, source, owned(owner)))
            return true
          } catch (error) {
            if (error instanceof Problem && error.code === 'session_shrunk') return false
            throw error
          }
        },
      }
    },
  }
}
