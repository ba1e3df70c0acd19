import type { Caller } from '../../../access/caller.ts'
import { approvalViewerOf, requireCaller } from '../../../http/access.ts'
import { EVENT_STREAM_CONTENT } from '../../../http/documentation.ts'
import { eventStream, HEARTBEAT_MS, isEventStream, STREAM_MS, serverSentEvent } from '../../../http/event-stream.ts'
import { endpoint, result } from '../../../operations/operation.ts'
import { textParameter } from '../../../operations/parameters.ts'
import { queryReader } from '../../../schema/query.ts'
import { CHANGE_KINDS } from '../kinds.ts'
import { ChangesAnswer } from '../schema.ts'
import type { ChangesService } from '../service.ts'

interface Needs {
  changes: ChangesService
}

/** Fifteen digits are below 2^53. */
const POSITION = /^(0|[1-9]\d{0,14})$/

/** Throws 422. The header is that of a browser which continues by itself. */
const readAfter = queryReader((query, { headers }: Request): number | undefined => {
  const text = headers.get('last-event-id') || query.text('after')
  if (text !== undefined && !POSITION.test(text)) query.refuse('after', 'bad_format', 'must be the id of a message')
  return text === undefined ? undefined : Number(text)
})

const sightOf = (caller: Caller | null) => ({
  viewer: approvalViewerOf(caller),
  isAdmin: requireCaller(caller).person.role === 'admin',
})

export const followChanges = endpoint({
  id: 'followChanges',
  tag: 'Events',
  method: 'GET',
  path: '/changes',
  summary: 'Follow changes',
  description: `For pages that are open: that something you can see has changed since \`after\`, and never what. The kinds are ${CHANGE_KINDS.map((kind) => `\`${kind}\``).join(', ')}. With \`Accept: text/event-stream\`, the response is a stream of server-sent events, at most one a second, with \`{"kinds": ["entries"]}\` as \`data\`. It ends after a minute; an \`EventSource\` continues by itself. Programs follow \`GET /events\` instead.`,
  allow: ['session'],
  scope: 'people-only',
  query: {
    after: textParameter('The `id` of an earlier response or message, to get what changed since; now by default.'),
  },
  answer: result('What changed.', ChangesAnswer, { id: '48213', kinds: ['entries'] }, { also: EVENT_STREAM_CONTENT }),
  problems: ['too_many_waiting', 'database_deadline'],
  run: async ({ changes }: Needs, call) => {
    const { caller, request } = call.served
    const { person } = requireCaller(caller)
    const after = readAfter(call.query, request)
    if (!isEventStream(request) || request.method !== 'GET') {
      const { position, kinds } = await changes.read({ ...sightOf(caller), after })
      return { id: String(position), kinds }
    }
    const end = changes.begin(person.id)
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(STREAM_MS)])
    const sight = async () => sightOf(await call.renewed())
    const watched = { sight, after, idleMs: HEARTBEAT_MS, signal }
    async function* chunks() {
      // How soon a browser continues after the end of a stream.
      yield 'retry: 2000\n\n'
      for await (const { position, kinds } of changes.watch(watched)) {
        yield serverSentEvent(String(position), kinds.length > 0 ? { kinds } : undefined)
      }
    }
    return eventStream(chunks(), end)
  },
})
