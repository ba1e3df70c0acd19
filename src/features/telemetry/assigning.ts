/** Sessions of somebody who was not known when telemetry brought them: they move when an admin says so, never silently. */
import type { Database } from '../../database/database.ts'
import { validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Actor, AuditService } from '../audit/service.ts'
import type { AssignedSession, EntriesService } from '../entries/service.ts'
import { faultsOfEmail, type PeopleService } from '../people/service.ts'
import type { TelemetryAssigned } from './schema.ts'
import { forgetEmail, listOfEmail } from './store/sessions.ts'

/** Sessions of one transaction: some milliseconds of it. */
const BATCH = 50

export interface AssigningDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  people: Pick<PeopleService, 'getUser'>
  entries: Pick<EntriesService, 'assignSession' | 'planAssignment'>
}

export interface AssignOptions {
  email: string
  user: string
  dryRun: boolean
  by: Actor
  /** Ends after the batch in which it is over. */
  budgetMs?: number
}

export function createAssigning({ db, clock, audit, people, entries }: AssigningDependencies) {
  return {
    /**
     * Gives the sessions that named an address to a person, with their entries that are not locked. Throws
     * `validation_failed` and `not_found`.
     */
    async assign({
      email: given,
      user,
      dryRun,
      by,
      budgetMs = Number.POSITIVE_INFINITY,
    }: AssignOptions): Promise<TelemetryAssigned> {
      const email = given.trim().toLowerCase()
      const faults = faultsOfEmail(email, '/email')
      if (faults.length > 0) throw validationFailed(faults)
      const to = await people.getUser(user)
      const begun = performance.now()
      const sessions: AssignedSession[] = []
      let isComplete = true
      const waiting = await listOfEmail(db.read, email)
      if (dryRun) {
        for (const sessionId of waiting) sessions.push(await entries.planAssignment(db.read, { sessionId, to }))
      } else {
        for (let from = 0; from < waiting.length && isComplete; from += BATCH) {
          const batch = waiting.slice(from, from + BATCH)
          const done = await db.write(async (tx) => {
            const assigned: AssignedSession[] = []
            for (const sessionId of batch) {
              assigned.push(await entries.assignSession(tx, { sessionId, to }, { now: clock.now(), by }))
              await forgetEmail(tx, sessionId)
            }
            const { sessions, entries: moved } = sumsOf(assigned)
            if (sessions > 0) {
              await audit.record(tx, by, {
                action: 'telemetry.assigned',
                object: { id: to.uid, name: to.email },
                after: { email, sessions, entries: moved },
              })
            }
            return assigned
          })
          sessions.push(...done)
          isComplete = from + BATCH >= waiting.length || performance.now() - begun <= budgetMs
        }
      }
      return {
        dry_run: dryRun,
        email,
        user: { id: to.uid, name: to.name },
        ...sumsOf(sessions),
        locked: sessions.filter(isAssigned).flatMap(({ locked }) => locked),
        skipped: sessions.flatMap(({ assignment, harness, session }) =>
          assignment === 'assigned' ? [] : [{ agent_harness: harness, session_id: session, reason: assignment }],
        ),
        complete: isComplete,
      }
    },
  }
}

const isAssigned = ({ assignment }: AssignedSession) => assignment === 'assigned'

function sumsOf(sessions: AssignedSession[]): { sessions: number; entries: number } {
  const assigned = sessions.filter(isAssigned)
  return { sessions: assigned.length, entries: assigned.reduce((sum, { moved }) => sum + moved.length, 0) }
}
