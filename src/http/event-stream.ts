/**
 * Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). A stream is read on only as fast
 * as its client reads, and ends on the server's side after a while: clients continue where it ended by themselves.
 */
import { Problem } from '../errors.ts'
import { VARY } from './responses.ts'

/** Proxies usually end a response after a minute without a byte. */
export const STREAM_MS = 60_000

/** A comment is sent as often: less than the time after which Tally's own server, or a proxy, ends a silent connection. */
export const HEARTBEAT_MS = 10_000

/** What a client that reads nothing leaves in the buffers of its socket. */
const STREAM_BYTES = 1_048_576

/** For what is being sent when the time is over. */
const GRACE_MS = 5_000

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // It is not compressed: a proxy and the client would wait for more of it.
  vary: VARY,
  // nginx passes on each event at once.
  'x-accel-buffering': 'no',
}

export function isEventStream({ headers }: Request): boolean {
  return /(^|[\s,])text\/event-stream\s*(;|,|$)/i.test(headers.get('accept') ?? '')
}

/** One event of a stream; the position alone, if it has no data. */
export function serverSentEvent(id: string, data?: object): string {
  // JSON has no line breaks outside of strings, where they are escaped.
  return `id: ${id}\n${data === undefined ? ': nothing new' : `data: ${JSON.stringify(data)}`}\n\n`
}

/** @param onEnd called once, however the stream ends */
export function eventStream(chunks: AsyncGenerator<string>, onEnd: () => void): Response {
  const encoder = new TextEncoder()
  let sentBytes = 0
  let hasEnded = false
  let controller: ReadableStreamDefaultController<Uint8Array>
  const end = () => {
    if (hasEnded) return
    hasEnded = true
    clearTimeout(timer)
    chunks.return(undefined).catch(() => {})
    onEnd()
  }
  const close = () => {
    if (hasEnded) return
    end()
    controller.close()
  }
  const timer = setTimeout(close, STREAM_MS + GRACE_MS)
  // The timer must not delay shutdown.
  timer.unref()
  const stream = new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given
      },
      async pull() {
        try {
          const { done, value } = await chunks.next()
          if (hasEnded) return
          if (done) return close()
          const bytes = encoder.encode(value)
          sentBytes += bytes.byteLength
          controller.enqueue(bytes)
          if (sentBytes > STREAM_BYTES) close()
        } catch (error) {
          // Who may not read any more gets the end of the stream, and the reason when they continue it.
          if (error instanceof Problem && error.status < 500) return close()
          end()
          throw error
        }
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { headers: HEADERS })
}
