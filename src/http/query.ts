/**
 * Query parameters. They arrive as text and are parsed by the feature, which reports every issue to the caller; these
 * types describe the meaning of the text in the OpenAPI document.
 */
import { Kind, TypeRegistry } from '@sinclair/typebox'
import { t } from 'elysia'
import { DEFAULT_LIMIT, LIST_LIMIT, ORDERS, type Sorts } from '../query.ts'

/** Accepts any string; it is validated when it is parsed. */
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
  minimum?: number
  maximum?: number
  [REQUIRED]?: true
}

const text = (meaning: Meaning) => t.Unsafe<string>({ ...meaning, [Kind]: 'Text' })

/** Something besides white space, because an empty parameter is refused, and no U+0000. */
const FILLED = '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$'

/** The same for every part of a list that is separated by commas. */
const FILLED_PARTS = '^\\s*[^\\s,\\u0000][^,\\u0000]*(,\\s*[^\\s,\\u0000][^,\\u0000]*)*$'

const filled = (meaning: Meaning, pattern: string): Meaning =>
  meaning.type === 'string' && !meaning.enum && !meaning.format ? { pattern, ...meaning } : meaning

/** One optional value. */
export const parameter = (meaning: Meaning) => t.Optional(text(filled(meaning, FILLED)))

/** What a date means wherever a moment is a parameter. */
const DAY_MEANING = 'A date is the first moment of that day in the organization’s time zone.'

/** A timestamp, or a date, which no format of JSON Schema covers. */
export const momentParameter = (description: string, meaning = DAY_MEANING) =>
  parameter({ type: 'string', description: `${description} ${meaning}` })

/** One value that must be there. The feature reports that it is missing, together with every other issue. */
export const requiredParameter = (meaning: Meaning) => parameter({ ...meaning, [REQUIRED]: true })

/** Any number of values: repeated, or separated by commas. */
export const listParameter = (description: string, meaning: Meaning = { type: 'string' }) =>
  t.Optional(
    t.ArrayQuery(text(filled(meaning, FILLED_PARTS)), {
      description: `${description} For several values, repeat the parameter or separate them with commas.`,
    }),
  )

/** Page position, page size and format of a list. `what` names the rows, as in "Prices". */
export const listPage = (what: string, { usual = DEFAULT_LIMIT, most = LIST_LIMIT } = {}) => ({
  limit: parameter({
    type: 'integer',
    minimum: 1,
    maximum: most,
    description: `${what} per page; ${usual} by default.`,
  }),
  page: parameter({ type: 'string', description: 'The `next_page` of the previous response.' }),
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

/** The part of a request's context that its parameters are in. */
export interface QueryCall {
  request: Request
  query?: Record<string, unknown>
}

/**
 * Elysia takes the value of a list that begins with a bracket for JSON, and cuts off its ends: `[bot]` would find, and
 * change, what belongs to `bot`. Such values are read again.
 */
export function restoreBrackets({ request, query }: QueryCall): void {
  if (!query || !/\[|%5b/i.test(request.url)) return
  const sent = new URL(request.url).searchParams
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) query[name] = sent.getAll(name).flatMap((text) => text.split(','))
  }
}
