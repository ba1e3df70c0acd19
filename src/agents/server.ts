/** HTTP client of the server for the developer's machine, authenticated with a service token. */
import type { ClientConfig } from '../config.ts'
import type { Issue } from '../errors.ts'
import type { AgentStatusReport } from '../features/agent-status/schema.ts'
import type { TokenEntry } from '../features/entries/schema.ts'
import type { Me } from '../features/people/schema.ts'
import type { Receipt } from '../features/receipts/schema.ts'
import type { ExchangedTokens, TokenExchange } from '../features/trusts/schema.ts'
import { parseRawJson } from '../lib/exact-json.ts'
import { textOf } from '../lib/response-text.ts'
import type { SessionUse } from './agent.ts'
import { findProvenServer } from './proven-server.ts'
import { type ReportText, SLICES_LIMIT } from './report.ts'

/** Reports take milliseconds, a full batch less than a second; after this long the connection is dead. */
const ATTEMPT_TIMEOUT_MS = 15_000

/** The most entries that the batch endpoint accepts in one call. */
export const BATCH_LIMIT = 1_000

/** The results of a full batch of entries with long summaries are some megabytes. */
const ANSWER_LIMIT_BYTES = 64 * 1_048_576

/** An error as returned by the server. */
export interface Refusal {
  status: number
  code: string
  detail: string
  errors?: Issue[]
}

/** One line of text; for invalid fields, with the issue of each. */
export function refusalText({ code, detail, errors = [] }: Refusal): string {
  const issues = errors.map(({ pointer, message }) => `${pointer || '/'} ${message}`).join(', ')
  return `${code}: ${issues || detail}`
}

/** The outcome of one report. */
export type Reported =
  /** `entries` is their number: a session has one for each of its slices. `isNew` if the server had none of them. */
  | { result: 'created' | 'updated' | 'repeated'; refusal: null; isHeld: boolean; isNew: boolean; entries: number }
  | { result: 'rejected'; refusal: Refusal }

/** What a batch would do to an entry. */
export interface PlannedEntry {
  result: 'created' | 'updated' | 'repeated'
  /** The entry as it is; null if it would be created. */
  before: TokenEntry | null
  after: TokenEntry
}

interface ResultBody {
  result: Reported['result']
  problem: Refusal | null
  entry?: { status: string } | null
  /** Absent from servers of earlier versions. */
  entries?: { result: string }[]
}

/** A failed call: the server recorded nothing. */
export class ServerError extends Error {
  constructor(
    message: string,
    /** The status of the response; null if there was none. */
    readonly status: number | null,
  ) {
    super(message)
  }

  /** Whether a retry may succeed without anyone changing anything. */
  get mayPass(): boolean {
    return this.status === null || isPassing(this.status)
  }

  /** Whether the content of the call is the problem, so that other calls may succeed. */
  get isOfContent(): boolean {
    return this.status === 400 || this.status === 413 || this.status === 422
  }
}

/** Responses of a server that is busy, restarting or rate limiting, or of a proxy in front of it. */
function isPassing(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/** Returns the owner and the kind of the token. Throws {@link ServerError}. */
export function readMe(server: ClientConfig): Promise<Me> {
  return call<Me>(server, '/api/v1/me')
}

/** With exact amounts, as raw JSON. Throws {@link ServerError}. */
export function readReceipt(server: ClientConfig, query: URLSearchParams): Promise<Receipt> {
  return call<Receipt>(server, `/api/v1/reports/receipt?${query}`, {
    parse: parseRawJson,
    advice: 'Use a read token of somebody who may see it, in TALLY_READ_TOKEN.',
  })
}

/** The token of a job, of the first kind that is asked for. Throws {@link ServerError}. */
export async function exchangeIdToken(url: string, request: TokenExchange): Promise<ExchangedTokens['data'][number]> {
  const body = JSON.stringify(request)
  const { data } = await call<ExchangedTokens>({ url }, '/api/v1/tokens/exchange', { body, advice: '' })
  return data[0]!
}

/** The organization's time zone. Undefined from servers of earlier versions, which take no slices either. */
export async function readTimeZone(server: ClientConfig): Promise<string | undefined> {
  const { organization }: { organization: { time_zone?: string } } = await readMe(server)
  return organization.time_zone
}

/** The time zone in which sessions with very many cells are divided into days; undefined if there are none. */
export async function findTimeZone(server: ClientConfig, uses: readonly SessionUse[]): Promise<string | undefined> {
  if (!uses.some(({ cells }) => cells().length > SLICES_LIMIT)) return undefined
  return (await readTimeZone(server)) ?? 'UTC'
}

/** Servers of earlier versions, which know no slices, or no plans. */
const withoutSlices = new WeakSet<ClientConfig>()
const withoutFunding = new WeakSet<ClientConfig>()

/**
 * Reports at most {@link BATCH_LIMIT} entries and returns the outcome of each. Reports of a session are its totals so far,
 * so a report that is sent twice counts once. Throws {@link ServerError}.
 */
export async function reportBatch(server: ClientConfig, reports: readonly ReportText[]): Promise<Reported[]> {
  if (!withoutSlices.has(server)) {
    const results = await sendBatch(server, reports.map(slicedFor(server)))
    if (results.some(refusesSlices)) withoutSlices.add(server)
    else if (!results.some(refusesFunding)) return results
    else {
      withoutFunding.add(server)
      return reportBatch(server, reports)
    }
  }
  return await sendBatch(
    server,
    reports.map(({ whole }) => whole()),
  )
}

/**
 * What {@link reportBatch} would do. Nothing is saved. Only for servers that name their time zone; undefined if the server
 * knows no dry run.
 */
export async function tryOutBatch(
  server: ClientConfig,
  reports: readonly ReportText[],
): Promise<{ results: Reported[]; entries: PlannedEntry[] } | undefined> {
  try {
    const { results, entries } = await callBatch(server, reports.map(slicedFor(server)), '?dry_run=true')
    const reported = results.map(reportedOf)
    if (!reported.some(refusesFunding) || withoutFunding.has(server)) return { results: reported, entries: entries! }
    withoutFunding.add(server)
    return await tryOutBatch(server, reports)
  } catch (error) {
    // The reports themselves are refused one by one.
    if (error instanceof ServerError && error.status === 422) return undefined
    throw error
  }
}

const slicedFor =
  (server: ClientConfig) =>
  ({ sliced, unfunded }: ReportText): string =>
    withoutFunding.has(server) ? unfunded() : sliced

const refusesSlices = (reported: Reported) => isUnknownTo(reported, '/slices')
const refusesFunding = (reported: Reported) => isUnknownTo(reported, '/funding') || isUnknownTo(reported, '/plan')

function isUnknownTo({ refusal }: Reported, field: string): boolean {
  return refusal?.errors?.some(({ pointer, code }) => pointer === field && code === 'unknown_field') ?? false
}

async function sendBatch(server: ClientConfig, reports: readonly string[]): Promise<Reported[]> {
  return (await callBatch(server, reports)).results.map(reportedOf)
}

interface BatchBody {
  results: ResultBody[]
  /** Of a dry run. */
  entries?: PlannedEntry[]
}

async function callBatch(server: ClientConfig, reports: readonly string[], query = ''): Promise<BatchBody> {
  const answer = await call<BatchBody>(server, `/api/v1/token-entries/batch${query}`, {
    body: `[${reports.join(',')}]`,
  })
  if (answer.results?.length !== reports.length) {
    throw new ServerError(`${server.url} did not return a result for each entry. Is it a Tally server?`, 200)
  }
  return answer
}

function reportedOf({ result, problem, entry, entries = [{ result }] }: ResultBody): Reported {
  if (result === 'rejected') return { result, refusal: problem! }
  const isNew = entries.every((each) => each.result === 'created')
  return { result, refusal: null, isHeld: entry?.status === 'held', isNew, entries: entries.length || 1 }
}

/** Whether the server refused an entry for a reason that may no longer apply at the next attempt. */
export function mayPass({ refusal }: Reported): boolean {
  return refusal !== null && isPassing(refusal.status)
}

/** Nothing waits for it, but a command does. */
const STATUS_TIMEOUT_MS = 5_000

/**
 * Returns whether the limits of plans were taken, if there are any: servers of earlier versions refuse them, and then get the
 * status without them. Throws {@link ServerError}, with the status 404 from servers that know no status.
 */
export async function putAgentStatus(server: ClientConfig, report: AgentStatusReport): Promise<boolean> {
  const hasLimits = report.agents.some(({ limits }) => limits !== undefined)
  try {
    await putStatus(server, report)
    return true
  } catch (error) {
    if (!hasLimits || !(error instanceof ServerError) || error.status !== 422) throw error
  }
  await putStatus(server, { ...report, agents: report.agents.map(({ limits: _, ...agent }) => agent) })
  return false
}

async function putStatus(server: ClientConfig, report: AgentStatusReport): Promise<void> {
  const request = { method: 'PUT', body: JSON.stringify(report), signal: AbortSignal.timeout(STATUS_TIMEOUT_MS) }
  const { ok, status, body } = await send(server, '/api/v1/agent-status', request)
  await body?.cancel()
  if (!ok) throw new ServerError(`${server.url} returned ${status}.`, status)
}

/** The token is missing where one is asked for. */
type Server = Pick<ClientConfig, 'url'> & Partial<ClientConfig>

/** `advice` is what to do where the token is refused. */
async function call<Answer>(
  server: Server,
  path: string,
  {
    body,
    parse = JSON.parse,
    advice = 'Store another one with `tally agents login`.',
  }: { body?: string; parse?: (text: string) => unknown; advice?: string } = {},
): Promise<Answer> {
  const response = await send(server, path, body === undefined ? {} : { method: 'POST', body })
  const type = response.headers.get('content-type') ?? ''
  try {
    const read = async () => parse(await textOf(response, ANSWER_LIMIT_BYTES))
    if (response.ok && type.startsWith('application/json')) return (await read()) as Answer
    if (type.startsWith('application/problem+json')) throw refused(server.url, (await read()) as Refusal, advice)
  } catch (error) {
    if (error instanceof ServerError) throw error
    throw new ServerError(`${server.url} sent an incomplete response.`, null)
  }
  const moved = response.headers.get('location')
  const what = moved ? `it redirects to ${moved}. Use that URL` : 'is it a Tally server?'
  throw new ServerError(`${server.url} returned ${response.status}: ${what}`, response.status)
}

function refused(url: string, { status, detail }: Refusal, advice: string): ServerError {
  const what =
    status === 401 || status === 403
      ? `${url} does not accept the token: ${detail} ${advice}`.trimEnd()
      : `${url} returned ${status}: ${detail}`
  return new ServerError(what, status)
}

async function send({ url, token, announcement }: Server, path: string, request: RequestInit): Promise<Response> {
  // While the server of `tally up` does not run, another user of the machine may have taken its port.
  if (announcement !== undefined && (await findProvenServer(announcement))?.url !== url) {
    throw new ServerError(
      `Your server of \`tally up\` does not run at ${url}, so nothing was sent. Run \`tally up\`.`,
      null,
    )
  }
  try {
    return await fetch(url + path, {
      headers: { ...(token && { authorization: `Bearer ${token}` }), 'content-type': 'application/json' },
      // Following a redirect would send the token to any address that the response names.
      redirect: 'manual',
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
      ...request,
    })
  } catch (error) {
    throw new ServerError(`${url} cannot be reached: ${connectionIssue(error as Error)}.`, null)
  }
}

export function connectionIssue(error: Error): string {
  if (error.name === 'TimeoutError') return `no response within ${ATTEMPT_TIMEOUT_MS / 1_000} s`
  const { code } = error as { code?: unknown }
  if (code === 'ConnectionRefused' || code === 'ECONNREFUSED') return 'connection refused'
  if (code === 'ENOTFOUND' || code === 'FailedToOpenSocket') return 'host not found'
  return error.message.replace(/\.$/, '')
}
