/** When credentials were last used, to the minute: recorded in memory and saved periodically, not with every call. */
import type { Database, Tx } from '../../../database/database.ts'

const MINUTE_MS = 60_000

/** Times per transaction, so that reports do not wait for thousands of them. */
const FLUSH_LIMIT = 500

export function minuteOf(moment: number): number {
  return moment - (moment % MINUTE_MS)
}

export class LastUses {
  readonly #noted = new Map<number, number>()

  constructor(
    readonly db: Database,
    readonly update: (tx: Tx, id: number, at: number) => Promise<void>,
  ) {}

  note(id: number, minute: number): void {
    this.#noted.set(id, minute)
  }

  /** A recorded time that is not saved yet. */
  find(id: number): number | undefined {
    return this.#noted.get(id)
  }

  /** Times that can't be saved are kept for the next call. */
  async flush(): Promise<void> {
    const pending = [...this.#noted]
    this.#noted.clear()
    for (let start = 0; start < pending.length; start += FLUSH_LIMIT) {
      const group = pending.slice(start, start + FLUSH_LIMIT)
      try {
        await this.db.write(async (tx) => {
          for (const [id, at] of group) await this.update(tx, id, at)
        })
      } catch (error) {
        for (const [id, at] of pending.slice(start)) if (!this.#noted.has(id)) this.#noted.set(id, at)
        throw error
      }
    }
  }
}
