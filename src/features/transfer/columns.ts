/** How the columns of tables are written to lines and read from them. Each field has its schema and both directions. */

import { type TSchema, Type } from '@sinclair/typebox'
import { counted } from '../../lib/counted.ts'
import { timestamp } from '../../lib/duration.ts'
import type { IdPrefix } from '../../lib/id.ts'
import { formatDecimal, parseExactDecimal } from '../../lib/money.ts'
import { orNull } from '../../schema/types.ts'

/** The rows that others refer to, by their table. */
export type Referred =
  | 'users'
  | 'tokens'
  | 'clients'
  | 'projects'
  | 'tickets'
  | 'placementRules'
  | 'placementRuleVersions'
  | 'priceLoads'
  | 'prices'
  | 'sheets'
  | 'bills'
  | 'budgets'
  | 'plans'
  | 'planGenerations'
  | 'fundingRules'
  | 'fundingRuleVersions'
  | 'fundings'
  | 'entries'
  | 'names'
  | 'labelSets'

export interface Reference {
  to: Referred
  /** The row may follow later in the file: the column is set when it is there. */
  later?: boolean
}

/** A column of a table as a field of a line. Null stays null in both directions. */
export interface Field {
  /** The property of the table's rows. */
  column: string
  schema: TSchema
  /** The column has JSON text, of which every digit is kept. */
  isJson?: boolean
  /** The value is the key of another row, which has a text in the file. */
  refers?: Reference
  /** Other values with keys inside. */
  inside?: Inside
  write(value: never): unknown
  read(value: never): unknown
}

/** Keys of rows inside of a value. */
export interface Inside {
  to: Referred
  keysIn(value: never): number[]
  textsIn(value: never): string[]
  write(value: never, textOf: (key: number) => string): unknown
  read(value: never, keyOf: (text: string) => number): unknown
}

const same = (value: never): unknown => value

const field = (
  column: string,
  schema: TSchema,
  write: (value: never) => unknown = same,
  read: (value: never) => unknown = same,
): Field => ({ column, schema, write, read })

/** The same, with null. */
export const orNone = (given: Field): Field => ({ ...given, schema: orNull(given.schema) })

const HEX_32 = '[0-9a-f]{32}'

export const idOf = (prefix: IdPrefix) => Type.String({ pattern: `^${prefix}_${HEX_32}$` })

/** One of the versions of a rule. */
const versionOf = (prefix: IdPrefix) => Type.String({ pattern: `^${prefix}_${HEX_32}/[1-9]\\d{0,8}$` })

/** The public id of a row. */
export const ownId = (prefix: IdPrefix): Field => field('uid', idOf(prefix))

export const text = (column: string): Field => field(column, Type.String())

/** As the setting and the option take it, because links begin with it. */
export const publicUrl = (column: string): Field => field(column, Type.String({ pattern: '^https?://[^\\s/?#@]+$' }))

export const flag = (column: string): Field => field(column, Type.Boolean())

const oneOf = (values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)))

export const choice = (column: string, values: readonly string[]): Field => field(column, oneOf(values))

/** A list of different values. */
export const choices = (column: string, values: readonly string[]): Field =>
  json(column, Type.Array(oneOf(values), { uniqueItems: true }))

/** Beyond it, a number is no longer exact. */
const LARGEST = Number.MAX_SAFE_INTEGER

export const integer = (column: string, minimum = -LARGEST, maximum = LARGEST): Field =>
  field(column, Type.Integer({ minimum, maximum }))

/** RFC 3339 with milliseconds, in UTC. Years beyond 9999 have a sign, as in ISO 8601. */
const MOMENT = '^(\\d{4}|[+-]\\d{6})-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$'

export const moment = (column: string): Field =>
  field(
    column,
    Type.String({ pattern: MOMENT, errorMessage: 'must be a time in UTC, such as 2026-11-30T09:15:00.000Z' }),
    timestamp as (value: never) => unknown,
    readMoment,
  )

export function readMoment(value: string): number {
  const milliseconds = Date.parse(value)
  if (Number.isNaN(milliseconds)) throw new RangeError(`'${value}' is not a time that exists`)
  return milliseconds
}

const DAY = '^\\d{4}-\\d{2}-\\d{2}$'

export const day = (column: string): Field =>
  field(column, Type.String({ pattern: DAY, errorMessage: 'must be a day, such as 2026-11-30' }))

/** A 64-bit integer of 10^-`digits` units as decimal text. */
export const decimal = (column: string, digits: number): Field =>
  field(
    column,
    Type.String({
      pattern: `^-?\\d{1,19}${digits === 0 ? '' : `(\\.\\d{1,${digits}})?`}$`,
      errorMessage: 'must be a decimal number in quotation marks',
    }),
    (value: bigint) => formatDecimal(value, digits),
    (value: string) => {
      const units = parseExactDecimal(value, digits)
      if (units === undefined || BigInt.asIntN(64, units) !== units) throw new RangeError(`${value} is too large`)
      return units
    },
  )

const BASE64 = '^[A-Za-z0-9+/]*={0,2}$'

/** Bytes as base64. */
export const bytes = (column: string, length?: number): Field =>
  field(
    column,
    Type.String({ pattern: BASE64, errorMessage: 'must be base64' }),
    (value: Uint8Array) => value.toBase64(),
    (value: string) => {
      const read = Uint8Array.fromBase64(value)
      if (length !== undefined && read.length !== length) throw new RangeError(`must have ${counted(length, 'byte')}`)
      return read
    },
  )

/** JSON text, as an object or a list. */
export const json = (column: string, schema: TSchema = Type.Unknown()): Field => ({
  ...field(column, schema),
  isJson: true,
})

/** JSON in a column of text. */
export const jsonText = (column: string): Field => ({
  ...field(column, Type.Record(Type.String(), Type.Unknown()), same, (value: unknown) => JSON.stringify(value)),
  isJson: true,
})

const REFERENCES: Record<Referred, TSchema> = {
  users: idOf('usr'),
  tokens: idOf('tok'),
  clients: idOf('cli'),
  projects: idOf('prj'),
  tickets: idOf('tkt'),
  placementRules: idOf('rul'),
  placementRuleVersions: versionOf('rul'),
  priceLoads: idOf('pld'),
  prices: idOf('prc'),
  sheets: idOf('sht'),
  bills: idOf('bil'),
  budgets: idOf('bdg'),
  plans: idOf('pln'),
  planGenerations: Type.String({ pattern: `^pln_${HEX_32}/\\d{4}-\\d{2}-\\d{2}$` }),
  fundingRules: idOf('frl'),
  fundingRuleVersions: versionOf('frl'),
  fundings: idOf('fnd'),
  entries: idOf('ent'),
  names: Type.String({ minLength: 1 }),
  labelSets: Type.Record(Type.String(), Type.String()),
}

/** The key of another row, as that row's public id, name, or labels. */
export const reference = (column: string, to: Referred, { later = false }: { later?: boolean } = {}): Field => ({
  ...field(column, REFERENCES[to]),
  refers: { to, later },
})

/** A value with keys inside, see {@link Inside}. */
export const withKeys = (column: string, schema: TSchema, inside: Inside): Field => ({
  ...field(column, schema),
  isJson: true,
  inside,
})
