import type { Outcome } from '../../database.ts'
import { leftOf, type Recorder, type TakenItem, WaitingCalls } from '../waiting-calls.ts'

/** Groups that are written at a time, each on a connection of its own: the server writes as many at once. */
const GROUPS = 4

/** Items of a group: enough that its round trips and its commit cost little for each of them. */
const LIMIT = 128

/** A further group begins at once if this many items wait; fewer wait for the previous one, and become a larger group. */
const ENOUGH = 64

/**
 * A group that takes longer waits for a lock or for a connection that may be lost, with which other items have nothing
 * to do. Groups of a distant or busy server take less.
 */
const STUCK_MS = 1_000

/** Groups the items that wait for one recorder. */
export class SetQueue {
  readonly #waiting = new WaitingCalls()
  #writing = 0
  /** How many of those take longer than they should. */
  #stuck = 0
  #isScheduled = false

  constructor(
    readonly record: Recorder,
    /** Writes a group and settles those of its items that it has written. Never rejects. */
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
      let isStuck = false
      const timer = setTimeout(() => {
        isStuck = true
        this.#stuck += 1
        this.#start()
      }, STUCK_MS)
      this.writeGroup(group).finally(() => {
        clearTimeout(timer)
        if (isStuck) this.#stuck -= 1
        this.#writing -= 1
        this.#waiting.putBack(leftOf(group))
        this.#waiting.release(group)
        this.#start()
      })
    }
  }

  #mayStart(): boolean {
    const { freeItems } = this.#waiting
    return this.#writing < GROUPS && freeItems >= (this.#writing === this.#stuck ? 1 : ENOUGH)
  }
}
