import type { Caller } from '../../../access/caller.ts'
import { refusal } from '../../../errors.ts'
import { requireCaller } from '../../../http/access.ts'
import { EVENT_STREAM_CONTENT } from '../../../http/documentation.ts'
import { eventStream, HEARTBEAT_MS, isEventStream, STREAM_MS, serverSentEvent } from '../../../http/event-stream.ts'
import { linkBase } from '../../../http/link-base.ts'
import { RENEW_MS } from '../../../http/renewal.ts'
import type { PublicUrl } from '../../../http/same-origin.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import { listParameter, parameter, textParameter } from '../../../operations/parameters.ts'
import { EVENT_TYPE_NAMES, EVENT_TYPES } from '../../../shared/event-types.ts'
import { EXAMPLE_EVENT } from '../examples.ts'
import { readEventId, readEventsQuery, writeEventId } from '../query.ts'
import { eventReaderOf, READ_SCOPE } from '../reader.ts'
import { Event, EventList } from '../schema.ts'
import type { EventReader, EventsService } from '../service.ts'
import { eventBody } from '../wire.ts'

interface Needs {
  events: EventsService
  publicUrl: PublicUrl
}

/** Intentionally only read: events are recorded with what causes them. */
const READING = { tag: 'Events', allow: ['read', 'session'], scope: READ_SCOPE } as const

const TYPE_LIST = EVENT_TYPE_NAMES.map((type) => `- \`${type}\`: ${EVENT_TYPES[type].description}`).join('\n')

/** Events that a stream reads at once. */
const STREAM_BATCH = 100

/** Longer than a request may wait, so that the connection does not end before its response. */
const CONNECTION_S = 90

/** The operations require the scope without which a token reads none. */
const readerOf = (caller: Caller | null): EventReader => eventReaderOf(requireCaller(caller))!

const listEvents = endpoint({
  ...READING,
  id: 'listEvents',
  method: 'GET',
  path: '/events',
  summary: 'List or follow events',
  description: `What happened, oldest first, as far as you may see it: events of entries and token sheets if you can see the entry or the sheet now; events of budgets also as a lead of their project; all other events with the roles billing and admin, and those of people, tokens, settings and the server with the role admin, but not with a read token, and with an API token only if it also has the scope \`audit:read\`. Events of something else are skipped, also if \`types\` names them.

Keep \`next_after\`, and pass it as \`after\` the next time: no event is missed, and none comes twice. While \`has_more\` is true, read on at once, even if a page is empty. With \`wait\`, the response comes as soon as there is an event. After \`retention_events\` months (a setting), events are removed; if some of those after your position are, the response is a 410.

With \`Accept: text/event-stream\`, the response is a stream of server-sent events, from now on if there is neither \`after\` nor the header \`Last-Event-ID\`. Each has the \`id\` of the event, and the object as \`data\`. A stream ends after a minute at the latest; clients such as \`EventSource\` continue by themselves.

An entry is reported as one \`entry.created\`, and as \`entry.updated\` each time a later report of its session changes it. Drafts on token sheets have no such events: \`sheet.submitted\` is the event of all of them.

${TYPE_LIST}`,
  query: {
    after: textParameter(
      'The position to continue from: the id of the last event that you have, or the `next_after` of the previous response. `now` skips everything until now; without it, the list begins with the oldest event that is left.',
    ),
    types: listParameter('Types of events, or all of an area, such as `entry.*`.'),
    limit: parameter({ type: 'integer', minimum: 1, maximum: 1_000, description: 'Events per page; 50 by default.' }),
    wait: parameter({
      type: 'integer',
      minimum: 0,
      maximum: 60,
      description: 'Seconds to wait for an event if there is none yet; 0 by default.',
    }),
  },
  answer: result(
    'Events.',
    EventList,
    { data: [EXAMPLE_EVENT], has_more: false, next_after: 'evt_48213' },
    { also: EVENT_STREAM_CONTENT },
  ),
  problems: ['events_expired', 'too_many_waiting', 'database_deadline'],
  run: async (needs: Needs, call) => {
    const { events, publicUrl } = needs
    const { caller, request, server } = call.served
    const requested = readEventsQuery(call.query)
    const who = async () => readerOf(await call.renewed())
    const { person } = requireCaller(caller)
    const isStream = isEventStream(request) && request.method === 'GET'
    const after = await events.begin(isStream ? (lastEventId(request) ?? requested.after ?? 'now') : requested.after)
    if (isStream) {
      const end = events.beginWaiting(person.id)
      return follow(needs, { request, who, selection: { after, types: requested.types }, end })
    }
    const end = requested.waitMs > 0 ? events.beginWaiting(person.id) : () => {}
    try {
      if (requested.waitMs > 0) server?.timeout(request, CONNECTION_S)
      const wait = { timeoutMs: requested.waitMs, renewMs: RENEW_MS, signal: request.signal }
      const { views, next, hasMore } = await events.readNext(who, { ...requested, after }, wait)
      const base = await linkBase(request, publicUrl)
      return { data: views.map((view) => eventBody(view, base)), has_more: hasMore, next_after: writeEventId(next) }
    } finally {
      end()
    }
  },
})

interface Follower {
  request: Request
  who: () => Promise<EventReader>
  selection: Omit<Parameters<EventsService['follow']>[1], 'limit'>
  end: () => void
}

/** A stream of events from a position on. */
function follow({ events, publicUrl }: Needs, { request, who, selection, end }: Follower): Response {
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(STREAM_MS)])
  async function* chunks() {
    const base = await linkBase(request, publicUrl)
    // How soon a client reads on after the end of a stream.
    yield 'retry: 1000\n\n'
    const limits = { idleMs: HEARTBEAT_MS, renewMs: RENEW_MS, signal }
    for await (const { views, next } of events.follow(who, { ...selection, limit: STREAM_BATCH }, limits)) {
      const written = views.map((view) => serverSentEvent(writeEventId(view.id), eventBody(view, base)))
      const last = views.at(-1)?.id === next ? '' : serverSentEvent(writeEventId(next))
      yield written.join('') + last
    }
  }
  return eventStream(chunks(), end)
}

/** What a client of a stream had when the previous one ended. */
function lastEventId({ headers }: Request): number | undefined {
  const sent = headers.get('last-event-id')
  if (sent === null || sent === '') return undefined
  const id = readEventId(sent)
  if (id !== undefined) return id
  throw refusal('/headers/last-event-id', 'bad_format', 'must be the id of an event (evt_…)')
}

const getEvent = endpoint({
  ...READING,
  id: 'getEvent',
  method: 'GET',
  path: '/events/:id',
  params: { id: 'Id of the event (evt_…).' },
  summary: 'Get an event',
  answer: result('The event.', Event, EXAMPLE_EVENT),
  run: async ({ events, publicUrl }: Needs, { params, served: { caller, request } }) =>
    eventBody(await events.get(params.id, readerOf(caller)), await linkBase(request, publicUrl)),
})

export const eventOperations = [listEvents, getEvent] as const
