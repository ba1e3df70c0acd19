/** TypeBox's schemas as JSON Schema 2020-12 for readers: the meaning, without details that only validation needs. */
import type { TSchema } from '@sinclair/typebox'
import { LIST } from '../operations/parameters.ts'
import { acceptingNulls } from '../schema/absent-fields.ts'
import { NAMES, SHOWN, UNIT } from '../schema/types.ts'

export type JsonSchema = Record<string, unknown>

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** `given`: in a request, where null stands for a field that is not given (`schema/absent-fields.ts`). Else `plain`. */
export type Use = 'plain' | 'given'

/**
 * Named schemas, each written once and referenced from everywhere else. One that differs by its use is two components, of
 * which `XInput` is the given one.
 */
export class Components {
  /** By use and name: what is written, with its references, and everything in it as text. */
  readonly #found = new Map<string, { written: JsonSchema; content: string }>()

  /** The schema for use in the document: every schema with an `$id` is replaced by a reference, which has its use until the end. */
  schema(schema: TSchema, use: Use = 'plain'): JsonSchema {
    return this.#referring(use === 'plain' ? schema : acceptingNulls(schema), use)
  }

  /** The components, by name, and the document with references to them: the same, whatever was found first. */
  complete<Document extends object>(document: Document): { schemas: Record<string, JsonSchema>; document: Document } {
    const named = [...this.#found].map(([key, { written }]) => [this.#nameOf(key), written] as const)
    const text = JSON.stringify({ schemas: byName(named), document }, (key, value) =>
      key === '$ref' && value.startsWith(SCHEMAS) ? SCHEMAS + this.#nameOf(value.slice(SCHEMAS.length)) : value,
    )
    return JSON.parse(text)
  }

  #referring(schema: TSchema, use: Use): JsonSchema {
    return write(schema, ({ $id, ...rest }) => {
      if (typeof rest.$ref === 'string') return { $ref: `${SCHEMAS}plain/${rest.$ref}` }
      if (typeof $id !== 'string') return rest
      const key = `${use}/${$id}`
      const content = JSON.stringify(write(rest as TSchema, withoutId))
      const found = this.#found.get(key)
      if (!found) this.#found.set(key, { written: this.#referring(rest as TSchema, use), content })
      else if (found.content !== content) throw new Error(`Two different schemas have the name ${$id}`)
      return { $ref: `${SCHEMAS}${key}` }
    })
  }

  #nameOf(key: string): string {
    const [use, name] = key.split('/') as [Use, string]
    const plain = this.#found.get(`plain/${name}`)
    return use === 'plain' || !plain || plain.content === this.#found.get(key)!.content ? name : `${name}Input`
  }
}

/** In alphabetical order. */
export function byName<Value>(entries: Iterable<readonly [string, Value]>): Record<string, Value> {
  return Object.fromEntries([...entries].sort(([one], [other]) => (one < other ? -1 : 1)))
}

const SCHEMAS = '#/components/schemas/'

const withoutId = ({ $id: _, ...rest }: JsonSchema): JsonSchema => rest

/** A self-contained schema. */
export const plainSchema = (schema: TSchema): JsonSchema => write(schema, withoutId)

/** The same, with an id that identifies it wherever it is stored. */
export function standaloneSchema(schema: TSchema, id: string, title: string): JsonSchema {
  return { $schema: DIALECT, $id: id, title, ...plainSchema(schema) }
}

type Rewrite = (schema: JsonSchema) => JsonSchema

function write(schema: TSchema, rewrite: Rewrite): JsonSchema {
  // The replacer visits an object before its parts, so the parts of its result are rewritten in turn.
  return JSON.parse(JSON.stringify(schema, (_, value) => (isObject(value) ? rewrite(readable(value)) : value)))
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Any text: TypeBox's pattern for the names of a `Record(String(), …)`. */
const ANY_NAME = '^(.*)$'

function readable(schema: JsonSchema): JsonSchema {
  const { errorMessage: _, elysiaMeta: __, [NAMES]: ___, [UNIT]: ____, [SHOWN]: shown, ...others } = meant(schema)
  const rest: JsonSchema = isObject(shown) ? { ...others, ...shown } : others
  const names = rest.patternProperties
  if (isObject(names) && names[ANY_NAME]) {
    const { patternProperties: _____, ...others } = rest
    return { ...others, additionalProperties: names[ANY_NAME] }
  }
  return rest
}

/** A list in a query: Elysia accepts a text with commas or an array, but the array is the documented form. */
function meant(schema: JsonSchema): JsonSchema {
  if (schema.elysiaMeta !== LIST) return schema
  const { anyOf, ...outer } = schema
  return { ...(anyOf as JsonSchema[])[1], ...outer }
}
