/**
 * Two servers of Tally on one PostgreSQL database. Agents report to either, as through a load balancer. All scenarios of a
 * process share a server of PostgreSQL, on which each has a database of its own.
 */
import { tmpdir } from 'node:os'
import { freePort, type Installation, type Server } from '../../test/support/binary.ts'
import { postgresPrograms } from '../../test/support/postgres-programs.ts'
import { clientFor, startInstalled } from '../../test/support/postgres-server.ts'
import { checkPostgres } from './postgres-member.ts'
import { installed, type Reporters, type Size, type Verdict } from './scenario.ts'

export const postgresMissing = () => (postgresPrograms() ? undefined : 'PostgreSQL is not installed')

/** Enough for two servers of Tally, and few enough to take all of them. */
const MAX_CONNECTIONS = 80

const SERVERS = 2

/** The database that those of all scenarios are copies of. */
const TEMPLATE = 'chaos'

interface Origin {
  /** Of any database, by its name. */
  urlOf: (database: string) => string
  token: string
}

let origin: Promise<Origin> | undefined

/** A migrated database with a person, and a token that may report and send bills. */
async function makeOrigin(size: Size): Promise<Origin> {
  const { folder } = await startInstalled(postgresPrograms()!, {
    parent: tmpdir(),
    durable: true,
    settings: [`max_connections=${MAX_CONNECTIONS}`],
  })
  const urlOf = (database: string) => `postgres://tally@localhost/${database}?host=${folder}`
  await execute(urlOf('postgres'), `CREATE DATABASE ${TEMPLATE}`)
  const installation = await installed(size, { variables: { TALLY_DATABASE_URL: urlOf(TEMPLATE) } })
  try {
    return { urlOf, token: await makeToken(installation) }
  } finally {
    await installation.remove()
  }
}

/** A person and a token of theirs that may report and send bills. */
export async function makeToken(installation: Installation): Promise<string> {
  await installation.addUser('ada@example.com', 'admin')
  const { token } = await installation.runJson<{ token: string }>([
    ...['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'chaos', '--allow', 'bills'],
  ])
  return token
}

/** Runs statements without a result on a connection of their own. */
async function execute(url: string, ...statements: string[]): Promise<void> {
  const sql = clientFor(url)
  try {
    for (const statement of statements) await sql.unsafe(statement)
  } finally {
    await sql.end()
  }
}

let databases = 0

interface StageOptions {
  /** The command in front of the executable. */
  before?: readonly string[]
  /** The URL for the servers of Tally, if they are not to connect directly. */
  through?: (url: string) => string | Promise<string>
}

/** One of the servers, on a port that stays the same. */
interface Place {
  installation: Installation
  port: number
  server: Server
}

export class Stage {
  readonly readyMs: number[] = []
  #turn = 0

  private constructor(
    /** The database, directly. */
    readonly url: string,
    readonly token: string,
    readonly places: readonly Place[],
  ) {}

  static async make(size: Size, { before = [], through = (url) => url }: StageOptions = {}): Promise<Stage> {
    origin ??= makeOrigin(size)
    const { urlOf, token } = await origin
    databases += 1
    const name = `${TEMPLATE}_${databases}`
    await execute(urlOf('postgres'), `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
    const url = urlOf(name)
    return Stage.on(size, { url, token, before, through })
  }

  /** On a migrated database that is there already. */
  static async on(
    size: Size,
    { url, token, before = [], through = (direct) => direct }: StageOptions & { url: string; token: string },
  ) {
    const variables = { TALLY_DATABASE_URL: await through(url) }
    // A process that is started while the executable is copied would keep it open for writing.
    const installations: Installation[] = []
    for (let server = 0; server < SERVERS; server += 1) {
      installations.push(await installed(size, { before: [...before], variables }))
    }
    const start = async (installation: Installation): Promise<Place> => {
      const port = freePort()
      return { installation, port, server: await installation.serve([], port) }
    }
    return new Stage(url, token, await Promise.all(installations.map(start)))
  }

  /** The one that answers the next call. */
  get server(): Server {
    this.#turn = (this.#turn + 1) % this.places.length
    return this.places[this.#turn]!.server
  }

  /** Kills one of the servers, while the other continues, and starts it again. */
  async crashOne(): Promise<void> {
    const place = this.places[Math.floor(Math.random() * this.places.length)]!
    await place.server.crash()
    place.server = await place.installation.serve([], place.port)
    this.readyMs.push(place.server.startedInMs)
  }

  /** A connection that can do everything. */
  admin() {
    return clientFor(this.url)
  }

  /** Ends the load, stops the servers, and checks everything that they have written. */
  async verdict(reporters: Reporters, exitCodes: readonly number[] = [0]): Promise<Verdict> {
    await reporters.stop()
    await this.#stop(exitCodes)
    return checkPostgres(this.url, reporters)
  }

  /** Stops the servers, and runs `tally verify`. */
  async #stop(exitCodes: readonly number[]): Promise<void> {
    for (const { server } of this.places) {
      const { code } = await server.stop()
      if (!exitCodes.includes(code)) throw new Error(`A server exited with ${code}: ${await server.log()}`)
    }
    const { installation } = this.places[0]!
    const { code, stdout, stderr } = await installation.run(['verify', '--database-url', this.url])
    if (code !== 0) throw new Error(`tally verify found: ${stdout}${stderr}`)
  }

  async remove(): Promise<void> {
    for (const { server, installation } of this.places) {
      await server.crash()
      await installation.remove()
    }
  }
}

/** Ends so many of Tally's connections to the database of `sql`, and returns how many it has ended. */
export async function terminateBackends(sql: ReturnType<typeof clientFor>, count: number): Promise<number> {
  const rows = await sql`
    SELECT pg_terminate_backend(pid) FROM (
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tally' AND pid <> pg_backend_pid()
      ORDER BY random() LIMIT ${count}
    ) AS random`
  return rows.length
}
