/**
 * Writes `migrations/<engine>/baseline.sql`: what the migrations up to the version of `BASELINE` make of an empty database.
 * Needs `pg_dump` and a PostgreSQL server, which Debian's package `postgresql` installs.
 */
import { Database as Connection } from 'bun:sqlite'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BASELINE, MIGRATIONS } from '../migrations/index.ts'
import { applyAllToPostgres, applyAllToSqlite } from '../src/database/schema/migrate.ts'
import { postgresPrograms } from '../test/support/postgres-programs.ts'
import { clientFor, startInstalled } from '../test/support/postgres-server.ts'

const [first, ...others] = MIGRATIONS.filter(({ version }) => version <= BASELINE.version)

/** Rows with random values. The statements of migrations that insert them are written instead. */
const RANDOM_ROWS = ['database_identity', 'backup_timeline']

const randomRows = (engine: 'sqlite' | 'postgres'): string[] =>
  RANDOM_ROWS.map((table) => {
    const inserts = new RegExp(`^INSERT INTO ${table} [^;]+;`, 'm')
    return others.map(({ sql }) => inserts.exec(sql[engine])?.[0]).find((statement) => statement !== undefined)!
  })

function sqliteBaseline(): string[] {
  const connection = new Connection(':memory:')
  const all = <Row>(query: string) => connection.query<Row, []>(query).all()
  // Not all at once, which would be a new database and get the baseline.
  applyAllToSqlite(connection, 0, [first!])
  applyAllToSqlite(connection, 0, others)
  const objects = all<{ type: string; name: string; sql: string }>(
    "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT IN ('migrations', 'sqlite_sequence') ORDER BY rowid",
  )
  const statements = (isWanted: (type: string) => boolean) =>
    objects.filter(({ type }) => isWanted(type)).map(({ sql }) => `${sql};`)
  const rows = objects
    .filter(({ type, name }) => type === 'table' && !RANDOM_ROWS.includes(name))
    .flatMap(({ name }) => {
      const columns = all<{ name: string }>(`SELECT name FROM pragma_table_info('${name}')`)
      const values = columns.map((column) => `quote("${column.name}")`).join(` || ', ' || `)
      return all<{ row: string }>(`SELECT ${values} AS row FROM ${name}`).map(
        ({ row }) => `INSERT INTO ${name} VALUES (${row});`,
      )
    })
  return [
    ...statements((type) => type !== 'trigger'),
    ...rows,
    ...randomRows('sqlite'),
    ...statements((type) => type === 'trigger'),
  ]
}

async function postgresBaseline(): Promise<string[]> {
  const programs = postgresPrograms()
  if (!programs) throw new Error('Install PostgreSQL, such as with: apt-get install postgresql')
  const { url } = await startInstalled(programs, { parent: tmpdir() })
  const client = clientFor(url)
  await applyAllToPostgres(client, 0, [first!])
  await applyAllToPostgres(client, 0, others)
  await client.end()
  const without = RANDOM_ROWS.map((table) => `--exclude-table-data=${table}`)
  const dump = Bun.spawnSync([
    join(programs, 'pg_dump'),
    ...['--inserts', '--no-owner', '--no-privileges', '--exclude-table=migrations', ...without, url],
  ])
  if (!dump.success) throw new Error(dump.stderr.toString())
  return [
    // Functions come before the tables that they read.
    'SET LOCAL check_function_bodies = false;',
    dump.stdout
      .toString()
      // The settings of the session that reads a dump, and sequences that have not begun.
      .replaceAll(/^(--.*|\\.*|SET .*;|SELECT pg_catalog\.(set_config|setval)\(.*, false\);)\n/gm, '')
      // Tally's schema is the first of the search path.
      .replaceAll(/\bpublic\./g, '')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim(),
    ...randomRows('postgres'),
  ]
}

for (const [engine, statements] of [
  ['sqlite', sqliteBaseline()],
  ['postgres', await postgresBaseline()],
] as const) {
  const header = `-- Migrations 1 to ${BASELINE.version}, written by scripts/baseline.ts.`
  writeFileSync(
    join(import.meta.dir, `../migrations/${engine}/baseline.sql`),
    `${[header, ...statements].join('\n\n')}\n`,
  )
}
