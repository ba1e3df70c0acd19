/** The thread that exchanges HTTP messages with other servers; it runs only while there is something to send. */
import { JobThread } from '../job-thread.ts'
import type { Exchange, ExchangeResponse } from './exchange.ts'
import { failure } from './failures.ts'
import type { FromOutgoing } from './outgoing-worker.ts'

/** Each waits for the other server most of the time, and holds at most what that may send. */
const AT_ONCE = 64

/** Longer than any exchange may take, in case the thread itself hangs. */
const DEADLINE_MS = 300_000

/** Deliveries come in groups; an idle thread holds a few megabytes. */
const IDLE_MS = 30_000

const thread = new JobThread<Exchange, FromOutgoing>({
  program: new URL('./outgoing-worker.ts', import.meta.url).href,
  atOnce: AT_ONCE,
  deadlineMs: DEADLINE_MS,
  idleMs: IDLE_MS,
  unfinished: (reason) => new Error(`the request was not finished: ${reason}`),
})

/** As `exchange` does. */
export async function exchangeOnThread(
  request: Exchange,
  onBytes: (bytes: number, total: number | undefined) => void = () => {},
): Promise<ExchangeResponse> {
  const answer = await thread.run(request, [], ({ bytes, total }) => onBytes(bytes, total))
  if ('failed' in answer) throw failure(answer.failed.code ?? '', answer.failed.message)
  return answer.response
}
