/** TypeBox's schemas as JSON Schema 2020-12 for readers: the meaning, without details that only validation needs. */
import type { TSchema } from '@sinclair/typebox'
import { LIST } from '../operations/parameters.ts'
import { NAMES, SHOWN } from '../schema/types.ts'

export type JsonSchema = Record<string, unknown>

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** Named schemas, each written once and referenced from everywhere else. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {}

  /**
   * The schema for use in the document: every schema with an `$id` becomes a component and is replaced by a reference.
   */
  schema(schema: TSchema): JsonSchema {
    return write(schema, ({ $id, ...rest }) => {
      if (typeof $id !== 'string') return rest
      // The name is reserved before its content is written, since that may refer to it.
      if (!Object.hasOwn(this.schemas, $id)) {
        this.schemas[$id] = {}
        this.schemas[$id] = this.schema(rest as TSchema)
      }
      return { $ref: `#/components/schemas/${$id}` }
    })
  }
}

/** A self-contained schema, with an id that identifies it wherever it is stored. */
export function standaloneSchema(schema: TSchema, id: string, title: string): JsonSchema {
  return { $schema: DIALECT, $id: id, title, ...write(schema, ({ $id: _, ...rest }) => rest) }
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
  const { errorMessage: _, elysiaMeta: __, [NAMES]: ___, [SHOWN]: shown, ...others } = meant(schema)
  const rest: JsonSchema = isObject(shown) ? { ...others, ...shown } : others
  const names = rest.patternProperties
  if (isObject(names) && names[ANY_NAME]) {
    const { patternProperties: ____, ...others } = rest
    return { ...others, additionalProperties: names[ANY_NAME] }
  }
  if (typeof rest.$ref === 'string' && !rest.$ref.includes('/')) return { $ref: `#/components/schemas/${rest.$ref}` }
  return rest
}

/** A list in a query: Elysia accepts a text with commas or an array, but the array is the documented form. */
function meant(schema: JsonSchema): JsonSchema {
  if (schema.elysiaMeta !== LIST) return schema
  const { anyOf, ...outer } = schema
  return { ...(anyOf as JsonSchema[])[1], ...outer }
}
