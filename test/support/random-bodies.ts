/** Random JSON values for a schema of the OpenAPI document: many of them valid, others wrong in one place or several. */
import Ajv2020 from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import type { OpenApiDocument } from '../../src/http/openapi-document.ts'

export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  patternProperties?: Record<string, Schema>
  examples?: unknown[]
}

/** Values that some schema takes, or refuses only just. */
const POOL = [
  ...['a', 'acme', 'EUR', '2026-11', '2026-11-30', '2026-11-20T17:53:04Z', 'repository', 'model', '30d', '2026-0001'],
  ...['ada@example.com', 'https://example.com/', 'Europe/Berlin', '#1155cc', '', ' ', 'a\u0000', 'a\nb'],
  ...['a'.repeat(201), '👍'.repeat(200), 'a'.repeat(10_001)],
  ...[0, 1, 2, 7, 0.5, 25, 100, -1, 1.5, 1e12, 1e15, -1e15],
]

const WRONG = fc.constantFrom<unknown>(null, '', ' ', 7, -1, 1.5, 1e16, true, [], [null], {}, { unknown: 1 }, 'a\u0000')

/** How often a value is replaced by something else. */
const RARELY = 25

export class RandomBodies {
  readonly #ajv = new Ajv2020({ strict: false })
  readonly #schemas: Record<string, Schema>

  constructor(document: OpenApiDocument) {
    addFormats(this.#ajv)
    this.#ajv.addFormat('idn-email', true)
    this.#ajv.addSchema(document, 'document')
    this.#schemas = document.components.schemas as Record<string, Schema>
  }

  /** Whether a value is as the schema says. */
  validatorOf(schema: Schema): (value: unknown) => boolean {
    const check = this.#ajv.compile(absolute(schema))
    return (value) => check(value) as boolean
  }

  of(schema: Schema): fc.Arbitrary<unknown> {
    return fc.oneof({ weight: RARELY, arbitrary: this.#meant(schema) }, { weight: 1, arbitrary: WRONG })
  }

  /** With some fields of an example. */
  like(example: object, schema: Schema): fc.Arbitrary<unknown> {
    const names = Object.keys(example) as never[]
    return fc
      .tuple(this.#meant(schema), fc.subarray(names), fc.subarray(Object.keys(this.#resolved(schema).properties ?? {})))
      .map(([random, left, taken]) => {
        if (typeof random !== 'object' || random === null || Array.isArray(random)) return random
        const others = Object.entries(random).filter(([name]) => taken.includes(name))
        const kept = Object.entries(example).filter(
          ([name]) => others.length % 2 === 0 || !left.includes(name as never),
        )
        return structuredClone({ ...Object.fromEntries(kept), ...Object.fromEntries(others) })
      })
  }

  #resolved(schema: Schema): Schema {
    return schema.$ref ? this.#resolved(this.#schemas[schema.$ref.split('/').at(-1)!]!) : schema
  }

  #meant(given: Schema): fc.Arbitrary<unknown> {
    const schema = this.#resolved(given)
    const { anyOf, items, properties, minItems = 0, maxItems = 3 } = schema
    if (anyOf) return fc.oneof(...anyOf.map((each) => this.#meant(each)))
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    if (items) {
      return fc.array(this.of(items), {
        minLength: Math.max(0, minItems - 1),
        maxLength: Math.min(maxItems + 1, minItems + 3),
      })
    }
    if (properties) {
      const fields = Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, this.of(field)]))
      const { required = [] } = schema
      const whole = fc.record(fields, { requiredKeys: required })
      return fc.oneof(
        { weight: RARELY, arbitrary: whole },
        { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
        { weight: 1, arbitrary: whole.map((value) => ({ ...value, unknown: null })) },
      )
    }
    if (schema.type === 'object') return this.#named(schema)
    const isValid = this.validatorOf(schema)
    const valid = [...POOL, ...(schema.examples ?? []), true, false, null].filter(isValid)
    return valid.length > 0 ? fc.constantFrom<unknown>(...valid) : WRONG
  }

  /** An object with names that callers choose. */
  #named({ patternProperties = {}, additionalProperties }: Schema): fc.Arbitrary<unknown> {
    const [value] = [...Object.values(patternProperties), additionalProperties]
    if (typeof value !== 'object') return fc.constant({})
    const names = fc.constantFrom('a', 'branch', 'projects', 'Not a name', '')
    return fc.dictionary(names, this.of(value), { maxKeys: 2 })
  }
}

/** The same for use outside of the document. */
function absolute(schema: Schema): Schema {
  const text = JSON.stringify(schema, (key, value) => (key === '$ref' ? `document${value}` : value))
  return JSON.parse(text)
}
