/** TypeBox's schemas as JSON Schema 2020-12 for readers: what is meant, without what only validation here needs. */
import type { TSchema } from '@sinclair/typebox'

export type JsonSchema = Record<string, unknown>

const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** Named schemas, each written once and referred to from everywhere else. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {}

  /** The schema as a part of the document: whatever has an `$id` becomes a component, and a reference stands for it. */
  schema(schema: TSchema): JsonSchema {
    return write(schema, ({ $id, ...rest }) => {
      if (typeof $id !== 'string') return rest
      // The name is taken before its content is written, since that may mention it.
      if (!Object.hasOwn(this.schemas, $id)) {
        this.schemas[$id] = {}
        this.schemas[$id] = this.schema(rest as TSchema)
      }
      return { $ref: `#/components/schemas/${$id}` }
    })
  }
}

/** The schema on its own, under an id that names it wherever it is kept. */
export function standaloneSchema(schema: TSchema, id: string, title: string): JsonSchema {
  return { $schema: DIALECT, $id: id, title, ...write(schema, ({ $id: _, ...rest }) => rest) }
}

type Rewrite = (schema: JsonSchema) => JsonSchema

function write(schema: TSchema, rewrite: Rewrite): JsonSchema {
  // The replacer sees the outer object before its parts, so parts of what it answers are rewritten in turn.
  return JSON.parse(JSON.stringify(schema, (_, value) => (isObject(value) ? rewrite(readable(value)) : value)))
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Any text: what TypeBox writes for the names of a `Record(String(), …)`. */
const ANY_NAME = '^(.*)$'

function readable(schema: JsonSchema): JsonSchema {
  const { errorMessage: _, elysiaMeta: __, ...rest } = meant(schema)
  const names = rest.patternProperties
  if (isObject(names) && names[ANY_NAME]) {
    const { patternProperties: ___, ...others } = rest
    return { ...others, additionalProperties: names[ANY_NAME] }
  }
  if (typeof rest.$ref === 'string' && !rest.$ref.includes('/')) return { $ref: `#/components/schemas/${rest.$ref}` }
  return rest
}

/** A list in a query: Elysia checks for a text with commas or an array, and what is meant is the array. */
function meant(schema: JsonSchema): JsonSchema {
  if (schema.elysiaMeta !== 'ArrayQuery') return schema
  const { anyOf, ...outer } = schema
  return { ...(anyOf as JsonSchema[])[1], ...outer }
}
