import { join } from 'node:path'
import { BackupError } from './encryption.ts'
import type { RemoteAnswer } from './process.ts'
import type { RemoteResult, RemoteTask } from './tasks.ts'

/** Starts this program for a task with remote backups, see main.ts, as `engines/slow/link.ts` does for slow reads. */
const PROGRAM = import.meta.url.endsWith('.ts')
  ? [process.execPath, '--no-env-file', join(import.meta.dir, '../../../main.ts'), 'remote-backups']
  : [process.execPath, 'remote-backups']

/** Bun ends the process when the server is gone, even after `kill -9`, and collects garbage earlier. */
const ENVIRONMENT = { BUN_FEATURE_FLAG_NO_ORPHANS: '1', BUN_OPTIONS: '--smol' }

/** How to reach the storage. Its credentials are sent to the process, so that its environment does not contain them. */
const CONNECTING = /^(NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|(https?|no)_proxy)$/i

/** The longest task: what takes longer than a day would never be as often as it should. */
const LIMIT_MS = 86_400_000

/** Runs a task in a process of its own, until it ends or the signal aborts it. Throws what the task threw. */
export function runRemoteTask(task: RemoteTask, signal: AbortSignal): Promise<RemoteResult> {
  const { promise, resolve, reject } = Promise.withResolvers<RemoteResult>()
  // biome-ignore lint/style/noProcessEnv: variables of others' programs, not settings of Tally.
  const connecting = Object.entries(process.env).filter(([name]) => CONNECTING.test(name))
  const child = Bun.spawn(PROGRAM, {
    env: { ...Object.fromEntries(connecting), ...ENVIRONMENT },
    stdio: ['ignore', 'ignore', 'inherit'],
    serialization: 'advanced',
    ipc: (answer: RemoteAnswer) => {
      if ('result' in answer) resolve(answer.result as RemoteResult)
      else reject(answer.error.isExpected ? new BackupError(answer.error.message) : new Error(answer.error.message))
    },
    onExit: (_child, code, killed) => {
      reject(new BackupError(`The process for remote backups ended with ${killed ?? `exit code ${code}`}.`))
    },
  })
  const kill = () => child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const limit = setTimeout(kill, LIMIT_MS)
  child.send(task)
  return promise.finally(() => {
    signal.removeEventListener('abort', kill)
    clearTimeout(limit)
    kill()
  })
}
