import type { Reader, Tx } from './database.ts'

/**
 * Something read from the database and kept until the `revision` moves, so that a change made by another process is
 * seen by the very next call.
 *
 * What is loaded inside a transaction is kept only after its commit: after a rollback the same revision number would
 * later stand for other content.
 */
export class Cached<Value> {
  #held: { revision: number; value: Value } | undefined

  constructor(readonly load: (reader: Reader) => Promise<Value>) {}

  /** The value as `reader` sees it. Not a promise where the held one still holds and the revision is at hand. */
  get(reader: Reader | Tx): Value | Promise<Value> {
    const revision = reader.revision()
    if (typeof revision !== 'number') return revision.then((known) => this.#at(known, reader))
    return this.#at(revision, reader)
  }

  #at(revision: number, reader: Reader | Tx): Value | Promise<Value> {
    if (this.#held?.revision === revision) return this.#held.value
    return this.load(reader).then((value) => {
      const keep = () => {
        this.#held = { revision, value }
      }
      if ('afterCommit' in reader) reader.afterCommit(keep)
      else keep()
      return value
    })
  }
}
