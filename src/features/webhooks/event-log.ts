/** The event log, as webhooks read it. */
import { EVERYTHING } from '../../access/visibility.ts'
import type { Database } from '../../database/database.ts'
import { EVENT_TYPE_NAMES, type EventType, eventTypesOf } from '../../event-types.ts'
import { type Id, isId } from '../../lib/id.ts'
import { formatDecimal, NANO_DIGITS } from '../../lib/money.ts'
import { type BillsService, minorDigitsOf } from '../bills/service.ts'
import type { BudgetsService } from '../budgets/service.ts'
import type { Event } from '../events/schema.ts'
import {
  type EventReader,
  type EventSelection,
  type EventsService,
  type EventView,
  eventBody,
} from '../events/service.ts'
import { type EndpointRow, findShownEntry } from './store/endpoints.ts'

export interface LoggedEvent {
  /** Its key in the log. */
  id: number
  type: string
  /** As `GET /events/{id}` returns it to an admin. */
  body: Event
  /** The amount and the scope of the event, for chats. */
  facts: string[]
  /** The page for it, for chats; undefined if it is that of the object. */
  page: string | undefined
}

/** Webhooks belong to admins, who read all events. */
const ADMIN: EventReader = { viewer: EVERYTHING, isAdmin: true }

export type EventLog = ReturnType<typeof createEventLog>

export interface EventLogDependencies {
  db: Database
  events: Pick<EventsService, 'settled' | 'last' | 'positionBefore' | 'count' | 'read' | 'get'>
  bills: Pick<BillsService, 'getBill'>
  budgets: Pick<BudgetsService, 'describeScope'>
  /** What links to pages begin with; undefined if the address of the server is not known. */
  linkBase: () => Promise<string | undefined>
}

export function createEventLog({ db, events, bills, budgets, linkBase }: EventLogDependencies) {
  /** What a chat says of an event besides the fields that changed. */
  async function factsOf({ type, object, entry }: EventView): Promise<string[]> {
    // What an anomaly cost is in the event, as it was found.
    if (entry) return factsOfEntry(entry.uid, { withCost: type !== 'usage.anomaly_found' })
    if (object && isId('bdg', object.id)) return factsOfBudget(object.id)
    return object?.id.startsWith('bil_') ? factsOfBill(object.id) : []
  }

  async function factsOfEntry(
    uid: NonNullable<EventView['entry']>['uid'],
    { withCost }: { withCost: boolean },
  ): Promise<string[]> {
    const entry = await findShownEntry(db.read, uid)
    if (!entry) return []
    const { model, project, costNanos } = entry
    return [
      ...(withCost ? [`cost: ${costNanos === null ? 'unknown' : `$${formatDecimal(costNanos, NANO_DIGITS)}`}`] : []),
      `model: ${model}`,
      ...(project ? [`project: ${project.key} ${project.name}`] : []),
    ]
  }

  async function factsOfBudget(uid: Id<'bdg'>): Promise<string[]> {
    const scope = await budgets.describeScope(uid)
    return scope === undefined ? [] : [`counts: ${scope}`]
  }

  async function factsOfBill(uid: string): Promise<string[]> {
    const { bill, client, project } = await bills.getBill(uid)
    return [
      `total: ${formatDecimal(bill.total, minorDigitsOf(bill.currency))} ${bill.currency}`,
      ...(client ? [`client: ${client.name}`] : []),
      ...(project ? [`project: ${project.key} ${project.name}`] : []),
    ]
  }

  async function logged(view: EventView, { format }: Pick<EndpointRow, 'format'>): Promise<LoggedEvent> {
    const facts = format === 'standard' ? [] : await factsOf(view)
    const base = await linkBase()
    return { id: view.id, type: view.type, body: eventBody(view, base), facts, page: pageOf(view, base) }
  }

  /** The page of the entries that the event lists. */
  function pageOf({ details }: EventView, base: string | undefined): string | undefined {
    const list = details?.after?.list
    return base !== undefined && typeof list === 'string' ? `${base}/entries?${list.split('?')[1]}` : undefined
  }

  const selectionOf = ({ uid, types, clientId, projectId }: EndpointRow): EventSelection => ({
    types: selectedTypes(types),
    scope: clientId === null && projectId === null ? undefined : { engine: db.engine, clientId, projectId },
    webhook: uid,
  })

  return {
    /** The position up to which the log is complete. */
    end: events.settled,

    /** The position after all events, also those of transactions that are still running. */
    last: events.last,

    /** The position before a moment. */
    before: events.positionBefore,

    /** Events for an endpoint after a position, in order, and where to continue. */
    async read(endpoint: EndpointRow, { after, limit }: { after: number; limit: number }) {
      const { views, next, hasMore } = await events.read(ADMIN, { ...selectionOf(endpoint), after, limit })
      const found: LoggedEvent[] = []
      for (const view of views) found.push(await logged(view, endpoint))
      return { events: found, next, hasMore }
    },

    /** Throws `not_found`. */
    get: async (id: string, endpoint: EndpointRow): Promise<LoggedEvent> =>
      logged(await events.get(id, ADMIN), endpoint),

    /** The number of events that wait for an endpoint, at most `limit`. */
    count: (endpoint: EndpointRow, limit: number): Promise<number> =>
      events.count(ADMIN, { ...selectionOf(endpoint), after: endpoint.cursor, limit }),
  }
}

/** The types that an endpoint gets; undefined for all. */
function selectedTypes(patterns: readonly string[]): EventType[] | undefined {
  if (patterns.includes('*')) return undefined
  return EVENT_TYPE_NAMES.filter((type) => patterns.some((pattern) => eventTypesOf(pattern).includes(type)))
}
