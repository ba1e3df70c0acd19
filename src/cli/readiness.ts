/** Asks a server whether it is ready for reports. */
import { textOf } from '../lib/response-text.ts'

/** A server that takes longer is considered unhealthy. */
const TIMEOUT_MS = 5_000

/** The response of Tally has some hundred bytes; something else may answer at the address. */
const RESPONSE_BYTES = 65_536

/** Why it is not, as far as the server says so, and undefined if it is. Throws if nothing responds. */
export async function hindranceOf(url: string): Promise<string | undefined> {
  const response = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const body = await textOf(response, RESPONSE_BYTES)
    .then((text) => JSON.parse(text) as { status?: unknown; detail?: string } | null)
    .catch(() => null)
  if (response.ok && body?.status === 'ready') return undefined
  return body?.detail ?? `${url}/ready returned ${response.status}, which is not a response of Tally`
}
