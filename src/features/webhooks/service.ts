/** Webhooks: endpoints that admins add, and the delivery of events to them (docs/design/webhooks.md). */
import type { Actor } from '../../access/actor.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { WebhookSuspendedReason } from '../../database/schema/values.ts'
import { notFound, Problem, refusal, validationFailed } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseMoment } from '../../lib/duration.ts'
import { isId } from '../../lib/id.ts'
import { composeName } from '../../lib/names.ts'
import { type Page, pageOf } from '../../schema/lists.ts'
import { type ListPage, writeKeyPage } from '../../schema/query.ts'
import type { EventType } from '../../shared/event-types.ts'
import { type AuditService, type ChangeAction, difference } from '../audit/service.ts'
import type { NotificationsService } from '../notifications/service.ts'
import type { OrganizationService } from '../organization/service.ts'
import type { PeopleService } from '../people/service.ts'
import type { ProjectsService } from '../projects/service.ts'
import { createDispatcher } from './delivery/dispatcher.ts'
import { createSender } from './delivery/sender.ts'
import { issuesOfWebhook, placeOf } from './endpoint.ts'
import { createEventLog, type EventLogDependencies, type LoggedEvent } from './event-log.ts'
import { createNotices } from './notices.ts'
import { createOwners } from './ownership.ts'
import type { WebhookListQuery } from './query.ts'
import {
  type Manager,
  neededScopes,
  type Rights,
  readsMessage,
  readsType,
  rightsOf,
  suspensionText,
  TEST_TYPE,
  typeBeyond,
  unreadableType,
} from './rights.ts'
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
import { type DeliveryRow, insertDelivery, latestDeliveries, listDeliveries } from './store/deliveries.ts'
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
  NOT_FAILING,
  updateEndpoint,
} from './store/endpoints.ts'

export type { Manager } from './rights.ts'
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
  people: Pick<PeopleService, 'everyUser' | 'standing'>
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
  const owners = createOwners({ db, clock, audit, people, notices })
  const dispatcher = createDispatcher({
    db,
    clock,
    audit,
    log,
    owners,
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

  /** The columns of the fields that are given, for a webhook with these rights. One scope replaces the other. */
  async function columnsOf(given: WebhookChange, rights: Rights): Promise<Partial<EndpointRow>> {
    const issues = issuesOfWebhook(given, rights)
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

  /**
   * Throws `forbidden` unless the manager may read everything that the webhook is sent: nobody decides where something
   * goes, or signs it, that they may not read.
   */
  async function requireReach(reader: Reader, { principal }: Manager, { row }: EndpointView): Promise<void> {
    const rights = rightsOf(principal)
    const { rights: ownerRights } = await owners.ownershipOf(row, reader)
    const type = typeBeyond(rights, ownerRights, row)
    if (type) throw beyondReach(row, rights, type)
  }

  /** Writes columns of an endpoint, and records what changed. Before and afterwards, the manager must reach what it is sent. */
  async function change(
    uid: string,
    manager: Manager,
    action: ChangeAction,
    changesOf: (view: EndpointView) => Partial<EndpointRow>,
    { needsReach = true } = {},
  ): Promise<EndpointView> {
    return db.write(async (tx) => {
      const before = await getEndpoint(tx, uid)
      if (needsReach) await requireReach(tx, manager, before)
      await updateEndpoint(tx, before.row.id, changesOf(before))
      const after = await getEndpoint(tx, uid)
      if (needsReach) await requireReach(tx, manager, after)
      const changed = difference(recordOf(before), recordOf(after))
      if (changed) {
        await audit.record(tx, manager.by, {
          action,
          object: objectOf(after),
          before: withoutAddress(changed.before),
          after: withoutAddress(changed.after),
        })
      }
      return after
    })
  }

  /** Throws `webhook_suspended` if the owner may not be sent anything. */
  async function rightsToSend(reader: Reader, view: EndpointView): Promise<Rights> {
    const { rights, suspension } = await owners.ownershipOf(view.row, reader)
    if (suspension) throw webhookSuspended(view, suspension)
    return rights
  }

  /** Sends at once, whatever waits, and records the attempt. */
  async function sendNow(
    { row }: EndpointView,
    event: Omit<LoggedEvent, 'id' | 'type'> & { id: number | null; type: string },
    kind: 'resend' | 'test',
  ): Promise<Omit<DeliveryRow, 'id'>> {
    const at = clock.now()
    const sent = await sender.send(row, event)
    for (const listener of attemptListeners) listener(sent.error === null ? 'delivered' : 'failed')
    const delivery = { endpointId: row.id, eventId: event.id, type: event.type, kind, attempt: 1, at, ...sent }
    await db.write(async (tx: Tx) => {
      // Unless it was removed meanwhile.
      if (await findEndpoint(tx, row.uid)) await insertDelivery(tx, delivery)
    })
    return delivery
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

    /** The number of webhooks that fail, are suspended, or were disabled because they failed. */
    countFailing: (): Promise<number> => countFailingEndpoints(db.read),

    /** Throws `not_found`. */
    getWebhook: async (uid: string): Promise<WebhookBody> => bodyOf(await getEndpoint(db.read, uid)),

    /**
     * Gets events from now on, as far as the manager may read them. Throws `validation_failed`, and `forbidden` if there are
     * too many.
     */
    async addWebhook(given: NewWebhook, { principal, by }: Manager): Promise<CreatedWebhook> {
      const columns = await columnsOf(given, rightsOf(principal))
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
          ...ownerColumns(principal),
          cursor,
        })
        const after = withoutAddress(recordOf(added))
        await audit.record(tx, by, { action: 'webhook.added', object: objectOf(added), after })
        return added
      })
      return createdWebhookBody(await bodyOf(view), view.row.secret)
    },

    /**
     * Absent fields stay unchanged. Whoever changes the address is the owner from then on: what goes there must end with
     * their rights. Throws `not_found`, `validation_failed`, and `forbidden` if they may read less than what it is sent.
     */
    async changeWebhook(uid: string, given: WebhookChange, manager: Manager): Promise<WebhookBody> {
      const view = await getEndpoint(db.read, uid)
      await requireReach(db.read, manager, view)
      const isMoved = ({ row }: EndpointView, { url }: WebhookChange) =>
        url !== undefined && !(URL.canParse(url) && new URL(url).href === row.url)
      const rights = isMoved(view, given) ? rightsOf(manager.principal) : (await owners.ownershipOf(view.row)).rights
      const columns = await columnsOf(given, rights)
      const after = await change(uid, manager, 'webhook.changed', (before) => ({
        ...columns,
        // A new address may work at once.
        ...(isMoved(before, columns) && { ...takenOver({ ...before.row, ...columns }, manager), ...NOT_FAILING }),
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
      manager: Manager,
    ): Promise<WebhookBody> {
      const last = await log.last()
      const after = await change(uid, manager, 'webhook.enabled', ({ row }) => {
        if (row.disabledAt === null) return {}
        const cursor = sendMissed ? row.cursor : last
        return { disabledAt: null, disabledReason: null, noticeDueAt: null, cursor, ...NOT_FAILING }
      })
      return bodyOf(after)
    },

    /** Gets no more events until it is enabled. */
    async disableWebhook(uid: string, manager: Manager): Promise<WebhookBody> {
      const disabled = { disabledReason: 'person', nextAttemptAt: null, ...NOT_LEASED } as const
      const after = await change(
        uid,
        manager,
        'webhook.disabled',
        ({ row }) => (row.disabledAt === null ? { disabledAt: clock.now(), ...disabled } : {}),
        // Whoever may manage webhooks may end what is sent.
        { needsReach: false },
      )
      return bodyOf(after)
    },

    /**
     * Makes the manager the owner, with whose rights events are sent from then on, also those that waited. Throws `forbidden`
     * if they may read less than what it is sent.
     */
    async takeOver(uid: string, manager: Manager): Promise<WebhookBody> {
      return bodyOf(await change(uid, manager, 'webhook.taken_over', ({ row }) => takenOver(row, manager)))
    },

    /** A new secret; messages are signed with the old one, too, for as long as receivers need to learn the new one. */
    async rotateSecret(
      uid: string,
      { overlapHours: hours = OVERLAP_HOURS }: { overlapHours?: number | undefined },
      manager: Manager,
    ): Promise<CreatedWebhook> {
      const secret = newSecret()
      const previousUntil = hours === 0 ? null : clock.now() + hours * HOUR_MS
      const view = await db.write(async (tx) => {
        const before = await getEndpoint(tx, uid)
        await requireReach(tx, manager, before)
        const previousSecret = previousUntil === null ? null : before.row.secret
        await updateEndpoint(tx, before.row.id, { secret, previousSecret, previousUntil })
        await audit.record(tx, manager.by, {
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
      const event = { id: null, type: TEST_TYPE, body: testEvent(view, clock.now()), facts: [], page: undefined }
      return deliveryBody(await sendNow(view, event, 'test'))
    },

    /** A page of attempts, newest first, with what was sent as far as the manager may read it. Throws `not_found`. */
    async listDeliveries(
      uid: string,
      { after, limit }: Pick<ListPage, 'after' | 'limit'>,
      { principal }: Pick<Manager, 'principal'>,
    ): Promise<Page<WebhookDelivery>> {
      const rights = rightsOf(principal)
      const { row } = await getEndpoint(db.read, uid)
      const found = await listDeliveries(db.read, row.id, { after, limit: limit + 1 })
      const page = pageOf(found, limit, ({ id }) => writeKeyPage(id))
      return { ...page, data: page.data.map((delivery) => shownBody(delivery, rights)) }
    },

    /**
     * Sends an event of the log again at once, and returns the result. Throws `not_found`, also for an event that the manager
     * or the owner may not read, and `webhook_suspended`.
     */
    async resend(uid: string, eventId: string, manager: Manager): Promise<WebhookDelivery> {
      const view = await getEndpoint(db.read, uid)
      await requireReach(db.read, manager, view)
      const rights = rightsOf(manager.principal)
      const event = await log.get(eventId, view.row, await rightsToSend(db.read, view))
      if (!readsType(rights, event.type)) throw notFound(`The event ${eventId}`)
      return shownBody(await sendNow(view, event, 'resend'), rights)
    },

    /**
     * Sends all events since a moment again, in order. Throws `validation_failed`, `webhook_disabled` and
     * `webhook_suspended`.
     */
    async resendSince(uid: string, since: string, manager: Manager): Promise<WebhookBody> {
      const { timeZone } = await organization.settings()
      const moment = parseMoment(since, timeZone)
      if (moment === undefined) {
        const message = 'must be a date, or a timestamp with a UTC offset, such as 2027-01-01T08:00:00Z'
        throw refusal('/since', 'bad_format', message)
      }
      const cursor = await log.before(moment)
      const view = await db.write(async (tx) => {
        const found = await getEndpoint(tx, uid)
        if (found.row.disabledAt !== null) throw webhookDisabled(found)
        await requireReach(tx, manager, found)
        await rightsToSend(tx, found)
        // What it has not received yet stays before what is sent again.
        const from = Math.min(cursor, found.row.cursor)
        await updateEndpoint(tx, found.row.id, { cursor: from, ...NOT_FAILING })
        await audit.record(tx, manager.by, { action: 'webhook.resent', object: objectOf(found), after: { since } })
        return getEndpoint(tx, uid)
      })
      return bodyOf(view)
    },

    /** The number of events that wait for an active webhook. */
    async countWaiting(): Promise<number> {
      let waiting = 0
      for (const endpoint of await listActiveEndpoints(db.read)) {
        const { rights } = await owners.ownershipOf(endpoint)
        waiting += await log.count(endpoint, rights, COUNTED_WAITING)
      }
      return waiting
    },

    /** Calls back after each attempt of this process. */
    watchAttempts(listener: (outcome: 'delivered' | 'failed') => void): void {
      attemptListeners.push(listener)
    },

    dispatcher,
    jobs: dispatcher.jobs,
  }
}

const NOT_LEASED = { leaseHolder: null, leasedUntil: null } as const

function unknownName(pointer: string, message: string): Problem {
  return refusal(pointer, 'unknown_name', message)
}

function tooMany(): Problem {
  return new Problem(
    'forbidden',
    `There are ${ENDPOINT_LIMIT} webhooks, the most that Tally delivers to. Remove one that you no longer need.`,
  )
}

function beyondReach({ name, format }: EndpointRow, { token }: Rights, type: EventType): Problem {
  return new Problem(
    'forbidden',
    `The webhook '${name}' is sent events that the API token '${token?.name}' may not read, such as ${type}. Use a token with ${neededScopes(type, { withDetails: format !== 'standard' })}, or sign in.`,
  )
}

function webhookDisabled({ row }: EndpointView): Problem {
  return new Problem('webhook_disabled', `The webhook '${row.name}' is disabled. Enable it first.`)
}

function webhookSuspended({ row, owner, ownerToken }: EndpointView, reason: WebhookSuspendedReason): Problem {
  const because = suspensionText(reason, { owner: owner?.name, token: ownerToken?.name })
  return new Problem(
    'webhook_suspended',
    `The webhook '${row.name}' is suspended, because ${because}. Take it over first: tally webhooks take-over ${row.uid}`,
  )
}

function ownerColumns(principal: Manager['principal']): Pick<EndpointRow, 'ownerId' | 'ownerTokenId'> {
  if (!principal) return { ownerId: null, ownerTokenId: null }
  return { ownerId: principal.person.id, ownerTokenId: principal.kind === 'api' ? principal.token.id : null }
}

/** What changes of a webhook of which somebody becomes the owner. Throws `forbidden` if they may not read all of its types. */
function takenOver(row: EndpointRow, { principal }: Manager): Partial<EndpointRow> {
  const rights = rightsOf(principal)
  const unreadable = row.types.map((type) => unreadableType(type, rights)).find((type) => type !== undefined)
  if (unreadable) throw beyondReach(row, rights, unreadable)
  const isWaiting = row.disabledAt === null && row.suspendedAt !== null
  return {
    ...ownerColumns(principal),
    suspendedAt: null,
    suspendedReason: null,
    ...(isWaiting && { noticeDueAt: null, ...NOT_FAILING }),
  }
}

/** An attempt, with what was sent as far as these rights reach. */
const shownBody = (delivery: Omit<DeliveryRow, 'id'>, rights: Rights): WebhookDelivery =>
  deliveryBody(delivery, { isHidden: !readsMessage(rights, delivery) })

const objectOf = ({ row }: EndpointView) => ({ id: row.uid, name: row.name })

/** The record for the audit log, with the API's field names. */
function recordOf({ row, client, project, owner, ownerToken }: EndpointView): Record<string, unknown> {
  return {
    name: row.name,
    url: row.url,
    format: row.format,
    types: row.types,
    client: client?.uid ?? null,
    project: project?.uid ?? null,
    disabled: row.disabledAt !== null,
    suspended: row.suspendedAt !== null,
    owner: owner?.uid ?? null,
    owner_token: ownerToken?.uid ?? null,
  }
}

/** Addresses of chats are secrets, which the audit log never contains: only where they are. */
function withoutAddress({ url, ...record }: Record<string, unknown>): Record<string, unknown> {
  return typeof url === 'string' ? { ...record, url: `${placeOf(url)}/…` } : record
}

function testEvent({ row }: EndpointView, now: number): LoggedEvent['body'] {
  return {
    id: `test_${crypto.randomUUID().replaceAll('-', '')}`,
    type: TEST_TYPE,
    at: new Date(now).toISOString(),
    actor: null,
    object: { id: row.uid, name: row.name, url: null },
    before: null,
    after: { message: 'This is a test of a webhook. Nothing has happened.' },
  }
}
