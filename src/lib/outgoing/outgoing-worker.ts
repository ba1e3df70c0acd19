/** Exchanges HTTP messages with other servers off the main thread: what they send must not slow down reports. */
import { answerJobs } from '../job-thread.ts'
import { type Exchange, type ExchangeResponse, exchange } from './exchange.ts'

export type FromOutgoing =
  | { part: { bytes: number; total: number | undefined } }
  | { response: ExchangeResponse }
  | { failed: { code: string | undefined; message: string } }

answerJobs<Exchange, FromOutgoing>(async (request, post) => {
  try {
    const response = await exchange(request, (bytes, total) => post({ part: { bytes, total } }))
    post({ response }, [response.body.buffer])
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    post({ failed: { code, message } })
  }
})
