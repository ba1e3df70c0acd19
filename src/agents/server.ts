/** The server, as the developer's machine sees it: over HTTP, with a service token. */
import type { ClientConfig } from '../config.ts'
import type { Issue } from '../errors.ts'
import type { Me } from '../features/people/schema.ts'

/** Reports take milliseconds, a full batch less than a second; after this long the connection is dead. */
const ATTEMPT_TIMEOUT_MS = 15_000

/** What the batch endpoint takes at most in one call. */
export const BATCH_LIMIT = 1_000

/** A refusal as the server words it. */
export interface Refusal {
  status: number
  code: string
  detail: string
  errors?: Issue[]
}

/** In one line; where fields are at issue, with what is wrong with each. */
export function refusalText({ code, detail, errors = [] }: Refusal): string {
  const issues = errors.map(({ pointer, message }) => `${pointer || '/'} ${message}`).join(', ')
  return `${code}: ${issues || detail}`
}

/** What became of one report. */
export type Reported =
  | { result: 'created' | 'updated' | 'repeated'; refusal: null }
  | { result: 'rejected'; refusal: Refusal }

/** Nothing was recorded of what was sent. */
export class ServerError extends Error {
  constructor(
    message: string,
    /** The status of the answer; null where nothing has answered. */
    readonly status: number | null,
  ) {
    super(message)
  }

  /** Whether the same call may succeed before a person has done something. */
  get mayPass(): boolean {
    return this.status === null || isPassing(this.status)
  }

  /** Whether what was sent is at issue, and other things may be taken. */
  get isOfContent(): boolean {
    return this.status === 400 || this.status === 413 || this.status === 422
  }
}

/** Answers of a server that is busy, restarting or limiting, or of a proxy in front of it. */
function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/** Says whom the token belongs to, and what kind it is of. Throws {@link ServerError}. */
export function readMe(server: ClientConfig): Promise<Me> {
  return call<Me>(server, '/api/v1/me')
}

/**
 * Reports at most {@link BATCH_LIMIT} entries, each as JSON text, and answers what became of each. Reports of a session
 * are its totals so far, so that one that is sent twice is counted once. Throws {@link ServerError}.
 */
export async function reportBatch(server: ClientConfig, reports: readonly string[]): Promise<Reported[]> {
  const { results } = await call<{ results: { result: Reported['result']; problem: Refusal | null }[] }>(
    server,
    '/api/v1/token-entries/batch',
    `[${reports.join(',')}]`,
  )
  if (results?.length !== reports.length) {
    throw new ServerError(`${server.url} did not say what became of each entry: is that a Tally server?`, 200)
  }
  return results.map(({ result, problem }) =>
    result === 'rejected' ? { result, refusal: problem! } : { result, refusal: null },
  )
}

/** Whether the server refused an entry for a reason of its own, which may have passed at the next attempt. */
export function mayPass({ refusal }: Reported): boolean {
  return refusal !== null && isPassing(refusal.status)
}

async function call<Answer>(server: ClientConfig, path: string, body?: string): Promise<Answer> {
  const response = await send(server, path, body)
  const type = response.headers.get('content-type') ?? ''
  try {
    if (response.ok && type.startsWith('application/json')) return (await response.json()) as Answer
    if (type.startsWith('application/problem+json')) throw refused(server.url, (await response.json()) as Refusal)
  } catch (error) {
    if (error instanceof ServerError) throw error
    throw new ServerError(`${server.url} ended its answer too early.`, null)
  }
  const moved = response.headers.get('location')
  const what = moved ? `it has moved to ${moved}` : 'is that a Tally server?'
  throw new ServerError(`${server.url} answered ${response.status}: ${what}`, response.status)
}

function refused(url: string, { status, detail }: Refusal): ServerError {
  const what =
    status === 401 || status === 403
      ? `${url} does not take the token: ${detail} \`tally agents login\` stores another one.`
      : `${url} answered ${status}: ${detail}`
  return new ServerError(what, status)
}

async function send({ url, token }: ClientConfig, path: string, body: string | undefined): Promise<Response> {
  try {
    return await fetch(url + path, {
      ...(body === undefined ? {} : { method: 'POST', body }),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      // Following would send the token to wherever the answer points.
      redirect: 'manual',
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    })
  } catch (error) {
    throw new ServerError(`${url} cannot be reached: ${connectionIssue(error as Error)}.`, null)
  }
}

function connectionIssue(error: Error): string {
  if (error.name === 'TimeoutError') return `no answer came within ${ATTEMPT_TIMEOUT_MS / 1_000} s`
  const { code } = error as { code?: unknown }
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'nothing listens there'
  if (code === 'ENOTFOUND' || code === 'FailedToOpenSocket') return 'no machine has that name'
  return error.message.replace(/\.$/, '')
}
