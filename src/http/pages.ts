/**
 * The manual, the API reference and the problem pages. They and their assets are embedded in the executable and need no
 * other host. The web application is separate.
 */
import { Elysia } from 'elysia'
import { notFound, PROBLEMS, type ProblemCode } from '../errors.ts'
import { access } from './access.ts'
import { FixedContent } from './content.ts'
import { manual } from './manual.ts'
import type { PackedFiles } from './packed-files.ts'
import docsScript from './pages/assets/docs.js' with { type: 'text' }
import icon from './pages/assets/icon.svg' with { type: 'text' }
import styles from './pages/assets/pages.css' with { type: 'text' }
import { docsPage } from './pages/docs.ts'
import { POLICY, pageHeaders, pageRoute } from './pages/policy.ts'
import { problemPage, problemsPage } from './pages/problems.ts'

/** Scalar writes its styles into the page as elements and attributes. */
const DOCS_POLICY = { ...POLICY, 'style-src': "'unsafe-inline'" }

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

const fixedPage = (page: string, policy: Record<string, string> = POLICY) =>
  new FixedContent(page, HTML, pageHeaders(policy))

interface PagesDependencies {
  files: PackedFiles
  manualFiles: PackedFiles
}

export const pages = ({ files: packed, manualFiles }: PagesDependencies) => {
  const docs = fixedPage(docsPage(), DOCS_POLICY)
  const problems = fixedPage(problemsPage())
  /** By code, created at the first visit of a problem's page. */
  const ofProblems = new Map<string, FixedContent>()
  const files: Record<string, FixedContent> = {
    'pages.css': new FixedContent(styles, 'text/css; charset=utf-8'),
    'icon.svg': new FixedContent(icon, 'image/svg+xml', { 'cache-control': 'max-age=86400' }),
    'docs.js': new FixedContent(docsScript, SCRIPT),
  }
  async function sendScalar(request: Request): Promise<Response> {
    const response = await packed.respond('scalar.js', request, { headers: { 'cache-control': 'max-age=86400' } })
    if (!response) throw notFound("The file 'scalar.js' (built by ./scripts/start)")
    return response
  }
  return (
    new Elysia({ name: 'pages' })
      .use(access())
      .use(manual({ files: manualFiles }))
      .get('/docs/api', ({ request }) => docs.respond(request), pageRoute)
      .get('/problems', ({ request }) => problems.respond(request), pageRoute)
      .get(
        '/problems/:code',
        ({ request, params: { code } }) => {
          if (!Object.hasOwn(PROBLEMS, code)) throw notFound(`The problem '${code}'`)
          const known = ofProblems.get(code) ?? fixedPage(problemPage(code as ProblemCode))
          ofProblems.set(code, known)
          return known.respond(request)
        },
        pageRoute,
      )
      // Browsers ask for it wherever a page names no icon, such as for a file that is opened.
      .get('/favicon.ico', ({ request }) => files['icon.svg']!.respond(request), pageRoute)
      .get('/assets/scalar.js', ({ request }) => sendScalar(request), pageRoute)
      .get(
        '/assets/:name',
        ({ request, params: { name } }) => {
          if (!Object.hasOwn(files, name)) throw notFound(`The file '${name}'`)
          return files[name]!.respond(request)
        },
        pageRoute,
      )
  )
}
