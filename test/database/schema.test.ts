/**
 * What the migrations make, read back from each engine's own catalogue, against `tables.ts` and against each other:
 * the two SQL files are written by hand, and nothing else would notice that they differ.
 */
import { Database as Connection } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { getTableColumns, getTableName, type Table } from 'drizzle-orm'
import type { Sql } from 'postgres'
import { CHECKED_REFERENCES } from '../../src/database/engines/postgres/references.ts'
import { DATABASE_FILE, openDatabase } from '../../src/database/open.ts'
import { postgresTables } from '../../src/database/schema/postgres-tables.ts'
import { sqliteTables } from '../../src/database/schema/sqlite-tables.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { newLocation, startPostgres } from '../support/databases.ts'
import { clientFor } from '../support/postgres-server.ts'

/** Triggers that check references, and those that keep what they refer to: see migration 65. */
const CHECKING = Object.keys(CHECKED_REFERENCES).flatMap((table) =>
  ['inserted', 'updated'].map((when) => `${table}_referring_${when} on ${table}`),
)
const KEEPING = [...new Set(Object.values(CHECKED_REFERENCES).flatMap((columns) => Object.values(columns)))].flatMap(
  (table) => ['referred', 'kept', 'numbered'].map((what) => `${table}_${what} on ${table}`),
)

/** Only PostgreSQL has several writers, whose ids may appear out of order: see migration 17. */
const ONLY_ON_POSTGRES = ['events_announced on events', ...CHECKING, ...KEEPING]

/** Lines such as `entries.status text required`, sorted. */
type Facts = string[]

interface Catalogue {
  columns(): Promise<Facts>
  /** `names unique (text)`, partial ones with `where`; the primary key among them. */
  uniques(): Promise<Facts>
  /** `entries_by_start on entries (started_at)`, only those that no constraint makes. */
  indexes(): Promise<Facts>
  /** `entries.bill_id -> bills.id` */
  references(): Promise<Facts>
  /** `tokens_updated on tokens` */
  triggers(): Promise<Facts>
  /** `entries 12`: conditions of a table and its columns, but for those that make a flag of SQLite's integer. */
  checks(): Promise<Facts>
  /** `organization {"id":1,…}`: rows that a new database has. */
  rows(): Promise<Facts>
}

function sqliteCatalogue(connection: Connection): Catalogue {
  const facts = (query: string): Facts =>
    connection
      .query(query)
      .values()
      .map(([fact]) => fact as string)
      .sort()
  const tables = "pragma_table_list AS t WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
  const columnsOf = `(SELECT group_concat(c.name, ', ' ORDER BY c.seqno) FROM pragma_index_info(i.name) AS c)`
  return {
    async columns() {
      return facts(`
        SELECT t.name || '.' || c.name || ' ' || lower(c.type) || iif(c."notnull" OR c.pk, ' required', '')
        FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
        WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`)
    },
    async uniques() {
      return facts(`
        SELECT t.name || ' unique (' || ${columnsOf} || ')' || iif(i.partial, ' where', '')
        FROM pragma_table_list AS t JOIN pragma_index_list(t.name) AS i
        WHERE i."unique" AND t.name NOT LIKE 'sqlite_%'
        UNION ALL
        -- A rowid's alias has no index of its own.
        SELECT t.name || ' unique (' || c.name || ')'
        FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
        WHERE c.pk = 1 AND NOT t.wr AND t.name NOT LIKE 'sqlite_%'`)
    },
    async indexes() {
      return facts(`
        SELECT i.name || ' on ' || t.name || ' (' || ${columnsOf} || ')' || iif(i.partial, ' where', '')
        FROM pragma_table_list AS t JOIN pragma_index_list(t.name) AS i WHERE i.origin = 'c'`)
    },
    async references() {
      return facts(`
        SELECT t.name || '.' || f."from" || ' -> ' || f."table" || '.' || f."to"
        FROM pragma_table_list AS t JOIN pragma_foreign_key_list(t.name) AS f`)
    },
    async triggers() {
      return facts(`SELECT name || ' on ' || tbl_name FROM sqlite_schema WHERE type = 'trigger'`)
    },
    async checks() {
      const made = connection.query<{ name: string; sql: string }, []>(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      )
      return made
        .all()
        .map(({ name, sql }) => {
          const all = sql.match(/CHECK \(/g)?.length ?? 0
          const ofFlags = sql.match(/CHECK \(\w+ IN \(0, 1\)\)/g)?.length ?? 0
          return `${name} ${all - ofFlags}`
        })
        .sort()
    },
    async rows() {
      const names = facts(`SELECT t.name FROM ${tables} AND t.name NOT IN (${RANDOM_ROWS})`)
      return names.flatMap((name) =>
        (connection.query(`SELECT * FROM ${name}`).all() as object[]).map((row) => `${name} ${JSON.stringify(row)}`),
      )
    },
  }
}

function postgresCatalogue(client: Sql): Catalogue {
  const facts = async (query: string): Promise<Facts> =>
    (await client.unsafe(query).values()).map(([fact]) => fact as string).sort()
  const columnsOf = `(
    SELECT string_agg(attname, ', ' ORDER BY position)
    FROM unnest(i.indkey) WITH ORDINALITY AS k (attnum, position)
    JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum)`
  const own = 'relnamespace = to_regnamespace(current_schema())'
  const indexes = 'pg_index AS i JOIN pg_class AS t ON t.oid = i.indrelid JOIN pg_class AS x ON x.oid = i.indexrelid'
  return {
    columns: () =>
      facts(`
        SELECT table_name || '.' || column_name || ' ' || data_type || CASE is_nullable WHEN 'NO' THEN ' required' ELSE '' END
        FROM information_schema.columns WHERE table_schema = current_schema()`),
    uniques: () =>
      facts(`
        SELECT t.relname || ' unique (' || ${columnsOf} || ')' || CASE WHEN indpred IS NULL THEN '' ELSE ' where' END
        FROM ${indexes} WHERE t.${own} AND (indisunique OR indisexclusion)`),
    indexes: () =>
      facts(`
        SELECT x.relname || ' on ' || t.relname || ' (' || ${columnsOf} || ')' || CASE WHEN indpred IS NULL THEN '' ELSE ' where' END
        FROM ${indexes} WHERE t.${own} AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = x.oid)`),
    async references() {
      const keys = await facts(`
        SELECT t.relname || '.' || a.attname || ' -> ' || r.relname || '.' || b.attname
        FROM pg_constraint AS f
        JOIN pg_class AS t ON t.oid = f.conrelid JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = f.conkey[1]
        JOIN pg_class AS r ON r.oid = f.confrelid JOIN pg_attribute AS b ON b.attrelid = r.oid AND b.attnum = f.confkey[1]
        WHERE f.contype = 'f' AND t.${own}`)
      const checked = Object.entries(CHECKED_REFERENCES).flatMap(([table, columns]) =>
        Object.entries(columns).map(([column, referred]) => `${table}.${column} -> ${referred}.id`),
      )
      return [...keys, ...checked].sort()
    },
    triggers: () =>
      facts(`
        SELECT g.tgname || ' on ' || t.relname
        FROM pg_trigger AS g JOIN pg_class AS t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal AND t.${own}`),
    checks: () =>
      facts(`
        SELECT t.relname || ' ' || (SELECT count(*) FROM pg_constraint WHERE conrelid = t.oid AND contype = 'c')
        FROM pg_class AS t WHERE t.relkind = 'r' AND t.${own}`),
    async rows() {
      const names = await facts(
        `SELECT relname FROM pg_class WHERE relkind = 'r' AND ${own} AND relname NOT IN (${RANDOM_ROWS})`,
      )
      const rows = await Promise.all(names.map((name) => facts(`SELECT '${name} ' || to_json(r) FROM ${name} AS r`)))
      // What is 0 or 1 in SQLite.
      return rows.flat().map((row) => row.replaceAll(':false', ':0').replaceAll(':true', ':1'))
    },
  }
}

/** Tables with a time, or a random value, of each database. */
const RANDOM_ROWS = "'migrations', 'database_identity', 'backup_timeline'"

/** What `tables.ts` says of the columns. */
function declaredColumns(tables: Record<string, Table>): Facts {
  return Object.values(tables)
    .flatMap((table) =>
      Object.values(getTableColumns(table)).map(
        (column) =>
          `${getTableName(table)}.${column.name} ${column.getSQLType()}${column.notNull || column.primary ? ' required' : ''}`,
      ),
    )
    .sort()
}

describe('the migrated schema', () => {
  let connection: Connection
  let client: Sql
  let sqlite: Catalogue
  let postgres: Catalogue
  const cleanUps: (() => Promise<void>)[] = []

  beforeAll(
    async () => {
      await startPostgres()
      const file = await newLocation('sqlite', cleanUps)
      const server = await newLocation('postgres', cleanUps)
      for (const location of [file, server]) await (await openDatabase({ ...location, clock: systemClock })).close()
      connection = new Connection(join(file.dataDir, DATABASE_FILE))
      client = clientFor(server.databaseUrl!)
      sqlite = sqliteCatalogue(connection)
      postgres = postgresCatalogue(client)
    },
    { timeout: 180_000 },
  )
  afterAll(async () => {
    connection.close()
    await client.end()
    for (const step of cleanUps.reverse()) await step()
  })

  test('has the columns that tables.ts declares, with their types and whether they are required, in SQLite', async () => {
    expect(await sqlite.columns()).toEqual(declaredColumns(sqliteTables))
  })

  test('has the columns that tables.ts declares, with their types and whether they are required, in PostgreSQL', async () => {
    expect(await postgres.columns()).toEqual(declaredColumns(postgresTables))
  })

  for (const part of ['uniques', 'indexes', 'references', 'triggers', 'checks', 'rows'] as const) {
    test(`has the same ${part} in both engines`, async () => {
      const facts = await sqlite[part]()
      expect(facts.length).toBeGreaterThan(0)
      const onPostgres = await postgres[part]()
      expect(onPostgres.filter((fact) => !ONLY_ON_POSTGRES.includes(fact))).toEqual(facts)
    })
  }

  test('is STRICT in every SQLite table, so that a column of numbers never contains text', () => {
    const lax = connection.query(
      "SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'",
    )
    expect(lax.all()).toEqual([])
  })

  test('compares all text byte by byte in PostgreSQL, as SQLite does', async () => {
    const others = await client`
      SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = current_schema() AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`
    expect([...others]).toEqual([])
  })

  test('refers only to rows that are there', () => {
    expect(connection.query('PRAGMA foreign_key_check').all()).toEqual([])
  })

  test('is an intact file in write-ahead mode that SQLite and others recognize as Tally’s', () => {
    expect(connection.query('PRAGMA integrity_check').values()).toEqual([['ok']])
    expect(connection.query('PRAGMA journal_mode').values()).toEqual([['wal']])
    expect(connection.query('PRAGMA application_id').values()).toEqual([[0x54414c59]])
  })
})
