/** Turns TypeBox errors into validation issues for callers. Values are never echoed. */
import type { TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import type { Issue } from '../errors.ts'
import { counted } from '../lib/counted.ts'
import { NAMES, type Names } from './types.ts'

/** A compiled schema, Elysia's or TypeBox's own. */
export interface Checker {
  Errors(value: unknown): Iterable<ValueError>
}

/** Caps the response to a badly malformed batch. */
const ISSUE_LIMIT = 50

/** All issues of a value, one per pointer (a missing field would otherwise be both missing and wrongly typed). */
export function issuesOf(checker: Checker, value: unknown, root = ''): Issue[] {
  const issues = new Map<string, Issue>()
  for (const error of withoutNull(checker.Errors(value))) {
    const pointer = root + error.path
    if (!issues.has(pointer)) issues.set(pointer, { pointer, ...explain(error) })
    if (issues.size >= ISSUE_LIMIT) break
  }
  return [...issues.values()]
}

/** In place of the error of a value that may be null as well, those of the value: what is wrong, and where. */
function* withoutNull(errors: Iterable<ValueError>): Generator<ValueError> {
  for (const error of errors) {
    const alternatives: TSchema[] = error.type === ValueErrorType.Union ? error.schema.anyOf : []
    const others = alternatives.filter(({ type }) => type !== 'null')
    const isNullable = others.length === 1 && alternatives.length === 2
    if (isNullable && error.schema.errorMessage === undefined) {
      yield* withoutNull(error.errors[alternatives.indexOf(others[0]!)]!)
    } else yield error
  }
}

function explain({ type, schema, value }: ValueError): Omit<Issue, 'pointer'> {
  // A schema may bring its own message, because a regular expression does not explain itself.
  const { errorMessage: own, [NAMES]: names } = schema as TSchema & { errorMessage?: string; [NAMES]?: Names }
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return { code: 'required', message: 'is required' }
    case ValueErrorType.ObjectAdditionalProperties:
      return {
        code: 'unknown_field',
        message: names
          ? `is not a valid name of a ${names.one}: use ${names.form}`
          : 'is not a known field; see /docs/api for the list',
      }
    case ValueErrorType.IntegerMinimum:
    case ValueErrorType.NumberMinimum:
      return { code: 'too_small', message: `must be at least ${schema.minimum}` }
    case ValueErrorType.NumberExclusiveMinimum:
      return { code: 'too_small', message: own ?? `must be more than ${schema.exclusiveMinimum}` }
    case ValueErrorType.IntegerMaximum:
    case ValueErrorType.NumberMaximum:
      return { code: 'too_large', message: `must be at most ${schema.maximum}` }
    case ValueErrorType.StringMinLength:
      return {
        code: 'too_short',
        message:
          schema.minLength === 1 ? 'must not be empty' : `must have at least ${counted(schema.minLength, 'character')}`,
      }
    case ValueErrorType.StringMaxLength:
      return { code: 'too_long', message: `must have at most ${counted(schema.maxLength, 'character')}` }
    case ValueErrorType.StringPattern:
    case ValueErrorType.StringFormat:
      return {
        code: 'bad_format',
        message: own ?? `must be ${schema.format ? `a ${schema.format}` : `a match for ${schema.pattern}`}`,
      }
    case ValueErrorType.ArrayMinItems:
      return { code: 'too_few', message: own ?? `must have at least ${counted(schema.minItems, 'item')}` }
    case ValueErrorType.ArrayMaxItems:
      return { code: 'too_many', message: `must have at most ${counted(schema.maxItems, 'item')}` }
    case ValueErrorType.ArrayUniqueItems:
      return { code: 'not_unique', message: 'must not contain a value twice' }
    case ValueErrorType.ObjectMinProperties:
      return { code: 'too_few', message: own ?? `must have at least ${counted(schema.minProperties, 'field')}` }
    case ValueErrorType.ObjectMaxProperties:
      return { code: 'too_many', message: `must have at most ${counted(schema.maxProperties, names?.one ?? 'field')}` }
    case ValueErrorType.Integer:
      if (typeof value === 'number') return { code: 'not_an_integer', message: 'must be a whole number' }
      return { code: 'wrong_type', message: 'must be an integer, as a JSON number' }
    case ValueErrorType.Union:
    case ValueErrorType.Literal:
      return { code: 'not_allowed', message: own ?? choices(schema) }
    default:
      return { code: 'wrong_type', message: own ?? `must be ${article(schema.type)}` }
  }
}

function choices(schema: TSchema): string {
  const alternatives: TSchema[] = schema.anyOf ?? [schema]
  const allowed = alternatives.flatMap(({ const: value }) => (value === undefined ? [] : [String(value)]))
  if (allowed.length > 0) return `must be one of ${allowed.join(', ')}`
  // Of a parameter that Elysia converts, the last alternative is the one that is meant.
  return `must be ${article(alternatives.at(-1)!.type)}`
}

function article(type: unknown): string {
  if (typeof type !== 'string') return 'as described by the schema'
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
