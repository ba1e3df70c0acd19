/** Whether a call comes from Tally's own pages. A cookie alone does not tell: the browser sends it along, whoever asks. */
import { Problem } from '../errors.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** For a call by cookie. Throws `forbidden` where it would change something and a page of another origin may have made it. */
export function requireSameOrigin({ method, headers }: Request, publicUrl: string | undefined): void {
  if (SAFE_METHODS.has(method)) return
  // What the browser itself says; it does not say it over plain HTTP.
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
