/**
 * Parameters of a query. They arrive as text and are parsed by the feature, which reports every issue to the caller; these
 * types describe the meaning of the text in the OpenAPI document, and of the flags of commands.
 */
import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import { DEFAULT_LIMIT, LIST_LIMIT, ORDERS, type Sorts } from '../schema/query.ts'

/** Accepts any string; it is validated when it is parsed. TypeBox throws when it checks a kind that is not registered. */
TypeRegistry.Set('Text', (_, value) => typeof value === 'string')

/** Marks a parameter that the OpenAPI document shows as required. */
export const REQUIRED = 'x-required'

interface Meaning {
  /** The name of a component that the OpenAPI document refers to. */
  $id?: string
  type: 'string' | 'integer' | 'boolean'
  description?: string
  format?: string
  enum?: string[]
  pattern?: string
  maxLength?: number
  minimum?: number
  maximum?: number
  [REQUIRED]?: true
}

const text = (meaning: Meaning) => Type.Unsafe<string>({ ...meaning, [Kind]: 'Text' })

/** Something besides white space, because an empty parameter is refused, and no U+0000. */
const FILLED = '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$'

/** The same for every part of a list that is separated by commas. */
const FILLED_PARTS = '^\\s*[^\\s,\\u0000][^,\\u0000]*(,\\s*[^\\s,\\u0000][^,\\u0000]*)*$'

const filled = (meaning: Meaning, pattern: string): Meaning =>
  meaning.type === 'string' && !meaning.enum && !meaning.format ? { pattern, ...meaning } : meaning

/** One optional value. */
export const parameter = (meaning: Meaning) => Type.Optional(text(filled(meaning, FILLED)))

export const textParameter = (description: string) => parameter({ type: 'string', description })

export const flagParameter = (description: string) => parameter({ type: 'boolean', description })

export const choiceParameter = (values: readonly string[], description: string) =>
  parameter({ type: 'string', enum: [...values], description })

/** What a date means wherever a moment is a parameter. */
const DAY_MEANING = 'A date is the first moment of that day in the organization’s time zone.'

/** A timestamp, or a date, which no format of JSON Schema covers. */
export const momentParameter = (description: string, meaning = DAY_MEANING) =>
  parameter({ type: 'string', description: `${description} ${meaning}` })

/** One value that must be there. The feature reports that it is missing, together with every other issue. */
export const requiredParameter = (meaning: Meaning) => parameter({ ...meaning, [REQUIRED]: true })

/** Marks the schema of a list in a query: Elysia accepts a text with commas or an array, but the array is the documented form. */
export const LIST = 'ArrayQuery'

/** How a list is written in a query. */
export const REPEATABLE = ' For several values, repeat the parameter or separate them with commas.'

/** Any number of values: repeated, or separated by commas. */
export const listParameter = (description: string, meaning: Meaning = { type: 'string' }) =>
  Type.Optional(
    Type.Transform(
      Type.Union([Type.String(), Type.Array(text(filled(meaning, FILLED_PARTS)))], {
        // What Elysia's `t.ArrayQuery` is recognized by; a command loads no Elysia.
        elysiaMeta: LIST,
        description: description + REPEATABLE,
      }),
    )
      .Decode((given): string[] => [given].flat().flatMap((value) => value.split(',')))
      .Encode((values) => values),
  )

/** Page position and page size of a list. `what` names the rows, as in "Prices". */
export const paging = (what: string, { usual = DEFAULT_LIMIT, most = LIST_LIMIT } = {}) => ({
  limit: parameter({
    type: 'integer',
    minimum: 1,
    maximum: most,
    description: `${what} per page; ${usual} by default.`,
  }),
  page: parameter({ type: 'string', description: 'The `next_page` of the previous response.' }),
})

/** The same, and the format of a list that can be exported. */
export const listPage = (what: string, limits?: Parameters<typeof paging>[1]) => ({
  ...paging(what, limits),
  ...exportFormat(),
})

export const exportFormat = () => ({
  format: parameter({
    type: 'string',
    enum: ['json', 'csv'],
    description: '`csv` exports everything that matches the filters; `Accept: text/csv` does the same.',
  }),
})

/** The order of a list that can be sorted. `usual` says how it is sorted otherwise. */
export const listSort = (sorts: Sorts, usual = 'newest first') => ({
  sort: parameter({
    type: 'string',
    enum: Object.keys(sorts),
    description: `What the list is sorted by; ${usual} without it. Texts are compared by their characters' codes, names without regard to the case of ASCII letters. What is not known is last in both orders. Exports keep the usual order.`,
  }),
  order: parameter({
    type: 'string',
    enum: [...ORDERS],
    description:
      'With `sort`: `desc`, the default, begins with the latest, largest or last in the alphabet, `asc` with the earliest, smallest or first.',
  }),
})
