/** `GET /metrics` for Prometheus, and the timing of every request. */
import { Elysia } from 'elysia'
import type { Authentication } from '../access/authentication.ts'
import { Problem } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { access, beyondProject } from './access.ts'
import type { AddressOf, Listening } from './client-address.ts'

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1)$/

/** Set by proxies; behind one, every client seems to be on this machine. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']

/** The fields that `http/requests.ts` records for every request. */
interface Incoming {
  /** Undefined if no route matches. */
  route: string | undefined
  startedAt: number
}

interface MetricsDependencies {
  metrics: Metrics
  people: Pick<Authentication, 'authenticate'>
  addressOf: AddressOf
}

export const metricsRoute = ({ metrics, people, addressOf }: MetricsDependencies) => {
  /** Callers on this machine need no token: Prometheus' agents run there, and metrics contain nothing about people. */
  async function requireMayWatch(request: Request, server: Listening): Promise<void> {
    const sent = request.headers.get('authorization')
    if (sent === null) {
      const isDirect = PROXY_HEADERS.every((name) => !request.headers.has(name))
      if (isDirect && LOOPBACK.test(addressOf(request, server))) return
      throw new Problem(
        'unauthenticated',
        'Requests from another machine need a read token: Authorization: Bearer tally_read_…',
      )
    }
    const { kind, token } = await people.authenticate(sent)
    if (token.limit) throw beyondProject(token.limit)
    if (kind !== 'read')
      throw new Problem(
        'forbidden',
        `This request needs a read token (tally_read_…), not ${kind === 'organization' || kind === 'api' ? 'an' : 'a'} ${kind === 'api' ? 'API' : kind} token.`,
      )
  }

  return new Elysia({ name: 'metrics' })
    .use(access())
    .onAfterResponse({ as: 'global' }, (context) => {
      const { request, route, set, startedAt } = context as typeof context & Incoming
      // Unknown paths have no route: requests of strangers must not create a label each.
      metrics.request(
        request.method,
        route ?? 'none',
        Number(set.status ?? 200),
        (performance.now() - startedAt) / 1000,
      )
    })
    .get(
      '/metrics',
      async ({ request, server, set }) => {
        await requireMayWatch(request, server)
        set.headers['content-type'] = metrics.contentType
        return metrics.text()
      },
      // The handler checks the caller itself.
      { allow: 'anyone', detail: { hide: true } },
    )
}
