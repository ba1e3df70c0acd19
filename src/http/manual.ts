/**
 * The manual, which `scripts/manual.ts` builds from `docs/`: its pages at `/docs/…`, also as Markdown at their address plus `.md`,
 * which `/llms.txt` lists, and the files that they load.
 */
import { Elysia } from 'elysia'
import { notFound } from '../errors.ts'
import { access } from './access.ts'
import { FOR_EVER, type PackedFiles } from './packed-files.ts'
import { html, page } from './pages/html.ts'
import { POLICY, pageHeaders, pageRoute } from './pages/policy.ts'

/** The address of its start page, below which all others are. */
export const MANUAL_BASE = '/docs/'

/** Examples are coloured by attributes. */
const MANUAL_POLICY = {
  ...POLICY,
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': "'self'",
}

/** How soon a browser asks again for a page that is not built yet. */
const RELOAD_S = 2

const NOT_BUILT = page({
  title: 'The manual is being built · Tally',
  content: html`<h1>The manual is being built</h1>
<p>In a checkout, <code>./scripts/start</code> builds it at its first start, which takes some seconds. This page reloads until it is there.</p>
<p>If it does not appear, <code>./scripts/start</code> has printed why. Without it, run <code>bun scripts/manual.ts</code>, or read the Markdown files in <code>docs/</code>.</p>`,
})

/** The file of an address below `/docs/`: a page has no extension there. */
function fileOf(path: string): string {
  if (path === '') return 'index.html'
  return /\.\w+$/.test(path) ? path : `${path.replace(/\/$/, '')}.html`
}

const isBase = ({ url }: Request) => new URL(url).pathname === MANUAL_BASE

export const manual = ({ files }: { files: Pick<PackedFiles, 'pack' | 'respond'> }) => {
  /** For programs it is an error, which they may retry; people see a page that turns into the one that they asked for. */
  const notBuilt = {
    ...pageHeaders(POLICY),
    ...{ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
    ...{ 'retry-after': String(RELOAD_S), refresh: String(RELOAD_S) },
  }
  const headers = { ...pageHeaders(MANUAL_POLICY), 'cache-control': 'no-cache' }

  async function send(path: string, request: Request): Promise<Response> {
    const pack = await files.pack()
    if (pack === undefined) return new Response(NOT_BUILT, { status: 503, headers: notBuilt })
    const name = fileOf(path)
    const isAsset = name.startsWith('assets/')
    const markdown = name.replace(/\.html$/, '.md')
    const link: Record<string, string> =
      markdown !== name && pack.find(markdown)
        ? { link: `<${MANUAL_BASE}${markdown}>; rel="alternate"; type="text/markdown"` }
        : {}
    const found = await files.respond(name, request, {
      headers: isAsset ? { 'cache-control': FOR_EVER } : { ...headers, ...link },
    })
    if (found) return found
    const missing = isAsset ? undefined : await files.respond('404.html', request, { status: 404, headers })
    if (!missing) throw notFound(`The file '${name}'`)
    return missing
  }

  return (
    new Elysia({ name: 'manual' })
      .use(access())
      // Elysia takes an address with a slash at its end for the one without.
      .get(
        '/docs',
        ({ request }) => (isBase(request) ? send('', request) : Response.redirect(MANUAL_BASE, 308)),
        pageRoute,
      )
      .get('/docs/*', ({ request, params }) => send(params['*'], request), pageRoute)
      .get('/llms.txt', ({ request }) => send('llms.txt', request), pageRoute)
  )
}
