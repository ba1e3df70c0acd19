/**
 * The server's own pages: where one lands, the API reference, what each problem means, the first-run set-up, choosing
 * a password. They and their files are in the executable and need no other host.
 */
import { Elysia } from 'elysia'
import scalarFile from '../../node_modules/@scalar/api-reference/dist/browser/standalone.js' with { type: 'file' }
import { notFound, PROBLEMS, type ProblemCode } from '../errors.ts'
import { FixedContent } from './content.ts'
import docsScript from './pages/assets/docs.js' with { type: 'text' }
import formScript from './pages/assets/form.js' with { type: 'text' }
import icon from './pages/assets/icon.svg' with { type: 'text' }
import styles from './pages/assets/pages.css' with { type: 'text' }
import passwordScript from './pages/assets/password.js' with { type: 'text' }
import setUpScript from './pages/assets/set-up.js' with { type: 'text' }
import { docsPage } from './pages/docs.ts'
import { landingPage } from './pages/landing.ts'
import { passwordPage } from './pages/password.ts'
import { problemPage, problemsPage } from './pages/problems.ts'
import { setUpPage } from './pages/set-up.ts'

const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

/** Scalar writes its styles into the page as elements and attributes. */
const DOCS_POLICY = { ...POLICY, 'style-src': "'unsafe-inline'" }

function pageHeaders(policy: Record<string, string>): Record<string, string> {
  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, sources]) => `${directive} ${sources}`)
      .join('; '),
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  }
}

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

const fixedPage = (page: string, policy: Record<string, string> = POLICY) =>
  new FixedContent(page, HTML, pageHeaders(policy))

export interface PagesOptions {
  /** The address under which people and agents reach this server; that of each request where it is not set. */
  publicUrl?: string | undefined
}

// Pages are no part of the API.
const page = { detail: { hide: true } }

export const pages = ({ publicUrl }: PagesOptions) => {
  const docs = fixedPage(docsPage(), DOCS_POLICY)
  const setUp = fixedPage(setUpPage())
  const password = fixedPage(passwordPage())
  const problems = fixedPage(problemsPage())
  const files: Record<string, FixedContent> = {
    'pages.css': new FixedContent(styles, 'text/css; charset=utf-8'),
    'icon.svg': new FixedContent(icon, 'image/svg+xml', { 'cache-control': 'max-age=86400' }),
    'form.js': new FixedContent(formScript, SCRIPT),
    'password.js': new FixedContent(passwordScript, SCRIPT),
    'set-up.js': new FixedContent(setUpScript, SCRIPT),
    'docs.js': new FixedContent(docsScript, SCRIPT),
  }
  /** Four megabytes that most servers are never asked for. */
  const scalar = async () => {
    files['scalar.js'] ??= new FixedContent(await Bun.file(scalarFile).bytes(), SCRIPT)
    return files['scalar.js']
  }
  return new Elysia({ name: 'pages' })
    .get('/', ({ request }) => fixedPage(landingPage(publicUrl ?? new URL(request.url).origin)).respond(request), page)
    .get('/docs', ({ request }) => docs.respond(request), page)
    .get('/setup', ({ request }) => setUp.respond(request), page)
    .get('/password', ({ request }) => password.respond(request), page)
    .get('/problems', ({ request }) => problems.respond(request), page)
    .get(
      '/problems/:code',
      ({ request, params: { code } }) => {
        if (!Object.hasOwn(PROBLEMS, code)) throw notFound(`The problem '${code}'`)
        return fixedPage(problemPage(code as ProblemCode)).respond(request)
      },
      page,
    )
    .get('/assets/scalar.js', async ({ request }) => (await scalar()).respond(request), page)
    .get(
      '/assets/:name',
      ({ request, params: { name } }) => {
        if (!Object.hasOwn(files, name)) throw notFound(`The file '${name}'`)
        return files[name]!.respond(request)
      },
      page,
    )
}
