/** The web application: its page at each of its addresses, and the files that the page loads. */
import { Elysia } from 'elysia'
import { notFound } from '../errors.ts'
import { access } from './access.ts'
import { FOR_EVER, type PackedFiles } from './packed-files.ts'
import { pageRoute } from './pages/policy.ts'
import type { PublicUrl } from './same-origin.ts'
import type { SessionCookie } from './session-cookie.ts'
import { transportSecurityAt } from './tls.ts'

/**
 * The first path segments of the application's pages. The page itself decides what to show; any other address is a 404.
 */
export const SECTIONS = [
  'inbox',
  'reports',
  'insights',
  'entries',
  'unattributed',
  'work',
  'usage',
  'rules',
  'sheets',
  'bills',
  'budgets',
  'plans',
  'prices',
  'connect',
  'telemetry',
  'people',
  'tokens',
  'share-links',
  'webhooks',
  'settings',
  'audit',
  'account',
  'sign-in',
  'setup',
  'password',
]

/**
 * Only the application's own scripts, and no requests to other hosts. Styles have a nonce, because Mantine and the
 * scroll lock of dialogs add theirs as elements.
 */
const policyFor = (nonce: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    // A bill is shown as it prints, and a PDF in the browser's own viewer.
    "frame-src 'self' blob:",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const NOT_BUILT = `The web application is not built. In a checkout, ./scripts/start builds it; the released executable includes it.`

interface WebDependencies {
  cookie: Pick<SessionCookie, 'read'>
  files: PackedFiles
  /** Whether anybody can sign in. */
  people: { isSetUp(): Promise<boolean> }
  publicUrl: PublicUrl
}

export const web = ({ cookie, files, people, publicUrl }: WebDependencies) => {
  /** Once there are people, there always are. */
  let isUsed = false

  /** Without its database, the page loads and shows what is wrong. */
  async function isUnused(): Promise<boolean> {
    isUsed ||= await people.isSetUp().catch(() => true)
    return !isUsed
  }

  /** Undefined without the database, too. */
  async function knownPublicUrl(): Promise<string | undefined> {
    try {
      return await publicUrl()
    } catch {
      return undefined
    }
  }

  async function showPage({ request }: { request: Request }): Promise<Response> {
    const index = await files.text('index.html')
    if (index === undefined)
      return new Response(NOT_BUILT, { status: 503, headers: { 'content-type': 'text/plain; charset=utf-8' } })
    const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64')
    // Whether the request had a cookie, so that a new visitor sees the sign-in page without another request, or how to
    // set up Tally while nobody can sign in.
    const visitor = cookie.read(request.headers) === undefined ? 'none' : 'sent'
    const session = (await isUnused()) ? 'unused' : visitor
    return new Response(index.replace('{nonce}', nonce).replace('{session}', session), {
      headers: {
        ...transportSecurityAt(request.headers, await knownPublicUrl()),
        'content-type': 'text/html; charset=utf-8',
        // The page contains the file names of this version, and its nonce must not be reused.
        'cache-control': 'no-store',
        'content-security-policy': policyFor(nonce),
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      },
    })
  }

  async function sendFile(name: string, request: Request): Promise<Response> {
    const response = await files.respond(name, request, { headers: { 'cache-control': FOR_EVER } })
    // A page of the previous version requests its old files: it has to be reloaded, and shows that.
    if (!response) throw notFound(`The file '${name}'`)
    return response
  }

  const app = new Elysia({ name: 'web' })
    .use(access())
    .get('/', showPage, pageRoute)
    .get('/app/:name', ({ request, params: { name } }) => sendFile(name, request), pageRoute)
  for (const section of SECTIONS) app.get(`/${section}`, showPage, pageRoute).get(`/${section}/*`, showPage, pageRoute)
  return app
}
