/**
 * What browsers are asked to do over TLS only. Tally itself speaks plain HTTP and does not see TLS, which ends at a
 * proxy. The option of a server is the word of its operator; the setting of an admin can be wrong, and must then lock out
 * nobody who could correct it.
 */

/** A year, as browsers and preload lists expect. */
const TRANSPORT_SECURITY = { 'strict-transport-security': 'max-age=31536000' }

export function isHttps(address: string | null | undefined): boolean {
  return address?.startsWith('https://') ?? false
}

/**
 * Whether a cookie that the response sets is `Secure`: always where the option says that people use https, otherwise if
 * the page is open over https, which its browser says in every request that sets a cookie. The setting does not count:
 * over plain HTTP, browsers drop such a cookie, and nobody could sign in.
 */
export function isForTls(headers: Headers, publicUrlOption: string | undefined): boolean {
  return isHttps(publicUrlOption) || isHttps(headers.get('origin'))
}

/** The headers of every response of a server whose option says that people use https. */
export function transportSecurityOf(publicUrlOption: string | undefined): Record<string, string> {
  return isHttps(publicUrlOption) ? TRANSPORT_SECURITY : {}
}

/**
 * The headers of a page that was opened at the public URL that is set. Browsers ignore them over plain HTTP, and another
 * host or port is not to be reached by https only.
 */
export function transportSecurityAt(headers: Headers, publicUrl: string | undefined): Record<string, string> {
  return publicUrl === `https://${headers.get('host')}` ? TRANSPORT_SECURITY : {}
}
