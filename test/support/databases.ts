/**
 * Databases for store tests: the same tests run on SQLite and, in another run, on PostgreSQL, each with a migrated
 * database of its own.
 *
 * PostgreSQL is, in this order, the one that TALLY_TEST_POSTGRES_URL names (`postgres://user@localhost/database`, with
 * `?host=` for a folder of sockets), the one whose programs are installed here (a server of our own in a temporary
 * folder, started once by `scripts/checks.ts` or else per process), or PGlite.
 */
import { Database as Connection } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import type { Database } from '../../src/database/database.ts'
import { DATABASE_FILE, type OpenOptions, openDatabase } from '../../src/database/open.ts'
import { partitionDatabase } from '../../src/database/partition.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { fastSlowProgram } from './binary.ts'
import { ENGINES, type Engine, PARTITIONED, testEngine } from './engines.ts'
import { servePglite } from './pglite.ts'
import { postgresPrograms } from './postgres-programs.ts'
import { clientFor, SHARED_SERVER, startInstalled, untilItAnswers } from './postgres-server.ts'
import { copySqliteTemplate, loadPrices } from './sqlite-template.ts'

export { ENGINES, type Engine, testEngine }

/** Where a database is, so that another process or another version of Tally can open it as well. */
export type Location = Pick<OpenOptions, 'dataDir' | 'databaseUrl'>

export interface OpenTestOptions extends Partial<Omit<OpenOptions, keyof Location>> {
  /** Opens the database of this one once more, as another process does, instead of a new one. */
  sharing?: Database
  /** Opens what is there instead of a new one. */
  at?: Location
  /** With the embedded prices, which take longer to load than everything else in most tests. */
  priced?: boolean | undefined
}

/** Opens a new, migrated database. It is closed and removed after the test, or after all where `beforeAll` opened it. */
export type Open = (options?: OpenTestOptions) => Promise<Database>

/** Describes tests that hold on each engine, and runs them on the one of this run. */
export function forEachEngine(name: string, tests: (open: Open, engine: Engine) => void): void {
  describe(`${name} (${testEngine})`, () => {
    // Starting PostgreSQL takes a second here, and several on a machine that is busy or has only PGlite.
    beforeAll(
      async () => {
        if (testEngine === 'postgres') await startPostgres()
      },
      { timeout: 180_000 },
    )
    tests(opener(testEngine), testEngine)
  })
}

/** A busy machine takes far longer than Tally lets a slow read take, and the start of the process for it. */
export const PATIENT = { slowDeadlineMs: 120_000, slowStartMs: 120_000 }

/** Hooks into the surrounding `describe`; for tests of one engine alone. */
export function opener(engine: Engine): Open {
  const forAll: (() => Promise<void>)[] = []
  const forTest: (() => Promise<void>)[] = []
  let cleanUps = forAll
  const cleanUp = async () => {
    // The last first: a second handle before the database that it shares.
    for (const step of cleanUps.splice(0).reverse()) await step()
    cleanUps = forAll
  }
  beforeEach(() => {
    cleanUps = forTest
  })
  afterEach(cleanUp)
  afterAll(cleanUp)

  return async ({ sharing, at, priced, ...options } = {}) => {
    const location = at ?? (sharing ? locationOf(sharing) : await newMigrated(engine, cleanUps, { priced }))
    const slow = options.serving ? { ...PATIENT, ...(await fastSlowProgram()) } : PATIENT
    const db = await openDatabase({ clock: systemClock, ...location, ...slow, ...options })
    locations.set(db, location)
    cleanUps.push(() => db.close())
    return db
  }
}

const locations = new WeakMap<Database, Location>()

export function locationOf(db: Database): Location {
  return locations.get(db)!
}

/** An empty, migrated database. */
const POSTGRES_TEMPLATE = 'tally_test_template'
/** One with the embedded prices. */
const PRICED_TEMPLATE = 'tally_test_priced'
const postgresTemplates = new Map<string, Promise<string>>()

/** A copy of the template, or an empty place where none can be made. Its removal is added to `cleanUps`. */
export async function newMigrated(
  engine: Engine,
  cleanUps: (() => Promise<void>)[],
  { priced = false }: Pick<OpenTestOptions, 'priced'> = {},
): Promise<Location> {
  if (engine === 'sqlite') {
    const location = await newLocation(engine, cleanUps)
    await copySqliteTemplate(location.dataDir, { priced })
    return location
  }
  // PGlite has one database, and the user of a given server may not be allowed to create others.
  if ((await startPostgres()).kind !== 'installed') return newLocation(engine, cleanUps)
  const name = priced ? PRICED_TEMPLATE : POSTGRES_TEMPLATE
  const template = postgresTemplates.get(name) ?? migratedOnServer(name, priced ? loadPrices : async () => {})
  postgresTemplates.set(name, template)
  return newServerDatabase(cleanUps, await template)
}

/** Made by the first process that needs it. The server is removed with all its databases when the tests have ended. */
async function migratedOnServer(template: string, fill: (db: Database) => Promise<void>): Promise<string> {
  const { admin } = await startPostgres()
  await admin`SELECT pg_advisory_lock(hashtext(${template}))`
  try {
    const known = await admin`SELECT FROM pg_database WHERE datname = ${template}`
    if (known.length === 0) {
      const location = await newServerDatabase([])
      const db = await openDatabase({ clock: systemClock, ...location })
      await fill(db)
      await db.close()
      if (process.env[PARTITIONED]) await partitionDatabase(location.databaseUrl!, Date.now())
      await admin.unsafe(`ALTER DATABASE ${nameOf(location)} RENAME TO ${template}`)
    }
  } finally {
    await admin`SELECT pg_advisory_unlock(hashtext(${template}))`
  }
  return template
}

/** The name of a database on a server. */
export const nameOf = ({ databaseUrl }: Location): string => new URL(databaseUrl!).pathname.slice(1)

async function newServerDatabase(cleanUps: (() => Promise<void>)[], template = 'template0'): Promise<Location> {
  const { url, admin, major } = await startPostgres()
  const name = `tally_test_${crypto.randomUUID().replaceAll('-', '')}`
  // The default since version 15 writes the copy to the log, too, which takes four times the processor time.
  const strategy = major < 15 ? '' : 'STRATEGY file_copy'
  await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template} ${strategy}`)
  cleanUps.push(async () => void (await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)))
  const databaseUrl = new URL(url)
  databaseUrl.pathname = `/${name}`
  return { dataDir: '', databaseUrl: databaseUrl.href }
}

/** An empty place. Its removal is added to `cleanUps`. */
export async function newLocation(engine: Engine, cleanUps: (() => Promise<void>)[]): Promise<Location> {
  if (engine === 'sqlite') {
    const dataDir = mkdtempSync(join(tmpdir(), 'tally-test-'))
    cleanUps.push(async () => rmSync(dataDir, { recursive: true }))
    return { dataDir }
  }
  const { url, admin } = await startPostgres()
  const schema = `tally_test_${crypto.randomUUID().replaceAll('-', '')}`
  await admin.unsafe(`CREATE SCHEMA ${schema}`)
  cleanUps.push(async () => void (await admin.unsafe(`DROP SCHEMA ${schema} CASCADE`)))
  const databaseUrl = new URL(url)
  databaseUrl.searchParams.set('search_path', schema)
  return { dataDir: '', databaseUrl: databaseUrl.href }
}

/** The rows of a query, on a connection other than Tally's. */
export async function rowsAt({ dataDir, databaseUrl }: Location, query: string): Promise<Record<string, unknown>[]> {
  if (databaseUrl) {
    const client = clientFor(databaseUrl)
    try {
      return (await client.unsafe(query)).map((row) => ({ ...row }))
    } finally {
      await client.end()
    }
  }
  const connection = new Connection(join(dataDir, DATABASE_FILE))
  try {
    connection.run('PRAGMA busy_timeout = 5000')
    return connection.query(query).all() as Record<string, unknown>[]
  } finally {
    connection.close()
  }
}

/** Everything that a database contains, by the name of a file or table. */
export async function contentOf({ dataDir, databaseUrl }: Location): Promise<Record<string, Buffer>> {
  if (!databaseUrl) {
    return Object.fromEntries(readdirSync(dataDir).map((file) => [file, readFileSync(join(dataDir, file))]))
  }
  const client = clientFor(databaseUrl)
  try {
    await client`SET bytea_output = 'escape'`
    const tables = await client<{ name: string }[]>`
      SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`
    const content: Record<string, Buffer> = {}
    for (const { name } of tables) {
      const rows = await client.unsafe<{ row: string }[]>(`SELECT each::text AS row FROM "${name}" each`)
      content[name] = Buffer.from(rows.map(({ row }) => row).join('\n'))
    }
    return content
  } finally {
    await client.end()
  }
}

interface Server {
  kind: 'given' | 'installed' | 'PGlite'
  url: string
  /** The tests' own connection. */
  admin: Sql
  /** Its major version. */
  major: number
}

let server: Promise<Server> | undefined

/** The server for the tests of this process, started by the first call. */
export function startPostgres(): Promise<Server> {
  server ??= start()
  return server
}

/** Whether two transactions can be open at once: not in PGlite, which is a single session. */
export function canOverlap(engine: Engine): boolean {
  return engine === 'sqlite' || Boolean(process.env.TALLY_TEST_POSTGRES_URL || postgresPrograms())
}

async function start(): Promise<Server> {
  const given = process.env.TALLY_TEST_POSTGRES_URL
  if (given) return announced('given', given)
  const programs = postgresPrograms()
  if (!programs) return announced('PGlite', `postgres://tally@127.0.0.1:${await servePglite()}/postgres`)
  const url = process.env[SHARED_SERVER] ?? (await startInstalled(programs, { parent: tmpdir() })).url
  return announced('installed', url)
}

async function announced(kind: Server['kind'], url: string): Promise<Server> {
  const admin = clientFor(url)
  const [answer] = await untilItAnswers(
    () => admin<{ version: string; number: number }[]>`
      SELECT version(), current_setting('server_version_num')::int AS number`,
  )
  const { version, number } = answer!
  console.log(`PostgreSQL of these tests (${kind}): ${version}`)
  return { kind, url, admin, major: Math.floor(number / 10_000) }
}
