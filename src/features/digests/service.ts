/**
 * E-mails that sum up a day or a week for those who chose to be sent them (docs/design/notifications.md): what needs
 * attention, each working day, unusual usage, each day, and usage, each week. They come in the morning of the organization's time zone, or when a
 * server runs again after it.
 */

import type { Asker } from '../../access/asker.ts'
import { usualBasis } from '../../access/cost-basis.ts'
import { viewerOf } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import type { NotificationTopic } from '../../database/schema/values.ts'
import { addDays, dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { Job } from '../../lib/jobs.ts'
import { seesEverything } from '../../schema/fields.ts'
import type { QueryTexts } from '../../schema/query.ts'
import { calendarPeriodAt } from '../../shared/calendar-periods.ts'
import type { AnomaliesService, Anomaly } from '../anomalies/service.ts'
import type { EventsService } from '../events/service.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService, User } from '../people/service.ts'
import { COUNTED_STATUSES, type ReportsService } from '../reports/service.ts'
import { listPath } from '../selection/contract.ts'
import { listLedProjects } from './store.ts'
import { anomaliesText, attentionText, type Content, type Style, type SummarySection, summaryText } from './text.ts'

/** When people begin to work, and machines have reported the evening before. */
const MORNING_MS = 8 * 3_600_000

/** Nobody notices whether a digest is some minutes late. What was sent already is not looked at again. */
const LOOK_EVERY_MS = 5 * 60_000

/** As on the page Overview. */
const ATTENTION_DAYS = 30

interface Dependencies {
  db: Database
  clock: Clock
  events: Pick<EventsService, 'recordOnce' | 'unrecorded'>
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'everyUser'>
  notifications: NotificationsService
  anomalies: Pick<AnomaliesService, 'anomaliesOf'>
  reports: Pick<ReportsService, 'completeness' | 'readCompleteness' | 'usage' | 'readUsage'>
}

export function createDigestsService({
  db,
  clock,
  events,
  organization,
  people,
  notifications,
  anomalies,
  reports,
}: Dependencies) {
  async function styleNow(): Promise<Style> {
    const publicUrl = await notifications.publicUrl()
    return { formats: await notifications.formats(), linkTo: (path) => publicUrl && `${publicUrl}${path}` }
  }

  /** Tells everyone who wants to know about a topic, once for each key. */
  async function tell(
    topic: NotificationTopic,
    key: string,
    textFor: (person: User) => Promise<Content | undefined>,
  ): Promise<void> {
    const mark = `${topic} ${key}`
    if ((await events.unrecorded([mark])).length === 0) return
    for (const person of await people.everyUser({ state: 'active' })) {
      if (person.role === 'viewer' || !notifications.wants(person.notifications, topic)) continue
      const content = await textFor(person)
      if (!content) continue
      const recipient = { userId: person.id, email: person.email }
      await db.write((tx) => notifications.queue(tx, topic, [{ recipient, key, ...content }]))
    }
    await db.write((tx) => events.recordOnce(tx, mark, []))
  }

  async function attentionFor(person: User, today: string): Promise<Content | undefined> {
    const period = { starting_at: addDays(today, 1 - ATTENTION_DAYS), ending_at: addDays(today, 1) }
    const asker = askerOf(person)
    const { data } = await reports.completeness(asker.viewer, await reports.readCompleteness(period, asker))
    const { approvalRequired } = await organization.settings()
    return attentionText(data, { days: ATTENTION_DAYS, requiresApproval: approvalRequired }, await styleNow())
  }

  async function summaryFor(person: User, week: { from: string; to: string }): Promise<Content | undefined> {
    const sections: SummarySection[] = []
    const asker = askerOf(person)
    const basis = await usualBasis(db.read, asker.viewer, await organization.settings())
    async function add(title: string, filter: { agent_manager?: string[]; project?: string[] }): Promise<void> {
      const usageOf = async (from: string) => {
        const period = {
          starting_at: from,
          ending_at: addDays(from, 7),
          bucket_width: 'all',
          group_by: 'project',
          basis,
        }
        const query = await reports.readUsage({ ...period, ...filter } as QueryTexts, asker)
        return reports.usage(asker.viewer, query)
      }
      const [report, previous] = [await usageOf(week.from), await usageOf(addDays(week.from, -7))]
      const bounds = { starting_at: Date.parse(report.starting_at), ending_at: Date.parse(report.ending_at) }
      const entries = listPath({ ...filter, ...bounds, status: [...COUNTED_STATUSES] })
      const list = basis === 'cost' ? entries : `${entries}&basis=${basis}`
      sections.push({ title, report, previous, list })
    }
    await add('Your usage', { agent_manager: [person.uid] })
    if (seesEverything(person.role)) await add('Usage of everyone', {})
    else {
      const project = await listLedProjects(db.read, person.id)
      if (project.length > 0) await add('Projects that you lead', { project })
    }
    return summaryText(week, sections, await styleNow())
  }

  async function look(): Promise<void> {
    if (!(await notifications.canSend())) return
    const { timeZone, weekStart } = await organization.settings()
    const morning = clock.now() - MORNING_MS
    const today = dayAt(morning, timeZone)
    const { firstDay } = calendarPeriodAt(morning, 'week', { timeZone, weekStart })
    const week = { from: addDays(firstDay, -7), to: addDays(firstDay, -1) }
    await tell('weekly_summary', week.from, (person) => summaryFor(person, week))
    const yesterday = addDays(today, -1)
    let found: Promise<Anomaly[]> | undefined
    await tell('anomalies', yesterday, async (person) => {
      found ??= anomalies.anomaliesOf(yesterday)
      return anomaliesText(yesterday, (await found).filter(isSeenBy(person)), await styleNow())
    })
    if (isWorkingDay(today)) await tell('attention', today, (person) => attentionFor(person, today))
  }

  return {
    look,

    jobs: notifications.hasMailServer
      ? [new Job({ name: 'digests', task: 'sum up a day or a week for e-mails', everyMs: LOOK_EVERY_MS, run: look })]
      : [],
  }
}

/** As for the events: everyone sees their own anomalies, billing and admins all of them. */
function isSeenBy({ id, role }: User) {
  return (anomaly: Anomaly) => seesEverything(role) || (anomaly.subject !== 'day' && anomaly.person.id === id)
}

function askerOf(person: User): Asker {
  return { viewer: viewerOf(person), listsPeople: person.role === 'admin' }
}

function isWorkingDay(day: string): boolean {
  return Temporal.PlainDate.from(day).dayOfWeek <= 5
}
