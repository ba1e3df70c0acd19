/**
 * Parameters of queries. They arrive as text and are read by the feature, which tells every issue in the words of a
 * caller; these types say in the OpenAPI document what the text means.
 */
import { Kind, TypeRegistry } from '@sinclair/typebox'
import { t } from 'elysia'
import { DEFAULT_LIMIT, LIST_LIMIT } from '../query.ts'

/** Any text passes: what it has to be is checked where it is read. */
TypeRegistry.Set('Text', (_, value) => typeof value === 'string')

interface Meaning {
  type: 'string' | 'integer' | 'boolean'
  description?: string
  format?: string
  enum?: string[]
  minimum?: number
  maximum?: number
}

const text = (meaning: Meaning) => t.Unsafe<string>({ ...meaning, [Kind]: 'Text' })

/** One optional value. */
export const parameter = (meaning: Meaning) => t.Optional(text(meaning))

/** Any number of values: repeated, or separated by commas. */
export const listParameter = (description: string, meaning: Meaning = { type: 'string' }) =>
  t.Optional(t.ArrayQuery(text(meaning), { description: `${description} Several: repeat it or separate with commas.` }))

/** Which page of a list, how long, and in what form: `what` are the rows, as in "Prices". */
export const listPage = (what: string, { usual = DEFAULT_LIMIT, most = LIST_LIMIT } = {}) => ({
  limit: parameter({
    type: 'integer',
    minimum: 1,
    maximum: most,
    description: `${what} a page; ${usual} where nothing is asked for.`,
  }),
  page: parameter({ type: 'string', description: 'The `next_page` of the answer before.' }),
  format: parameter({
    type: 'string',
    enum: ['json', 'csv'],
    description: '`csv` exports everything that the filters let through; `Accept: text/csv` does the same.',
  }),
})
