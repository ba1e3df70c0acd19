/** What a person sees at an address where nothing exists; programs get the problem as JSON. */
import { html, page } from './html.ts'

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const PAGE = page({
  title: 'Page not found · Tally',
  content: html`<h1>Page not found</h1>
<p class="lead">Nothing exists at this address. It may be mistyped, or the page may have moved.</p>
<p><a href="/">Go to the overview</a></p>`,
})

/** Whether a browser asks for a page: not for a call of the API, nor for a file that a page needs. */
export function asksForPage({ method, headers }: Request, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (/^\/(api|v1|app|assets)(\/|$)/.test(path)) return false
  return /(^|[\s,])text\/html\s*(;|,|$)/i.test(headers.get('accept') ?? '')
}

export function notFoundPage(requestId: string): Response {
  return new Response(PAGE, {
    status: 404,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      vary: 'accept',
      'x-request-id': requestId,
    },
  })
}
