import type { Outcome } from '../../database.ts'
import { GROUP_LIMIT, type Recorder, type TakenItem, WaitingCalls } from '../waiting-calls.ts'

/**
 * Groups that are written at a time: while the server writes one, the next is prepared here. More groups are smaller
 * ones, each with its own round trips and its own commit.
 */
const GROUPS = 2

/** Groups the items that wait for one recorder. */
export class SetQueue {
  readonly #waiting = new WaitingCalls()
  #writing = 0
  #isScheduled = false

  constructor(
    readonly record: Recorder,
    /** Writes a group and settles its items. Never rejects. */
    readonly writeGroup: (items: readonly TakenItem[]) => Promise<void>,
  ) {}

  add(items: readonly unknown[]): Promise<Outcome<unknown>[]> {
    const outcomes = this.#waiting.add(this.record, items)
    if (!this.#isScheduled && this.#writing < GROUPS) {
      this.#isScheduled = true
      // Deferred, so that requests already received on other sockets join the same group.
      setImmediate(() => {
        this.#isScheduled = false
        this.#start()
      })
    }
    return outcomes
  }

  #start(): void {
    while (this.#writing < GROUPS && this.#waiting.calls > 0) {
      this.#writing += 1
      this.writeGroup(this.#waiting.take(GROUP_LIMIT)).finally(() => {
        this.#writing -= 1
        this.#start()
      })
    }
  }
}
