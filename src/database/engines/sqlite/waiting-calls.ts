import type { Outcome, Tx } from '../../database.ts'

/** Writes items and returns the outcome of each, in order. */
export type Recorder = (tx: Tx, items: readonly never[]) => Promise<Outcome<unknown>[]>

/** Items that one caller waits for. */
interface Call {
  record: Recorder
  items: readonly unknown[]
  /** How many items have been taken. */
  taken: number
  /** How many outcomes are missing. */
  missing: number
  outcomes: Outcome<unknown>[]
  resolve: (outcomes: Outcome<unknown>[]) => void
}

/** An item that was taken from its call. */
export class TakenItem {
  /** Its outcome in the open transaction. */
  outcome: Outcome<unknown> | undefined

  constructor(
    readonly call: Call,
    readonly position: number,
  ) {}

  get item(): unknown {
    return this.call.items[this.position]
  }

  /** The caller gets its outcomes when all its items are settled. */
  settle(outcome: Outcome<unknown>): void {
    const { call } = this
    call.outcomes[this.position] = outcome
    call.missing -= 1
    if (call.missing === 0) call.resolve(call.outcomes)
  }
}

/** The calls whose items wait for a transaction. */
export class WaitingCalls {
  readonly #calls: Call[] = []
  #items = 0

  get calls(): number {
    return this.#calls.length
  }

  get items(): number {
    return this.#items
  }

  add(record: Recorder, items: readonly unknown[]): Promise<Outcome<unknown>[]> {
    this.#items += items.length
    return new Promise((resolve) => {
      const outcomes = new Array<Outcome<unknown>>(items.length)
      this.#calls.push({ record, items, taken: 0, missing: items.length, outcomes, resolve })
    })
  }

  /** Takes items of all calls in turn, so that none waits for all items of another. */
  take(limit: number): TakenItem[] {
    const taken: TakenItem[] = []
    while (taken.length < limit && this.#calls.length > 0) {
      const call = this.#calls.shift()!
      taken.push(new TakenItem(call, call.taken))
      call.taken += 1
      if (call.taken < call.items.length) this.#calls.push(call)
    }
    this.#items -= taken.length
    return taken
  }
}
