/** Telemetry push: what agents send becomes entries, each session counted once. */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import type { ReadResult } from './channels/index.ts'
import { type Pusher, type ReceivingDependencies, recordObservations } from './receiving.ts'
import { forgetSeen, listQuiet } from './store/sessions.ts'
import { Tally } from './tally.ts'

export type TelemetryService = ReturnType<typeof createTelemetryService>

export interface TelemetryDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  people: ReceivingDependencies['people']
  entries: ReceivingDependencies['entries'] & { readAhead(): Promise<void> }
}

/** What the sender is told: how many records could not be used, and why the first of them could not. */
export interface Received {
  rejected: number
  message: string | null
}

/**
 * Clients repeat what was not answered for some minutes, a Collector with its queue on disk for days. After a week
 * without anything new of a session, which of its calls were counted is forgotten, and what is no later than they were
 * is counted no more.
 */
const REPEATS_MS = 7 * 86_400_000

/** Sessions forgotten in one go; each is a short transaction of its own. */
const FORGOTTEN_AT_ONCE = 500

export function createTelemetryService({ db, clock, audit, people, entries }: TelemetryDependencies) {
  const tally = new Tally(db)

  return {
    /** Records what one request brings in one transaction, durably before it answers. */
    async receive(caller: Pusher, read: ReadResult): Promise<Received> {
      const now = clock.now()
      tally.notePush(caller.token.id, read.records, now)
      tally.noteUncounted('ignored', read.ignored, now)
      const rejections = new Map(read.rejections)
      let { rejected, rejectedBecause: message } = read
      if (read.observations.length > 0) {
        await entries.readAhead()
        const { outcomes, shrunk } = await db.write((tx) =>
          recordObservations(tx, read.observations, { entries, people, caller, now }),
        )
        for (const { observation, outcome } of outcomes) {
          if ('became' in outcome) tally.noteOutcome(observation, outcome, now)
          else {
            rejected += 1
            message ??= outcome.rejected
            rejections.set(outcome.rejected, (rejections.get(outcome.rejected) ?? 0) + 1)
          }
        }
        for (const observation of shrunk) tally.noteShrunk(observation, now)
      }
      tally.noteUncounted('rejected', rejections, now)
      return { rejected, message }
    },

    /** Writes what was counted for people to look at, and forgets what nobody repeats any more. */
    async tidy(): Promise<void> {
      await tally.flush()
      const before = clock.now() - REPEATS_MS
      for (const sessionId of await listQuiet(db.read, before, FORGOTTEN_AT_ONCE)) {
        await db.write((tx) => forgetSeen(tx, sessionId, before))
      }
    },
  }
}
