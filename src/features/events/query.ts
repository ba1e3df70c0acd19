/** Query parameters of the event log. Issues are reported under `/query/<name>`. Pure. */

import { nearestNames } from '../../lib/nearest-names.ts'
import { type Query, queryReader } from '../../schema/query.ts'
import { EVENT_TYPE_NAMES, type EventType, eventTypesOf } from '../../shared/event-types.ts'

export interface EventsQuery {
  /** Undefined for the oldest event that is left. */
  after: number | 'now' | undefined
  /** Undefined for all. */
  types: EventType[] | undefined
  limit: number
  waitMs: number
}

/** Proxies usually end a request without a response after a minute. */
const WAIT_LIMIT_S = 60

/** Fifteen digits are below 2^53. */
const EVENT_ID = /^evt_(0|[1-9]\d{0,14})$/

export function writeEventId(id: number): string {
  return `evt_${id}`
}

/** Undefined if the text is not the id of an event. */
export function readEventId(text: string): number | undefined {
  const match = EVENT_ID.exec(text)
  return match ? Number(match[1]) : undefined
}

export const readEventsQuery = queryReader(
  (query): EventsQuery => ({
    after: readAfter(query),
    types: readTypes(query),
    limit: query.limit(),
    waitMs: readWait(query),
  }),
)

function readAfter(query: Query): EventsQuery['after'] {
  const text = query.text('after')
  if (text === undefined || text === 'now') return text
  return readEventId(text) ?? query.refuse('after', 'bad_format', 'must be the id of an event (evt_…), or `now`')
}

function readTypes(query: Query): EventType[] | undefined {
  const patterns = query.list('types')
  if (!patterns) return undefined
  const unknown = patterns.find((pattern) => eventTypesOf(pattern).length === 0)
  if (unknown !== undefined) return query.refuse('types', 'not_allowed', unknownType(unknown))
  return [...new Set(patterns.flatMap(eventTypesOf))]
}

function unknownType(pattern: string): string {
  const [nearest] = nearestNames(pattern, EVENT_TYPE_NAMES)
  const hint = nearest !== undefined ? ` Did you mean '${nearest}'?` : ''
  return `'${pattern}' is neither a type of event nor all of an area, such as 'entry.*'.${hint}`
}

function readWait(query: Query): number {
  const text = query.text('wait')
  if (text === undefined) return 0
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  if (seconds <= WAIT_LIMIT_S) return seconds * 1_000
  query.refuse('wait', 'not_allowed', `must be a whole number of seconds from 0 to ${WAIT_LIMIT_S}`)
  return 0
}
