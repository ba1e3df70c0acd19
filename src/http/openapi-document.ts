/**
 * The OpenAPI document: `@elysiajs/swagger` collects the routes, and a pass over its output adds what it leaves out
 * (docs/design/openapi.md). Runs when the executable is built, and on the first request to a server from source.
 */
import { swagger } from '@elysiajs/swagger'
import { type TSchema, Type } from '@sinclair/typebox'
import { VERSION } from '../embedded/version.ts'
import { PROBLEMS, type ProblemCode } from '../errors.ts'
import { REQUIRED } from '../operations/parameters.ts'
import { type GuardedRoute, SECURITY_SCHEMES, SESSION_COOKIE, securityOf } from './access.ts'
import { type Contents, type Documentation, REQUEST_HEADERS, RESPONSE_HEADERS, TAGS } from './documentation.ts'
import { byName, Components, type JsonSchema, type Use } from './json-schema.ts'
import { EXAMPLE_RPC_STATUS, OTLP_CONTENT_TYPES, RpcStatus } from './otlp.ts'
import { PROBLEM_TYPE, ProblemSchema, problemPath } from './problems.ts'

/** A route of the application with everything the document needs. */
export interface DescribedRoute extends GuardedRoute {
  hooks: GuardedRoute['hooks'] & {
    body?: TSchema
    query?: TSchema
    params?: TSchema
    detail?: { hide?: boolean; documentation?: Documentation }
  }
}

type Json = Record<string, unknown>

/** The problem codes that a response may have. */
export const PROBLEM_CODES = 'x-problem-codes'

export interface OpenApiDocument extends Json {
  openapi: '3.1.0'
  paths: Record<string, Record<string, Json>>
  components: Record<string, Json>
}

const DESCRIPTION = `Tally records the token usage of AI agents, calculates its cost, and bills for it. The web application and the command line use this same API.

- Requests and responses are JSON in UTF-8, with \`snake_case\` names. Unknown fields are rejected, so that a mistyped count is not lost.
- Timestamps are RFC 3339 or another form of ISO 8601 with a UTC offset; responses use UTC with milliseconds. A date in a parameter is the first moment of that day in the organization's time zone, so that \`ending_at\` does not include it.
- Empty parameters are rejected, and so are filters by projects, tickets, clients, people, bills, token sheets and price loads that do not exist.
- Amounts of money are JSON numbers in US dollars (on bills, in the bill's currency) with at most 9 decimals, exact to the last digit. Unknown amounts are \`null\`, never 0.
- Absent values are \`null\` in responses. In requests, \`null\` is the same as leaving out an optional field, except in \`PATCH\`, where it clears the field.
- Lists return \`data\`, \`has_more\` and \`next_page\`; pass \`next_page\` as \`page\` to get the next page. Pagination is stable while new entries arrive.
- Errors are [problems](/problems/) (RFC 9457). Programs should rely on \`code\`; \`errors\` lists every issue of a request with a JSON pointer.
- Responses to \`GET\` are compressed with zstd, Brotli or gzip if \`Accept-Encoding\` allows it. JSON that needs a credential has an \`ETag\`; send it back in \`If-None-Match\`, and an unchanged response is a \`304\` without a body.
- An object that people change has an \`ETag\` at the address with its id. Send it in \`If-Match\` with a change, and the change is refused with \`412\` (\`changed_meanwhile\`) if somebody else has changed the object since. The \`ETag\` of the list of placement rules is for a change of their order. Figures that change by themselves, such as the usage of a project, do not count.
- Every response carries \`X-Request-Id\`, which identifies the request in the log. Only requests that are rejected before Tally reads them have neither this header nor a body: \`431\` for headers above 16 KiB, \`413\` for bodies that declare more than 1 GiB, \`400\` for contradictory \`Content-Length\` or \`Transfer-Encoding\` headers.`

/** Throws for a route without documentation; the tests catch that. */
export async function openApiDocument(routes: readonly DescribedRoute[]): Promise<OpenApiDocument> {
  const document = await collected(routes)
  const writer = new DocumentWriter()
  for (const route of routes) {
    const { detail } = route.hooks
    if (detail?.hide) continue
    if (!detail?.documentation) throw new Error(`${route.method} ${route.path} has no detail: documented(…)`)
    const methods = document.paths[route.path.replace(/:(\w+)/g, '{$1}')]!
    const method = route.method.toLowerCase()
    methods[method] = writer.complete(methods[method] as Collected, route, detail.documentation)
  }
  return writer.withComponents(document)
}

/** An operation as the plugin writes it: with what `documented` says in its terms, and the names of its parameters. */
interface Collected extends Json {
  documentation: unknown
  parameters?: { in: 'path' | 'query'; name: string; required: boolean }[]
}

async function collected(routes: readonly DescribedRoute[]): Promise<OpenApiDocument> {
  const plugin = swagger({
    path: '/',
    specPath: '/openapi.json',
    excludeStaticFile: false,
    documentation: {
      openapi: '3.1.0',
      jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
      info: {
        title: 'Tally',
        version: VERSION,
        summary: 'Records the token usage of AI agents, shows it, and bills for it.',
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      servers: [{ url: '/', description: 'The server that served this document.' }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    } as object,
  })
  // The plugin is not a part of the application, which would serve its page and answer without an access rule.
  Object.assign(plugin, { getGlobalRoutes: () => routes })
  // Elysia finds no path after a host of fewer than four characters.
  const answer = await plugin.handle(new Request('http://localhost/openapi.json'))
  return (await answer.json()) as OpenApiDocument
}

/** Writes operations and collects their shared components. */
class DocumentWriter {
  readonly #schemas = new Components()
  readonly #responses: Json = {}

  complete(
    { documentation: _, parameters: found = [], ...collected }: Collected,
    { method, path, hooks }: DescribedRoute,
    documentation: Documentation,
  ): Json {
    const { body } = documentation
    const { headers = [], responses } = isRevalidated(method, hooks, documentation)
      ? revalidated(documentation)
      : isConditional(method, hooks)
        ? { ...documentation, headers: [...(documentation.headers ?? []), 'If-Match' as const] }
        : documentation
    const named = ['X-Request-Id', ...headers].map((name) => ({ $ref: `#/components/parameters/${name}` }))
    // In a change, null clears a field; in all other requests, it means that an optional field is not given.
    const content =
      body || hooks.body
        ? this.#content({ ...(hooks.body && { schema: hooks.body }), ...body }, method === 'PATCH' ? 'plain' : 'given')
        : undefined
    return {
      ...collected,
      security: securityOf(hooks),
      parameters: [
        ...found.map(({ in: place, name, required }) =>
          place === 'path'
            ? this.#pathParameter(name, hooks.params, documentation.path)
            : this.#queryParameter(name, required, hooks.query!),
        ),
        ...named,
      ],
      ...(content && { requestBody: { required: true, content } }),
      responses: {
        ...Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, this.#success(response)])),
        ...this.#problems(problemsOf(method, path, hooks, documentation), documentation.otlp),
      },
    }
  }

  /** Call it when all operations are complete. */
  withComponents(operations: OpenApiDocument): OpenApiDocument {
    // Included even if no operation refers to it: batches return problems within their results.
    this.#schemas.schema(ProblemSchema)
    const responses = byName(Object.entries(this.#responses))
    const { schemas, document } = this.#schemas.complete({ ...operations, components: { responses } })
    return { ...document, components: { schemas, ...document.components, ...SHARED_COMPONENTS } }
  }

  #content({ also = {}, ...json }: Contents, use: Use = 'plain'): Json {
    const contents = { ...(json.schema && { 'application/json': json }), ...also }
    return Object.fromEntries(
      Object.entries(contents).map(([type, { schema, ...examples }]) => [
        type,
        { ...(schema && { schema: this.#schemas.schema(schema, use) }), ...examples },
      ]),
    )
  }

  #pathParameter(name: string, schema: TSchema | undefined, descriptions: Record<string, string> = {}): Json {
    const { description = descriptions[name], ...rest } = this.#property(schema, name) ?? { type: 'string' }
    return { name, in: 'path', required: true, description, schema: rest }
  }

  #queryParameter(name: string, isRequired: boolean, query: TSchema): Json {
    const { description, [REQUIRED]: isMarked, ...rest } = this.#property(query, name)!
    // Commas are accepted too, which OpenAPI cannot express in addition to repetition.
    const list = rest.type === 'array' ? { style: 'form', explode: true } : {}
    return { name, in: 'query', required: isRequired || isMarked === true, description, ...list, schema: rest }
  }

  #property(schema: TSchema | undefined, name: string): JsonSchema | undefined {
    const property = schema?.properties?.[name]
    return property && this.#schemas.schema(property)
  }

  /** JSON comes first: generated clients that know one content type per response use the first. */
  #success({ description, headers = [], also = {}, ...json }: Documentation['responses'][number]): Json {
    const content = this.#content({ ...json, also })
    const others = json.schema ? Object.keys(also).map((type) => `\`${type}\``) : []
    return {
      description:
        others.length > 0 ? `${description} Also available as ${others.join(' and ')} by \`Accept\`.` : description,
      headers: headerReferences(['X-Request-Id', ...headers]),
      ...(Object.keys(content).length > 0 && { content }),
    }
  }

  /** One response per status. Operations with the same codes share it, under the names of those codes. */
  #problems(codes: Set<ProblemCode>, otlp = false): Json {
    const byStatus = Map.groupBy([...codes].sort(), (code) => PROBLEMS[code].status)
    return Object.fromEntries(
      [...byStatus].map(([status, codesOfStatus]) => {
        const name = [...(otlp ? ['otlp'] : []), ...codesOfStatus].join('.')
        this.#responses[name] ??= this.#problemResponse(status, codesOfStatus, otlp)
        return [status, { $ref: `#/components/responses/${name}` }]
      }),
    )
  }

  #problemResponse(status: number, codes: ProblemCode[], otlp: boolean): Json {
    return {
      description: codes
        .map((code) => `[${PROBLEMS[code].title}](${problemPath(code)}): ${PROBLEMS[code].help}`)
        .join('\n\n'),
      headers: headerReferences(['X-Request-Id', ...(HEADERS_OF_STATUS[status] ?? [])]),
      ...(!otlp && { [PROBLEM_CODES]: codes }),
      content: otlp
        ? this.#rpcStatus()
        : {
            [PROBLEM_TYPE]: {
              // The codes are not part of the schema: client generators know one problem, and keep it.
              schema: this.#schemas.schema(ProblemSchema),
              examples: Object.fromEntries(
                codes.map((code) => [code, { summary: PROBLEMS[code].title, value: exampleOf(code) }]),
              ),
            },
          },
    }
  }

  #rpcStatus(): Json {
    return this.#content({
      schema: RpcStatus,
      example: EXAMPLE_RPC_STATUS,
      also: {
        [OTLP_CONTENT_TYPES.protobuf]: {
          schema: Type.String({ format: 'binary' }),
          example: 'A google.rpc.Status in Protocol Buffers',
        },
      },
    })
  }
}

/** Whether the response has an entity tag: all JSON that a caller reads has one, see `http/responses.ts`. */
function isRevalidated(method: string, hooks: DescribedRoute['hooks'], { responses }: Documentation): boolean {
  return method === 'GET' && hooks.allowed !== 'anyone' && responses[200]?.schema !== undefined
}

/** Whether the operation changes an object only if it has a version that the caller knows. */
function isConditional(method: string, { objectKind }: DescribedRoute['hooks']): boolean {
  return method !== 'GET' && objectKind !== undefined
}

function revalidated({ headers = [], responses }: Documentation): Pick<Documentation, 'headers' | 'responses'> {
  const read = responses[200]!
  return {
    headers: [...headers, 'If-None-Match'],
    responses: {
      ...responses,
      200: { ...read, headers: [...(read.headers ?? []), 'ETag'] },
      304: { description: 'The response matches the ETag in If-None-Match.', headers: ['ETag'] },
    },
  }
}

type ResponseHeader = keyof typeof RESPONSE_HEADERS

const HEADERS_OF_STATUS: Record<number, ResponseHeader[]> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

function headerReferences(names: ResponseHeader[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

const SECURITY: Record<string, Json> = {
  [SECURITY_SCHEMES.service]: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tally_svc_…',
    description:
      'A service token, with which agents report. Its creator is the agent manager of all entries reported with it.',
  },
  [SECURITY_SCHEMES.read]: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tally_read_…',
    description:
      'A read token. It reads entries, sheets, reports, work and prices, and rules and bills if the role of its creator may, as far as that role sees them at the time of the request; never people, tokens, settings, the audit log or the status of telemetry.',
  },
  [SECURITY_SCHEMES.organization]: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tally_org_…',
    description: 'An organization token, for telemetry push.',
  },
  [SECURITY_SCHEMES.api]: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tally_api_…',
    description:
      'An API token. It has the scopes that were chosen for it, as far as the role of its creator allows at the time of the request. Operations list the scope that they need, and roles: of several alternatives, any is sufficient. Works once an admin has turned API tokens on.',
  },
  [SECURITY_SCHEMES.session]: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'A signed-in person, identified by the session cookie (set over TLS, its name starts with `__Host-`). If an operation lists several roles, any of them is sufficient; if it lists none, any but `viewer` is. Requests that change something are accepted from pages of the same origin only.',
  },
}

/** Those that no route has of its own. */
const SHARED_COMPONENTS = {
  parameters: Object.fromEntries(
    Object.entries(REQUEST_HEADERS).map(([name, { description, ...schema }]) => [
      name,
      { name, in: 'header', required: false, description, schema: { type: 'string', ...schema } },
    ]),
  ),
  headers: Object.fromEntries(
    Object.entries(RESPONSE_HEADERS).map(([name, { description, ...schema }]) => [
      name,
      { description, schema: { type: 'string', ...schema } },
    ]),
  ),
  securitySchemes: SECURITY,
}

const ANY_BODY: ProblemCode[] = ['malformed_json', 'body_too_large', 'unsupported_media_type', 'validation_failed']
const OTLP_BODY: ProblemCode[] = ['body_too_large', 'unsupported_media_type']
const ANY_READ: ProblemCode[] = [
  'database_busy',
  'database_failed',
  'database_unreachable',
  'database_upgraded',
  'overloaded',
]
const ANY_WRITE: ProblemCode[] = [...ANY_READ, 'database_full', 'database_moved']

/** Every problem that a route can return: its own, and those that follow from its method, body and access. */
function problemsOf(
  method: string,
  path: string,
  hooks: DescribedRoute['hooks'],
  { body, otlp, problems = [], responses }: Documentation,
): Set<ProblemCode> {
  const alternatives = securityOf(hooks)
  const kinds = new Set(alternatives.flatMap((alternative) => Object.keys(alternative)))
  const asksForRole = alternatives.some((alternative) => Object.values(alternative).flat().length > 0)
  const asksForOrigin = method !== 'GET' && kinds.has(SECURITY_SCHEMES.session)
  const refusesSome = asksForRole || asksForOrigin || kinds.size < Object.keys(SECURITY).length
  return new Set<ProblemCode>([
    'bad_request',
    'internal_error',
    ...problems,
    ...(kinds.size > 0 ? (['unauthenticated', ...ANY_READ] as const) : []),
    // Also for routes without a token: requests without a valid credential are limited too.
    'rate_limited',
    ...(method === 'GET' && isExported(responses) ? (['too_many_exports'] as const) : []),
    ...(kinds.size > 0 && refusesSome ? (['forbidden'] as const) : []),
    ...(otlp ? OTLP_BODY : body || hooks.body ? ANY_BODY : []),
    ...(hooks.query || hooks.params ? (['validation_failed'] as const) : []),
    ...(path.includes(':') ? (['not_found'] as const) : []),
    ...(isConditional(method, hooks) ? (['changed_meanwhile'] as const) : []),
    ...(method === 'GET' ? [] : ANY_WRITE),
  ])
}

/** Whether the operation can return a CSV file or a document. */
function isExported(responses: Documentation['responses']): boolean {
  return Object.values(responses).some(({ also }) => also !== undefined)
}

function exampleOf(code: ProblemCode): Json {
  const { title, status, help } = PROBLEMS[code]
  const errors = code === 'validation_failed' && [
    { pointer: '/tokens/input', code: 'wrong_type', message: 'must be an integer, as a JSON number' },
  ]
  return {
    type: problemPath(code),
    title,
    status,
    detail: errors ? `${errors[0]!.pointer}: ${errors[0]!.message}` : help,
    code,
    request_id: '01a1fa17-2a02-77f3-9833-22718874f2ef',
    ...(errors && { errors }),
  }
}
