/** PostgreSQL servers of chaos tests, and the check of what they have. */
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../test/support/binary.ts'
import { postgresPrograms } from '../../test/support/postgres-programs.ts'
import { clientFor, NOBODY, untilItAnswers } from '../../test/support/postgres-server.ts'
import type { Reporters, Verdict } from './scenario.ts'

/** The folder of members, which another user runs. */
export function makeMembersFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-members-'))
  if (process.getuid?.() === 0) chownSync(folder, NOBODY, NOBODY)
  return folder
}

/** A PostgreSQL server that is killed and started again: the only one, or one of a cluster. */
export class Member {
  readonly port = freePort()
  readonly data: string
  #server: Bun.Subprocess | undefined

  constructor(
    readonly folder: string,
    readonly name: string,
    /** Settings such as `max_connections=20`. */
    readonly settings: readonly string[] = [],
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
      asNobody(
        'postgres',
        ...['-D', this.data, '-p', `${this.port}`, '-k', '', '-c', 'listen_addresses=127.0.0.1'],
        ...this.settings.flatMap((setting) => ['-c', setting]),
      ),
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

  get isRunning(): boolean {
    return this.#server?.exitCode === null
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

export async function run(program: string, ...args: string[]): Promise<void> {
  const child = Bun.spawn(asNobody(program, ...args), { cwd: '/', stdout: 'ignore', stderr: 'pipe' })
  const errors = await child.stderr.text()
  if ((await child.exited) !== 0) throw new Error(`${program} failed: ${errors}`)
}

/** Compares what was acknowledged with what is in the database. */
export async function checkPostgres(
  url: string,
  { acknowledged, longestRefusalMs }: Pick<Reporters, 'acknowledged' | 'longestRefusalMs'>,
): Promise<Verdict> {
  const sql = clientFor(url)
  try {
    const rows = await sql<{ summary: string; times: number }[]>`
      SELECT summary, count(*)::int AS times FROM entries WHERE summary IS NOT NULL GROUP BY summary`
    const there = new Set(rows.map(({ summary }) => summary))
    return {
      acknowledged: acknowledged.size,
      lost: acknowledged.difference(there).size,
      duplicated: rows.filter(({ times }) => times > 1).length,
      longestRefusalMs,
    }
  } finally {
    await sql.end()
  }
}
