/** The server that is measured, on a copy of the seeded database. */
import { constants } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Installation, type Server } from '../../../test/support/binary.ts'
import { printProgress, UsageError } from '../clean-up.ts'
import { ADMIN, MEMBER } from '../population.ts'
import { treeMegabytes } from '../process-metrics.ts'
import { PostgresDatabase, type ReadDatabase, SqliteFile } from './databases.ts'
import type { ReadingOptions } from './options.ts'
import type { Measured } from './results.ts'

/** Queries that take seconds are not repeated for longer: they miss any goal anyway. */
const QUERY_LIMIT_MS = 10_000

/** Longer than any query takes without a deadline. */
const RECOVERY_LIMIT_MS = 60_000

/** Memory changes within seconds; reading it more often would take processor time from the server. */
const MEMORY_INTERVAL_MS = 250

/** What browsers accept. Responses are not decompressed, since that is not the server's work. */
const ACCEPTED = 'gzip, deflate, br, zstd'

const PASSWORD = 'correct horse battery'

export interface Question {
  token?: string
  headers?: Record<string, string>
  signal?: AbortSignal
}

export class Subject {
  #server: Server | undefined
  /** Of the server and its child processes. */
  peakMegabytes = 0
  idleMegabytes = 0

  private constructor(
    readonly tally: Installation,
    readonly database: ReadDatabase,
    readonly tokens: { reading: string; membersReading: string; writing: string },
    readonly rounds: number,
  ) {}

  /** Copies the seeded database and migrates the copy, or takes one in PostgreSQL as it is. */
  static async prepare(
    { data, databaseUrl, rounds, executable }: Pick<ReadingOptions, 'data' | 'databaseUrl' | 'rounds' | 'executable'>,
    parent: string,
    stack: AsyncDisposableStack,
  ): Promise<Subject> {
    const variables: Record<string, string> = databaseUrl === undefined ? {} : { TALLY_DATABASE_URL: databaseUrl }
    const tally = await Installation.make({ parent, variables, ...(executable !== undefined && { executable }) })
    stack.defer(() => tally.remove())
    const database = databaseUrl === undefined ? await copyOf(data, tally.folder) : new PostgresDatabase(databaseUrl)
    stack.defer(() => database.close())
    printProgress('migrating the database')
    const { token: reading } = await tally.createToken('read', ADMIN)
    const { token: membersReading } = await tally.createToken('read', MEMBER)
    const token = ['tokens', 'create', '--kind', 'svc', '--user', ADMIN, '--name', 'bench', '--allow', 'bills']
    const { token: writing } = await tally.runJson<{ token: string }>(token)
    return new Subject(tally, database, { reading, membersReading, writing }, rounds)
  }

  get server(): Server {
    if (!this.#server) throw new Error('The server is not running.')
    return this.#server
  }

  get pid(): number {
    return this.server.process.pid
  }

  async start(stack: AsyncDisposableStack): Promise<void> {
    const server = await this.tally.serve(['--log-level', 'error'])
    this.#server = server
    this.idleMegabytes = treeMegabytes(server.process.pid)
    const sampling = setInterval(() => {
      if (server.process.exitCode !== null) return clearInterval(sampling)
      this.peakMegabytes = Math.max(this.peakMegabytes, treeMegabytes(server.process.pid))
    }, MEMORY_INTERVAL_MS)
    stack.defer(async () => {
      clearInterval(sampling)
      if (server.process.exitCode === null) await server.stop()
    })
  }

  async stop(): Promise<void> {
    await this.server.stop()
    this.#server = undefined
  }

  /** Sends a request as a browser does, and leaves the response compressed. */
  ask(path: string, { token = this.tokens.reading, headers, signal }: Question = {}): Promise<Response> {
    return fetch(this.server.url + path, {
      headers: { authorization: `Bearer ${token}`, 'accept-encoding': ACCEPTED, ...headers },
      decompress: false,
      ...(signal && { signal }),
    })
  }

  /** The body of a response, undefined for an error. */
  async json<Body>(path: string, question: Question = {}): Promise<Body | undefined> {
    const answer = await this.ask(path, { ...question, headers: { 'accept-encoding': 'identity' } })
    const body = await answer.json()
    return answer.ok ? (body as Body) : undefined
  }

  /** Repeats a query until it was refused, or its rounds or time are over. */
  async measure(name: string, path: string, question: Question = {}): Promise<Measured> {
    const times: number[] = []
    const end = performance.now() + QUERY_LIMIT_MS
    let refused: number | undefined
    while (refused === undefined && times.length < this.rounds && (times.length === 0 || performance.now() < end)) {
      const startedAt = performance.now()
      const answer = await this.ask(path, question)
      await answer.arrayBuffer()
      times.push(performance.now() - startedAt)
      if (answer.status >= 400) refused = answer.status
    }
    if (refused !== undefined && refused >= 500) await this.#recover()
    return { name, times: times.sort((one, other) => one - other), refused }
  }

  /** Waits until slow queries are answered again: what runs past its deadline may hold others up. */
  async #recover(): Promise<void> {
    const end = performance.now() + RECOVERY_LIMIT_MS
    while (performance.now() < end) {
      if (await this.json('/api/v1/token-entries?limit=1&status=submitted')) return
      await Bun.sleep(200)
    }
  }

  /** Lets the admin sign in to the web application. */
  async signInAs(): Promise<{ email: string; password: string }> {
    const { code, stderr } = await this.tally.run(['users', 'set-password', ADMIN, '--password-stdin'], PASSWORD)
    if (code !== 0) throw new Error(stderr)
    return { email: ADMIN, password: PASSWORD }
  }
}

async function copyOf(data: string, folder: string): Promise<SqliteFile> {
  const source = join(data, 'tally.db')
  if (!(await Bun.file(source).exists()))
    throw new UsageError(`${data} contains no tally.db. Create it with scripts/bench/seed.`)
  printProgress('copying the database')
  const file = join(folder, 'tally-data', 'tally.db')
  await mkdir(dirname(file))
  await copyFile(source, file, constants.COPYFILE_FICLONE)
  return new SqliteFile(file)
}
