/** What the operations of prices, loads and aliases share. */
import { Type } from '@sinclair/typebox'
import { choiceParameter, flagParameter } from '../../../operations/parameters.ts'
import { TABLE_FORMATS } from '../sources.ts'

export const READING = { tag: 'Prices', allow: ['read', 'session'], scope: 'prices:read' } as const

const MAY_CHANGE = { session: ['billing', 'admin'] } as const

export const CHANGING = { tag: 'Prices', allow: MAY_CHANGE, scope: 'prices:write' } as const

/** What only those read who may change prices. */
export const READING_LOADS = { tag: 'Prices', allow: MAY_CHANGE, scope: 'prices:read' } as const

/** Parameters of the operations that read a price table. */
export const TABLE_PARAMETERS = {
  format: choiceParameter(TABLE_FORMATS, 'Format of the file; detected automatically by default.'),
  allow_older: flagParameter('Also loads rows that are older than the different prices they replace.'),
  dry_run: flagParameter('Returns what would be added, without writing anything.'),
}

/** A body that is a price table: any JSON, or CSV. */
export const PRICE_TABLE = {
  parse: 'table',
  shown: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Array(Type.Unknown())]),
  example: { prices: [{ provider: 'openai', model: 'gpt-5', input: 1.25, output: 10, cache_read: 0.125 }] },
  also: {
    'text/csv': {
      schema: Type.String(),
      example: 'provider,model,input,output,cache_read\r\nopenai,gpt-5,1.25,10,0.125\r\n',
    },
  },
} as const
