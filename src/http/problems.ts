/** Converts every thrown error to a response: RFC 9457 `application/problem+json`. */
import { type Static, Type } from '@sinclair/typebox'
import type { Logger } from 'pino'
import { asProblem } from '../database/errors.ts'
import { PROBLEMS, Problem, type ProblemCode, validationFailed } from '../errors.ts'
import { type Checker, issuesOf } from '../schema/issues.ts'
import { orNull } from '../schema/types.ts'
import { textResponse, VARY } from './responses.ts'

export const PROBLEM_TYPE = 'application/problem+json'

export const ProblemSchema = Type.Object(
  {
    type: Type.String({
      format: 'uri-reference',
      description: 'Path of the page that explains the problem.',
      examples: ['/problems/validation_failed'],
    }),
    title: Type.String({
      description: 'A short summary of the problem type; the same for every problem with this code.',
    }),
    status: Type.Integer({ description: 'The HTTP status.', minimum: 400, maximum: 599 }),
    detail: Type.String({ description: 'What happened and what to do next.' }),
    code: Type.Unsafe<ProblemCode>({
      type: 'string',
      enum: Object.keys(PROBLEMS),
      description: 'Machine-readable problem code. Its meaning never changes.',
    }),
    request_id: Type.String({ description: 'Identifies the request in the server log.' }),
    errors: Type.Optional(
      Type.Array(
        Type.Object(
          {
            pointer: Type.String({
              description: 'JSON pointer into the body, or into `/query`, `/path` or `/headers`.',
              examples: ['/tokens/input'],
            }),
            code: Type.String({ description: 'Machine-readable issue code.', examples: ['required', 'too_large'] }),
            message: Type.String({ description: 'What is expected at this pointer.' }),
          },
          { additionalProperties: false },
        ),
        { description: 'Every issue of the request.' },
      ),
    ),
    changed: Type.Optional(
      Type.Object(
        {
          at: Type.Unsafe<string | null>({
            type: ['string', 'null'],
            format: 'date-time',
            description: 'When; null if it is unknown.',
          }),
          by: orNull(
            Type.Object(
              { id: Type.String(), name: Type.String() },
              { additionalProperties: false, description: 'Null for an agent, the command line and Tally itself.' },
            ),
          ),
        },
        { additionalProperties: false, description: 'The change of others that `changed_meanwhile` is about.' },
      ),
    ),
    periods: Type.Optional(
      Type.Array(
        Type.Object(
          {
            plan: Type.Object({ id: Type.String(), name: Type.String() }, { additionalProperties: false }),
            first_day: Type.String({ format: 'date', description: 'First day, which names the period.' }),
            last_day: orNull(Type.String({ format: 'date', description: 'Last day; null if it has no end.' })),
            entries: Type.Integer({ description: 'The number of entries of the bill in it.' }),
          },
          { additionalProperties: false },
        ),
        { description: 'The periods of plans that `period_not_closed` is about, at most ten.' },
      ),
    ),
  },
  { additionalProperties: false, $id: 'Problem', description: 'Why a request was rejected or failed (RFC 9457).' },
)
export type ProblemBody = Static<typeof ProblemSchema>

export function problemPath(code: ProblemCode): string {
  return `/problems/${code}`
}

export function problemBody(problem: Problem, requestId: string): ProblemBody {
  const { issues, changed, periods } = problem.more
  return {
    type: problemPath(problem.code),
    title: problem.title,
    status: problem.status,
    detail: problem.detail,
    code: problem.code,
    request_id: requestId,
    ...(issues ? { errors: issues } : {}),
    ...(changed ? { changed } : {}),
    ...(periods ? { periods } : {}),
  }
}

/** Compressed if it has many issues. */
export function problemResponse(request: Request, problem: Problem, requestId: string): Promise<Response> {
  return textResponse(request, JSON.stringify(problemBody(problem, requestId)), {
    status: problem.status,
    headers: { 'content-type': PROBLEM_TYPE, vary: VARY, ...problemHeaders(problem, requestId) },
  })
}

/** Headers of every error response, whatever its format. */
export function problemHeaders(problem: Problem, requestId: string): Record<string, string> {
  return {
    'x-request-id': requestId,
    ...(problem.status === 401 ? { 'www-authenticate': 'Bearer realm="tally"' } : {}),
    ...problem.more.headers,
  }
}

/** Thrown by Elysia's own checks; contains the schema's checker and the refused value. */
interface ElysiaValidationError {
  type: string
  validator: Checker
  value: unknown
}

/** The root of issue paths for each part of a request. `response` is missing, because its issues are bugs of Tally. */
const ROOTS: Record<string, string> = {
  body: '',
  query: '/query',
  params: '/path',
  headers: '/headers',
  cookie: '/cookie',
}

/**
 * The problem for an error. Anything unknown is a 500 without detail: the cause belongs in the log, not in the
 * response.
 */
export function asProblemOf(error: unknown, elysiaCode: string | number = 'UNKNOWN'): Problem {
  if (error instanceof Problem) return error
  // Elysia wraps errors of body parsers.
  if (error instanceof Error && error.cause instanceof Problem) return error.cause
  const passing = asProblem(error)
  if (passing instanceof Problem) return passing
  if (elysiaCode === 'VALIDATION') {
    const { type, validator, value } = error as ElysiaValidationError
    const root = ROOTS[type]
    if (root !== undefined) return validationFailed(issuesOf(validator, value, root))
  }
  if (elysiaCode === 'PARSE') return new Problem('malformed_json', 'The body could not be read as JSON.')
  if (elysiaCode === 'INVALID_COOKIE_SIGNATURE')
    return new Problem('unauthenticated', 'The session cookie is invalid. Sign in again.')
  return new Problem(
    'internal_error',
    'Something went wrong in Tally. The server log has the cause under this request id.',
  )
}

/** Logs one line per rejected or failed request, without bodies, credentials or query strings. */
export function logProblem(
  logger: Logger,
  problem: Problem,
  error: unknown,
  request: { id: string; method: string; path: string },
): void {
  const line = {
    request_id: request.id,
    method: request.method,
    path: withoutTokens(request.path),
    status: problem.status,
    code: problem.code,
  }
  if (PROBLEMS[problem.code].status < 500) logger.info(line, 'request rejected')
  else logger.error({ ...line, error: error === problem ? undefined : redacted(error) }, 'request failed')
}

/** A caller may have sent a token instead of its id. */
function withoutTokens(path: string): string {
  return path.replace(/tally(?:_|%5f)(svc|read|org)(?:_|%5f)[0-9a-z]*/gi, 'tally_$1_…')
}

/**
 * The error without any user data: drizzle's messages contain the query's parameters, Elysia's messages for an invalid
 * response contain the response, and a stack starts with the message.
 */
function redacted(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error }
  const inner = error.cause instanceof Error ? error.cause : error
  return {
    type: inner.name,
    message: 'validator' in inner ? 'A response does not match its schema.' : inner.message.split('\nparams:')[0],
    code: (inner as { code?: unknown }).code,
    stack: inner.stack?.split('\n').filter((line) => /^\s+at /.test(line)),
  }
}
