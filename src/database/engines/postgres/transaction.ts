import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type { Sql } from 'postgres'
import type { StatementCounts } from '../../statement-counts.ts'
import { columnsOf, conflictClause, type Existing, type WrittenColumn } from '../columns.ts'
import { rowReaderOf } from '../conversions.ts'
import { jsonRows, jsonValue, statementAdding, statementInserting, statementUpdating } from './json-sets.ts'
import { PostgresReader } from './reader.ts'

type Row = Record<string, unknown>

/** Tables whose rows are read in the order of their ids while others are inserted: see migration 17. */
const ANNOUNCED = ['entries']

/** The part of drizzle's select that PostgreSQL alone has. */
interface Lockable {
  for(strength: 'no key update' | 'share', config: { of: Table }): unknown
}

/** What bodies and sets see of a connection's open transaction. The writer begins and ends it. */
export class PostgresTransaction extends PostgresReader {
  #effects: (() => void)[] = []
  /** The revision, until something is written. */
  #revision: Promise<number> | undefined
  #hasWritten = false

  constructor(orm: PostgresJsDatabase, client: Sql, counts: StatementCounts | undefined) {
    super(orm, client, counts)
    for (const verb of ['insert', 'update', 'delete'] as const) {
      const build = this[verb] as (...args: never[]) => unknown
      Object.assign(this, {
        [verb]: (...args: never[]) => {
          this.#noteWrite()
          return build(...args)
        },
      })
    }
  }

  /** Starts with another transaction. Returns the list of its effects. */
  restart(): (() => void)[] {
    this.#effects = []
    this.#revision = undefined
    this.#hasWritten = false
    return this.#effects
  }

  override revision(): Promise<number> {
    if (this.#hasWritten) return super.revision()
    this.#revision ??= super.revision()
    return this.#revision
  }

  /** Each run has effects of its own. */
  get run(): object {
    return this.#effects
  }

  afterCommit(effect: () => void): void {
    this.#effects.push(effect)
  }

  async attempt<Result>(body: () => Promise<Result>): Promise<Result> {
    const before = this.#effects.length
    await this.client.unsafe('SAVEPOINT attempt')
    try {
      const value = await body()
      await this.client.unsafe('RELEASE SAVEPOINT attempt')
      return value
    } catch (error) {
      this.#effects.length = before
      // If the connection or the transaction is lost, the original error is the one to report.
      await this.client.unsafe('ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt').catch(() => undefined)
      throw error
    }
  }

  async insertAll(table: Table, rows: readonly Row[], existing?: Existing): Promise<void> {
    const conflict = conflictClause(table, existing)
    await this.#writeAll(
      `insert${conflict}`,
      table,
      rows,
      (_table, columns) => statementInserting(table, columns) + conflict,
    )
  }

  async updateAll(table: Table, rows: readonly Row[]): Promise<void> {
    await this.#writeAll('update', table, rows, statementUpdating)
  }

  async addAll(table: Table, rows: readonly Row[], returned: readonly string[]): Promise<Row[]> {
    if (rows.length === 0) return []
    const properties = Object.keys(rows[0]!)
    const { sql, columns, read } = this.once(`${getTableName(table)}.add(${properties}; ${returned})`, () => {
      const added = columnsOf(table, properties)
      const all = columnsOf(table, returned)
      return {
        sql: statementAdding(table, added, all),
        columns: added,
        read: rowReaderOf({
          fields: all.map(({ property }) => ({ path: [property], field: getTableColumns(table)[property] })),
        }),
      }
    })
    return (await this.query(sql, [jsonRows(rows, columns)])).map(read) as Row[]
  }

  async reserveIds(table: Table, count: number): Promise<number[]> {
    if (count === 0) return []
    const name = getTableName(table)
    const announced = ANNOUNCED.includes(name) ? ', announce_ids(name)' : ''
    const named = `(SELECT pg_get_serial_sequence($1, 'id')::regclass AS name OFFSET 0) AS named`
    const sequence = `(SELECT name${announced} FROM ${named} OFFSET 0) AS sequence`
    const ids = await this.query(`SELECT nextval(sequence.name) FROM ${sequence}, generate_series(1, $2)`, [
      name,
      count,
    ])
    return ids.map(([id]) => Number(id))
  }

  async lockAll(textsOf: () => readonly string[]): Promise<void> {
    const texts = textsOf()
    if (texts.length === 0) return
    const texted = 'json_array_elements_text($1::text::json) AS text'
    // Sorted, so that transactions that lock the same texts wait for each other instead of failing in a deadlock.
    const keys = `(SELECT DISTINCT hashtextextended(text, 0) AS key FROM ${texted} ORDER BY key) AS keys`
    await this.query(`SELECT pg_advisory_xact_lock(key) FROM ${keys}`, [JSON.stringify(texts.map(jsonValue))])
  }

  locking<Query>(query: Query, table: Table, strength: 'no key update' | 'share' = 'no key update'): Query {
    return (query as Lockable).for(strength, { of: table }) as Query
  }

  protected override query(sql: string, params: unknown[]): Promise<unknown[][]> {
    if (!/^select/i.test(sql)) this.#noteWrite()
    return super.query(sql, params)
  }

  async #writeAll(
    verb: string,
    table: Table,
    rows: readonly Row[],
    statementOf: (table: Table, columns: WrittenColumn[]) => string,
  ): Promise<void> {
    if (rows.length === 0) return
    const properties = Object.keys(rows[0]!)
    const { sql, columns } = this.once(`${getTableName(table)}.${verb}(${properties})`, () => {
      const written = columnsOf(table, properties)
      return { sql: statementOf(table, written), columns: written }
    })
    await this.query(sql, [jsonRows(rows, columns)])
  }

  #noteWrite(): void {
    this.#hasWritten = true
  }
}
