import type { Outcome } from '../../database.ts'
import { type Recorder, type TakenItem, WaitingCalls } from '../waiting-calls.ts'

/** Groups that are written at a time, each on a connection of its own: the server writes as many at once. */
const GROUPS = 4

/** Items of a group: enough that its round trips and its commit cost little for each of them. */
const LIMIT = 128

/** A further group begins at once if this many items wait; fewer wait for the previous one, and become a larger group. */
const ENOUGH = 64

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
    if (!this.#isScheduled && this.#mayStart()) {
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
    while (this.#mayStart()) {
      this.#writing += 1
      const group = this.#waiting.takeFree(LIMIT)
      this.writeGroup(group).finally(() => {
        this.#writing -= 1
        this.#waiting.release(group)
        this.#start()
      })
    }
  }

  #mayStart(): boolean {
    const { freeItems } = this.#waiting
    return this.#writing === 0 ? freeItems > 0 : this.#writing < GROUPS && freeItems >= ENOUGH
  }
}
