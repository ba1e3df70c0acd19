import type { Database as Connection, SQLQueryBindings, Statement } from 'bun:sqlite'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Compiled, Prepared, RawQuery } from '../../database.ts'
import { requireCompatible } from '../../schema/compatibility.ts'
import { sqliteTables } from '../../schema/sqlite-tables.ts'
import type { StatementCounts } from '../../statement-counts.ts'
import { binderOf, type PreparedParts, parametersOf, rowReaderOf } from '../conversions.ts'
import { type Build, Queries, watchErrors } from '../queries.ts'

/** The parts of drizzle's prepared query for bun:sqlite. */
interface DrizzleQuery extends PreparedParts {
  stmt: Statement
  query: { sql: string; params: unknown[] }
}

/**
 * The same query, whose plan does not depend on its values. If SQLite's planner has looked at a bound value, as it does at
 * those compared in a join and at limits, every execution prepares the statement again, which takes ten times as long as
 * finding an entry with all its names. It does not look behind the plus sign, which leaves any value as it is.
 */
function withoutReplanning(text: string): string {
  return text.replaceAll(/ (=|>=|<=|>|<|limit) \?/g, ' $1 +?')
}

/** A prepared query that runs without drizzle, and at once. */
class DirectQuery<Row> implements Prepared<Row> {
  readonly #statement: Statement
  readonly #bind: (values: Record<string, unknown>) => unknown[]
  readonly #rowOf: (values: readonly unknown[]) => Row

  constructor(
    connection: Connection,
    prepared: DrizzleQuery,
    readonly onError: ((error: unknown) => void) | undefined,
  ) {
    prepared.stmt.finalize()
    this.#statement = connection.prepare(withoutReplanning(prepared.query.sql))
    this.#bind = binderOf(parametersOf(prepared.query.params))
    this.#rowOf = rowReaderOf(prepared)
  }

  async execute(values: Record<string, unknown> = {}): Promise<Row[]> {
    return this.find(values)
  }

  find(values: Record<string, unknown>): Row[] {
    const bound = this.#bind(values)
    try {
      return (this.#statement.values as (values: unknown[]) => unknown[][])(bound).map(this.#rowOf)
    } catch (error) {
      this.onError?.(error)
      throw error
    }
  }
}

export class SqliteReader extends Queries {
  readonly engine = 'sqlite'
  readonly #revision: Statement

  constructor(
    readonly connection: Connection,
    counts?: StatementCounts,
    readonly onError?: (error: unknown) => void,
  ) {
    const orm = drizzle(connection)
    if (onError) watchErrors(orm, onError)
    super(orm, sqliteTables, counts)
    this.#revision = connection.prepare('SELECT value, oldest_schema FROM revision')
  }

  revision(): number {
    const [value, oldestSchema] = this.#revision.values()[0]!
    requireCompatible(Number(oldestSchema))
    return Number(value)
  }

  raw<Row>(query: Compiled): RawQuery<Row> {
    const { sql, params } = query.toSQL()
    const bind = binderOf(parametersOf(params))
    const statement = this.connection.prepare(sql).safeIntegers(false)
    const run =
      <Result>(method: 'all' | 'values') =>
      async (values: Record<string, unknown> = {}) => {
        try {
          return statement[method](...(bind(values) as SQLQueryBindings[])) as Result
        } catch (error) {
          this.onError?.(error)
          throw error
        }
      }
    return { execute: run<Row[]>('all'), values: run<unknown[][]>('values') }
  }

  override prepared<Row>(key: string, build: Build): DirectQuery<Row> {
    return this.once(
      key,
      () => new DirectQuery<Row>(this.connection, build(this as never).prepare(key) as never, this.onError),
    )
  }

  override findEach<Row>(key: string, build: Build, keys: readonly Record<string, unknown>[]): Row[][] {
    if (keys.length === 0) return []
    const query = this.prepared<Row>(key, build)
    return keys.map((values) => query.find(values))
  }
}

/**
 * The connection for reading. Outside a transaction even the smallest read costs several microseconds, so the revision
 * is read once per turn of the event loop: changes of other processes are seen a turn later, those of this process
 * immediately.
 */
export class OutsideReader extends SqliteReader {
  #known: number | undefined

  override revision(): number {
    if (this.#known === undefined) {
      this.#known = this.#read()
      setImmediate(() => this.forgetRevision())
    }
    return this.#known
  }

  forgetRevision(): void {
    this.#known = undefined
  }

  #read(): number {
    try {
      return super.revision()
    } catch (error) {
      this.onError?.(error)
      throw error
    }
  }
}
