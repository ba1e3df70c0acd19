/**
 * Checks that a call comes from Tally's own pages. The cookie alone does not prove that: the browser sends it with
 * requests of any page.
 */
import { Problem } from '../errors.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The public URL in effect; asked only where the request alone does not decide. */
export type PublicUrl = () => string | undefined | Promise<string | undefined>

/**
 * For a call with a cookie: whether it changes nothing, or comes from a page of this server. Pages at the address of
 * the call always count, so that a wrong public URL locks nobody out. Not a promise unless the public URL is one.
 */
export function isSameOrigin({ method, headers }: Request, publicUrl: PublicUrl): boolean | Promise<boolean> {
  if (SAFE_METHODS.has(method)) return true
  // Set by the browser itself, but not over plain HTTP.
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = headers.get('origin')
  if (origin === null) return false
  const host = headers.get('host')
  // Also over TLS, which ends at a proxy.
  if (origin === `http://${host}` || origin === `https://${host}`) return true
  const known = publicUrl()
  return known instanceof Promise ? known.then((url) => origin === url) : origin === known
}

export function notSameOrigin(): Problem {
  return new Problem(
    'forbidden',
    'Requests with a session cookie are accepted only from pages of this server; programs should use a token. Behind a proxy, set the public URL (TALLY_PUBLIC_URL, or `tally settings set --public-url`) to the address that people open.',
  )
}
