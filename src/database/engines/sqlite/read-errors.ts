import { Database as Connection } from 'bun:sqlite'
import { failureOf } from '../../errors.ts'

/** Where reads fail again and again, whether anything can be read is asked this often. */
const ASK_AGAIN_MS = 1_000

/**
 * Tells a disk of which a part cannot be read from one that cannot be read at all. The first costs those who ask for
 * that part; with the second, the server refuses everything, and ends so that a supervisor or a person hears of it.
 */
export class ReadErrors {
  #askedAt = Number.NEGATIVE_INFINITY

  constructor(
    readonly path: string,
    readonly onUnreadable: (error: unknown) => void,
    readonly onPartlyUnreadable: (error: unknown) => void,
  ) {}

  /** Takes any error of a read; those that are not of the disk say nothing. */
  readonly note = (error: unknown): void => {
    if (failureOf(error) !== 'io') return
    const now = performance.now()
    if (now - this.#askedAt < ASK_AGAIN_MS) return
    this.#askedAt = now
    if (this.#canRead()) this.onPartlyUnreadable(error)
    else this.onUnreadable(error)
  }

  /** On a connection of its own: those that are open remember pages that they read before. */
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
