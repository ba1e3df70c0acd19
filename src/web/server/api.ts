/** The same HTTP API as everybody's, typed by the server's own routes. */
import { treaty } from '@elysiajs/eden'
import type { App } from '../../app.ts'
import { Problem, unreachable } from './problem.ts'

export const api = treaty<App>(location.origin, {
  // Moments stay the text they are: they are shown in the organization's zone, never in the browser's.
  parseDate: false,
}).api.v1

/** A call that has ended, whatever it was. */
export interface Settled {
  data: unknown
  error: { status: unknown; value: unknown } | null
  response: Response
}

/** What a call answers as JSON. A CSV is fetched by a link, never by a call. */
export type Body<Call extends Settled> = Exclude<Call['data'], Response | null>

/** The body of an answer, or throws its {@link Problem}. */
export async function answer<Call extends Settled>(call: Promise<Call>): Promise<Body<Call>> {
  let settled: Call
  try {
    settled = await call
  } catch {
    throw unreachable()
  }
  const { data, error } = settled
  if (!error) return data as Body<Call>
  // Eden answers a failed fetch as a 503 without a response.
  if (!settled.response) throw unreachable()
  throw Problem.of(settled.response, error.value)
}
