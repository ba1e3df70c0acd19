import type { Caller } from '../access/caller.ts'
import { currentCaller, type DatabaseCaller, onBehalfOf } from '../database/caller.ts'

/** Requests that only read, although they have a body. */
const READING_BODIES = /\/(preview|test|test\/entries|check)$/

/**
 * Stops the slow reads of a request when its client disconnects. Only of requests that change nothing: a change that was
 * sent is carried out, and the path of a report pays nothing.
 */
export function stopReadsOnDisconnect<Answer>(handle: (request: Request) => Answer) {
  return (request: Request): Answer => {
    const { method } = request
    if (method !== 'GET' && method !== 'HEAD' && !READING_BODIES.test(request.url)) return handle(request)
    const caller: DatabaseCaller = { signal: request.signal, key: 0 }
    const answer = onBehalfOf(caller, () => handle(request))
    return answer instanceof Promise ? (answer.then((response) => withSource(response, caller)) as Answer) : answer
  }
}

/** With the server that answered its reads, where there is a read replica. */
function withSource(response: Response, { readFrom }: DatabaseCaller): Response {
  if (readFrom) response.headers.set('tally-read-from', readFrom)
  return response
}

/** Requests of one person take turns with those of all others, however many tokens they have. */
export function takeTurnsAs({ person }: Caller): void {
  const reading = currentCaller()
  if (reading) reading.key = person.id
}
