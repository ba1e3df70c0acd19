/**
 * Sessions of a person who was unknown when telemetry pushed them: an admin assigns them, they never move
 * automatically.
 */

import type { Actor } from '../../access/actor.ts'
import type { Database } from '../../database/database.ts'
import { validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { issuesOfEmail } from '../../schema/fields.ts'
import type { AuditService } from '../audit/service.ts'
import type { AssignedSession } from '../entries/contract.ts'
import type { EntriesService } from '../entries/service.ts'
import { issuesOfViewer, type PeopleService, type User } from '../people/service.ts'
import type { TelemetryAssigned } from './schema.ts'
import { forgetEmail, listOfEmail } from './store/sessions.ts'

/** Sessions per transaction: a few milliseconds. */
const BATCH = 50

export interface AssignmentDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  people: Pick<PeopleService, 'getAccount'>
  entries: Pick<EntriesService, 'reporting'>
}

export interface AssignOptions {
  email: string
  user: string
  dryRun: boolean
  by: Actor
  /** Stops after the batch that exceeds this time. */
  budgetMs?: number
}

interface Assignment {
  email: string
  to: User
  by: Actor
}

export function createAssignment({ db, clock, audit, people, entries }: AssignmentDependencies) {
  async function assignBatch(sessionIds: number[], { email, to, by }: Assignment): Promise<AssignedSession[]> {
    return db.write(
      async (tx) => {
        await entries.reporting.lockSessions(tx, sessionIds)
        const assigned: AssignedSession[] = []
        for (const sessionId of sessionIds) {
          assigned.push(await entries.reporting.assignSession(tx, { sessionId, to }, { now: clock.now(), by }))
          await forgetEmail(tx, sessionId)
        }
        const moved = sumsOf(assigned)
        if (moved.sessions > 0) {
          const object = { id: to.uid, name: to.email }
          await audit.record(tx, by, { action: 'telemetry.assigned', object, after: { email, ...moved } })
        }
        return assigned
      },
      { isolation: 'read committed' },
    )
  }

  /** Returns the results for the sessions that were processed in time. */
  async function assignAll(waiting: number[], assignment: Assignment, budgetMs: number): Promise<AssignedSession[]> {
    const startedAt = performance.now()
    const assigned: AssignedSession[] = []
    while (assigned.length < waiting.length && (assigned.length === 0 || performance.now() - startedAt <= budgetMs)) {
      assigned.push(...(await assignBatch(waiting.slice(assigned.length, assigned.length + BATCH), assignment)))
    }
    return assigned
  }

  async function planAll(waiting: number[], to: User): Promise<AssignedSession[]> {
    const planned: AssignedSession[] = []
    for (const sessionId of waiting) planned.push(await entries.reporting.planAssignment(db.read, { sessionId, to }))
    return planned
  }

  return {
    /**
     * Assigns the sessions with an e-mail address to a person, with their unlocked entries. Throws `validation_failed`
     * and `not_found`.
     */
    async assign({ email: given, user, dryRun, by, budgetMs }: AssignOptions): Promise<TelemetryAssigned> {
      const email = given.trim().toLowerCase()
      const issues = issuesOfEmail(email, '/email')
      if (issues.length > 0) throw validationFailed(issues)
      const to = await people.getAccount(user)
      issues.push(...issuesOfViewer(to, '/user', 'own no entries'))
      if (issues.length > 0) throw validationFailed(issues)
      const waiting = await listOfEmail(db.read, email)
      const sessions = dryRun
        ? await planAll(waiting, to)
        : await assignAll(waiting, { email, to, by }, budgetMs ?? Number.POSITIVE_INFINITY)
      return {
        dry_run: dryRun,
        email,
        user: { id: to.uid, name: to.name },
        ...sumsOf(sessions),
        locked: sessions.filter(isAssigned).flatMap(({ locked }) => locked),
        skipped: sessions.flatMap(({ assignment, harness, session }) =>
          assignment === 'assigned' ? [] : [{ agent_harness: harness, session_id: session, reason: assignment }],
        ),
        complete: sessions.length === waiting.length,
      }
    },
  }
}

const isAssigned = ({ assignment }: AssignedSession) => assignment === 'assigned'

function sumsOf(sessions: AssignedSession[]): { sessions: number; entries: number } {
  const assigned = sessions.filter(isAssigned)
  return { sessions: assigned.length, entries: assigned.reduce((sum, { moved }) => sum + moved.length, 0) }
}
