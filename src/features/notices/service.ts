/**
 * What Tally notices by itself, each once, as an event (docs/integrate/events.md): tokens that are about to expire, agents
 * that no longer report, a digest of what is unattributed and unpriced, and backups that fail.
 */

import { COMMAND_LINE } from '../../access/asker.ts'
import { EVERYTHING } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { addDays, dayAt, spanOf, startOfDay } from '../../lib/calendar.ts'
import { firstCharacters } from '../../lib/characters.ts'
import type { Clock } from '../../lib/clock.ts'
import { timestamp } from '../../lib/duration.ts'
import { Job } from '../../lib/jobs.ts'
import type { EventType } from '../../shared/event-types.ts'
import type { EventsService, NewEvent } from '../events/service.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { ReportsService } from '../reports/service.ts'
import { type BackupStep, subjectOf, textOf } from './backup-mail.ts'
import { type Silence, silencesOf, watchedDays } from './days.ts'
import { findLastUse, listExpiring, listNames, listUsage } from './store.ts'

export type { BackupStep }

const DAY_MS = 86_400_000

/** A week to replace a token, also if its owner is away for some days. */
const EXPIRING_MS = 7 * DAY_MS

/** Hooks deliver what a machine recorded during the evening when it is switched on again, or at night. */
export const MORNING_MS = 6 * 3_600_000

/** Nobody notices whether an event is some minutes late. What was noticed already is not looked at again. */
const LOOK_EVERY_MS = 5 * 60_000

/** How long before its last day a session may have begun that still continues: see the checks of reports. */
const REACHING_MS = 31 * DAY_MS

/** Longer messages of a failed backup contain what a log is for. */
const ERROR_CHARACTERS = 500

interface Dependencies {
  db: Database
  clock: Clock
  events: Pick<EventsService, 'recordOnce' | 'unrecorded'>
  organization: Pick<OrganizationService, 'settings'>
  reports: Pick<ReportsService, 'completeness' | 'readCompleteness'>
  people: Pick<PeopleService, 'everyUser'>
  notifications: Pick<NotificationsService, 'sendToEach'>
}

/** The checks of a day that are digests. */
const DIGESTS = { unplaced: 'digest.unattributed', unpriced: 'digest.unpriced' } as const satisfies Record<
  string,
  EventType
>

export function createNoticesService({
  db,
  clock,
  events,
  organization,
  reports,
  people,
  notifications,
}: Dependencies) {
  /** Of backups, one after the other: an e-mail may take longer than the next attempt. */
  let reporting: Promise<unknown> = Promise.resolve()

  /** Does what has to be noticed about something if nobody has done so; on one server, if there are several. */
  async function once(key: string, notice: () => NewEvent[] | Promise<NewEvent[]>): Promise<void> {
    const [isNew] = await events.unrecorded([key])
    if (isNew === undefined) return
    const noticed = await notice()
    await db.write((tx) => events.recordOnce(tx, key, noticed))
  }

  async function noticeExpiring(): Promise<void> {
    const now = clock.now()
    for (const { id, uid, name, kind, expiresAt, creator } of await listExpiring(db.read, now, now + EXPIRING_MS)) {
      await once(`token.expiring ${id} ${expiresAt}`, () => [
        {
          type: 'token.expiring',
          object: { id: uid, name },
          after: { kind, user: { id: creator.uid, name: creator.name }, expires_at: timestamp(expiresAt) },
        },
      ])
    }
  }

  async function noticeSilent(today: string, timeZone: string): Promise<void> {
    const days = watchedDays(today)
    const usedOn = (from: string, to: string) => listUsage(db.slow, spanOf({ from, to }, timeZone))
    const silentFrom = days.silent.at(-1)!
    const silent = await usedOn(silentFrom, today)
    const before = []
    for (const day of days.before) before.push(await usedOn(day, day))
    const silences = silencesOf(days, { silent, before })
    const { people, harnesses } = await listNames(db.read, silences)
    for (const silence of silences) {
      const person = people.get(silence.managerId)
      if (!person || (await isContinuing(silence, startOfDay(silentFrom, timeZone)))) continue
      const { managerId, harnessId, lastUsedOn, usedDays } = silence
      const event: NewEvent = {
        type: 'agent.silent',
        object: { id: person.uid, name: person.name },
        managerId,
        after: { agent_harness: harnesses.get(harnessId), last_used_on: lastUsedOn, used_days: usedDays },
      }
      await once(`agent.silent ${managerId} ${harnessId} ${lastUsedOn}`, () => [event])
    }
  }

  /** Whether a session that began earlier was still used. */
  async function isContinuing(silence: Silence, silentFrom: number): Promise<boolean> {
    const lastUse = await findLastUse(db.slow, silence, silentFrom - REACHING_MS)
    return lastUse !== null && lastUse >= silentFrom
  }

  async function digestsOf(day: string): Promise<NewEvent[]> {
    const period = { starting_at: day, ending_at: addDays(day, 1) }
    const { data } = await reports.completeness(EVERYTHING, await reports.readCompleteness(period, COMMAND_LINE))
    return Object.entries(DIGESTS).flatMap(([name, type]) => {
      const found = data.find(({ check }) => check === name)
      if (!found || found.entries === 0) return []
      const { entries, unpriced_entries, cost, list } = found
      return [{ type, after: { day, entries, unpriced_entries, cost, list } }]
    })
  }

  async function look(): Promise<void> {
    await noticeExpiring()
    const { timeZone } = await organization.settings()
    const today = dayAt(clock.now() - MORNING_MS, timeZone)
    const yesterday = addDays(today, -1)
    await once(`digest ${yesterday}`, () => digestsOf(yesterday))
    await once(`silence ${today}`, async () => {
      await noticeSilent(today, timeZone)
      return []
    })
  }

  return {
    look,

    jobs: [
      new Job({
        name: 'notices',
        task: 'look for silent agents, expiring tokens and digests',
        everyMs: LOOK_EVERY_MS,
        run: look,
      }),
    ],

    /**
     * Reports a failed backup as an event, at most once a day for each step, and by e-mail to admins, once until a later one
     * has succeeded: it is tried again before long, and the server may be restarted meanwhile.
     *
     * @param succeededAt when the step has last succeeded; null if it never has
     */
    backupFailed(step: BackupStep, error: unknown, succeededAt: number | null): Promise<void> {
      const report = async () => {
        const day = timestamp(clock.now()).slice(0, 10)
        const message = firstCharacters(error instanceof Error ? error.message : String(error), ERROR_CHARACTERS)
        await once(`backup.failed ${step} ${day}`, () => [{ type: 'backup.failed', after: { step, error: message } }])
        await notifications.sendToEach(await people.everyUser({ roles: ['admin'], state: 'active' }), {
          key: `backup-failed.${step}.${succeededAt ?? 0}`,
          subject: subjectOf(step),
          textFor: (organization) => textOf(step, message, organization),
        })
      }
      const reported = reporting.then(report)
      reporting = reported.catch(() => {})
      return reported
    },
  }
}
