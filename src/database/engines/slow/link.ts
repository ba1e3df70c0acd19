import { deserialize } from 'bun:jsc'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../../errors.ts'
import type { FromSlowProcess, SentError, ToSlowProcess } from './messages.ts'
import type { SlowSource } from './source.ts'

/**
 * Starts this program as a process for slow reads, see main.ts. From source, Bun runs it, without the variables of a
 * `.env` file.
 */
const PROGRAM = import.meta.url.endsWith('.ts')
  ? [process.execPath, '--no-env-file', join(import.meta.dir, '../../../main.ts'), 'slow-reads']
  : [process.execPath, 'slow-reads']

/** Bun ends the process when the server is gone, even in the middle of a query, and collects garbage earlier. */
const ENVIRONMENT = { BUN_FEATURE_FLAG_NO_ORPHANS: '1', BUN_OPTIONS: '--smol' }

/** What a connection to PostgreSQL is made with: libpq's variables, and authorities for TLS. */
const CONNECTING = /^(PG[A-Z_]+|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/

/** Nothing else of the server's environment, which may contain passwords. */
function environmentFor(source: SlowSource): Record<string, string | undefined> {
  if ('file' in source) return ENVIRONMENT
  // biome-ignore lint/style/noProcessEnv: variables of others' programs, not settings of Tally.
  const connecting = Object.entries(process.env).filter(([name]) => CONNECTING.test(name))
  return { ...Object.fromEntries(connecting), ...ENVIRONMENT }
}

/** A process starts in a tenth of a second, or in seconds on a machine with too much to do. */
const START_LIMIT_MS = 15_000

export interface SlowLinkOptions {
  source: SlowSource
  /** The command that starts the process; by default, this program. */
  program?: readonly string[] | undefined
  /** What it may take to start. */
  startMs?: number | undefined
}

interface LinkEvents {
  onReady(): void
  onMessage(message: Exclude<FromSlowProcess, 'ready'>): void
  /** The process did not start in time, ended by itself, or was ended by somebody else. */
  onLost(reason: string): void
}

/** The server's end of a process for slow reads. */
export class SlowLink {
  readonly #process: Bun.Subprocess<'ignore', 'ignore', 'inherit'>
  readonly #start: Timer
  #isEnded = false

  constructor(
    { source, program = PROGRAM, startMs = START_LIMIT_MS }: SlowLinkOptions,
    { onReady, onMessage, onLost }: LinkEvents,
  ) {
    this.#process = Bun.spawn([...program], {
      env: environmentFor(source),
      stdio: ['ignore', 'ignore', 'inherit'],
      serialization: 'advanced',
      ipc: (message: FromSlowProcess) => {
        if (this.#isEnded) return
        if (message !== 'ready') onMessage(message)
        else {
          clearTimeout(this.#start)
          this.send({ open: source })
          onReady()
        }
      },
      // It can neither be asked nor answer any more, as `onExit` reports then.
      onDisconnect: () => void this.#process.kill('SIGKILL'),
      onExit: (_process, code, signal) => {
        if (this.#isEnded) return
        this.end()
        onLost(`The process for slow reads ended with ${signal ?? `exit code ${code}`}.`)
      },
    })
    this.#start = setTimeout(() => {
      this.end()
      onLost('The process for slow reads did not start in time.')
    }, startMs)
    // A command that has finished does not wait for it.
    this.#process.unref()
    this.#start.unref()
  }

  /** How long the process could have run while others had the processors: 0 where the system does not tell. */
  heldUpMs(): number {
    try {
      // Of its first thread, which does all the work: the time on a processor, and the time waiting for one.
      return Number(readFileSync(`/proc/${this.#process.pid}/schedstat`, 'latin1').split(' ')[1]) / 1e6
    } catch {
      return 0
    }
  }

  send(message: ToSlowProcess): void {
    if (this.#isEnded) return
    try {
      this.#process.send(message)
    } catch {
      // It has just ended, which `onExit` reports.
      this.#process.kill('SIGKILL')
    }
  }

  /** Ends the process at once, in the middle of what it does. It only reads, so nothing is lost. */
  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#start)
    this.#process.kill('SIGKILL')
  }
}

export function resultOf(message: { result: Uint8Array }): unknown {
  return deserialize(message.result)
}

export function receivedError({ message, code, syscall, problem }: SentError): Error {
  if (problem) return new Problem(problem.code, problem.detail)
  return Object.assign(new Error(message), { code, syscall })
}
