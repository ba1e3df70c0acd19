import type { Database as Connection, Statement } from 'bun:sqlite'
import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import type { StatementCounts } from '../../statement-counts.ts'
import { columnsOf, columnValuesOf, conflictClause, type Existing, type WrittenColumn } from '../columns.ts'
import { rowReaderOf } from '../conversions.ts'
import { SqliteReader } from './reader.ts'

type Row = Record<string, unknown>

/** What bodies and sets see of the open transaction. The writer begins and ends it. */
export class SqliteTransaction extends SqliteReader {
  #effects: (() => void)[] = []
  readonly #statement: Record<'savepoint' | 'release' | 'rollbackTo', Statement>

  constructor(connection: Connection, counts: StatementCounts | undefined) {
    super(connection, counts)
    this.#statement = {
      savepoint: connection.prepare('SAVEPOINT part'),
      release: connection.prepare('RELEASE part'),
      rollbackTo: connection.prepare('ROLLBACK TO part'),
    }
  }

  /**
   * Runs `body` as the whole of the transaction, and returns its effects. Without a savepoint: inside one, SQLite copies
   * every page before it first changes it.
   */
  async whole(body: () => Promise<void>): Promise<(() => void)[]> {
    this.#effects = []
    await body()
    return this.#effects
  }

  /** Runs `body` as a part of the transaction, and returns its effects. */
  async part(body: () => Promise<void>): Promise<(() => void)[]> {
    this.#effects = []
    await this.attempt(body)
    return this.#effects
  }

  async attempt<Result>(body: () => Promise<Result>): Promise<Result> {
    const before = this.#effects.length
    this.#statement.savepoint.run()
    try {
      const value = await body()
      this.#statement.release.run()
      return value
    } catch (error) {
      this.#effects.length = before
      // SQLite itself rolls everything back when the disk fails or is full.
      if (this.connection.inTransaction) {
        this.#statement.rollbackTo.run()
        this.#statement.release.run()
      }
      throw error
    }
  }

  /** Each run has effects of its own. */
  get run(): object {
    return this.#effects
  }

  afterCommit(effect: () => void): void {
    this.#effects.push(effect)
  }

  insertAll(table: Table, rows: readonly Row[], existing?: Existing): void {
    const conflict = conflictClause(table, existing)
    this.#writeAll(`insert${conflict}`, table, rows, (columns) => {
      const names = columns.map(({ name }) => name)
      return [`INSERT INTO "${getTableName(table)}" (${names}) VALUES (${names.map(() => '?')})${conflict}`, columns]
    })
  }

  updateAll(table: Table, rows: readonly Row[]): void {
    this.#writeAll('update', table, rows, (columns) => {
      const changed = columns.filter(({ property }) => property !== 'id')
      const settings = changed.map(({ name }) => `${name} = ?`)
      return [`UPDATE "${getTableName(table)}" SET ${settings} WHERE id = ?`, [...changed, ...columnsOf(table, ['id'])]]
    })
  }

  addAll(table: Table, rows: readonly Row[], returned: readonly string[]): Row[] {
    if (rows.length === 0) return []
    this.#requireTransaction()
    const properties = Object.keys(rows[0]!)
    const { add, read } = this.once(`${getTableName(table)}.add(${properties}; ${returned})`, () => {
      const added = columnsOf(
        table,
        properties.filter((property) => property !== 'id'),
      )
      const all = columnsOf(table, returned)
      const settings = added.map(({ name }) => `${name} = ${name} + ?`)
      const statement = this.connection.prepare(
        `UPDATE "${getTableName(table)}" SET ${settings} WHERE id = ? RETURNING ${all.map(({ name }) => name)}`,
      )
      const order = [...added.map(({ property }) => property), 'id']
      return {
        add: (row: Row) =>
          (statement.values as (...values: unknown[]) => unknown[][])(...order.map((name) => row[name])),
        read: rowReaderOf({
          fields: all.map(({ property }) => ({ path: [property], field: getTableColumns(table)[property] })),
        }),
      }
    })
    return rows.flatMap((row) => add(row).map(read)) as Row[]
  }

  reserveIds(table: Table, count: number): number[] {
    if (count === 0) return []
    const name = getTableName(table)
    const highest = this.once(`${name}.highest-id`, () => this.connection.prepare(`SELECT max(id) FROM "${name}"`))
    const first = Number(highest.values()[0]![0]) + 1
    return Array.from({ length: count }, (_, position) => first + position)
  }

  lockAll(): void {}

  locking<Query>(query: Query): Query {
    return query
  }

  /** @param statementOf the statement that writes one row, and the columns of its values */
  #writeAll(
    verb: string,
    table: Table,
    rows: readonly Row[],
    statementOf: (columns: WrittenColumn[]) => [sql: string, columns: WrittenColumn[]],
  ): void {
    if (rows.length === 0) return
    this.#requireTransaction()
    const properties = Object.keys(rows[0]!)
    const write = this.once(`${getTableName(table)}.${verb}(${properties})`, () =>
      this.#rowWriter(...statementOf(columnsOf(table, properties))),
    )
    for (const row of rows) write(row)
  }

  /**
   * SQLite itself rolls everything back when the disk fails or is full. What a set writes next to the failed statement
   * must not be written on its own.
   */
  #requireTransaction(): void {
    if (!this.connection.inTransaction) throw new Error('SQLite has rolled the transaction back')
  }

  #rowWriter(sql: string, columns: readonly WrittenColumn[]): (row: Row) => void {
    const statement = this.connection.prepare(sql)
    const run = statement.run.bind(statement) as unknown as (values: unknown[]) => void
    const valuesOf = columnValuesOf(columns)
    return (row) => run(valuesOf(row))
  }
}
