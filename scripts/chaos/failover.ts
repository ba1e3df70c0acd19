/**
 * The primary of a PostgreSQL cluster is killed under load, and its synchronous replica promoted. Tally has both in its
 * URL. Then the old primary is made a replica of the new one, and so on.
 */
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, Installation, type Server } from '../../test/support/binary.ts'
import { postgresPrograms } from '../../test/support/postgres-programs.ts'
import { clientFor, untilItAnswers } from '../../test/support/postgres-server.ts'
import { Reporters, type Scenario } from './scenario.ts'

const ROUNDS = { short: 1, long: 10 }

/** Any user but root, as which PostgreSQL refuses to run. */
const NOBODY = 65_534

/** Clients get 503 for longer than this only if a cluster has no primary. */
const PATIENCE_MS = 60_000

/** One of the two servers of the cluster, which takes turns with the other in being the primary. */
class Member {
  readonly port = freePort()
  readonly data: string
  #server: Bun.Subprocess | undefined

  constructor(
    readonly folder: string,
    readonly name: string,
  ) {
    this.data = join(folder, name)
  }

  get url(): string {
    return `postgres://tally@127.0.0.1:${this.port}/postgres`
  }

  async create(): Promise<void> {
    await run('initdb', '--pgdata', this.data, '--auth=trust', '--username=tally', '--encoding=UTF8', '--locale=C')
    await this.start()
  }

  /** Replaces what it has by a copy of the primary, and follows it. */
  async follow(primary: Member): Promise<void> {
    rmSync(this.data, { recursive: true, force: true })
    await run(
      'pg_basebackup',
      '--dbname',
      primary.url,
      '--pgdata',
      this.data,
      '--write-recovery-conf',
      '--checkpoint=fast',
    )
    await this.start()
    await primary.do(async (sql) => {
      await sql.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '*'`)
      await sql.unsafe('SELECT pg_reload_conf()')
      await untilItAnswers(async () => {
        const [row] = await sql`SELECT count(*) AS members FROM pg_stat_replication WHERE sync_state = 'sync'`
        if (Number(row!.members) === 0) throw new Error('The replica does not follow')
      })
    })
  }

  async start(): Promise<void> {
    this.#server = Bun.spawn(
      asNobody('postgres', '-D', this.data, '-p', `${this.port}`, '-c', 'listen_addresses=127.0.0.1', '-k', ''),
      { stdio: ['ignore', 'ignore', 'ignore'] },
    )
    await this.do(async (sql) => {
      await untilItAnswers(() => sql`SELECT 1`)
    })
  }

  /** Without a replica that follows it, it must not wait for one. */
  async promote(): Promise<void> {
    await run('pg_ctl', 'promote', '-D', this.data, '--wait')
    await this.do(async (sql) => {
      await sql.unsafe('ALTER SYSTEM RESET synchronous_standby_names')
      await sql.unsafe('SELECT pg_reload_conf()')
    })
  }

  /** With all of its processes, which notice that the first one is gone. */
  async crash(): Promise<void> {
    this.#server?.kill('SIGKILL')
    await this.#server?.exited
  }

  async do(work: (sql: ReturnType<typeof clientFor>) => Promise<void>): Promise<void> {
    const sql = clientFor(this.url)
    try {
      await work(sql)
    } finally {
      await sql.end()
    }
  }
}

const asNobody = (program: string, ...args: string[]) => [
  ...(process.getuid?.() === 0 ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []),
  join(postgresPrograms()!, program),
  ...args,
]

async function run(program: string, ...args: string[]): Promise<void> {
  const child = Bun.spawn(asNobody(program, ...args), { cwd: '/', stdout: 'ignore', stderr: 'pipe' })
  const errors = await child.stderr.text()
  if ((await child.exited) !== 0) throw new Error(`${program} failed: ${errors}`)
}

export const failover: Scenario = {
  name: 'primary of PostgreSQL killed, replica promoted',
  missingRequirement: () => (postgresPrograms() ? undefined : 'PostgreSQL is not installed'),
  async run(size) {
    const folder = mkdtempSync(join(tmpdir(), 'tally-failover-'))
    if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY)
    const members = [new Member(folder, 'one'), new Member(folder, 'two')] as const
    const TALLY_DATABASE_URL = `postgres://tally@${members.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`
    const installation = await Installation.make({ variables: { TALLY_DATABASE_URL } })
    let server: Server | undefined
    try {
      await members[0].create()
      await members[1].follow(members[0])
      await installation.addUser('ada@example.com', 'admin')
      const { token } = await installation.createToken('svc', 'ada@example.com')
      server = await installation.serve()
      const reporters = new Reporters({ server, token }, 'failover')
      const readyMs: number[] = []
      let [primary, replica] = members as readonly [Member, Member]
      for (let round = 0; round < ROUNDS[size]; round += 1) {
        await reporters.untilMore(200)
        await primary.crash()
        await replica.promote()
        const promoted = performance.now()
        await reporters.untilMore(20, PATIENCE_MS)
        readyMs.push(performance.now() - promoted)
        await primary.follow(replica)
        ;[primary, replica] = [replica, primary]
      }
      await reporters.untilMore(200)
      await reporters.stop()
      await server.stop()
      const { acknowledged, statuses } = reporters
      const result = { rounds: ROUNDS[size], acknowledged: acknowledged.size, lost: 0, duplicated: 0, readyMs }
      await primary.do(async (sql) => {
        const rows = await sql<{ summary: string; times: string }[]>`
          SELECT summary, count(*) AS times FROM entries GROUP BY summary`
        result.lost = acknowledged.difference(new Set(rows.map(({ summary }) => summary))).size
        result.duplicated = rows.filter(({ times }) => Number(times) > 1).length
      })
      const others = [...statuses].filter(([status]) => ![0, 200, 201, 503].includes(status))
      if (others.length > 0) throw new Error(`Reports were answered with ${others}`)
      return { ...result, remark: `${statuses.get(503) ?? 0} answered with 503` }
    } finally {
      await server?.crash()
      for (const member of members) await member.crash()
      await installation.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
