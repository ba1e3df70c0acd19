/** Sessions from telemetry: several per request, within its transaction, and never rejected. */

import type { CallerOf } from '../../../access/caller.ts'
import type { Tx } from '../../../database/database.ts'
import type { TelemetrySource } from '../../../database/schema/values.ts'
import { Problem } from '../../../errors.ts'
import { type Circumstances, type IdentifiedBy, intern, managerByOf, type Reporter } from './record.ts'
import type { Report } from './report.ts'
import { joinSession, recordInSession } from './sessions.ts'
import type { Manager } from './store/sessions.ts'

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
}

/** Identifies a session by its id and the key of its harness, by which harnesses are compared. */
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
    /** Sessions of one request, in its transaction. */
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
        /** The key by which the name of a harness or model is compared. */
        keyOf,

        /** Gets or creates the session, and locks it until the transaction ends. */
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
         * Updates the entries of a joined session to a source's totals so far of one model. Returns false if that would
         * reduce locked entries: then none of them change, and the next push tries again.
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
