/**
 * Schema building blocks shared by all features, so that timestamps, lists and names look the same everywhere.
 *
 * Bodies are TypeBox's own `Type.*`, since Elysia's `t.*` turns `"5"` into 5. No schema has a `default`: Elysia writes it into
 * what was sent. Defaults are in services. Lengths count characters, as JSON Schema does and both databases do, which
 * `patches/` makes TypeBox do; forms set no `maxLength`, which counts UTF-16 units, and cuts what is pasted.
 */
import {
  type ArrayOptions,
  type IntegerOptions,
  type NumberOptions,
  type ObjectOptions,
  type SchemaOptions,
  type StringOptions,
  type TObject,
  type TProperties,
  type TSchema,
  type TUnsafe,
  Type,
} from '@sinclair/typebox'
import { ENTRY_FILTER_LIST, isListFilter } from '../shared/entry-filters.ts'

/** Unknown fields are rejected, because they are usually typos. */
export const strict = { additionalProperties: false }

/** An object; with or without a description. */
export function object<Fields extends TProperties>(fields: Fields): TObject<Fields>
export function object<Fields extends TProperties>(description: string, fields: Fields): TObject<Fields>
export function object(described: string | TProperties, fields: TProperties = {}): TObject {
  if (typeof described !== 'string') return Type.Object(described, strict)
  return Type.Object(fields, { ...strict, description: described })
}

/** An object that the OpenAPI document and generated clients know by a name. */
export function component<Fields extends TProperties>($id: string, fields: Fields): TObject<Fields>
export function component<Fields extends TProperties>(
  $id: string,
  description: string,
  fields: Fields,
  options?: ObjectOptions,
): TObject<Fields>
export function component(
  $id: string,
  described: string | TProperties,
  fields: TProperties = {},
  options: ObjectOptions = {},
): TObject {
  if (typeof described !== 'string') return Type.Object(described, { ...strict, $id })
  return Type.Object(fields, { ...strict, $id, description: described, ...options })
}

export const array = <Item extends TSchema>(description: string, item: Item, options: ArrayOptions = {}) =>
  Type.Array(item, { description, ...options })

export const text = (description: string, options: StringOptions = {}) => Type.String({ description, ...options })

export const flag = (description: string, options: SchemaOptions = {}) => Type.Boolean({ description, ...options })

export const integer = (description: string, options: IntegerOptions = {}) => Type.Integer({ description, ...options })

export const number = (description: string, options: NumberOptions = {}) => Type.Number({ description, ...options })

/**
 * What a number is an amount of, for those who format it: `usd`, or what the nearest field of that name around it says:
 * the `currency` of a bill, the `measure` of a budget.
 */
export const UNIT = 'x-unit'
export type Unit = 'usd' | 'currency' | 'measure'

export const amountIn = (unit: Unit, description?: string, options: NumberOptions = {}) =>
  Type.Number({ ...(description !== undefined && { description }), ...options, [UNIT]: unit })

/** An amount of nano-dollars. */
export const money = (description: string, options: NumberOptions = {}) =>
  amountIn('usd', `${description} In US dollars, at most 9 decimals.`, options)

export const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const moment = (description: string) => Type.String({ format: 'date-time', description })

/** A date, which the service checks against the calendar. */
export const DAY = '^\\d{4}-\\d{2}-\\d{2}$'

export const day = (description: string) =>
  Type.String({
    description,
    pattern: DAY,
    errorMessage: 'must be a date, such as 2026-11-30',
    examples: ['2026-11-30'],
  })

export const month = (description: string) =>
  Type.String({
    description,
    pattern: '^\\d{4}-(0[1-9]|1[0-2])$',
    errorMessage: 'must be a month, such as 2026-11',
    examples: ['2026-11'],
  })

/** One of a few values; JSON Schema's `enum` is shorter than a union. */
export const oneOf = <T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...(description !== undefined && { description }) })

/** No control characters (C0, DEL, C1), and something besides white space. */
export const PLAIN_TEXT =
  '^[^\\u0000-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]*$'

/** Keywords that only the OpenAPI document shows: the service checks them, and explains more than a schema could. */
export const SHOWN = 'x-shown'

/** What the names in an object are that callers choose: `label`, and the form that they have. */
export interface Names {
  one: string
  pattern: string
  /** The pattern in words. */
  form: string
}

/** Where a schema has its {@link Names}, for messages. */
export const NAMES = 'x-names'

export const LABEL_NAMES: Names = {
  one: 'label',
  pattern: '^[a-z0-9_.-]{1,64}$',
  form: '1 to 64 of the characters a-z 0-9 _ . -',
}

/** An object with at most so many names of one form. */
export const named = <Value extends TSchema>(names: Names, limit: number, value: Value, options: ObjectOptions = {}) =>
  Type.Record(Type.String({ pattern: names.pattern }), value, {
    ...strict,
    maxProperties: limit,
    [NAMES]: names,
    ...options,
  })

/**
 * An e-mail address, as the OpenAPI document shows it. The service checks it (`issuesOfEmail`), which explains more than
 * the format of a schema could.
 */
export const emailAddress = (
  options: { description?: string; examples?: string[]; minLength?: number; maxLength?: number } = {},
) => Type.String({ ...options, [SHOWN]: { format: 'idn-email' } })

/** A human-readable name of up to 200 characters. */
export const nameOf = (description: string, examples: string[] = []) =>
  Type.String({
    description,
    minLength: 1,
    maxLength: 200,
    pattern: PLAIN_TEXT,
    errorMessage: 'must be a string without control characters that is not only white space',
    ...(examples.length > 0 && { examples }),
  })

/** A name in a request. The service checks it, so that all issues of a request come together. */
export const givenName = (description: string, examples: string[]) =>
  Type.String({
    description: `${description} Up to 200 characters.`,
    examples,
    [SHOWN]: { minLength: 1, maxLength: 200, pattern: PLAIN_TEXT },
  })

/** One of a few values in a request. The service checks it, so that all issues of a request come together. */
export const chosen = <T extends string>(values: readonly T[], description: string) =>
  Type.String({ description, enum: [...values] }) as unknown as TUnsafe<T>

/** The same, which the route checks: a service that trusts its type needs no check of its own. */
export const choiceOf = <T extends string>(values: readonly T[], description: string) =>
  Type.String({
    description,
    enum: [...values],
    pattern: `^(${values.join('|')})$`,
    errorMessage: `must be one of ${values.join(', ')}`,
  }) as unknown as TUnsafe<T>

/** Filters that are stored are longer than the names of anything. */
const STORED_TEXT = {
  maxLength: 500,
  pattern: '\\S',
  errorMessage: 'must have at most 500 characters, and not be blank',
}
const STORED_VALUES_LIMIT = 100

/** The filters of entries in a body, all optional, for what keeps them. */
export const storedFilters = (): Record<string, TSchema> =>
  Object.fromEntries(
    ENTRY_FILTER_LIST.map(([name, { kind, description }]) => [
      name,
      Type.Optional(
        isListFilter(name)
          ? Type.Array(Type.String(STORED_TEXT), {
              description: `${description}.`,
              maxItems: STORED_VALUES_LIMIT,
            })
          : Type.String({
              ...STORED_TEXT,
              description: kind === 'flag' ? `${description}: \`true\` or \`false\`.` : `${description}.`,
            }),
      ),
    ]),
  )

/** A page of a list. */
export const listOf = <Item extends TSchema>(item: Item, $id: string, description?: string) =>
  Type.Object(
    {
      data: Type.Array(item),
      has_more: Type.Boolean(),
      next_page: orNull(Type.String({ description: 'Pass it as `page` to get the next page; null on the last page.' })),
    },
    { ...strict, $id, ...(description !== undefined && { description }) },
  )
