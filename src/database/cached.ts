import type { Reader, Tx } from './database.ts'

interface At<Content> {
  revision: number
  content: Content
}

/**
 * A value read from the database and cached until `revision` changes, so that the next call sees changes of other
 * processes too. Concurrent callers share one read.
 *
 * People and prices change the revision too. What takes long to make, such as compiled expressions, is cached by its own
 * version, and made before a write.
 *
 * A value loaded inside a transaction is cached only after the commit: after a rollback, the same revision number would
 * later refer to other content.
 */
export class Cached<Value> {
  #held: At<Value> | undefined
  #loading: At<Promise<Value>> | undefined

  constructor(readonly load: (reader: Reader) => Promise<Value>) {}

  /**
   * The value as `reader` sees it. Not a promise if the cached value is valid and the revision is available
   * synchronously.
   */
  get(reader: Reader | Tx): Value | Promise<Value> {
    const revision = reader.revision()
    if (typeof revision !== 'number') return revision.then((known) => this.#at(known, reader))
    return this.#at(revision, reader)
  }

  #at(revision: number, reader: Reader | Tx): Value | Promise<Value> {
    if (this.#held?.revision === revision) return this.#held.content
    return 'afterCommit' in reader ? this.#loadWithin(reader, revision) : this.#loadShared(reader, revision)
  }

  async #loadWithin(tx: Tx, revision: number): Promise<Value> {
    const content = await this.load(tx)
    tx.afterCommit(() => {
      this.#held = { revision, content }
    })
    return content
  }

  #loadShared(reader: Reader, revision: number): Promise<Value> {
    if (this.#loading?.revision === revision) return this.#loading.content
    const content = this.load(reader).then((loaded) => {
      this.#held = { revision, content: loaded }
      return loaded
    })
    const loading = { revision, content }
    this.#loading = loading
    const end = () => {
      if (this.#loading === loading) this.#loading = undefined
    }
    content.then(end, end)
    return content
  }
}
