/** A PostgreSQL server of our own, for tests and benchmarks, and connections to any. */
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'

/** The environment variable with the address of a server that several processes of tests share. */
export const SHARED_SERVER = 'TALLY_TEST_POSTGRES_SHARED_URL'

/** A connection of the caller's own. */
export function clientFor(url: string): Sql {
  const address = new URL(url)
  const host = address.searchParams.get('host')
  const isPooled = address.searchParams.has('pgbouncer')
  for (const own of ['host', 'pgbouncer']) address.searchParams.delete(own)
  return postgres(address.href, {
    ...(host ? { host } : {}),
    prepare: !isPooled,
    max: 1,
    backoff: () => 0.05,
    fetch_types: false,
    onnotice: () => undefined,
  })
}

/** A starting server refuses connections for a moment. */
export async function untilItAnswers<Answer>(
  ask: () => Promise<Answer>,
  hasFailed: () => boolean = () => false,
): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask()
    } catch (error) {
      if (attempt === 500 || hasFailed()) throw error
      await Bun.sleep(50)
    }
  }
}

/** The log of the server, and the file that marks a failed start. */
const LOG = 'log'
const FAILED = 'failed'

/**
 * Makes a cluster, runs it as long as the process that wants it ($3) is there, and removes it, however that process
 * ends. In the background, because Bun kills what a test that took too long has started, and the others still need it;
 * in a session of its own, because a signal to the process's group must leave a process that cleans up. A server that has
 * only just begun ignores SIGQUIT, which is why it is killed after a while.
 */
const RUN_SERVER = `
run() {
  programs=$1 folder=$2 process=$3
  shift 3
  "$programs/initdb" --pgdata="$folder/data" --auth=trust --username=tally --encoding=UTF8 --locale=C --no-sync || {
    : >"$folder/${FAILED}"
    return
  }
  "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c max_connections=1000 "$@" &
  while [ -d "/proc/$process" ] || kill -0 "$process"; do sleep 0.3; done
  kill -QUIT $!
  (sleep 3; kill -KILL $!) &
  wait $!
  rm -rf "$folder"
}
run "$@" &
`

/**
 * Faster, for data that is not needed after a crash, in databases that are dropped before statistics would help: without
 * them, every query of a table looks long enough to compile.
 */
const NOT_DURABLE = ['fsync=off', 'full_page_writes=off', 'jit=off', 'autovacuum=off'].flatMap((each) => ['-c', each])

/** Any user but root, as which PostgreSQL refuses to run. */
export const NOBODY = 65_534

/**
 * Starts a server in a new folder of `parent`. It stops when this process ends, and removes its folder, which is left
 * empty where that user may not remove it. `durable` keeps PostgreSQL's own settings, with which a COMMIT is on the disk
 * before it returns; `settings` are others, such as `max_connections=20`.
 */
export async function startInstalled(
  programs: string,
  { parent, durable = false, settings = [] }: { parent: string; durable?: boolean; settings?: readonly string[] },
): Promise<{ url: string; folder: string }> {
  const folder = mkdtempSync(join(parent, 'tally-postgres-'))
  const ownSession = Bun.which('setsid') ? ['setsid'] : []
  const flags = [...(durable ? [] : NOT_DURABLE), ...settings.flatMap((setting) => ['-c', setting])]
  const command = [...ownSession, 'sh', '-c', RUN_SERVER, 'sh', programs, folder, `${process.pid}`, ...flags]
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
  const log = openSync(join(folder, LOG), 'w')
  Bun.spawnSync(isRoot ? [...asNobody, ...command] : command, { cwd: '/', stdout: log, stderr: log })
  closeSync(log)
  const url = `postgres://tally@localhost/postgres?host=${folder}`
  const client = clientFor(url)
  try {
    await untilItAnswers(
      () => client`SELECT 1`,
      () => existsSync(join(folder, FAILED)),
    )
  } catch (error) {
    const output = readFileSync(join(folder, LOG), 'utf8')
    rmSync(folder, { recursive: true })
    throw new Error(`PostgreSQL did not start: ${output}`, { cause: error })
  } finally {
    await client.end()
  }
  return { url, folder }
}
