/** Client of the public HTTP API, typed by the server's routes. */
import { treaty } from '@elysiajs/eden'
import type { App } from '../../app.ts'
import { takeFirstAnswer } from './first-answers.ts'
import { Problem, unreachable } from './problem.ts'
import { noteVersion } from './versions.ts'

const client = (fetch: RequestInit, fetcher?: typeof globalThis.fetch) =>
  treaty<App>(location.origin, {
    // Keep timestamps as strings: they are shown in the organization's zone, not the browser's.
    parseDate: false,
    fetch,
    ...(fetcher && { fetcher }),
  }).api.v1

const fetchUnlessSent = ((url: string, options?: RequestInit) =>
  takeFirstAnswer(url) ?? fetch(url, options)) as typeof fetch

/** For changes, which are completed even if the person leaves the page. */
export const api = client({})

/**
 * For queries. The request is aborted when nothing on the page waits for its answer anymore, so that the server can stop
 * working on it.
 */
export const apiUntil = (signal: AbortSignal) => client({ signal }, fetchUnlessSent)

/** A completed call, successful or not. */
export interface Settled {
  data: unknown
  error: { status: unknown; value: unknown } | null
  response: Response
}

/** The JSON body of a response. CSV is downloaded through links, never through calls. */
export type Body<Call extends Settled> = Exclude<Call['data'], Response | null>

/** Returns the response body, or throws its {@link Problem}. */
export async function answer<Call extends Settled>(call: Promise<Call>): Promise<Body<Call>> {
  let settled: Call
  try {
    settled = await call
  } catch {
    throw unreachable()
  }
  const { data, error } = settled
  if (!error) {
    noteVersion(data, settled.response)
    return data as Body<Call>
  }
  // Eden reports a failed fetch as a 503 without a response.
  if (!settled.response) throw unreachable()
  throw Problem.of(settled.response, error.value)
}

/** The query of one answer: `useQuery(apiQuery(['bills', id], (api) => api.bills({ id }).get()))`. */
export const apiQuery = <const Key extends readonly unknown[], Call extends Settled>(
  queryKey: Key,
  ask: (api: ReturnType<typeof apiUntil>) => Promise<Call>,
) => ({ queryKey, queryFn: ({ signal }: { signal: AbortSignal }) => answer(ask(apiUntil(signal))) })
