/**
 * Null as "not given": programs that serialize their objects as a whole send null for each field that they leave empty.
 * Wherever a schema has an optional field that takes no null, null is removed before validation, and the documents for
 * callers say that it is accepted. Bodies without any null cost nothing. Changes (PATCH) are excepted: there, null clears
 * a field, and one that can't be empty refuses it.
 */
import type { TSchema } from '@sinclair/typebox'

/** Removes what is null and may be absent, at every depth, from a value that was not validated yet. */
export function removeNulls(schema: TSchema, value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const alternative of alternativesOf(schema)) removeNulls(alternative, value)
  if (Array.isArray(value)) {
    if (schema.items) for (const item of value) removeNulls(schema.items, item)
    return
  }
  const members = value as Record<string, unknown>
  for (const name of Object.keys(members)) {
    const field = fieldOf(schema, name)
    if (!field) continue
    if (members[name] !== null) removeNulls(field, members[name])
    else if (!isRequired(schema, name) && !takesNull(field)) delete members[name]
  }
}

/** The schema as a caller may use it: with null for optional fields, at every depth. */
export function acceptingNulls<Schema extends TSchema>(schema: Schema): Schema {
  const { properties, patternProperties, items, anyOf } = schema
  return {
    ...schema,
    ...(items && { items: acceptingNulls(items) }),
    ...(anyOf && { anyOf: anyOf.map(acceptingNulls) }),
    ...(properties && { properties: optional(properties, (name) => !isRequired(schema, name)) }),
    ...(patternProperties && { patternProperties: optional(patternProperties, () => true) }),
  }
}

function optional(fields: Record<string, TSchema>, isOptional: (name: string) => boolean): Record<string, object> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const inner = acceptingNulls(field)
      return [name, isOptional(name) && !takesNull(field) ? orNull(inner) : inner]
    }),
  )
}

/** The description stays with the field, where readers and generators look for it; one with a name keeps it as well. */
function orNull(field: TSchema): object {
  const { description, examples, ...rest } = field
  return {
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
    anyOf: [field.$id === undefined ? rest : field, { type: 'null' }],
  }
}

function alternativesOf(schema: TSchema): TSchema[] {
  return schema.anyOf ?? []
}

function fieldOf(schema: TSchema, name: string): TSchema | undefined {
  if (schema.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name]
  const patterns = Object.entries<TSchema>(schema.patternProperties ?? {})
  return patterns.find(([pattern]) => new RegExp(pattern).test(name))?.[1]
}

function isRequired(schema: TSchema, name: string): boolean {
  return schema.required?.includes(name) ?? false
}

/** A schema without a type takes everything. */
function takesNull(schema: TSchema): boolean {
  const alternatives = alternativesOf(schema)
  if (alternatives.length > 0) return alternatives.some(takesNull)
  return schema.type === 'null' || (schema.type === undefined && schema.const === undefined && !schema.$ref)
}
