/** Webhooks: endpoints that admins add, and the delivery of events to them (docs/design/webhooks.md). */
import type { Actor } from '../../access/actor.ts'
import type { Reader, Tx } from '../../database/database.ts'
import { notFound, Problem, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseMoment } from '../../lib/duration.ts'
import { isId } from '../../lib/id.ts'
import { composeName } from '../../lib/names.ts'
import { eachPage, type Page, pageOf } from '../../lists.ts'
import { type ListPage, writeKeyPage } from '../../query.ts'
import { type AuditService, difference } from '../audit/service.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import { createDispatcher } from './delivery/dispatcher.ts'
import { createSender } from './delivery/sender.ts'
import { issuesOfWebhook, placeOf } from './endpoint.ts'
import { createEventLog, type EventLogDependencies, type LoggedEvent } from './event-log.ts'
import { createNotices } from './notices.ts'
import type { WebhookListQuery } from './query.ts'
import {
  type CreatedWebhook,
  createdWebhookBody,
  deliveryBody,
  type NewWebhook,
  type WebhookBody,
  type WebhookChange,
  type WebhookDelivery,
  webhookBody,
} from './schema.ts'
import { newSecret } from './signature.ts'
import { insertDelivery, latestDeliveries, listDeliveries } from './store/deliveries.ts'
import {
  countEndpoints,
  countFailingEndpoints,
  deleteEndpoint,
  type EndpointRow,
  type EndpointView,
  findEndpoint,
  insertEndpoint,
  listActiveEndpoints,
  listEndpoints,
  updateEndpoint,
} from './store/endpoints.ts'

export { readPage, readWebhookList } from './query.ts'
export { parseSecret, signatureIssue } from './signature.ts'

/** More than anyone needs, and few enough to deliver to all of them at once. */
const ENDPOINT_LIMIT = 50

const HOUR_MS = 3_600_000

/** Long enough to give every receiver the new secret during a working day. */
const OVERLAP_HOURS = 24

/** Of an endpoint for which more wait, the rest is not counted: that would read the whole log at each scrape. */
const COUNTED_WAITING = 10_000

export type WebhooksService = ReturnType<typeof createWebhooksService>

export interface WebhooksDependencies extends EventLogDependencies {
  clock: Clock
  audit: Pick<AuditService, 'record'>
  organization: Pick<OrganizationService, 'settings'>
  people: Pick<PeopleService, 'everyUser'>
  projects: Pick<ProjectsService, 'getClient' | 'findProjectNamed'>
  notifications: Pick<NotificationsService, 'hasMailServer' | 'sendToEach'>
  /** Networks to which events may be sent although they are private. */
  privateNetworks: readonly string[]
}

export function createWebhooksService(dependencies: WebhooksDependencies) {
  const { db, clock, audit, organization, people, projects, notifications, privateNetworks } = dependencies
  const attemptListeners: ((outcome: 'delivered' | 'failed') => void)[] = []
  const log = createEventLog(dependencies)
  const sender = createSender({ clock, privateNetworks })
  const notices = createNotices({ db, clock, people, notifications })
  const dispatcher = createDispatcher({
    db,
    clock,
    audit,
    log,
    sender,
    notices,
    onAttempt: (outcome) => {
      for (const listener of attemptListeners) listener(outcome)
    },
  })

  async function getEndpoint(reader: Reader, uid: string): Promise<EndpointView> {
    const found = isId('whk', uid) ? await findEndpoint(reader, uid) : undefined
    if (!found) throw notFound(`The webhook '${uid}'`)
    return found
  }

  async function bodiesOf(views: readonly EndpointView[]): Promise<WebhookBody[]> {
    const latest = await latestDeliveries(
      db.read,
      views.map(({ row }) => row.id),
    )
    return views.map((view) => webhookBody(view, latest.get(view.row.id), clock.now()))
  }

  const bodyOf = async (view: EndpointView): Promise<WebhookBody> => (await bodiesOf([view]))[0]!

  /** The columns of the fields that are given. One scope replaces the other. */
  async function columnsOf(given: WebhookChange): Promise<Partial<EndpointRow>> {
    const issues = issuesOfWebhook(given)
    if (issues.length > 0) throw validationFailed(issues)
    const { name, url, format, types } = given
    return {
      ...(name !== undefined && { name: composeName(name) }),
      ...(url !== undefined && { url: new URL(url).href }),
      ...(format !== undefined && { format }),
      ...(types !== undefined && { types: [...new Set(types)] }),
      ...(await scopeOf(given)),
    }
  }

  async function scopeOf({ client, project }: WebhookChange): Promise<Partial<EndpointRow>> {
    if (typeof client === 'string') return { clientId: await keyOfClient(client), projectId: null }
    if (typeof project === 'string') return { clientId: null, projectId: await keyOfProject(project) }
    return { ...(client === null && { clientId: null }), ...(project === null && { projectId: null }) }
  }

  async function keyOfClient(client: string): Promise<number> {
    try {
      return (await projects.getClient(client)).id
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'not_found') throw error
      throw unknownName('/client', 'must be the id or name of a client')
    }
  }

  async function keyOfProject(project: string): Promise<number> {
    const found = await projects.findProjectNamed(db.read, project)
    if (!found) throw unknownName('/project', 'must be the id, key or name of a project')
    return found.project.id
  }

  /** Writes columns of an endpoint, and records what changed. */
  async function change(
    uid: string,
    by: Actor,
    action: string,
    changesOf: (view: EndpointView) => Partial<EndpointRow>,
  ): Promise<EndpointView> {
    return db.write(async (tx) => {
      const before = await getEndpoint(tx, uid)
      await updateEndpoint(tx, before.row.id, changesOf(before))
      const after = await getEndpoint(tx, uid)
      const changed = difference(recordOf(before), recordOf(after))
      if (changed) {
        await audit.record(tx, by, {
          action,
          object: objectOf(after),
          before: withoutAddress(changed.before),
          after: withoutAddress(changed.after),
        })
      }
      return after
    })
  }

  /** Sends at once, whatever waits, and records the attempt. */
  async function sendNow(
    { row }: EndpointView,
    event: Omit<LoggedEvent, 'id'> & { id: number | null },
    kind: 'resend' | 'test',
  ): Promise<WebhookDelivery> {
    const at = clock.now()
    const sent = await sender.send(row, event)
    for (const listener of attemptListeners) listener(sent.error === null ? 'delivered' : 'failed')
    const delivery = { endpointId: row.id, eventId: event.id, type: event.type, kind, attempt: 1, at, ...sent }
    await db.write(async (tx: Tx) => {
      // Unless it was removed meanwhile.
      if (await findEndpoint(tx, row.uid)) await insertDelivery(tx, delivery)
    })
    return deliveryBody(delivery)
  }

  return {
    /** A page of webhooks, newest first. */
    async listWebhooks({
      after,
      limit,
      isFailing,
    }: Pick<WebhookListQuery, 'after' | 'limit' | 'isFailing'>): Promise<Page<WebhookBody>> {
      const found = await listEndpoints(db.read, { after, limit: limit + 1, isFailing })
      const page = pageOf(found, limit, ({ row }) => writeKeyPage(row.id))
      return { ...page, data: await bodiesOf(page.data) }
    },

    /** The number of webhooks that fail, or were disabled because they did. */
    countFailing: (): Promise<number> => countFailingEndpoints(db.read),

    /** All of them. */
    async everyWebhook(): Promise<WebhookBody[]> {
      const pages = eachPage(
        (page) => listEndpoints(db.read, page),
        ({ row }: EndpointView) => row.id,
      )
      const all: WebhookBody[] = []
      for await (const views of pages) all.push(...(await bodiesOf(views)))
      return all
    },

    /** Throws `not_found`. */
    getWebhook: async (uid: string): Promise<WebhookBody> => bodyOf(await getEndpoint(db.read, uid)),

    /** Gets events from now on. Throws `validation_failed`, and `forbidden` if there are too many. */
    async addWebhook(given: NewWebhook, by: Actor): Promise<CreatedWebhook> {
      const columns = await columnsOf(given)
      const cursor = await log.last()
      const view = await db.write(async (tx) => {
        if ((await countEndpoints(tx)) >= ENDPOINT_LIMIT) throw tooMany()
        const added = await insertEndpoint(tx, {
          name: columns.name!,
          url: columns.url!,
          format: columns.format ?? 'standard',
          types: columns.types!,
          clientId: columns.clientId ?? null,
          projectId: columns.projectId ?? null,
          secret: newSecret(),
          createdBy: by.userId,
          createdAt: clock.now(),
          cursor,
        })
        const after = withoutAddress(recordOf(added))
        await audit.record(tx, by, { action: 'webhook.added', object: objectOf(added), after })
        return added
      })
      return createdWebhookBody(await bodyOf(view), view.row.secret)
    },

    /** Absent fields stay unchanged. Throws `not_found`, `validation_failed`. */
    async changeWebhook(uid: string, given: WebhookChange, by: Actor): Promise<WebhookBody> {
      await getEndpoint(db.read, uid)
      const columns = await columnsOf(given)
      const after = await change(uid, by, 'webhook.changed', ({ row }) => ({
        ...columns,
        // A new address may work at once.
        ...(columns.url !== undefined && columns.url !== row.url && NOT_FAILING),
      }))
      return bodyOf(after)
    },

    /** With the record of its deliveries. Throws `not_found`. */
    async removeWebhook(uid: string, by: Actor): Promise<void> {
      await db.write(async (tx) => {
        const view = await getEndpoint(tx, uid)
        await deleteEndpoint(tx, view.row.id)
        const before = withoutAddress(recordOf(view))
        await audit.record(tx, by, { action: 'webhook.removed', object: objectOf(view), before })
      })
    },

    /** Gets events from now on, or with `sendMissed` from the first one that was not delivered. */
    async enableWebhook(
      uid: string,
      { sendMissed = false }: { sendMissed?: boolean | undefined },
      by: Actor,
    ): Promise<WebhookBody> {
      const last = await log.last()
      const after = await change(uid, by, 'webhook.enabled', ({ row }) => {
        if (row.disabledAt === null) return {}
        const cursor = sendMissed ? row.cursor : last
        return { disabledAt: null, disabledReason: null, noticeDueAt: null, cursor, ...NOT_FAILING }
      })
      return bodyOf(after)
    },

    /** Gets no more events until it is enabled. */
    async disableWebhook(uid: string, by: Actor): Promise<WebhookBody> {
      const after = await change(uid, by, 'webhook.disabled', ({ row }) =>
        row.disabledAt === null
          ? { disabledAt: clock.now(), disabledReason: 'person' as const, nextAttemptAt: null, ...NOT_LEASED }
          : {},
      )
      return bodyOf(after)
    },

    /** A new secret; messages are signed with the old one, too, for as long as receivers need to learn the new one. */
    async rotateSecret(
      uid: string,
      { overlapHours: hours = OVERLAP_HOURS }: { overlapHours?: number | undefined },
      by: Actor,
    ): Promise<CreatedWebhook> {
      const secret = newSecret()
      const previousUntil = hours === 0 ? null : clock.now() + hours * HOUR_MS
      const view = await db.write(async (tx) => {
        const before = await getEndpoint(tx, uid)
        const previousSecret = previousUntil === null ? null : before.row.secret
        await updateEndpoint(tx, before.row.id, { secret, previousSecret, previousUntil })
        await audit.record(tx, by, {
          action: 'webhook.secret_rotated',
          object: objectOf(before),
          after: { overlap_hours: hours },
        })
        return getEndpoint(tx, uid)
      })
      return createdWebhookBody(await bodyOf(view), secret)
    },

    /** Sends an event of the type `webhook.test` at once, also to a disabled webhook, and returns the result. */
    async testWebhook(uid: string): Promise<WebhookDelivery> {
      const view = await getEndpoint(db.read, uid)
      const event = { id: null, type: 'webhook.test', body: testEvent(view, clock.now()), facts: [], page: undefined }
      return sendNow(view, event, 'test')
    },

    /** A page of attempts, newest first. Throws `not_found`. */
    async listDeliveries(
      uid: string,
      { after, limit }: Pick<ListPage, 'after' | 'limit'>,
    ): Promise<Page<WebhookDelivery>> {
      const { row } = await getEndpoint(db.read, uid)
      const found = await listDeliveries(db.read, row.id, { after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ id }) => writeKeyPage(id))
      return { ...page, data: page.data.map(deliveryBody) }
    },

    /** Sends an event of the log again at once, and returns the result. Throws `not_found`. */
    async resend(uid: string, eventId: string): Promise<WebhookDelivery> {
      const view = await getEndpoint(db.read, uid)
      const event = await log.get(eventId, view.row)
      return sendNow(view, event, 'resend')
    },

    /** Sends all events since a moment again, in order. Throws `validation_failed`, and `webhook_disabled`. */
    async resendSince(uid: string, since: string, by: Actor): Promise<WebhookBody> {
      const { timeZone } = await organization.settings()
      const moment = parseMoment(since, timeZone)
      if (moment === undefined) {
        const message = 'must be a date, or a timestamp with a UTC offset, such as 2027-01-01T08:00:00Z'
        throw validationFailed([{ pointer: '/since', code: 'bad_format', message }])
      }
      const cursor = await log.before(moment)
      const view = await db.write(async (tx) => {
        const found = await getEndpoint(tx, uid)
        if (found.row.disabledAt !== null) throw webhookDisabled(found)
        // What it has not received yet stays before what is sent again.
        const from = Math.min(cursor, found.row.cursor)
        await updateEndpoint(tx, found.row.id, { cursor: from, ...NOT_FAILING })
        await audit.record(tx, by, { action: 'webhook.resent', object: objectOf(found), after: { since } })
        return getEndpoint(tx, uid)
      })
      return bodyOf(view)
    },

    /** The number of events that wait for an active webhook. */
    async countWaiting(): Promise<number> {
      let waiting = 0
      for (const endpoint of await listActiveEndpoints(db.read)) waiting += await log.count(endpoint, COUNTED_WAITING)
      return waiting
    },

    /** Calls back after each attempt of this process. */
    watchAttempts(listener: (outcome: 'delivered' | 'failed') => void): void {
      attemptListeners.push(listener)
    },

    dispatcher,
  }
}

const NOT_FAILING = { attempts: 0, failingSince: null, nextAttemptAt: null } as const
const NOT_LEASED = { leaseHolder: null, leasedUntil: null } as const

function unknownName(pointer: string, message: string): Problem {
  return validationFailed([{ pointer, code: 'unknown_name', message }])
}

function tooMany(): Problem {
  return new Problem(
    'forbidden',
    `There are ${ENDPOINT_LIMIT} webhooks, the most that Tally delivers to. Remove one that you no longer need.`,
  )
}

function webhookDisabled({ row }: EndpointView): Problem {
  return new Problem('webhook_disabled', `The webhook '${row.name}' is disabled. Enable it first.`)
}

const objectOf = ({ row }: EndpointView) => ({ id: row.uid, name: row.name })

/** The record for the audit log, with the API's field names. */
function recordOf({ row, client, project }: EndpointView): Record<string, unknown> {
  return {
    name: row.name,
    url: row.url,
    format: row.format,
    types: row.types,
    client: client?.uid ?? null,
    project: project?.uid ?? null,
    disabled: row.disabledAt !== null,
  }
}

/** Addresses of chats are secrets, which the audit log never contains: only where they are. */
function withoutAddress({ url, ...record }: Record<string, unknown>): Record<string, unknown> {
  return typeof url === 'string' ? { ...record, url: `${placeOf(url)}/…` } : record
}

function testEvent({ row }: EndpointView, now: number): LoggedEvent['body'] {
  return {
    id: `test_${crypto.randomUUID().replaceAll('-', '')}`,
    type: 'webhook.test',
    at: new Date(now).toISOString(),
    actor: null,
    object: { id: row.uid, name: row.name, url: null },
    before: null,
    after: { message: 'This is a test of a webhook. Nothing has happened.' },
  }
}
