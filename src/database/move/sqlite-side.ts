/** An embedded database in a move. */
import { Database as Connection } from 'bun:sqlite'
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { configureConnection } from '../engines/sqlite/connections.ts'
import { numberCommit } from '../engines/sqlite/file-header.ts'
import { MOVED } from '../errors.ts'
import { migrateSqlite, refuseNewer } from '../schema/migrate.ts'
import { WrongDatabase } from '../wrong-database.ts'
import { lineExpression, sqliteValues } from './copy-text.ts'
import { type Mark, type Source, SUMS_QUERY, sumsOf, type Target, USED_QUERY, VERSION_QUERY } from './side.ts'
import { cancelledMeanwhile, MARK_QUERY } from './state.ts'
import { type MovedTable, namesOf, quoted } from './tables.ts'

/** A checkpoint or a transaction of a server takes less. */
const BUSY_TIMEOUT_MS = 60_000

/** Of the triggers that refuse every write. */
const REFUSING = 'moved_'

/** So many characters are sent at once. */
const PIECE_LENGTH = 262_144

const OPERATIONS = ['INSERT', 'UPDATE', 'DELETE']

export class SqliteSide implements Source, Target {
  readonly place: string
  readonly #connection: Connection

  /** Migrates the database in a folder. Throws {@link WrongDatabase}. */
  constructor(
    folder: string,
    readonly tables: readonly MovedTable[],
    { now, creates }: { now: number; creates: boolean },
  ) {
    const path = join(folder, 'tally.db')
    this.place = resolve(path)
    if (!existsSync(path)) {
      if (!creates) throw new WrongDatabase(`There is no Tally database in ${folder}. Set its folder with --data.`)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
    }
    migrateSqlite(path, now)
    this.#connection = new Connection(path, { readwrite: true, create: false, safeIntegers: true })
    configureConnection(this.#connection, BUSY_TIMEOUT_MS)
    this.#connection.run('PRAGMA foreign_keys = OFF')
    refuseNewer(Number(this.#get<{ version: bigint }>(VERSION_QUERY)!.version), path)
  }

  async mark(): Promise<Mark | undefined> {
    const row = this.#get<Omit<Mark, 'endedAt' | 'isRestored'> & { endedAt: bigint | null; isRestored: bigint }>(
      MARK_QUERY,
    )
    if (!row) return undefined
    return { ...row, endedAt: row.endedAt === null ? null : Number(row.endedAt), isRestored: row.isRestored === 1n }
  }

  async count({ name }: MovedTable): Promise<number> {
    return Number(this.#get<{ rows: bigint }>(`SELECT count(*) AS rows FROM ${quoted(name)}`)!.rows)
  }

  async lastId({ name }: MovedTable): Promise<bigint> {
    return this.#get<{ last: bigint }>(`SELECT coalesce(max(id), 0) AS last FROM ${quoted(name)}`)!.last
  }

  async idAfter({ name }: MovedTable, id: bigint): Promise<bigint | null> {
    return this.#get<{ next: bigint | null }>(`SELECT min(id) AS next FROM ${quoted(name)} WHERE id > ${id}`)!.next
  }

  async *read(table: MovedTable, ids?: { from: bigint; to: bigint }): AsyncGenerator<string[]> {
    const where = ids ? 'WHERE id BETWEEN ? AND ?' : ''
    const query = this.#connection.query<{ line: string }, bigint[]>(
      `SELECT ${lineExpression(table, 'sqlite')} AS line FROM ${quoted(table.name)} ${where} ORDER BY ${namesOf(table.key)}`,
    )
    let lines: string[] = []
    let length = 0
    for (const { line } of query.iterate(...(ids ? [ids.from, ids.to] : []))) {
      lines.push(line)
      length += line.length
      if (length < PIECE_LENGTH) continue
      yield lines
      lines = []
      length = 0
    }
    if (lines.length > 0) yield lines
  }

  async sums() {
    return sumsOf(this.#get(SUMS_QUERY)!)
  }

  async freeze(mark: Mark, now: number): Promise<void> {
    this.#transact(() => {
      numberCommit(this.#connection)
      for (const { name } of this.tables) {
        for (const operation of OPERATIONS) {
          const trigger = quoted(`${REFUSING}${operation.toLowerCase()}_${name}`)
          this.#connection.run(
            `CREATE TRIGGER ${trigger} BEFORE ${operation} ON ${quoted(name)} BEGIN SELECT RAISE(ABORT, '${MOVED}'); END`,
          )
        }
      }
      this.#insertMark(mark, [], now)
    })
  }

  async markEnded({ move }: Mark, now: number): Promise<void> {
    const { changes } = this.#connection.run('UPDATE moves SET ended_at = ? WHERE move = ?', [now, move])
    if (changes === 0) throw cancelledMeanwhile(this.place)
  }

  async thaw(): Promise<void> {
    this.#transact(() => {
      numberCommit(this.#connection)
      for (const { name } of this.#schema('trigger')) {
        if (name.startsWith(REFUSING)) this.#connection.run(`DROP TRIGGER ${quoted(name)}`)
      }
      this.#connection.run('DELETE FROM moves')
    })
  }

  async isUnused(): Promise<boolean> {
    return this.#get(USED_QUERY) === undefined
  }

  async prepare(mark: Mark, now: number): Promise<void> {
    this.#transact(() => {
      numberCommit(this.#connection)
      const made = [...this.#schema('index'), ...this.#schema('trigger')]
      this.#insertMark(
        mark,
        made.map(({ sql }) => sql),
        now,
      )
      for (const { type, name } of made) this.#connection.run(`DROP ${type} ${quoted(name)}`)
      for (const { name } of this.tables) this.#connection.run(`DELETE FROM ${quoted(name)}`)
    })
  }

  async write(table: MovedTable, rows: AsyncIterable<string[]>): Promise<void> {
    const { name, columns } = table
    const insert = this.#connection.query(
      `INSERT INTO ${quoted(name)} (${namesOf(columns.map((column) => column.name))}) VALUES (${columns.map(() => '?')})`,
    )
    this.#connection.run('BEGIN IMMEDIATE')
    try {
      for await (const lines of rows) for (const line of lines) insert.run(...sqliteValues(table, line))
      this.#connection.run('COMMIT')
    } finally {
      if (this.#connection.inTransaction) this.#connection.run('ROLLBACK')
    }
    this.#connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
  }

  async clear({ name }: MovedTable): Promise<void> {
    this.#connection.run(`DELETE FROM ${quoted(name)}`)
  }

  async restore(): Promise<void> {
    this.#transact(() => {
      const { restores } = this.#get<{ restores: string }>('SELECT restores FROM moves')!
      for (const statement of JSON.parse(restores) as string[]) this.#connection.run(statement)
      this.#connection.run("UPDATE moves SET restores = '[]'")
      const broken = this.#connection.query('PRAGMA foreign_key_check').all()
      if (broken.length > 0) throw new Error(`${broken.length} rows refer to missing ones`)
    })
    this.#connection.run('PRAGMA optimize = 0x10002')
  }

  async finish(): Promise<void> {
    this.#connection.run('DELETE FROM moves')
  }

  async close(): Promise<void> {
    this.#connection.close()
  }

  #insertMark({ move, direction, place }: Mark, restores: string[], now: number): void {
    this.#connection.run(
      'INSERT INTO moves (id, move, direction, place, restores, started_at) VALUES (1, ?, ?, ?, ?, ?)',
      [move, direction, place, JSON.stringify(restores), now],
    )
  }

  #schema(type: 'index' | 'trigger') {
    return this.#connection
      .query<{ type: string; name: string; sql: string }, [string]>(
        'SELECT type, name, sql FROM sqlite_schema WHERE type = ? AND sql IS NOT NULL ORDER BY rowid',
      )
      .all(type)
  }

  #get<Row>(sql: string): Row | undefined {
    return this.#connection.query<Row, []>(sql).get() ?? undefined
  }

  #transact(work: () => void): void {
    this.#connection.transaction(work).immediate()
  }
}
