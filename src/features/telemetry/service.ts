/** Telemetry push: what agents send becomes entries, each session counted once. */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { addCount } from '../../lib/counting.ts'
import type { AuditService } from '../audit/service.ts'
import { ArrivalCounters } from './arrivals.ts'
import { type AssignmentDependencies, createAssignment } from './assignment.ts'
import type { ReadResult } from './channels/reading.ts'
import { findInconsistentTelemetry } from './integrity.ts'
import { type Pusher, type RecordingDependencies, recordObservations } from './recording.ts'
import { SessionTurns } from './session-locks.ts'
import { forgetSeen, listQuiet, listWaitingEmails } from './store/sessions.ts'
import { countSessions, listChannels, listPushes, listUncounted } from './store/status.ts'
import type { Status } from './wire.ts'

export { statusBody } from './wire.ts'

export type TelemetryService = ReturnType<typeof createTelemetryService>

export interface TelemetryDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: RecordingDependencies['organization']
  people: RecordingDependencies['people'] & AssignmentDependencies['people']
  entries: RecordingDependencies['entries'] & AssignmentDependencies['entries']
}

/** The response to the sender: how many records could not be used, and why the first of them could not. */
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

/** Whoever has more people to tell apart knows them by the first hundred. */
const EMAILS_SHOWN = 100

/** Sessions forgotten in one go; each is a short transaction of its own. */
const FORGOTTEN_AT_ONCE = 500

/** Whoever looks why nothing arrives looks again; and one small transaction in ten seconds is none. */
const TIDY_MS = 10_000

export function createTelemetryService({ db, clock, audit, organization, people, entries }: TelemetryDependencies) {
  const tally = new ArrivalCounters(db)
  const turns = new SessionTurns()

  /** Writes what was counted for people to look at, and forgets what nobody repeats any more. */
  async function tidy(): Promise<void> {
    await tally.flush()
    const before = clock.now() - REPEATS_MS
    for (const sessionId of await listQuiet(db.read, before, FORGOTTEN_AT_ONCE)) {
      await db.write((tx) => forgetSeen(tx, sessionId, before))
    }
  }

  return {
    ...createAssignment({ db, clock, audit, people, entries }),

    /** One finding for each session that telemetry keeps and whose entries are missing. */
    verify: () => findInconsistentTelemetry(db.slow),

    /** Records what one request brings in one transaction, durably before it answers. */
    async receive(caller: Pusher, read: ReadResult): Promise<Received> {
      const now = clock.now()
      tally.notePush(caller.token.id, read.records, now)
      tally.noteUncounted('ignored', read.ignored, now)
      const rejections = new Map(read.rejections)
      let { rejected, rejectedBecause: message } = read
      if (read.observations.length > 0) {
        await entries.reporting.readAhead()
        const sessions = read.observations.map(({ harness, session }) => `${harness} ${session}`)
        const { outcomes, shrunk } = await turns.take(sessions, () =>
          db.write((tx) => recordObservations(tx, read.observations, { entries, organization, people, caller, now })),
        )
        for (const { observation, outcome } of outcomes) {
          if ('became' in outcome) tally.noteOutcome(observation, outcome, now)
          else {
            rejected += 1
            message ??= outcome.rejected
            addCount(rejections, outcome.rejected)
          }
        }
        for (const observation of shrunk) tally.noteShrunk(observation, now)
      }
      tally.noteUncounted('rejected', rejections, now)
      return { rejected, message }
    },

    /** The status of telemetry: complete for this process, and what other processes have saved. */
    async status(): Promise<Status> {
      await tally.flush()
      return {
        byEmail: (await organization.settings()).telemetryByEmail,
        sessions: await countSessions(db.slow),
        channels: await listChannels(db.read),
        uncounted: await listUncounted(db.read),
        pushes: await listPushes(db.read),
        emails: await listWaitingEmails(db.slow, EMAILS_SHOWN),
      }
    },

    tidy,

    /** Tidies from time to time; one that failed is no reason to stop, and is told. */
    start(onError: (error: unknown) => void): { stop(): Promise<void> } {
      let running: Promise<void> = Promise.resolve()
      const run = () => {
        running = running.then(tidy).catch(onError)
      }
      const timer = setInterval(run, TIDY_MS)
      return {
        stop() {
          clearInterval(timer)
          run()
          return running
        },
      }
    },
  }
}
