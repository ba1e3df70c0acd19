/** A PostgreSQL database in a move. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Sql } from 'postgres'
import { CLIENT_CHECK_MS, connect, parseAddress, refusePooler } from '../engines/postgres/link.ts'
import { isPartitioned } from '../engines/postgres/partitions.ts'
import { onOneConnection } from '../engines/postgres/postgres.ts'
import { MISSING_REFERENCES } from '../engines/postgres/references.ts'
import { failureOf } from '../errors.ts'
import { inTransaction, lockSession, migratePostgres, refuseNewer } from '../schema/migrate.ts'
import { WrongDatabase } from '../wrong-database.ts'
import { lineExpression, textOf } from './copy-text.ts'
import { type Mark, type Source, SUMS_QUERY, sumsOf, type Target, USED_QUERY, VERSION_QUERY } from './side.ts'
import { cancelledMeanwhile, MARK_QUERY } from './state.ts'
import { type MovedTable, namesOf, quoted } from './tables.ts'

/** A server that locks the same tables in another order may win a few times. */
const FREEZE_ATTEMPTS = 5

/** So many rows are read at once. */
const READ_ROWS = 1_000

/** Of the triggers that refuse every write. */
const REFUSING = 'moved'

/** Memory to sort an index with. Half a gigabyte is there where a database of millions of entries is. */
const INDEX_MEMORY = '512MB'

/** 'MOVE': the advisory lock of a process that moves a database, on either side. */
const ADVISORY_LOCK = 0x4d4f5645

/** How long one that was killed may still hold it. */
const LOCK_PATIENCE_MS = 5_000

export class PostgresSide implements Source, Target {
  readonly place: string

  private constructor(
    url: string,
    readonly client: Sql,
    readonly tables: readonly MovedTable[],
  ) {
    this.place = `postgres://${parseAddress(url).place}`
  }

  /**
   * Migrates the database, and keeps other moves away from it until it is closed. Throws `WrongDatabase`, also if another
   * process moves it, and a Problem if the server does not respond.
   */
  static async open(url: string, tables: readonly MovedTable[], now: number): Promise<PostgresSide> {
    refusePooler(url, 'to move the database')
    await onOneConnection(url, async (client, where) => {
      await migratePostgres(client, where, now)
      const [newest] = await client.unsafe<[{ version: string }]>(VERSION_QUERY)
      refuseNewer(Number(newest.version), where)
    })
    const settings = { client_connection_check_interval: CLIENT_CHECK_MS }
    const side = new PostgresSide(
      url,
      connect({ url, connections: 1, settings }, () => undefined),
      tables,
    )
    try {
      // What a killed process has begun ends first, so that a repeated move sees what there is.
      if (await lockSession(side.client, ADVISORY_LOCK, LOCK_PATIENCE_MS)) return side
      throw new WrongDatabase(`${side.place} is being moved by another \`tally move\`. Wait until it has ended.`)
    } catch (error) {
      await side.close()
      throw error
    }
  }

  async mark(): Promise<Mark | undefined> {
    const [row] = await this.client.unsafe<(Omit<Mark, 'endedAt'> & { endedAt: string | null })[]>(MARK_QUERY)
    return row && { ...row, endedAt: row.endedAt === null ? null : Number(row.endedAt) }
  }

  async count({ name }: MovedTable): Promise<number> {
    const [row] = await this.client.unsafe(`SELECT count(*) AS rows FROM ${quoted(name)}`)
    return Number(row!.rows)
  }

  async lastId({ name }: MovedTable): Promise<bigint> {
    const [row] = await this.client.unsafe(`SELECT coalesce(max(id), 0) AS last FROM ${quoted(name)}`)
    return BigInt(row!.last)
  }

  async idAfter({ name }: MovedTable, id: bigint): Promise<bigint | null> {
    const [row] = await this.client.unsafe(`SELECT min(id) AS next FROM ${quoted(name)} WHERE id > ${id}`)
    return row!.next === null ? null : BigInt(row!.next)
  }

  async *read(table: MovedTable, ids?: { from: bigint; to: bigint }): AsyncGenerator<string[]> {
    const where = ids ? `WHERE id BETWEEN ${ids.from} AND ${ids.to}` : ''
    const rows = this.client.unsafe<{ line: string }[]>(
      `SELECT ${lineExpression(table, 'postgres')} AS line FROM ${quoted(table.name)} ${where} ORDER BY ${namesOf(table.key)}`,
    )
    for await (const part of rows.cursor(READ_ROWS)) yield part.map(({ line }) => line)
  }

  async sums() {
    const [row] = await this.client.unsafe(SUMS_QUERY)
    return sumsOf(row as never)
  }

  async freeze(mark: Mark, now: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#freeze(mark, now)
        return
      } catch (error) {
        if (failureOf(error) !== 'serialization' || attempt === FREEZE_ATTEMPTS) throw error
      }
    }
  }

  async #freeze(mark: Mark, now: number): Promise<void> {
    await inTransaction(this.client, async () => {
      // Waits for transactions that have written; later ones wait for this one, and meet the triggers.
      await this.client.unsafe(`LOCK TABLE ${namesOf(this.tables.map(({ name }) => name))} IN SHARE ROW EXCLUSIVE MODE`)
      for (const { name } of this.tables) {
        await this.client.unsafe(
          `CREATE TRIGGER ${REFUSING} BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON ${quoted(name)} FOR EACH STATEMENT EXECUTE FUNCTION refuse_moved()`,
        )
      }
      await this.#insertMark(mark, [], now)
    })
  }

  async markEnded({ move }: Mark, now: number): Promise<void> {
    const { count } = await this.client`UPDATE moves SET ended_at = ${now} WHERE move = ${move}`
    if (count === 0) throw cancelledMeanwhile(this.place)
  }

  async thaw(): Promise<void> {
    await inTransaction(this.client, async () => {
      for (const { name } of this.tables)
        await this.client.unsafe(`DROP TRIGGER IF EXISTS ${REFUSING} ON ${quoted(name)}`)
      await this.client`DELETE FROM moves`
    })
  }

  async isUnused(): Promise<boolean> {
    // Partitions are made of a table with its rows, afterwards.
    return (await this.client.unsafe(USED_QUERY)).length === 0 && !(await isPartitioned(this.client))
  }

  async prepare(mark: Mark, now: number): Promise<void> {
    await inTransaction(this.client, async () => {
      const made = await this.client<{ makes: string; drops: string }[]>`
        SELECT pg_get_indexdef(indexrelid) AS makes, format('DROP INDEX %I', relname) AS drops
        FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE relnamespace = to_regnamespace(current_schema())
          AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
        UNION ALL
        SELECT format('ALTER TABLE %I ADD CONSTRAINT %I %s', relname, conname, pg_get_constraintdef(pg_constraint.oid)),
          format('ALTER TABLE %I DROP CONSTRAINT %I', relname, conname)
        FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
        WHERE contype = 'f' AND relnamespace = to_regnamespace(current_schema())`
      const enabling = this.tables.map(({ name }) => `ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`)
      await this.#insertMark(mark, [...made.map(({ makes }) => makes), ...enabling], now)
      // References first: some need the unique indexes.
      for (const { drops } of made.toReversed()) await this.client.unsafe(drops)
      for (const { name } of this.tables) await this.client.unsafe(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`)
      await this.client.unsafe(`TRUNCATE ${namesOf(this.tables.map(({ name }) => name))}`)
    })
  }

  async write(table: MovedTable, rows: AsyncIterable<string[]>): Promise<void> {
    const copying = await this.client.unsafe(`COPY ${quoted(table.name)} (${columnsOf(table)}) FROM STDIN`).writable()
    const texts = async function* () {
      for await (const lines of rows) yield textOf(lines)
    }
    await pipeline(Readable.from(texts(), { objectMode: false }), copying)
  }

  async clear({ name }: MovedTable): Promise<void> {
    await this.client.unsafe(`TRUNCATE ${quoted(name)}`)
  }

  async restore(): Promise<void> {
    await inTransaction(this.client, async () => {
      await this.client.unsafe(`SET LOCAL maintenance_work_mem = '${INDEX_MEMORY}'`)
      const [{ restores }] = await this.client<[{ restores: string }]>`SELECT restores FROM moves`
      for (const statement of JSON.parse(restores) as string[]) await this.client.unsafe(statement)
      const [missing] = await this.client.unsafe(`${MISSING_REFERENCES} LIMIT 1`)
      if (missing)
        throw new Error(`Row ${missing.rowid} of ${missing.table} refers to a missing row of ${missing.parent}.`)
      for (const { name, isNumbered } of this.tables) {
        if (!isNumbered) continue
        await this.client.unsafe(
          `SELECT setval(pg_get_serial_sequence('${name}', 'id'), max(id)) FROM ${quoted(name)} HAVING count(*) > 0`,
        )
      }
      await this.client`UPDATE moves SET restores = '[]'`
    })
    await this.client.unsafe('VACUUM (ANALYZE)')
  }

  async finish(): Promise<void> {
    await this.client`DELETE FROM moves`
  }

  async close(): Promise<void> {
    await this.client.end()
  }

  async #insertMark({ move, direction, place }: Mark, restores: string[], now: number): Promise<void> {
    await this.client`INSERT INTO moves (id, move, direction, place, restores, started_at)
      VALUES (1, ${move}, ${direction}, ${place}, ${JSON.stringify(restores)}, ${now})`
  }
}

const columnsOf = ({ columns }: MovedTable) => namesOf(columns.map(({ name }) => name))
