import type { Database as Connection, Statement } from 'bun:sqlite'
import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import type { StatementCounts } from '../../statement-counts.ts'
import { encodingOf } from '../conversions.ts'
import { SqliteReader } from './reader.ts'

type Run = (values: unknown[]) => void

/** Writes a row whose properties are bound by position. */
type WriteRow = (row: Record<string, unknown>) => void

/** What bodies and sets see of the open transaction. The writer begins and ends it. */
export class SqliteTransaction extends SqliteReader {
  #effects: (() => void)[] = []
  readonly #statement: Record<'savepoint' | 'release' | 'rollbackTo', Statement>

  constructor(
    readonly connection: Connection,
    counts: StatementCounts | undefined,
  ) {
    super(connection, counts)
    this.#statement = {
      savepoint: connection.prepare('SAVEPOINT part'),
      release: connection.prepare('RELEASE part'),
      rollbackTo: connection.prepare('ROLLBACK TO part'),
    }
  }

  /** Runs `body` as a part of the transaction, with its effects if it was not rolled back. */
  async part<Result>(body: () => Promise<Result>): Promise<{ value: Result; effects: (() => void)[] }> {
    this.#effects = []
    const value = await this.attempt(body)
    return { value, effects: this.#effects }
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

  afterCommit(effect: () => void): void {
    this.#effects.push(effect)
  }

  insertAll(table: Table, rows: readonly Record<string, unknown>[]): void {
    this.#writeAll('insert', table, rows, (names) => {
      const columns = names.map((name) => `"${columnOf(table, name).name}"`)
      const statement = `INSERT INTO "${getTableName(table)}" (${columns}) VALUES (${columns.map(() => '?')})`
      return this.#writeRow(statement, table, names)
    })
  }

  updateAll(table: Table, rows: readonly Record<string, unknown>[]): void {
    this.#writeAll('update', table, rows, (names) => {
      const changed = names.filter((name) => name !== 'id')
      const settings = changed.map((name) => `"${columnOf(table, name).name}" = ?`)
      const statement = `UPDATE "${getTableName(table)}" SET ${settings} WHERE "id" = ?`
      return this.#writeRow(statement, table, [...changed, 'id'])
    })
  }

  reserveIds(table: Table, count: number): number[] {
    if (count === 0) return []
    const name = getTableName(table)
    const highest = this.once(`${name}.highest-id`, () => this.connection.prepare(`SELECT max(id) FROM "${name}"`))
    const first = Number(highest.values()[0]![0]) + 1
    return Array.from({ length: count }, (_, position) => first + position)
  }

  lockAll(): void {}

  #writeAll(
    verb: string,
    table: Table,
    rows: readonly Record<string, unknown>[],
    prepare: (names: string[]) => WriteRow,
  ): void {
    if (rows.length === 0) return
    const names = Object.keys(rows[0]!)
    const write = this.once(`${getTableName(table)}.${verb}(${names})`, () => prepare(names))
    for (const row of rows) write(row)
  }

  #writeRow(sql: string, table: Table, names: readonly string[]): WriteRow {
    const statement = this.connection.prepare(sql)
    const run = statement.run.bind(statement) as unknown as Run
    const encodings = names.map((name) => encodingOf(columnOf(table, name)))
    const values: unknown[] = new Array(names.length)
    return (row) => {
      for (let position = 0; position < names.length; position += 1) {
        const value = row[names[position]!] ?? null
        const encode = encodings[position]!
        values[position] = encode === null ? value : encode(value)
      }
      run(values)
    }
  }
}

function columnOf(table: Table, name: string) {
  const column = getTableColumns(table)[name]
  if (!column) throw new Error(`The table ${getTableName(table)} has no column for "${name}"`)
  return column
}
