/** The e-mail about an endpoint that Tally has disabled or suspended: to the person who added it and to all admins. */
import type { Database } from '../../database/database.ts'
import type { WebhookDisabledReason } from '../../database/schema/values.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Formats } from '../../shared/locales.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { PeopleService } from '../people/service.ts'
import { placeOf } from './endpoint.ts'
import { suspensionText } from './rights.ts'
import { latestDeliveries } from './store/deliveries.ts'
import { type EndpointView, findDueNotice, setNoticeDue } from './store/endpoints.ts'

const MINUTE_MS = 60_000

/** Longer than all of its e-mails take; if their sender dies, they are sent again afterwards. */
const CLAIM_MS = 10 * MINUTE_MS

/** Pause after a failed attempt, and how long it is worth repeating. */
const RETRY_MS = 15 * MINUTE_MS
const LIFE_MS = 48 * 60 * MINUTE_MS

interface Dependencies {
  db: Database
  clock: Clock
  people: Pick<PeopleService, 'everyUser'>
  notifications: Pick<NotificationsService, 'hasMailServer' | 'sendToEach'>
}

export function createNotices({ db, clock, people, notifications }: Dependencies) {
  /** Returns whether nothing is left to be sent. */
  async function send(view: EndpointView): Promise<boolean> {
    const { row, creator } = view
    const stop = stopOf(view)
    if (!stop) return true
    const latest = (await latestDeliveries(db.read, [row.id])).get(row.id)
    const active = await people.everyUser({ state: 'active' })
    const told = active.filter(({ uid, role }) => role === 'admin' || uid === creator?.uid)
    return notifications.sendToEach(told, {
      key: `${row.uid}.${stop.at}`,
      subject: `The webhook ${row.name} was ${stop.what}`,
      textFor: (organization, formats) => textOf(stop, { organization, formats, view, error: latest?.error ?? null }),
    })
  }

  return {
    areSent: notifications.hasMailServer,

    /** When the notice of an endpoint that is disabled or suspended now is due; null if none can be sent. */
    dueAt: (): number | null => (notifications.hasMailServer ? clock.now() : null),

    /** Sends what is due, each at least once. Several servers share them. */
    async sendDue(): Promise<void> {
      for (let due = await findDueNotice(db.read, clock.now()); due; due = await findDueNotice(db.read, clock.now())) {
        const { id, noticeDueAt } = due.row
        const claimed = clock.now() + CLAIM_MS
        if (!(await db.write((tx) => setNoticeDue(tx, { id, noticeDueAt }, claimed)))) continue
        const isSent = await send(due)
        const stop = stopOf(due)
        const isNews = stop !== undefined && clock.now() - stop.at < LIFE_MS
        const next = isSent || !isNews ? null : clock.now() + RETRY_MS
        await db.write((tx) => setNoticeDue(tx, { id, noticeDueAt: claimed }, next))
      }
    },
  }
}

/** Why an endpoint gets nothing although nobody wanted that, and what helps. */
interface Stop {
  what: 'disabled' | 'suspended'
  at: number
  because: string
  help: string[]
}

function stopOf({ row, owner, ownerToken }: EndpointView): Stop | undefined {
  const { uid, disabledAt, disabledReason, suspendedAt, suspendedReason } = row
  if (disabledAt !== null && disabledReason !== null && disabledReason !== 'person') {
    const help = [
      'When its receiver works again, enable the webhook and send the events that it missed:',
      `  tally webhooks enable ${uid} --send-missed`,
    ]
    return { what: 'disabled', at: disabledAt, because: DISABLED[disabledReason], help }
  }
  if (disabledAt !== null || suspendedAt === null || suspendedReason === null) return undefined
  const because = suspensionText(suspendedReason, { owner: owner?.name, token: ownerToken?.name })
  const help = [
    'Its events wait, as long as they are in the event log. Look at its address and its types, and take it over to send them:',
    `  tally webhooks take-over ${uid}`,
  ]
  return { what: 'suspended', at: suspendedAt, because, help }
}

const DISABLED: Record<Exclude<WebhookDisabledReason, 'person'>, string> = {
  failing: 'every attempt to deliver an event failed for three days',
  gone: 'its receiver returned 410, which means that it is gone',
}

interface Parts {
  organization: string
  formats: Formats
  view: EndpointView
  error: string | null
}

function textOf({ what, because, help }: Stop, { organization, formats, view: { row }, error }: Parts): string {
  const { name, url, failingSince } = row
  return [
    `${organization}'s Tally server ${what} the webhook ${name} (${placeOf(url)}),`,
    `because ${because}.`,
    '',
    ...(what === 'disabled' && error !== null ? [`The last error: ${error}`] : []),
    ...(failingSince === null ? [] : [`No event has been delivered since ${formats.moment(failingSince, 'UTC')} UTC.`]),
    '',
    ...help,
  ]
    .map((line) => line.replaceAll(/\p{Cc}/gu, ' '))
    .join('\n')
}
