/** Telemetry push: converts what agents send to entries, and counts each session once. */
import type { Database } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { addCount } from '../../lib/counts.ts'
import { Job } from '../../lib/jobs.ts'
import type { AuditService } from '../audit/service.ts'
import { ArrivalCounters } from './arrivals.ts'
import { type AssignmentDependencies, createAssignment } from './assignment.ts'
import type { ReadResult } from './channels/reader.ts'
import { findInconsistentTelemetry } from './integrity.ts'
import { type Pusher, type RecordingDependencies, recordObservations } from './record.ts'
import { SessionTurns } from './session-locks.ts'
import { deleteCalls, listOldCalls } from './store/calls.ts'
import { forgetSeen, listInactive, listWaitingEmails } from './store/sessions.ts'
import { countSessions, listChannels, listPushes, listUncounted } from './store/status.ts'
import type { Status } from './wire.ts'

export type TelemetryService = ReturnType<typeof createTelemetryService>

export interface TelemetryDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  organization: RecordingDependencies['organization']
  people: RecordingDependencies['people'] & AssignmentDependencies['people']
  entries: RecordingDependencies['entries'] & AssignmentDependencies['entries']
}

/** The response to the sender: the number of rejected records, and the reason for the first. */
export interface Received {
  rejected: number
  message: string | null
}

/**
 * Clients retry unanswered requests for minutes, a Collector with a persistent queue for days. After a week without new
 * data of a session, the identities of its counted calls are deleted, and calls that are not later than those are no
 * longer counted.
 */
const REPEATS_MS = 7 * 86_400_000

/** With more addresses than this, the first hundred are enough to understand the situation. */
const EMAILS_SHOWN = 100

/** Sessions per run; each is a short transaction of its own. */
const FORGOTTEN_AT_ONCE = 500

const TIDY_MS = 10_000

/**
 * Who connects an agent looks whether its data arrives, also with the command line, which is another process. A small
 * transaction twice a second, while telemetry arrives, takes less than a hundredth of a processor.
 */
const SAVE_MS = 500

/** The share of time that may be spent counting sessions while people look at the status, which pages keep reading. */
const COUNTING_SHARE = 0.05

/** Counting that takes less is never postponed. */
const QUICK_COUNTING_MS = 50

export function createTelemetryService({ db, clock, audit, organization, people, entries }: TelemetryDependencies) {
  const tally = new ArrivalCounters(db, () => saving.wake(SAVE_MS))
  const saving = new Job({
    name: 'telemetry-counters',
    task: 'store received telemetry',
    run: () => tally.flush(),
    savesRequests: true,
  })
  const turns = new SessionTurns()

  let counted = { sessions: [] as Status['sessions'], until: 0 }
  /** The sessions of each harness; if they are so many that counting takes long, as of some seconds ago. */
  async function sessionCounts(): Promise<Status['sessions']> {
    if (performance.now() < counted.until) return counted.sessions
    // A process for slow reads may have to start first, and that must not count as slow counting.
    await db.slow.revision()
    const startedAt = performance.now()
    const sessions = await countSessions(db.slow)
    const tookMs = performance.now() - startedAt
    counted = { sessions, until: tookMs < QUICK_COUNTING_MS ? 0 : startedAt + tookMs / COUNTING_SHARE }
    return sessions
  }

  /** Deletes identities of calls that are no longer retried. */
  async function forget(): Promise<void> {
    const before = clock.now() - REPEATS_MS
    for (const sessionId of await listInactive(db.read, before, FORGOTTEN_AT_ONCE)) {
      await db.write((tx) => forgetSeen(tx, sessionId, before))
    }
    const old = await listOldCalls(db.read, before)
    if (old.length > 0) await db.write((tx) => deleteCalls(tx, old, before))
  }

  return {
    ...createAssignment({ db, clock, audit, people, entries }),

    /** One finding for each session with totals but without entries. */
    verify: () => findInconsistentTelemetry(db.slow),

    /** Records a request; durable before it returns. */
    async receive(caller: Pusher, read: ReadResult): Promise<Received> {
      const now = clock.now()
      tally.notePush(caller.token.id, read.records, now)
      tally.noteUncounted('ignored', read.ignored, now)
      const rejections = new Map(read.rejections)
      let { rejected, rejectionReason: message } = read
      if (read.observations.length > 0) {
        await entries.reporting.readAhead()
        const sessions = read.observations.map(({ harness, session }) => `${harness} ${session}`)
        const { outcomes, shrunk } = await turns.take(sessions, () =>
          db.write((tx) => recordObservations(tx, read.observations, { entries, organization, people, caller, now }), {
            isolation: 'read committed',
          }),
        )
        for (const { observation, outcome } of outcomes) {
          if ('result' in outcome) tally.noteOutcome(observation, outcome, now)
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

    /** The status of telemetry: up to date for this process, and as last saved by other processes. */
    async status(): Promise<Status> {
      await tally.flush()
      return {
        byEmail: (await organization.settings()).telemetryByEmail,
        sessions: await sessionCounts(),
        channels: await listChannels(db.read),
        uncounted: await listUncounted(db.read),
        pushes: await listPushes(db.read),
        emails: await listWaitingEmails(db.slow, EMAILS_SHOWN),
      }
    },

    /** Saves the counters that people look at, and forgets what is not needed any more. */
    async tidy(): Promise<void> {
      await tally.flush()
      await forget()
    },

    jobs: [
      saving,
      new Job({
        name: 'telemetry-cleanup',
        task: 'forget calls that are no longer repeated',
        everyMs: TIDY_MS,
        run: forget,
      }),
    ],
  }
}
