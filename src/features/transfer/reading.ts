/** The objects of lines as rows. */
import { Problem } from '../../errors.ts'
import type { Field, Referred } from './columns.ts'
import type { Kind } from './kind.ts'
import { wrongLine } from './problems.ts'
import { type Keys, textOf, Wanted } from './references.ts'
import type { Row, RowsOfParts } from './store/rows.ts'
import type { Line } from './writing.ts'

/** The line of a row. */
export interface Numbered {
  number: number
  line: Line
}

export interface ReadRow {
  number: number
  row: Row
  parts: RowsOfParts
  /** References to rows that are not there yet, by column. */
  later: { column: string; to: Referred; text: string }[]
}

/** How the rows of a batch find each other. */
type OwnKeys = ReadonlyMap<string, number>

/** How they find others. */
type OtherKeys = Pick<Keys, 'of'>

export function wantOf(kind: Kind, lines: readonly Numbered[]): Wanted<string> {
  const wanted = new Wanted<string>()
  for (const { line } of lines) {
    wantIn(wanted, kind.fields, line)
    for (const [name, { fields }] of Object.entries(kind.parts)) {
      for (const item of itemsOf(line[name])) wantIn(wanted, fields, item)
    }
  }
  return wanted
}

function wantIn(wanted: Wanted<string>, fields: Record<string, Field>, line: Line): void {
  for (const [name, field] of Object.entries(fields)) {
    const value = line[name]
    if (value === null || value === undefined) continue
    if (field.refers) wanted.add(field.refers.to, textOf(field, value))
    if (field.inside) for (const text of field.inside.textsIn(value as never)) wanted.add(field.inside.to, text)
  }
}

function itemsOf(value: unknown): Line[] {
  if (value === null || value === undefined) return []
  return Array.isArray(value) ? value : [value as Line]
}

/** The row of a line, whose references are loaded. Throws for one that is missing, if it may not follow later. */
export function readRow(kind: Kind, { number, line }: Numbered, keys: OtherKeys, own: OwnKeys = new Map()): ReadRow {
  const later: ReadRow['later'] = []
  const row = readFields(kind.fields, line, { number, keys, own, later })
  for (const [column, fill] of Object.entries(kind.filled)) row[column] = fill(row)
  const parts: RowsOfParts = {}
  for (const [name, { fields }] of Object.entries(kind.parts)) {
    parts[name] = itemsOf(line[name]).map((item) => readFields(fields, item, { number, keys, own, later: undefined }))
  }
  return { number, row, parts, later }
}

interface Reading {
  number: number
  keys: OtherKeys
  own: OwnKeys
  later: ReadRow['later'] | undefined
}

function readFields(fields: Record<string, Field>, line: Line, reading: Reading): Row {
  const row: Row = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = line[name]
    try {
      row[field.column] = value === null || value === undefined ? null : readValue(field, value, reading)
    } catch (error) {
      if (error instanceof Problem) throw error
      throw wrongLine(reading.number, `${name}: ${(error as Error).message}.`)
    }
  }
  return row
}

function readValue(field: Field, value: unknown, { number, keys, own, later }: Reading): unknown {
  const { refers, inside, read, column } = field
  const keyOf = (to: Referred, text: string) => {
    const key = keys.of(to, text) ?? own.get(text)
    if (key === undefined) throw wrongLine(number, `refers to ${text}, which is not in the file before it.`)
    return key
  }
  if (inside) return inside.read(value as never, (text) => keyOf(inside.to, text))
  if (!refers) return read(value as never)
  const text = textOf(field, value)
  if (refers.later && later && (keys.of(refers.to, text) ?? own.get(text)) === undefined) {
    later.push({ column, to: refers.to, text })
    return null
  }
  return keyOf(refers.to, text)
}
