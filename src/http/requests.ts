/**
 * What happens to every request: it gets an id, its credential is checked before anything of its body is read, and
 * whatever is thrown on the way becomes a problem.
 */
import { Elysia } from 'elysia'
import type { Logger } from 'pino'
import type { Caller, PeopleService } from '../features/people/service.ts'
import { noCredential, requestState } from './access.ts'
import { readBatch, readJson } from './body.ts'
import { asProblemOf, logProblem, problemResponse } from './problems.ts'

/** Where anyone may call. Every other path below /api/v1 refuses a caller without credentials, whatever the method or body. */
const PUBLIC_PATHS = new Set(['/api/v1/openapi.json', '/api/v1/token-entry-schema', '/api/v1/setup'])

/** Ids that clients send are logged and sent back, so they must be short and plain. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._:/-]{1,128}$/

interface Incoming {
  request: Request
  path: string
  caller: Caller | null
  requestId: string
  set: { headers: Record<string, string | number> }
}

export interface RequestsDependencies {
  people: Pick<PeopleService, 'authenticate'>
  logger: Logger
}

export const requests = ({ people, logger }: RequestsDependencies) =>
  new Elysia({ name: 'requests', normalize: false })
    .use(requestState())
    .onRequest((context) => {
      const incoming = context as unknown as Incoming
      const { headers } = incoming.request
      const sent = headers.get('x-request-id')
      incoming.requestId = sent && SANE_REQUEST_ID.test(sent) ? sent : Bun.randomUUIDv7()
      incoming.set.headers['x-request-id'] = incoming.requestId
      incoming.caller = null
      if (!incoming.path.startsWith('/api/v1/') || PUBLIC_PATHS.has(incoming.path)) return
      const authorization = headers.get('authorization')
      if (authorization === null) throw noCredential()
      const caller = people.authenticate(authorization)
      if (caller instanceof Promise) {
        return caller.then((known) => {
          incoming.caller = known
        })
      }
      incoming.caller = caller
    })
    .onError({ as: 'global' }, ({ error, code, request, path, requestId }) => {
      const problem = asProblemOf(error, code)
      logProblem(logger, problem, error, { id: requestId, method: request.method, path })
      return problemResponse(problem, requestId || Bun.randomUUIDv7())
    })
    .parser('report', (context) => readJson(context))
    .parser('batch', (context) => readBatch(context))
