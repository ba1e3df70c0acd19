/** Sends one report exactly once, even over an unreliable network. */
import type { ClientConfig } from '../../config.ts'
import type { Issue } from '../../errors.ts'
import { textOf } from '../../lib/response-text.ts'
import { CommandError } from '../failures.ts'
import { note } from '../terminal/print.ts'

/** Pauses between attempts. A server that restarts is back within them; a person is not kept for longer. */
const PAUSES_MS = [500, 1_000, 2_000, 4_000]

/** A server may ask for more patience than {@link PAUSES_MS}, within reason. */
const LONGEST_PAUSE_MS = 30_000

/** Reports take milliseconds; after this long the connection is dead. */
const ATTEMPT_TIMEOUT_MS = 15_000

/** An entry, or a problem, has some kilobytes. */
const ANSWER_LIMIT_BYTES = 1_048_576

/** What comes back of a server that is busy, restarting or limiting: nothing was written. */
const TRY_AGAIN = new Set([429, 502, 503, 504])

interface ProblemAnswer {
  detail?: string
  code?: string
  request_id?: string
  errors?: Issue[]
}

/** The server's answer, or why there is none and the report may be sent again. */
type Attempt = { response: Response } | { reason: string; pauseMs?: number }

async function attempt(address: string, request: RequestInit): Promise<Attempt> {
  let response: Response
  try {
    response = await fetch(address, { ...request, signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS) })
  } catch (error) {
    return { reason: connectionIssue(error as Error) }
  }
  if (!TRY_AGAIN.has(response.status)) return { response }
  const seconds = Number(response.headers.get('retry-after'))
  const reason = `the server returned ${response.status}: ${(await problemOf(response))?.detail ?? response.statusText}`
  return seconds > 0 ? { reason, pauseMs: Math.min(seconds * 1_000, LONGEST_PAUSE_MS) } : { reason }
}

function connectionIssue(error: Error): string {
  if (error.name === 'TimeoutError') return `no response within ${ATTEMPT_TIMEOUT_MS / 1_000} s`
  const { code } = error as { code?: unknown }
  if (code === 'ECONNREFUSED') return 'connection refused'
  if (code === 'ENOTFOUND') return 'host not found'
  return error.message
}

async function problemOf(response: Response): Promise<ProblemAnswer | undefined> {
  if (!response.headers.get('content-type')?.startsWith('application/problem+json')) return undefined
  return JSON.parse(await textOf(response, ANSWER_LIMIT_BYTES)) as ProblemAnswer
}

/** Whatever else answers at the address, a page of a proxy perhaps, answers in something else. */
function isJson(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('application/json') ?? false
}

async function refusal(url: string, response: Response): Promise<CommandError> {
  const problem = await problemOf(response)
  if (!problem) {
    const moved = response.headers.get('location')
    const what = moved ? `it redirects to ${moved}. Use that URL with --url` : 'is this a Tally server?'
    return new CommandError(`${url} returned ${response.status} ${response.statusText}: ${what}`)
  }
  const issues = problem.errors?.map(({ pointer, message }) => `  ${pointer || '/'}: ${message}`) ?? []
  const detail = issues.length > 0 ? 'some fields are invalid:' : problem.detail
  return new CommandError(
    [`The server refused the entry (${response.status} ${problem.code}): ${detail}`, ...issues].join('\n'),
  )
}

/**
 * Sends the JSON text of a report and answers the server's. What fails on the way is sent again with the same key, so
 * that an entry whose answer was lost is not made twice. Reports of a session need no key: they never add up.
 */
export async function deliver(
  { url, token }: ClientConfig,
  text: string,
  { inSession }: { inSession: boolean },
): Promise<{ created: boolean; answer: string }> {
  const address = `${url}/api/v1/token-entries`
  const request: RequestInit = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      ...(inSession ? {} : { 'idempotency-key': crypto.randomUUID() }),
    },
    body: text,
    // Following would send the token to wherever the answer points.
    redirect: 'manual',
  }
  for (let count = 0; ; count += 1) {
    const result = await attempt(address, request)
    if ('response' in result) {
      if (!result.response.ok || !isJson(result.response)) throw await refusal(address, result.response)
      return { created: result.response.status === 201, answer: await textOf(result.response, ANSWER_LIMIT_BYTES) }
    }
    const pauseMs = PAUSES_MS[count]
    if (pauseMs === undefined) {
      throw new CommandError(
        `Could not send the entry to ${url} after ${count + 1} attempts: ${result.reason.replace(/\.$/, '')}. Check that the server is running and that --url is correct.`,
      )
    }
    note(`tally: ${url}: ${result.reason.replace(/\.$/, '')}; retrying`)
    await Bun.sleep(result.pauseMs ?? pauseMs)
  }
}
