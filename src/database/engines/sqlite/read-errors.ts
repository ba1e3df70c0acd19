import { Database as Connection } from 'bun:sqlite'
import { failureOf } from '../../errors.ts'

/** How often a disk with repeated read errors is checked for whether anything can be read. */
const RECHECK_MS = 1_000

/**
 * Distinguishes a disk with an unreadable part from one that cannot be read at all. The former affects only callers who
 * request that part; with the latter, the server refuses everything and ends, so that a supervisor or a person notices.
 */
export class ReadErrors {
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(
    readonly path: string,
    readonly onUnreadable: (error: unknown) => void,
    readonly onPartlyUnreadable: (error: unknown) => void,
  ) {}

  /** Accepts any error of a read, and ignores those that are not disk errors. */
  readonly note = (error: unknown): void => {
    if (failureOf(error) !== 'io') return
    const now = performance.now()
    if (now - this.#checkedAt < RECHECK_MS) return
    this.#checkedAt = now
    if (this.#canRead()) this.onPartlyUnreadable(error)
    else this.onUnreadable(error)
  }

  /** On a new connection: open ones cache pages that they have read. */
  #canRead(): boolean {
    let connection: Connection | undefined
    try {
      connection = new Connection(this.path, { readonly: true })
      connection.run('SELECT value FROM revision')
      return true
    } catch (error) {
      return failureOf(error) !== 'io'
    } finally {
      connection?.close()
    }
  }
}
