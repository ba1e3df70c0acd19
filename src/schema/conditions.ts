/**
 * What the fields of an object require of each other and exclude. An object's schema has its conditions, which the OpenAPI
 * document shows; services report the issues together with all others. Null is as good as absent.
 *
 * They are written with `if`: of alternatives next to fields, client generators would make a union without these fields.
 */
import type { TSchema } from '@sinclair/typebox'
import type { Issue } from '../errors.ts'
import { SHOWN } from './types.ts'

const CONDITIONS = Symbol('conditions')

export interface Condition {
  /** In JSON Schema. */
  shown: object
  /** Without it, the service checks the condition itself, since its issues depend on more. */
  issueOf?: (fields: object) => Issue | undefined
}

const Absent = { type: 'null' }

export const isAbsent = (...fields: string[]) => ({
  properties: Object.fromEntries(fields.map((field) => [field, Absent])),
})

export const isGiven = (field: string) => ({ required: [field], properties: { [field]: { not: Absent } } })

/** Whether a field has one of these values. */
export const isOneOf = (field: string, ...values: unknown[]) => ({
  required: [field],
  properties: { [field]: values.length === 1 ? { const: values[0] } : { enum: values } },
})

export const when = (condition: object, met: object | undefined, unmet?: object): Condition => ({
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  shown: { if: condition, ...(met && { then: met }), ...(unmet && { else: unmet }) },
})

/** @param issue whose code may depend on whether both fields are given or neither */
export const exactlyOne = (
  one: string,
  other: string,
  issue: Issue | ((code: 'not_allowed' | 'required') => Issue),
): Condition => ({
  ...when(isAbsent(one), isGiven(other), isAbsent(other)),
  issueOf(fields) {
    const hasOne = has(fields, one)
    if (hasOne !== has(fields, other)) return undefined
    return typeof issue === 'function' ? issue(hasOne ? 'not_allowed' : 'required') : issue
  },
})

/** With the field, none of the others may be given. */
export const excludes = (field: string, others: readonly string[], issue: Issue): Condition => ({
  ...when(isGiven(field), isAbsent(...others)),
  issueOf: (fields) => (has(fields, field) && others.some((other) => has(fields, other)) ? issue : undefined),
})

/** As options of the object's schema. */
export const conditions = (...all: readonly Condition[]) => ({
  [CONDITIONS]: all,
  [SHOWN]: all.length === 1 ? all[0]!.shown : { allOf: all.map(({ shown }) => shown) },
})

/** The issues of the conditions that are not met; fields that are no part of the value are absent. */
export function issuesOfConditions(schema: TSchema, value: object): Issue[] {
  const all = (schema as { [CONDITIONS]?: readonly Condition[] })[CONDITIONS] ?? []
  return all.flatMap(({ issueOf }) => issueOf?.(value) ?? [])
}

function has(fields: object, name: string): boolean {
  return ((fields as Record<string, unknown>)[name] ?? null) !== null
}
