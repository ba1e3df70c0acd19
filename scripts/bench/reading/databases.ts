/** The databases that are read: a copy of a seeded one, or one in PostgreSQL. */
import { Database as Connection } from 'bun:sqlite'
import type { Sql } from 'postgres'
import { clientFor } from '../../../test/support/postgres-server.ts'

type Value = string | number

export interface Occupied {
  /** A table, with its indexes. */
  owner: string
  bytes: number
}

export interface ReadDatabase {
  readonly name: string
  /** Reads while the server runs or not; parameters are `?`. */
  read<Row>(sql: string, ...parameters: Value[]): Promise<Row[]>
  /** Removes all sums, as if the database were of a version without them. No server may run. */
  removeSums(): Promise<void>
  /** Of all tables. */
  sizes(): Promise<Occupied[]>
  close(): Promise<void>
}

export class SqliteFile implements ReadDatabase {
  readonly name = 'SQLite'

  constructor(readonly file: string) {}

  async read<Row>(sql: string, ...parameters: Value[]): Promise<Row[]> {
    const connection = new Connection(this.file, { readonly: true })
    try {
      return connection.query<Row, Value[]>(sql).all(...parameters)
    } finally {
      connection.close()
    }
  }

  async removeSums(): Promise<void> {
    const connection = new Connection(this.file)
    try {
      const tables = connection
        .query<{ name: string }, []>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'rollup\\_%' ESCAPE '\\'",
        )
        .all()
      connection.run('PRAGMA foreign_keys = OFF')
      connection.run('BEGIN IMMEDIATE')
      for (const { name } of tables) connection.run(`DELETE FROM ${name}`)
      connection.run('COMMIT')
      connection.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      connection.close()
    }
  }

  /** Without free pages. */
  sizes(): Promise<Occupied[]> {
    return this.read<Occupied>(
      `SELECT coalesce(schema.tbl_name, tree.name) AS owner, sum(tree.pgsize) AS bytes
       FROM dbstat('main', 1) AS tree LEFT JOIN sqlite_schema AS schema ON schema.name = tree.name
       GROUP BY 1 ORDER BY 2 DESC`,
    )
  }

  async close(): Promise<void> {}
}

export class PostgresDatabase implements ReadDatabase {
  readonly name = 'PostgreSQL'
  readonly #client: Sql

  constructor(url: string) {
    this.#client = clientFor(url)
  }

  async read<Row>(sql: string, ...parameters: Value[]): Promise<Row[]> {
    let position = 0
    const numbered = sql.replaceAll('?', () => {
      position += 1
      return `$${position}`
    })
    const rows = await this.#client.unsafe(numbered, parameters)
    // Counts and sizes: it returns them as text.
    const asNumber = (value: unknown) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)
    return rows.map(
      (row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, asNumber(value)])) as Row,
    )
  }

  async removeSums(): Promise<void> {
    const tables = await this.#client<{ name: string }[]>`
      SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() AND tablename LIKE 'rollup\_%'`
    await this.#client.unsafe(`TRUNCATE ${tables.map(({ name }) => name).join()} CASCADE`)
  }

  sizes(): Promise<Occupied[]> {
    return this.read<Occupied>(
      `SELECT coalesce(parent.relname, own.relname) AS owner, sum(pg_total_relation_size(own.oid))::bigint AS bytes
       FROM pg_class AS own LEFT JOIN pg_inherits ON inhrelid = own.oid LEFT JOIN pg_class AS parent ON parent.oid = inhparent
       WHERE own.relkind = 'r' AND own.relnamespace = to_regnamespace(current_schema()) GROUP BY 1 ORDER BY 2 DESC`,
    )
  }

  async close(): Promise<void> {
    await this.#client.end()
  }
}
