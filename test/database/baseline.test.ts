/** `migrations/<engine>/baseline.sql` against the migrations that a new database gets it instead of. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { MIGRATIONS } from '../../migrations/index.ts'
import { forEachEngine, type Location, newLocation, rowsAt } from '../support/databases.ts'
import { migrateAt } from '../support/other-process.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)

/** Everything in the catalog that `pg_dump` would write. */
const POSTGRES_SCHEMA = `
  WITH classes AS (SELECT * FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()))
  SELECT json_build_array('class', relname, relkind, relpersistence, relreplident, reloptions, relrowsecurity,
    obj_description(oid, 'pg_class'))::text AS fact
  FROM classes
  UNION ALL
  SELECT json_build_array('column', relname, row_number() OVER (PARTITION BY relname ORDER BY attnum), attname,
    format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attcollation::regcollation, attstorage,
    attoptions, attstattarget, pg_get_expr(adbin, adrelid), col_description(attrelid, attnum))::text
  FROM pg_attribute JOIN classes ON classes.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p')
  UNION ALL
  SELECT json_build_array('constraint', relname, conname, pg_get_constraintdef(c.oid), convalidated)::text
  FROM pg_constraint AS c JOIN classes ON classes.oid = conrelid
  UNION ALL
  SELECT json_build_array('index', pg_get_indexdef(oid), indisvalid, indisclustered, indisreplident)::text
  FROM classes JOIN pg_index ON indexrelid = oid
  UNION ALL
  SELECT json_build_array('trigger', relname, pg_get_triggerdef(t.oid), tgenabled)::text
  FROM pg_trigger AS t JOIN classes ON classes.oid = tgrelid WHERE NOT tgisinternal
  UNION ALL
  SELECT json_build_array('function', pg_get_functiondef(oid), obj_description(oid, 'pg_proc'))::text
  FROM pg_proc WHERE pronamespace = to_regnamespace(current_schema())
  UNION ALL
  SELECT json_build_array('sequence', relname, to_jsonb(s) - 'seqrelid', pg_sequence_last_value(oid))::text
  FROM classes JOIN pg_sequence AS s ON seqrelid = oid
  UNION ALL
  SELECT json_build_array('type', typname, typtype)::text
  FROM pg_type WHERE typnamespace = to_regnamespace(current_schema())
  UNION ALL
  SELECT json_build_array('statistics', pg_get_statisticsobjdef(oid))::text
  FROM pg_statistic_ext WHERE stxnamespace = to_regnamespace(current_schema())
  ORDER BY 1`

const SQLITE_SCHEMA = `
  SELECT json_array(type, name, tbl_name, sql) AS fact FROM sqlite_schema
  UNION ALL SELECT json_array('application', application_id) FROM pragma_application_id
  UNION ALL SELECT json_array('journal', journal_mode) FROM pragma_journal_mode
  ORDER BY 1`

async function schemaOf(location: Location): Promise<string[]> {
  const facts = await rowsAt(location, location.databaseUrl ? POSTGRES_SCHEMA : SQLITE_SCHEMA)
  const schema = location.databaseUrl && new URL(location.databaseUrl).searchParams.get('search_path')
  return facts.map(({ fact }) => (schema ? `${fact}`.replaceAll(`${schema}.`, '') : `${fact}`))
}

const TABLES = {
  sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1",
  postgres: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
}

async function rowsOf(location: Location): Promise<Record<string, unknown[]>> {
  const tables = await rowsAt(location, TABLES[location.databaseUrl ? 'postgres' : 'sqlite'])
  const filled = tables.map(({ name }) => `SELECT '${name}' AS name FROM ${name} GROUP BY 1`)
  const rows: Record<string, unknown[]> = {}
  for (const { name } of await rowsAt(location, filled.join(' UNION ALL '))) {
    rows[`${name}`] = await rowsAt(location, `SELECT * FROM ${name}`)
  }
  return rows
}

/** How much of the schema was made and changed again. */
const DETOURS = {
  sqlite: `SELECT schema_version - (SELECT count(*) FROM sqlite_schema WHERE sql IS NOT NULL) AS detours
    FROM pragma_schema_version`,
  postgres: `SELECT count(*) AS detours FROM pg_attribute JOIN pg_class ON oid = attrelid
    WHERE attisdropped AND relnamespace = to_regnamespace(current_schema())`,
}

forEachEngine('the baseline', (_, engine) => {
  const cleanUps: (() => Promise<void>)[] = []
  let fresh: Location
  let upgraded: Location

  beforeAll(
    async () => {
      fresh = await newLocation(engine, cleanUps)
      await migrateAt(fresh, MIGRATIONS, NOW)
      upgraded = await newLocation(engine, cleanUps)
      await migrateAt(upgraded, MIGRATIONS.slice(0, 1), NOW)
      await migrateAt(upgraded, MIGRATIONS, NOW)
    },
    { timeout: 180_000 },
  )
  afterAll(async () => {
    for (const step of cleanUps.reverse()) await step()
  })

  test('is the schema of a database that is upgraded from version 1', async () => {
    expect(await schemaOf(fresh)).toEqual(await schemaOf(upgraded))
  })

  test('has its rows, too, with random values of its own', async () => {
    const { database_identity: identity, backup_timeline: timeline, ...rows } = await rowsOf(fresh)
    const { database_identity: otherIdentity, backup_timeline: otherTimeline, ...others } = await rowsOf(upgraded)
    expect(rows).toEqual(others)
    expect([identity, timeline].map((random) => random?.length)).toEqual([1, 1])
    expect(identity).not.toEqual(otherIdentity)
    expect(timeline).not.toEqual(otherTimeline)
  })

  test('makes nothing that is changed again', async () => {
    const detoursOf = async (location: Location) => Number((await rowsAt(location, DETOURS[engine]))[0]!.detours)
    const ofMigrations = await detoursOf(upgraded)
    expect(ofMigrations).toBeGreaterThan(0)
    expect(await detoursOf(fresh)).toBeLessThan(ofMigrations / 2)
  })
})
