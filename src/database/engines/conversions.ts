/**
 * drizzle's prepared queries, taken apart once, so that running one costs little more than its statement: values are
 * bound, and rows are read, by position.
 */
import { Column, getTableName, is, noopDecoder, noopEncoder, Param, Placeholder, SQL, Subquery } from 'drizzle-orm'

/** Converts one value; null where values stay as they are. */
export type Convert = ((value: unknown) => unknown) | null

/** One of the expressions that a query selects, and where its value belongs in a row. */
interface SelectedField {
  path: string[]
  field: unknown
}

/** What a prepared query of drizzle knows, whichever the driver. */
export interface PreparedParts {
  /** Undefined if the query returns no rows. */
  fields?: SelectedField[]
  /** For each joined table, whether it always has a row. */
  joinsNotNullableMap?: Record<string, boolean>
}

/** The maps of a column of `columns.ts`: both exist only for values that the driver represents in another way. */
interface MappedColumn {
  mapTo?: (value: unknown) => unknown
  mapFrom?: (value: unknown) => unknown
}

/** The conversion to what the driver expects. Null stays null. */
export function encodingOf(encoder: unknown): Convert {
  if (is(encoder, Column)) return (encoder as MappedColumn).mapTo ?? null
  if (encoder === noopEncoder) return null
  return (value) => (encoder as typeof noopEncoder).mapToDriverValue(value)
}

/** The conversion of what the driver returns, which must not be called with null. */
function decodingOf(field: unknown): Convert {
  if (is(field, Column)) return (field as MappedColumn).mapFrom ?? null
  const { decoder } = decodedOf(field) as unknown as { decoder: typeof noopDecoder }
  if (is(decoder, Column)) return (decoder as MappedColumn).mapFrom ?? null
  return decoder === noopDecoder ? null : (value) => decoder.mapFromDriverValue(value)
}

function decodedOf(field: unknown): SQL {
  if (is(field, SQL)) return field
  return is(field, Subquery) ? field._.sql : (field as SQL.Aliased).sql
}

/** A value of a query: of a placeholder, or fixed when the query was built. */
export type Parameter = { name: string; encoder: unknown } | { value: unknown }

/** A query's values in the order of its parameters, as drizzle keeps them. */
export function parametersOf(params: readonly unknown[]): Parameter[] {
  return params.map((param) => {
    if (is(param, Placeholder)) return { name: param.name, encoder: noopEncoder }
    if (is(param, Param) && is(param.value, Placeholder)) return { name: param.value.name, encoder: param.encoder }
    return { value: param }
  })
}

/** Makes the function that puts named values into the order of the parameters, converted for the driver. */
export function binderOf(parameters: readonly Parameter[]): (values: Record<string, unknown>) => unknown[] {
  const sources = parameters.map((parameter) =>
    'name' in parameter ? { name: parameter.name, encode: encodingOf(parameter.encoder) } : parameter,
  )
  return (values) =>
    sources.map((source) => {
      if ('value' in source) return source.value
      const value = values[source.name]
      if (value === undefined && !(source.name in values)) {
        throw new Error(`No value for placeholder "${source.name}" was provided`)
      }
      return source.encode ? source.encode(value) : value
    })
}

/** Makes the function that maps the driver's values to a row, exactly as drizzle does. */
export function rowReaderOf<Row>({ fields, joinsNotNullableMap }: PreparedParts): (values: readonly unknown[]) => Row {
  const positioned = (fields ?? []).map(({ path, field }, position) => ({ path, field, position }))
  const decoders: Convert[] = []
  return compiled(`(values) => (${objectSource(positioned, joinsNotNullableMap, decoders)})`, decoders)
}

/**
 * A function from its source, which takes a third of the time of a loop over names: each property is read and written at
 * a place that the engine knows. `convert` and the number of one of `conversions` convert a value that is not null.
 */
export function compiled<Result>(source: string, conversions: readonly Convert[]): Result {
  const convert = (number: number, value: unknown) => (value === null ? null : conversions[number]!(value))
  return new Function('convert', `return ${source}`)(convert)
}

export const convertedSource = (value: string, number: number) => `convert(${number}, ${value})`

type PositionedField = SelectedField & { position: number }

/** An object with the properties in the order in which they are selected. */
function objectSource(
  fields: readonly PositionedField[],
  joins: Record<string, boolean> | undefined,
  decoders: Convert[],
): string {
  const members = [...Map.groupBy(fields, ({ path }) => path[0]!)].map(([name, group]) => {
    const [{ path, field, position }] = group as [PositionedField]
    if (path.length > 1) return `${JSON.stringify(name)}: ${nestedSource(group, joins, decoders)}`
    const value = `values[${position}]`
    const decode = decodingOf(field)
    return `${JSON.stringify(name)}: ${decode === null ? value : convertedSource(value, decoders.push(decode) - 1)}`
  })
  return `{ ${members.join(', ')} }`
}

/** The object of a joined table, or any other object in a row. */
function nestedSource(
  group: readonly PositionedField[],
  joins: Record<string, boolean> | undefined,
  decoders: Convert[],
): string {
  const fields = group.map(({ path, ...field }) => ({ ...field, path: path.slice(1) }))
  const key = joins && missingRowKey(group, joins)
  const object = objectSource(fields, undefined, decoders)
  return key === undefined ? object : `values[${key}] === null ? null : ${object}`
}

/**
 * The position whose null means that a joined table has no row: that of the object's first column, if the object
 * consists of columns of one table, and this table may have no row.
 */
function missingRowKey(group: readonly PositionedField[], joins: Record<string, boolean>): number | undefined {
  const columns = group.filter(({ path, field }) => path.length === 2 && is(field, Column))
  const tables = new Set(columns.map(({ field }) => getTableName((field as Column).table)))
  const [table] = tables
  return tables.size === 1 && !joins[table!] ? columns[0]!.position : undefined
}
