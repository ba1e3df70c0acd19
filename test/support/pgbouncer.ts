/** A PgBouncer in transaction mode in front of a PostgreSQL server. */
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './binary.ts'
import { clientFor, NOBODY, untilItAnswers } from './postgres-server.ts'

/** Looked up at each call, because it may be installed meanwhile. Debian's folder of it is not in everyone's PATH. */
const program = () => Bun.which('pgbouncer') ?? Bun.which('pgbouncer', { PATH: '/usr/sbin' })

export const pgbouncerMissing = () => (program() ? undefined : 'PgBouncer is not installed')

export interface PgBouncer {
  /** The URL of a database of the server through it, without `pgbouncer=true`. */
  through(databaseUrl: string): string
  stop(): Promise<void>
}

/**
 * @param serverUrl with the folder of the server's sockets as `host`
 * @param settings lines of its configuration
 */
export async function startPgBouncer(serverUrl: string, settings: readonly string[] = []): Promise<PgBouncer> {
  const server = new URL(serverUrl)
  const folder = mkdtempSync(join(tmpdir(), 'tally-pgbouncer-'))
  const port = freePort()
  const configuration = join(folder, 'pgbouncer.ini')
  const host = server.searchParams.get('host') ?? server.hostname
  writeFileSync(
    configuration,
    [
      '[databases]',
      `* = host=${host} port=${server.port || 5432} user=${server.username}`,
      '[pgbouncer]',
      'pool_mode = transaction',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      `logfile = ${join(folder, 'log')}`,
      ...settings,
    ].join('\n'),
  )
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const asNobody = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] : []
  const child = Bun.spawn([...asNobody, program()!, configuration], {
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  const through = (databaseUrl: string) => {
    const url = new URL(databaseUrl)
    url.searchParams.delete('host')
    url.hostname = '127.0.0.1'
    url.port = `${port}`
    return url.href
  }
  const client = clientFor(through(serverUrl))
  await untilItAnswers(
    () => client.unsafe('SELECT 1'),
    () => child.exitCode !== null,
  )
  await client.end()
  return {
    through,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
      rmSync(folder, { recursive: true })
    },
  }
}
