/** Checks responses against the OpenAPI document, like a strict client. */
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import { type OpenApiDocument, PROBLEM_CODES } from '../../src/http/openapi-document.ts'

export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The body, where it is JSON. Not typed: a test asserts what it relies on. */
  // biome-ignore lint/suspicious/noExplicitAny: the document's check stands for a type
  json: any
}

/** Throws if the document does not describe the response. */
export type CheckAnswer = (method: string, path: string, answer: Answer, sent?: unknown) => void

interface Operation {
  requestBody?: { content: Record<string, unknown> }
  responses: Record<string, { $ref?: string } & Response>
}

interface Response {
  headers?: Record<string, unknown>
  [PROBLEM_CODES]?: string[]
  content?: Record<string, unknown>
}

const PROBLEM = 'application/problem+json'

/** Responses allowed for requests that the document does not describe: only errors. */
const WITHOUT_OPERATION = [401, 404, 405]

export function checkerOf(document: OpenApiDocument): CheckAnswer {
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  addFormats(ajv)
  ajv.addFormat('idn-email', true)
  ajv.addSchema(document, 'document')
  const compiled = new Map<string, ValidateFunction>()

  /** The schema at a JSON pointer into the document. */
  const validate = (pointer: string, value: unknown, what: string) => {
    if (!compiled.has(pointer)) compiled.set(pointer, ajv.compile({ $ref: `document#${encodeURI(pointer)}` }))
    const check = compiled.get(pointer)!
    if (!check(value)) throw new Error(`${what} is not as the document says: ${ajv.errorsText(check.errors)}`)
  }

  return (method, path, answer, sent) => {
    const what = `${method} ${path} → ${answer.status}`
    const { pathname } = new URL(path, 'http://tally')
    if (!answer.headers.get('x-request-id')) throw new Error(`${what} has no X-Request-Id`)
    // A path without parameters precedes those with parameters that also match.
    const template = document.paths[pathname]
      ? pathname
      : Object.keys(document.paths).find((known) => matches(known, pathname))
    const operation = document.paths[template!]?.[method.toLowerCase()] as unknown as Operation | undefined
    const type = (answer.headers.get('content-type') ?? '').split(';')[0]!
    if (!operation) {
      // Pages and their files are not part of the API, and HEAD is GET without the body.
      const isPage = !pathname.startsWith('/api/') && answer.status < 400
      if (isPage || method === 'HEAD' || method === 'OPTIONS') return
      if (!WITHOUT_OPERATION.includes(answer.status)) throw new Error(`${what} is not in the document`)
      if (type !== PROBLEM) throw new Error(`${what} is ${type}, not a problem`)
      validate('/components/schemas/Problem', answer.json, what)
      return
    }

    const { $ref, ...written } = operation.responses[answer.status] ?? {}
    const at = $ref?.slice(1) ?? pointerOf('paths', template!, method.toLowerCase(), 'responses', String(answer.status))
    const response = $ref ? (document.components.responses![$ref.split('/').at(-1)!] as Response) : written
    if (!operation.responses[answer.status]) throw new Error(`${what} is not documented: ${answer.text.slice(0, 300)}`)
    if (type !== '' && !response.content?.[type]) throw new Error(`${what} is ${type}, which is not documented`)
    if (type === PROBLEM) {
      const { code, status } = answer.json
      const isNamed = response[PROBLEM_CODES]!.includes(code) && status === answer.status
      if (!isNamed) throw new Error(`${what} is not documented with the code ${code} and the status ${status}`)
    }
    if (answer.json !== undefined) validate(`${at}${pointerOf('content', type, 'schema')}`, answer.json, what)
    for (const name of ['location', 'idempotent-replayed', 'retry-after', 'www-authenticate', 'etag', 'set-cookie']) {
      const documented = Object.keys(response.headers ?? {}).some((known) => known.toLowerCase() === name)
      if (answer.headers.has(name) && !documented) throw new Error(`${what} has the undocumented header ${name}`)
    }
    // An accepted request must match the document too.
    if (sent !== undefined && answer.status < 300) {
      const schema = pointerOf(
        'paths',
        template!,
        method.toLowerCase(),
        'requestBody',
        'content',
        'application/json',
        'schema',
      )
      validate(schema, sent, `${method} ${path}: the accepted body`)
    }
  }
}

function matches(template: string, path: string): boolean {
  const parts = template.split('/')
  const sent = path.split('/')
  return parts.length === sent.length && parts.every((part, index) => part.startsWith('{') || part === sent[index])
}

function pointerOf(...names: string[]): string {
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
