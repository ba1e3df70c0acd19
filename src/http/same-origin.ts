/**
 * Checks that a call comes from Tally's own pages. The cookie alone does not prove that: the browser sends it with
 * requests of any page.
 */
import { Problem } from '../errors.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * For a call with a cookie. Throws `forbidden` if the call would change something and may come from a page of another
 * origin.
 */
export function requireSameOrigin({ method, headers }: Request, publicUrl: string | undefined): void {
  if (SAFE_METHODS.has(method)) return
  // Set by the browser itself, but not over plain HTTP.
  const site = headers.get('sec-fetch-site')
  if (site === 'same-origin') return
  const origin = headers.get('origin')
  const host = headers.get('host')
  const isOurs = origin !== null && (origin === `http://${host}` || origin === originOf(publicUrl))
  if (site === null && isOurs) return
  throw new Problem(
    'forbidden',
    'Requests with a session cookie are accepted only from pages of this server; programs should use a token. Behind a proxy, set TALLY_PUBLIC_URL to the address that people open.',
  )
}

function originOf(publicUrl: string | undefined): string | undefined {
  return publicUrl === undefined ? undefined : new URL(publicUrl).origin
}
