/**
 * Runs before the application's script is here: sets the scheme, and sends the first requests of some pages. To load and
 * evaluate that script takes as long as the server takes to answer them.
 */
import './scheme.ts'
import { lastMonth } from './pages/bills/run-body.ts'
import { SORTS } from './pages/entries/entry-order.ts'
import { overviewParameters } from './pages/overview/overview-request.ts'
import { widthFor } from './parts/charts/buckets.ts'
import { periodBefore, readPeriod } from './parts/period.ts'
import { readVisitor, type Visitor } from './server/first-answers.ts'
import { PAGE_LIMIT } from './server/list.ts'

/**
 * The requests that a page at an address without filters waits for, as the application sends them: one that differs from
 * that is sent twice. None for addresses that need what only the application knows.
 */
type RequestsAt = (search: URLSearchParams, visitor: Visitor) => string[]

const REQUESTS: Record<string, RequestsAt> = {
  '/': (search, { timeZone, basis }) => {
    if (search.size > 0) return []
    const period = readPeriod(undefined, timeZone)
    const previous = periodBefore(period)
    const request = { period, previous, width: widthFor(period), dimension: 'project', basis } as const
    return [`/reports/overview?${new URLSearchParams(overviewParameters(request))}`]
  },
  '/entries': (search, { basis: usual }) => {
    const { sort = SORTS[0], order, basis = usual, ...others } = Object.fromEntries(search)
    if (!SORTS.some((known) => known === sort) || Object.keys(others).length > 0) return []
    const query = new URLSearchParams()
    if (sort !== SORTS[0]) query.set('sort', sort)
    if (order === 'asc') query.set('order', order)
    if (basis !== 'cost') query.set('basis', basis)
    query.set('limit', PAGE_LIMIT)
    return [`/token-entries?${query}`]
  },
  '/unattributed': (search) => (search.size === 0 ? [`/reports/unattributed?limit=${PAGE_LIMIT}`] : []),
  '/bills/run': (search, { role, timeZone }) =>
    search.size === 0 && (role === 'billing' || role === 'admin') ? [`/bills/run?month=${lastMonth(timeZone)}`] : [],
}

/** Viewers have other pages. */
function requestsOf(visitor: Visitor | undefined): string[] {
  if (!visitor || visitor.role === 'viewer') return ['/me']
  return ['/me', '/settings', ...(REQUESTS[location.pathname]?.(new URLSearchParams(location.search), visitor) ?? [])]
}

function send(request: string): [path: string, answer: Promise<Response>] {
  const path = `/api/v1${request}`
  const answer = fetch(path)
  // The application reports what fails.
  answer.catch(() => {})
  return [path, answer]
}

if (document.querySelector<HTMLMetaElement>('meta[name="session"]')!.content === 'sent')
  globalThis.firstAnswers = new Map(requestsOf(readVisitor()).map(send))
