import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import type { Compiled, Prepared, RawQuery } from '../../database.ts'
import { requireCompatible } from '../../schema/compatibility.ts'
import { postgresTables } from '../../schema/postgres-tables.ts'
import type { StatementCounts } from '../../statement-counts.ts'
import { binderOf, type Parameter, type PreparedParts, parametersOf, rowReaderOf } from '../conversions.ts'
import { type Around, type Build, Queries, runThrough } from '../queries.ts'
import { jsonKeys, statementForEach } from './json-sets.ts'

/** Runs a statement, which the server prepares once per connection, and returns the values of its rows. */
type Run = (sql: string, params: unknown[]) => Promise<unknown[][]>

/** The parts of drizzle's prepared query that are postgres.js's own. */
interface DrizzleQuery extends PreparedParts {
  queryString: string
  params: unknown[]
}

/** The type of PostgreSQL's 64-bit integers, which postgres.js returns as text. */
const INT8 = 20

/** A prepared query that runs without drizzle. */
class DirectQuery<Row> implements Prepared<Row> {
  readonly #sql: string
  readonly #parameters: Parameter[]
  readonly #bind: (values: Record<string, unknown>) => unknown[]
  readonly #rowOf: (values: readonly unknown[]) => Row
  #forEach: { sql: string; keyOf: (values: Record<string, unknown>) => unknown[]; fixed: unknown[] } | undefined

  constructor(
    readonly run: Run,
    prepared: DrizzleQuery,
  ) {
    this.#sql = prepared.queryString
    this.#parameters = parametersOf(prepared.params)
    this.#bind = binderOf(this.#parameters)
    this.#rowOf = rowReaderOf(prepared)
  }

  async execute(values: Record<string, unknown> = {}): Promise<Row[]> {
    return (await this.run(this.#sql, this.#bind(values))).map(this.#rowOf)
  }

  /** @param typesOf the types of a statement's parameters, as the server infers them */
  async findEach(
    keys: readonly Record<string, unknown>[],
    typesOf: (sql: string) => Promise<string[]>,
  ): Promise<Row[][]> {
    this.#forEach ??= this.#prepareForEach(await typesOf(this.#sql))
    const { sql, keyOf, fixed } = this.#forEach
    const found: Row[][] = keys.map(() => [])
    for (const values of await this.run(sql, [jsonKeys(keys.map(keyOf)), ...fixed])) {
      found[values.at(-1) as number]!.push(this.#rowOf(values))
    }
    return found
  }

  #prepareForEach(types: string[]) {
    const parameters = this.#parameters
    return {
      sql: statementForEach(this.#sql, parameters, types),
      keyOf: binderOf(parameters.filter((parameter) => 'name' in parameter)),
      fixed: parameters.flatMap((parameter) => ('value' in parameter ? [parameter.value] : [])),
    }
  }
}

export class PostgresReader extends Queries {
  readonly engine = 'postgres'
  /** Runs every query. Readers limit its time and convert its errors. */
  around: Around = (run) => run()

  constructor(
    readonly orm: PostgresJsDatabase,
    readonly client: Sql,
    counts: StatementCounts | undefined,
  ) {
    super(orm, postgresTables, counts)
  }

  runThrough(around: Around): void {
    runThrough(this.orm, around)
    this.around = around
  }

  async revision(): Promise<number> {
    const [row] = await this.query('SELECT value, oldest_schema FROM revision', [])
    const [value, oldestSchema] = row!
    requireCompatible(Number(oldestSchema))
    return Number(value)
  }

  raw<Row>(query: Compiled): RawQuery<Row> {
    const { sql, params } = query.toSQL()
    const bind = binderOf(parametersOf(params))
    const run = (values: Record<string, unknown> = {}) =>
      this.client.unsafe(sql, bind(values) as never[], { prepare: true })
    return {
      execute: async (values) => {
        const rows = await this.around(async () => run(values))
        withNumbers(rows, (_, { name }) => name, rows.columns)
        return rows as unknown as Row[]
      },
      values: async (values) => {
        const rows = await this.around(async () => run(values).values())
        withNumbers(rows, (at) => at, rows.columns)
        return rows
      },
    }
  }

  override prepared<Row>(key: string, build: Build): DirectQuery<Row> {
    return this.once(key, () => {
      const query = build(this as never).prepare(key) as unknown as DrizzleQuery
      return new DirectQuery<Row>((sql, params) => this.query(sql, params), query)
    })
  }

  override async findEach<Row>(key: string, build: Build, keys: readonly Record<string, unknown>[]): Promise<Row[][]> {
    if (keys.length === 0) return []
    return this.prepared<Row>(key, build).findEach(keys, (sql) => this.#typesOf(sql))
  }

  protected query(sql: string, params: unknown[]): Promise<unknown[][]> {
    return this.around(async () => this.client.unsafe(sql, params as never[], { prepare: true }).values())
  }

  /** The names of the types of a statement's parameters. */
  async #typesOf(sql: string): Promise<string[]> {
    const { types } = await this.around(async () => this.client.unsafe(sql).describe())
    const names = await this.query('SELECT unnest($1::text::oid[])::regtype::text', [`{${types.join()}}`])
    return names.map(([name]) => name as string)
  }
}

/** Makes numbers of the 64-bit integers in rows as postgres.js returns them. */
function withNumbers<Key extends PropertyKey>(
  rows: readonly Record<Key, unknown>[],
  keyOf: (at: number, column: { name: string }) => Key,
  columns: readonly { name: string; type: number }[],
): void {
  const integers = columns.flatMap((column, at) => (column.type === INT8 ? [keyOf(at, column)] : []))
  for (const row of rows) for (const key of integers) if (row[key] !== null) row[key] = Number(row[key])
}
