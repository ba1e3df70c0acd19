/**
 * A tool of the Model Context Protocol is an operation under a shorter name: what it takes, what it returns and who may call
 * it follow from the operation. A call of it is a request to the operation's route.
 */
import type { TSchema } from '@sinclair/typebox'
import type { Caller } from '../access/caller.ts'
import { validationFailed } from '../errors.ts'
import { type JsonSchema, plainSchema } from '../http/json-schema.ts'
import type { Asked, Given, McpTool } from '../http/mcp.ts'
import type { AnyAction } from '../operations/operation.ts'
import { REPEATABLE, REQUIRED } from '../operations/parameters.ts'
import { text } from '../schema/types.ts'
import { cut, limited, type Paths, shown, shownSchema } from './shown.ts'

/** What a tool needs of an operation; of a route that is none, its definition says the same. */
export type Called = Pick<
  AnyAction,
  'method' | 'path' | 'allow' | 'scope' | 'forProjects' | 'params' | 'query' | 'body' | 'answer'
>

interface Definition<Answer> {
  name: string
  title: string
  /** For the model, which chooses by it. */
  description: string
  /** Of the path, the query and the body. */
  fields?: readonly string[]
  /** Of the query, unless the caller says otherwise. */
  usual?: Record<string, string>
  /** What the caller must say, although the operation does not ask for it. */
  required?: readonly string[]
  /** Fields of the tool alone, which `asked` reads. */
  own?: Record<string, TSchema>
  /** Of the answer. */
  keep: Paths
  /** The path of the page of the web application that shows the same. */
  page: (given: Given, answer: Answer) => string
  /** The scope that an API token needs, if the operation takes several. */
  scope?: Called['scope']
  /** What the operation asks of its caller beyond its `allow`. */
  permits?: (caller: Caller) => boolean
  /** The request, if it is not that of the operation. */
  asked?: (given: Given, asked: Asked) => Asked
  /** The answer from the response, if it is not the whole one. Throws a problem. */
  read?: (response: never, given: Given) => unknown
  /** Its schema, if it is not that of the operation. */
  answer?: TSchema
}

export function tool<Answer = never>(operation: Called, definition: Definition<Answer>): McpTool {
  const { name, title, description, fields = [], usual = {}, required = [], own = {}, keep } = definition
  const { query = {}, body } = operation
  const params: Record<string, string> = operation.params ?? {}
  const taken = Object.fromEntries(
    fields.map((field): [string, TSchema] => {
      const schema = params[field] === undefined ? (query[field] ?? body?.properties[field]) : text(params[field])
      if (!schema) throw new Error(`${name}: the operation takes no ${field}`)
      return [field, schema]
    }),
  )
  const isRequired = (field: string) =>
    params[field] !== undefined ||
    taken[field]?.[REQUIRED] === true ||
    (!(field in query) && body?.required?.includes(field)) ||
    required.includes(field)
  const schema = cut(definition.answer ?? [operation.answer].flat()[0]!.schema!, keep)

  function asked(given: Given): Asked {
    for (const field of Object.keys(given)) {
      if (Object.hasOwn(taken, field) || Object.hasOwn(own, field)) continue
      throw validationFailed([
        { pointer: `/${field}`, code: 'unknown_field', message: `is not known. ${name} takes ${list(taken, own)}` },
      ])
    }
    const path = operation.path.replaceAll(/:(\w+)/g, (_, field: string) => encodeURIComponent(textOf(field, given)))
    const texts = new URLSearchParams()
    for (const field of fields.filter((one) => one in query)) {
      const values = given[field] === undefined || given[field] === null ? [] : [given[field]].flat()
      for (const at of values.keys()) texts.append(field, textOf(field, { [field]: values[at] }))
    }
    for (const [field, value] of Object.entries(usual)) if (!texts.has(field)) texts.set(field, value)
    const sent = fields.filter((field) => body?.properties[field] && !(field in query) && given[field] !== undefined)
    return {
      method: operation.method,
      path: texts.size === 0 ? path : `${path}?${texts}`,
      ...(body && { body: Object.fromEntries(sent.map((field) => [field, given[field]])) }),
    }
  }

  return {
    name,
    title,
    description,
    isReading: operation.method === 'GET' || operation.path.endsWith('/preview'),
    allow: operation.allow,
    scope: definition.scope ?? operation.scope,
    forProjects: operation.forProjects,
    permits: definition.permits ?? (() => true),
    input: {
      type: 'object',
      properties: Object.fromEntries(Object.entries({ ...taken, ...own }).map(([field, one]) => [field, inputOf(one)])),
      required: Object.keys({ ...taken, ...own }).filter(isRequired),
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        page: { type: 'string', description: 'The page that shows the same, for people.' },
        ...(plainSchema(shownSchema(schema)).properties as object),
        not_shown: {
          type: 'object',
          additionalProperties: { type: 'integer' },
          description: 'How many items of each list are not shown, by the path of the list. Totals include them.',
        },
      },
      required: ['page'],
    },
    asked: (given) => (definition.asked ? definition.asked(given, asked(given)) : asked(given)),
    answered(response, given) {
      const answer = definition.read ? definition.read(response as never, given) : response
      return { page: definition.page(given, answer as Answer), answer: limited(shown(schema, answer) as object) }
    },
  }
}

const list = (...fields: object[]) => fields.flatMap(Object.keys).join(', ') || 'no arguments'

/** The text of a value in a path or a query. */
function textOf(field: string, given: Given): string {
  const value = given[field]
  if (['string', 'number', 'boolean'].includes(typeof value)) return String(value)
  throw validationFailed([{ pointer: `/${field}`, code: 'wrong_type', message: 'must be a text, or a list of texts' }])
}

/** Arguments are JSON, where a list is a list instead of a repeated parameter. */
function inputOf(schema: TSchema): JsonSchema {
  const { [REQUIRED]: _, ...plain } = plainSchema(schema)
  return typeof plain.description === 'string'
    ? { ...plain, description: plain.description.replace(REPEATABLE, '') }
    : plain
}
