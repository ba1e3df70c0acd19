/** The databases that a benchmark creates, on SQLite or in a PostgreSQL server. */
import { cp, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { postgresPrograms } from '../../../test/support/postgres-programs.ts'
import { clientFor, startInstalled } from '../../../test/support/postgres-server.ts'
import { UsageError } from '../clean-up.ts'
import { familyProcessorSeconds, parentOf, programOf } from '../process-metrics.ts'
import { OWN_SERVER } from './options.ts'

export interface BenchmarkDatabase {
  /** Variables of the environment with which Tally uses it. */
  variables: Record<string, string>
  bytes(): Promise<number>
  /** Another one with the same content. No server may use this one meanwhile. */
  copy(stack: AsyncDisposableStack): Promise<BenchmarkDatabase>
  /** The file of a SQLite database. */
  file?: string
}

export interface Engine {
  /** How results name it. */
  name: string
  create(stack: AsyncDisposableStack): Promise<BenchmarkDatabase>
  /** Seconds of processor time of the database's own server; undefined without one on this machine. */
  processorSeconds(): number | undefined
}

/** SQLite databases below this folder; with `seeded`, each starts as a copy of the one in that folder. */
export function sqliteEngine(parent: string, seeded?: string): Engine {
  return {
    name: 'SQLite',
    processorSeconds: () => undefined,
    async create(stack) {
      if (seeded === undefined) return sqliteDatabase(parent, stack)
      if (!(await stat(join(seeded, DATABASE_FILE)).catch(() => undefined)))
        throw new UsageError(`${seeded} contains no ${DATABASE_FILE}. Create it with scripts/bench/seed.`)
      return sqliteDatabase(parent, stack, seeded)
    },
  }
}

const DATABASE_FILE = 'tally.db'

let databases = 0

async function sqliteDatabase(parent: string, stack: AsyncDisposableStack, from?: string): Promise<BenchmarkDatabase> {
  databases += 1
  const folder = join(parent, `data-${databases}`)
  const file = join(folder, DATABASE_FILE)
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  if (from === undefined) await mkdir(folder, { mode: 0o700 })
  else await cp(from, folder, { recursive: true })
  return {
    variables: { TALLY_DATA: folder },
    file,
    bytes: async () => (await stat(file)).size,
    copy: (copyStack) => sqliteDatabase(parent, copyStack, folder),
  }
}

/**
 * Databases in the PostgreSQL server of a URL, or in one of our own on the disk of this folder, which its user must be
 * able to enter.
 */
export async function postgresEngine(where: string, parent: string, stack: AsyncDisposableStack): Promise<Engine> {
  const own = where === OWN_SERVER ? await startOwnServer(parent) : undefined
  const url = own?.url ?? where
  const admin = clientFor(url)
  const [server] = await admin<{ version: string; pid: number }[]>`
    SELECT current_setting('server_version') AS version, pg_backend_pid() AS pid`.catch((error: Error) => {
    throw new UsageError(`The PostgreSQL server can't be used: ${error.message}`)
  })
  const postmaster = postmasterOf(server!.pid)
  if (own && postmaster !== undefined) stack.defer(() => removeOwnServer(postmaster, own.folder))
  stack.defer(() => admin.end())
  return {
    name: `PostgreSQL ${server!.version}`,
    create: (databaseStack) => postgresDatabase(url, admin, databaseStack),
    processorSeconds: () => (postmaster === undefined ? undefined : familyProcessorSeconds(postmaster)),
  }
}

/** With its own settings, so that it is as durable as one in production. */
async function startOwnServer(parent: string) {
  const programs = postgresPrograms()
  if (!programs)
    throw new UsageError('No PostgreSQL server is installed: apt-get install postgresql, or use --database-url.')
  return startInstalled(programs, { parent, durable: true })
}

/** It would also stop without this, at the end of this process, but its user may not remove the folder. */
async function removeOwnServer(postmaster: number, folder: string): Promise<void> {
  process.kill(postmaster, 'SIGQUIT')
  for (let waited = 0; programOf(postmaster) && waited < STOP_LIMIT_MS; waited += 50) await Bun.sleep(50)
  await rm(folder, { recursive: true, force: true })
}

/** An immediate shutdown takes much less; PostgreSQL kills its processes after five seconds. */
const STOP_LIMIT_MS = 10_000

/** The process that all others of a server are children of; undefined if the server is on another machine. */
function postmasterOf(backend: number): number | undefined {
  if (programOf(backend) !== 'postgres') return undefined
  const parent = parentOf(backend)
  return programOf(parent) === 'postgres' ? parent : undefined
}

async function postgresDatabase(
  url: string,
  admin: Sql,
  stack: AsyncDisposableStack,
  template = 'template0',
): Promise<BenchmarkDatabase> {
  const name = `tally_bench_${crypto.randomUUID().replaceAll('-', '')}`
  stack.defer(async () => void (await admin.unsafe(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)))
  await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`)
  const databaseUrl = new URL(url)
  databaseUrl.pathname = `/${name}`
  return {
    variables: { TALLY_DATABASE_URL: databaseUrl.href },
    async bytes() {
      const [row] = await admin<{ bytes: string }[]>`SELECT pg_database_size(${name}) AS bytes`
      return Number(row!.bytes)
    },
    copy: (copyStack) => postgresDatabase(url, admin, copyStack, name),
  }
}
