/** The event log, as webhooks read it. */
import type { Database } from '../../database/database.ts'
import { notFound } from '../../errors.ts'
import { type Id, isId } from '../../lib/id.ts'
import { formatDecimal, NANO_DIGITS } from '../../lib/money.ts'
import type { EventType } from '../../shared/event-types.ts'
import { minorDigitsOf } from '../bills/contract.ts'
import type { BillsService } from '../bills/service.ts'
import type { BudgetsService } from '../budgets/service.ts'
import type { Event } from '../events/schema.ts'
import { type EventSelection, type EventsService, type EventView, eventBody } from '../events/service.ts'
import { type Rights, readsDetails, scopeOfDetails, selectedTypes } from './rights.ts'
import { type EndpointRow, findShownEntry } from './store/endpoints.ts'

export interface LoggedEvent {
  /** Its key in the log. */
  id: number
  type: EventType
  /** As `GET /events/{id}` returns it. */
  body: Event
  /** The amount and the scope of the event, for chats. */
  facts: string[]
  /** The page for it, for chats; undefined if it is that of the object. */
  page: string | undefined
}

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
  /** What a chat says of an event besides the fields that changed, as far as these rights include it. */
  async function factsOf({ type, object, entry }: EventView, rights: Rights): Promise<string[]> {
    if (!readsDetails(rights, type)) return []
    switch (scopeOfDetails(type)) {
      case 'entries:read':
        // What an anomaly cost is in the event, as it was found.
        return entry ? factsOfEntry(entry.uid, { withCost: type !== 'usage.anomaly_found' }) : []
      case 'budgets:read':
        return object && isId('bdg', object.id) ? factsOfBudget(object.id) : []
      case 'bills:read':
        return object?.id.startsWith('bil_') ? factsOfBill(object.id) : []
      default:
        return []
    }
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

  async function logged(view: EventView, { format }: EndpointRow, rights: Rights): Promise<LoggedEvent> {
    const facts = format === 'standard' ? [] : await factsOf(view, rights)
    const base = await linkBase()
    return { id: view.id, type: view.type, body: eventBody(view, base), facts, page: pageOf(view, base) }
  }

  /** The page of the entries that the event lists. */
  function pageOf({ details }: EventView, base: string | undefined): string | undefined {
    const list = details?.after?.list
    return base !== undefined && typeof list === 'string' ? `${base}/entries?${list.split('?')[1]}` : undefined
  }

  const selectionOf = ({ uid, types, clientId, projectId }: EndpointRow): EventSelection => ({
    types: types.includes('*') ? undefined : selectedTypes(types),
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

    /** Events for an endpoint after a position, as far as these rights reach, in order, and where to continue. */
    async read(endpoint: EndpointRow, rights: Rights, { after, limit }: { after: number; limit: number }) {
      if (!rights.reader) return { events: [], next: after, hasMore: false }
      const { views, next, hasMore } = await events.read(rights.reader, { ...selectionOf(endpoint), after, limit })
      const found: LoggedEvent[] = []
      for (const view of views) found.push(await logged(view, endpoint, rights))
      return { events: found, next, hasMore }
    },

    /** Throws `not_found`, also for an event that these rights do not reach. */
    async get(id: string, endpoint: EndpointRow, rights: Rights): Promise<LoggedEvent> {
      if (!rights.reader) throw notFound(`The event ${id}`)
      return logged(await events.get(id, rights.reader), endpoint, rights)
    },

    /** The number of events that wait for an endpoint, at most `limit`. */
    count: async (endpoint: EndpointRow, { reader }: Rights, limit: number): Promise<number> =>
      reader ? events.count(reader, { ...selectionOf(endpoint), after: endpoint.cursor, limit }) : 0,
  }
}
