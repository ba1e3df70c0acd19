/**
 * Delivers events. The event log is the outbox: a row of it is written in the transaction of the change that it reports, and
 * each endpoint reads the log in order, from its cursor on. The cursor moves when a 2xx was recorded, so an event is
 * delivered at least once, whatever stops in between; its id is the same in every attempt.
 *
 * One server at a time delivers to an endpoint: it holds a lease, which it renews with each attempt. Endpoints do not wait
 * for each other, only for their turn to begin a request.
 */
import { TALLY } from '../../../access/actor.ts'
import type { Database, Tx } from '../../../database/database.ts'
import type { WebhookDisabledReason } from '../../../database/schema/values.ts'
import type { Clock } from '../../../lib/clock.ts'
import { Job } from '../../../lib/jobs.ts'
import type { AuditService } from '../../audit/service.ts'
import type { EventLog, LoggedEvent } from '../event-log.ts'
import type { createNotices } from '../notices.ts'
import type { Owners } from '../ownership.ts'
import { type Rights, readsType } from '../rights.ts'
import { isDue, nextAttemptAt } from '../schedule.ts'
import { insertDelivery, removeDeliveriesBefore, trimDeliveries } from '../store/deliveries.ts'
import {
  advanceDelivered,
  advanceEndpoint,
  claimEndpoint,
  type EndpointRow,
  findActiveEndpoint,
  listActiveEndpoints,
  releaseEndpoint,
} from '../store/endpoints.ts'
import { createPace } from './pace.ts'
import type { Sender, Sent } from './sender.ts'

/** Several times as long as an attempt may take, so that a slow one is not made twice; and no longer than people wait. */
const LEASE_MS = 60_000

/** Events of other processes, and attempts that are due, are noticed after this time. A look takes microseconds. */
const LOOK_EVERY_MS = 1_000

/** Read at a time: a hundred thousand waiting events must not be in memory at once. */
const PAGE = 100

/** An endpoint for which nothing matches moves its cursor this seldom, since that is a write. */
const IDLE_CURSOR_MS = 60_000

/** Deliveries are for finding out why a receiver fails, not an archive: they repeat names and amounts. */
const DELIVERY_LIFE_MS = 7 * 86_400_000

/** How often old deliveries are removed. */
const TIDY_EVERY_MS = 3_600_000

/** How soon people are notified that their webhook was disabled. */
const NOTIFY_EVERY_MS = 5_000

/** Attempts after which the deliveries of an endpoint are trimmed. */
const TRIM_EVERY = 100

const HTTP_GONE = 410

export interface DispatcherDependencies {
  db: Database
  clock: Clock
  audit: Pick<AuditService, 'record'>
  log: EventLog
  owners: Pick<Owners, 'rightsNow' | 'rightsAtOnce'>
  sender: Sender
  notices: ReturnType<typeof createNotices>
  /** Called after each attempt. */
  onAttempt(outcome: 'delivered' | 'failed'): void
}

export function createDispatcher(dependencies: DispatcherDependencies) {
  const { db, clock, audit, log, owners, sender, notices, onAttempt } = dependencies
  const holder = crypto.randomUUID()
  const pace = createPace(() => db.waitingWrites() > 0)
  /** Endpoints that this server delivers to at the moment, by key. */
  const working = new Map<number, Promise<void>>()
  /** How far the log has been read for each endpoint without a match after its cursor, by what it selects. */
  const positions = new Map<number, { cursor: number; selection: string; position: number; savedAt: number }>()
  let stopping: AbortSignal | undefined

  const lease = () => ({ holder, now: clock.now(), until: clock.now() + LEASE_MS })

  /** Where reading continues: nothing between the cursor and there is for the endpoint. */
  function positionOf(endpoint: EndpointRow): number {
    const { cursor } = endpoint
    return Math.max(knownPosition(endpoint)?.position ?? cursor, cursor)
  }

  function knownPosition(endpoint: EndpointRow) {
    const known = positions.get(endpoint.id)
    return known?.cursor === endpoint.cursor && known.selection === selectionOf(endpoint) ? known : undefined
  }

  /** Remembers that nothing matches up to a position, and from time to time in the database, for the next start. */
  async function noteRead(endpoint: EndpointRow, position: number): Promise<void> {
    const { id, cursor } = endpoint
    const selection = selectionOf(endpoint)
    const savedAt = knownPosition(endpoint)?.savedAt ?? clock.now()
    positions.set(id, { cursor, selection, position, savedAt })
    if (clock.now() - savedAt < IDLE_CURSOR_MS || position === cursor) return
    await db.write(async (tx) => {
      const claimed = await claimEndpoint(tx, id, lease())
      if (!claimed) return
      const isRead = selectionOf(claimed) === selection
      await advanceEndpoint(tx, { id, cursor }, holder, { ...(isRead && { cursor: position }), ...RELEASED })
    })
    positions.delete(id)
  }

  /** The next events for an endpoint; none if nothing waits. */
  async function nextEvents(endpoint: EndpointRow, rights: Rights): Promise<LoggedEvent[]> {
    for (let after = positionOf(endpoint); ; ) {
      const { events, next, hasMore } = await log.read(endpoint, rights, { after, limit: PAGE })
      if (events.length > 0) return events
      await noteRead(endpoint, next)
      if (!hasMore || stopping?.aborted) return []
      after = next
    }
  }

  /**
   * Delivers what waits for an endpoint, until there is no more, an attempt fails, its owner may not be sent more, or
   * another server has it.
   */
  async function deliverTo(due: EndpointRow, rights: Rights): Promise<void> {
    if ((await nextEvents(due, rights)).length === 0) return
    let endpoint = await db.write((tx) => claimEndpoint(tx, due.id, lease()))
    let attempts = 0
    try {
      while (endpoint) {
        const selection = selectionOf(endpoint)
        const known = await owners.rightsNow(endpoint)
        const events = known ? await nextEvents(endpoint, known) : []
        if (events.length === 0) break
        for (const event of events) {
          if (stopping?.aborted || !endpoint) return
          await pace()
          // Changed, taken over or disabled by a person meanwhile: other events are next, or none.
          const { cursor }: EndpointRow = endpoint
          endpoint = await findActiveEndpoint(db.read, due.id)
          if (!endpoint || endpoint.cursor !== cursor || selectionOf(endpoint) !== selection) break
          // And its owner may have lost their rights.
          const rights = await owners.rightsNow(endpoint)
          if (!rights || !readsType(rights, event.type)) break
          endpoint = await attempt(endpoint, event)
          attempts += 1
          if (attempts % TRIM_EVERY === 0) await db.write((tx) => trimDeliveries(tx, due.id))
        }
      }
    } finally {
      await db.write(async (tx) => {
        if (attempts > 0) await trimDeliveries(tx, due.id)
        await releaseEndpoint(tx, due.id, holder)
      })
    }
  }

  /** Returns the endpoint if its next event may follow at once. */
  async function attempt(endpoint: EndpointRow, event: LoggedEvent): Promise<EndpointRow | undefined> {
    const at = clock.now()
    const sent = await sender.send(endpoint, event)
    onAttempt(sent.error === null ? 'delivered' : 'failed')
    return db.write(async (tx) => {
      const advanced =
        sent.error === null
          ? await advanceDelivered(tx, endpoint, holder, { next: event.id, leasedUntil: clock.now() + LEASE_MS })
          : await advanceEndpoint(tx, endpoint, holder, afterFailure(endpoint, sent))
      if (!advanced) return undefined
      await insertDelivery(tx, {
        endpointId: endpoint.id,
        eventId: event.id,
        type: event.type,
        kind: 'event',
        attempt: endpoint.attempts + 1,
        at,
        ...sent,
      })
      if (advanced.disabledReason !== null) await recordDisabled(tx, advanced, sent)
      return sent.error === null ? advanced : undefined
    })
  }

  /** What a failed attempt changes of its endpoint. */
  function afterFailure(endpoint: EndpointRow, sent: Sent): Partial<EndpointRow> {
    const now = clock.now()
    const attempts = endpoint.attempts + 1
    // Not in the future, where a clock that was ahead has put it: three days count from when the clock was set back.
    const failingSince = Math.min(endpoint.failingSince ?? now, now)
    if (sent.status === HTTP_GONE) return disabled('gone', { attempts, failingSince })
    const next = nextAttemptAt({ attempts, failingSince, now })
    if (next === undefined) return disabled('failing', { attempts, failingSince })
    return { attempts, failingSince, nextAttemptAt: next, ...RELEASED }
  }

  const disabled = (
    disabledReason: WebhookDisabledReason,
    failures: Pick<EndpointRow, 'attempts' | 'failingSince'>,
  ) => ({
    ...failures,
    disabledAt: clock.now(),
    disabledReason,
    nextAttemptAt: null,
    noticeDueAt: notices.dueAt(),
    ...RELEASED,
  })

  async function recordDisabled(tx: Tx, { uid, name, disabledReason }: EndpointRow, sent: Sent): Promise<void> {
    await audit.record(tx, TALLY, {
      action: 'webhook.disabled',
      object: { id: uid, name },
      after: { reason: disabledReason, status: sent.status, error: sent.error },
    })
  }

  async function tidy({ signal }: { signal?: AbortSignal } = {}): Promise<void> {
    while (
      !signal?.aborted &&
      (await db.write((tx) => removeDeliveriesBefore(tx, clock.now() - DELIVERY_LIFE_MS))) > 0
    );
  }

  /** Begins to deliver to all endpoints for which something may wait. */
  async function look(follow: (work: Promise<void>) => void): Promise<void> {
    const now = clock.now()
    const idle = (await listActiveEndpoints(db.read)).filter(({ id }) => !working.has(id))
    if (idle.length === 0) return
    const end = await log.end()
    const rightsNow = owners.rightsAtOnce()
    for (const endpoint of idle) {
      const rights = await rightsNow(endpoint)
      if (!rights || !isDue(endpoint.nextAttemptAt, now) || positionOf(endpoint) >= end) continue
      const work = deliverTo(endpoint, rights).finally(() => working.delete(endpoint.id))
      working.set(endpoint.id, work)
      follow(work)
    }
  }

  return {
    /** Delivers everything that is due now, and returns when that is done. Throws the first error. */
    async deliverDue(): Promise<void> {
      const errors: unknown[] = []
      await look((work) => void work.catch((error) => errors.push(error)))
      await Promise.allSettled(working.values())
      if (errors.length > 0) throw errors[0]
    },

    tidy,
    sendNotices: notices.sendDue,

    jobs: [
      new Job({
        name: 'webhook-delivery',
        task: 'deliver events to a webhook',
        everyMs: LOOK_EVERY_MS,
        run({ signal, background }) {
          stopping = signal
          return look(background)
        },
      }),
      new Job({
        name: 'webhook-cleanup',
        task: 'remove old deliveries to webhooks',
        everyMs: TIDY_EVERY_MS,
        run: tidy,
      }),
      // No delivery waits for e-mails.
      ...(notices.areSent
        ? [
            new Job({
              name: 'webhook-notices',
              task: 'send notices of disabled webhooks',
              everyMs: NOTIFY_EVERY_MS,
              run: notices.sendDue,
            }),
          ]
        : []),
    ],
  }
}

const RELEASED = { leaseHolder: null, leasedUntil: null } as const

/** Which events are for an endpoint: whatever is read with one selection says nothing of another. */
function selectionOf({ types, clientId, projectId, ownerId, ownerTokenId }: EndpointRow): string {
  return JSON.stringify([types, clientId, projectId, ownerId, ownerTokenId])
}
