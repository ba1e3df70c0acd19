/** What the server's own pages have in common: who may open them, and what the browser may do there. */

/** The options of their routes, which are not part of the API. */
export const pageRoute = { allow: 'anyone', detail: { hide: true } } as const

/** Only files of this server, and no script of a page's own. */
export const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

export function pageHeaders(policy: Record<string, string>): Record<string, string> {
  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, sources]) => `${directive} ${sources}`)
      .join('; '),
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  }
}
