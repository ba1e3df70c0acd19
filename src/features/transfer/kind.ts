/** The kinds of lines: each is declared once, and written, checked and read by this declaration. */
import { type TSchema, Type } from '@sinclair/typebox'
import type { Tables } from '../../database/schema/tables.ts'
import { SchemaChecker } from '../../schema/checker.ts'
import { object } from '../../schema/types.ts'
import type { Field } from './columns.ts'
import type { Chosen } from './store/closed-periods.ts'

export type TableName = keyof Tables
type Fields = Record<string, Field>

/** Rows of another table that belong to a row, as a list in its line; or as an object, if there is at most one. */
export interface Part {
  table: TableName
  /** The column with the key of the row that they belong to. */
  of: string
  single?: boolean
  fields: Fields
}

/** Columns that a line does not have, with the value that an import gives them. */
export type Filled = Record<string, (row: Record<string, unknown>) => unknown>

interface Declared {
  type: string
  table: TableName
  /** A unique order, by columns, in which an import creates the rows. */
  order: readonly string[]
  fields: Fields
  parts?: Record<string, Part>
  filled?: Filled
  /** The rows that a file contains; all of them if absent. */
  chosen?: Chosen
  /** Each line is written before the next is read, because it may refer to it. */
  isSelfReferring?: boolean
  /** Also in files with the entries of a period, to which it does not apply. */
  isContext?: boolean
}

export interface Kind extends Declared {
  parts: Record<string, Part>
  filled: Filled
  schema: TSchema
  checker: SchemaChecker<TSchema>
}

export function kind(declared: Declared): Kind {
  const parts = declared.parts ?? {}
  const lists = Object.entries(parts).map(([name, { fields, single }]) => {
    const item = object(schemasOf(fields))
    return [name, single ? Type.Union([item, Type.Null()]) : Type.Array(item)] as const
  })
  const schema = object({
    type: Type.Literal(declared.type),
    ...schemasOf(declared.fields),
    ...Object.fromEntries(lists),
  })
  return { ...declared, parts, filled: declared.filled ?? {}, schema, checker: new SchemaChecker(schema) }
}

function schemasOf(fields: Fields): Record<string, TSchema> {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]))
}
