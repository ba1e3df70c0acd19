/** The end of the server process: at a signal in order, at an error that nothing handles at once. */
import type { Logger } from 'pino'
import { exitAtOnce } from '../../database/exit.ts'
import { driverError } from '../failures.ts'

/** EX_SOFTWARE of sysexits.h: the process cannot go on. A supervisor starts it again. */
const EXIT_FATAL = 70

/** Logs why the process cannot go on, and ends it. */
export type Die = (error: unknown, message: string) => never

/** Ends the process at errors that nothing handles, too. */
export function dieOfErrors(logger: Logger): Die {
  const die: Die = (error, message) => {
    logger.fatal({ err: driverError(error) }, message)
    return exitAtOnce(EXIT_FATAL)
  }
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error: unknown) => die(error, 'unexpected error'))
  }
  return die
}

/** Whether, and how far, the server is asked to stop. */
export class Shutdown {
  /** Resolves with the first signal to stop; the second ends the process at once. */
  readonly signal: Promise<string>
  #hasBegun = false
  readonly #finishing = new AbortController()

  constructor() {
    const { promise, resolve } = Promise.withResolvers<string>()
    this.signal = promise
    const receive = (signal: string, exitCode: number) => {
      if (this.#hasBegun) process.exit(exitCode)
      this.#hasBegun = true
      resolve(signal)
    }
    // Shells expect 128 and the number of the signal.
    process.on('SIGTERM', () => receive('SIGTERM', 128 + 15))
    process.on('SIGINT', () => receive('SIGINT', 128 + 2))
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Aborted when open requests are to finish. */
  get finishing(): AbortSignal {
    return this.#finishing.signal
  }

  finish(): void {
    this.#finishing.abort()
  }
}
