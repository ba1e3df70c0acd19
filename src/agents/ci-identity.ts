/**
 * Tokens for jobs of GitHub Actions and GitLab CI/CD without a stored secret: the ID token of the run is exchanged for a token of
 * minutes. Of GitLab, a job has one ID token, which is exchanged once; so what it got is kept while it is valid.
 */
import { join } from 'node:path'
import type { AgentsEnvironment, JobConfig } from '../config.ts'
import type { TokenExchange } from '../features/trusts/schema.ts'
import { isSafeAddress } from '../lib/outgoing/safe-address.ts'
import { textOf } from '../lib/response-text.ts'
import { patiently, type SendingOptions } from './batches.ts'
import { readJsonFile, writePrivateFile } from './private-files.ts'
import { connectionIssue, exchangeIdToken, ServerError } from './server.ts'
import { stateFolder } from './state-folder.ts'

/** GitHub answers at once, or not at all. */
const REQUEST_TIMEOUT_MS = 15_000

/** An ID token has up to 2 kB. */
const ANSWER_LIMIT_BYTES = 65_536

/** What it is for: `svc` to report, `read` to read receipts. */
export type JobTokenKind = NonNullable<TokenExchange['kinds']>[number]

interface KeptToken {
  token: string
  /** A timestamp. */
  expires_at: string
}

/** The token of the job for a server; a new one only if it has none that is valid. Throws {@link ServerError}. */
export async function tokenOfJob(
  environment: AgentsEnvironment,
  job: JobConfig,
  kind: JobTokenKind,
  options: SendingOptions = {},
): Promise<string> {
  for (const url of [job.url, job.requestUrl ?? job.url]) {
    if (isSafeAddress(url)) continue
    const host = URL.parse(url)?.host ?? url
    throw new ServerError(`${host} would get secrets of this job unencrypted. Use an https:// address.`, null)
  }
  const path = join(stateFolder(environment), 'ci.json')
  const key = Bun.SHA256.hash(`${job.url}\n${kind}\n${job.secret}`, 'hex')
  // Read again before it is written: jobs of one runner run at the same time.
  const valid = () => {
    const kept = Object.entries(readJsonFile<Record<string, KeptToken>>(path) ?? {})
    return Object.fromEntries(kept.filter(([, { expires_at }]) => Date.parse(expires_at) > Date.now()))
  }
  const own = valid()[key]
  if (own) return own.token
  const { token, expires_at } = await patiently(
    async () => exchangeIdToken(job.url, { token: await idTokenOf(job), kinds: [kind] }),
    options,
  )
  try {
    writePrivateFile(path, JSON.stringify({ ...valid(), [key]: { token, expires_at } satisfies KeptToken }))
  } catch (error) {
    const reason = (error as Error).message
    throw new ServerError(`${path} cannot be written: ${reason}. Set XDG_STATE_HOME to a folder that can be.`, null)
  }
  return token
}

/** GitHub issues an ID token for an audience whenever it is asked. */
async function idTokenOf({ url, secret, requestUrl }: JobConfig): Promise<string> {
  if (requestUrl === undefined) return secret
  const address = new URL(requestUrl)
  address.searchParams.set('audience', url)
  const failed = (what: string, status: number | null) => new ServerError(`GitHub gave no ID token: ${what}.`, status)
  const response = await fetch(address, {
    headers: { authorization: `Bearer ${secret}`, accept: 'application/json' },
    redirect: 'manual',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  }).catch((error: Error) => {
    throw failed(`${address.host}: ${connectionIssue(error)}`, null)
  })
  if (!response.ok) throw failed(`${address.host} returned ${response.status}`, response.status)
  try {
    const { value } = JSON.parse(await textOf(response, ANSWER_LIMIT_BYTES))
    if (typeof value === 'string') return value
  } catch {}
  throw failed(`${address.host} returned something else`, null)
}
