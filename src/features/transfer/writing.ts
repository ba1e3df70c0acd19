/** Rows as the objects of lines. */
import { parseRawJson } from '../../lib/exact-json.ts'
import type { Field } from './columns.ts'
import type { Kind } from './kind.ts'
import { type Texts, Wanted } from './references.ts'
import type { Row, RowsOfParts } from './store/rows.ts'

export type Line = Record<string, unknown>

/** A row with the rows that belong to it. */
export interface WholeRow {
  row: Row
  parts: RowsOfParts
}

/** The objects of a batch of rows. */
export async function linesOf(texts: Texts, kind: Kind, rows: readonly WholeRow[]): Promise<Line[]> {
  const wanted = new Wanted<number>()
  for (const { row, parts } of rows) {
    wantReferred(wanted, kind.fields, row)
    for (const [name, items] of Object.entries(parts)) {
      for (const item of items) wantReferred(wanted, kind.parts[name]!.fields, item)
    }
  }
  await texts.load(wanted)
  return rows.map(({ row, parts }) => ({
    type: kind.type,
    ...writtenFields(texts, kind.fields, row),
    ...writtenParts(texts, kind, parts),
  }))
}

function wantReferred(wanted: Wanted<number>, fields: Record<string, Field>, row: Row): void {
  for (const { column, refers, inside } of Object.values(fields)) {
    const value = row[column]
    if (value === null || value === undefined) continue
    if (refers) wanted.add(refers.to, value as number)
    if (inside) for (const key of inside.keysIn(JSON.parse(value as string) as never)) wanted.add(inside.to, key)
  }
}

function writtenFields(texts: Texts, fields: Record<string, Field>, row: Row): Line {
  const line: Line = {}
  for (const [name, field] of Object.entries(fields)) {
    const value = row[field.column]
    line[name] = value === null || value === undefined ? null : written(texts, field, value)
  }
  return line
}

function written(texts: Texts, { refers, inside, isJson, write }: Field, value: unknown): unknown {
  if (refers) {
    const text = texts.of(refers.to, value as number)
    return refers.to === 'labelSets' ? parseRawJson(text) : text
  }
  const read = isJson ? parseRawJson(value as string) : value
  return inside ? inside.write(read as never, (key) => texts.of(inside.to, key)) : write(read as never)
}

function writtenParts(texts: Texts, { parts }: Kind, rows: RowsOfParts): Line {
  const line: Line = {}
  for (const [name, part] of Object.entries(parts)) {
    const items = (rows[name] ?? []).map((row) => ({ row, item: writtenFields(texts, part.fields, row) }))
    line[name] = part.single ? (items[0]?.item ?? null) : inOrder(items)
  }
  return line
}

/** Rows with a key are in its order. The order of others is that of their texts, which does not depend on keys. */
function inOrder(items: { row: Row; item: Line }[]): Line[] {
  if (items.length > 1 && items[0]!.row.id === undefined) {
    const texts = new Map(items.map(({ item }) => [item, JSON.stringify(item)]))
    items.sort((a, b) => (texts.get(a.item)! < texts.get(b.item)! ? -1 : 1))
  }
  return items.map(({ item }) => item)
}
