import type { Outcome, Tx } from '../database.ts'
import { asProblem, overloaded } from '../errors.ts'

/** Bodies and items per commit. 256 take about 20 ms, which is as long as the event loop should be blocked. */
export const GROUP_LIMIT = 256

/** The maximum number of waiting calls: 10,000 are a few seconds of work and a few megabytes. */
const QUEUE_LIMIT = 10_000

/** The number of waiting items from which calls are refused: some seconds of work, and a hundred megabytes. */
const QUEUED_ITEMS_LIMIT = 100_000

/** Writes items and returns the outcome of each, in order: of the first ones if all would take long. */
export type Recorder = (tx: Tx, items: readonly never[]) => Promise<Outcome<unknown>[]>

/** Items that one caller waits for. */
interface Call {
  record: Recorder
  items: readonly unknown[]
  /** How many items have been taken. */
  taken: number
  /** How many outcomes are missing. */
  missing: number
  /** Whether a group with some of its items is being written, next to which others are. */
  isWriting: boolean
  outcomes: Outcome<unknown>[]
  resolve: (outcomes: Outcome<unknown>[]) => void
}

/** An item that was taken from its call. */
export class TakenItem {
  /** Its outcome in the open transaction; undefined if it is left for another one. */
  outcome: Outcome<unknown> | undefined

  constructor(
    readonly call: Call,
    readonly position: number,
  ) {}

  get item(): unknown {
    return this.call.items[this.position]
  }

  /** The caller gets its outcomes when all its items are settled: the errors of the database as problems. */
  settle(outcome: Outcome<unknown>): void {
    const { call } = this
    call.outcomes[this.position] = 'error' in outcome ? { error: asProblem(outcome.error) } : outcome
    call.missing -= 1
    if (call.missing === 0) call.resolve(call.outcomes)
  }
}

/** Has `record` write the items, and gives each that it has written its outcome. */
export async function recordItems(record: Recorder, tx: object, items: readonly TakenItem[]): Promise<void> {
  for (const item of items) item.outcome = undefined
  const outcomes = await record(
    tx as Tx,
    items.map(({ item }) => item as never),
  )
  if (outcomes.length === 0 || outcomes.length > items.length)
    throw new Error(`${outcomes.length} outcomes were returned for ${items.length} items`)
  for (const [position, item] of items.entries()) item.outcome = outcomes[position]
}

/** Those that the next group has to write. They are the last ones of their calls. */
export function leftOf(items: readonly TakenItem[]): TakenItem[] {
  return items.filter(({ outcome }) => outcome === undefined)
}

/** Runs the effects of a commit. If one fails, its callers get the error; the writes stay. */
export function runEffects(effects: readonly (() => void)[], items: readonly TakenItem[]): void {
  try {
    for (const effect of effects) effect()
  } catch (error) {
    for (const item of items) if (item.outcome) item.outcome = { error }
  }
}

/** The calls whose items wait for a transaction. */
export class WaitingCalls {
  readonly #calls: Call[] = []
  #items = 0
  #freeItems = 0

  get calls(): number {
    return this.#calls.length
  }

  get items(): number {
    return this.#items
  }

  /** Items of calls of which no others are being written. */
  get freeItems(): number {
    return this.#freeItems
  }

  /** The outcomes of the items. Throws a Problem if too many are waiting. */
  add(record: Recorder, items: readonly unknown[]): Promise<Outcome<unknown>[]> {
    if (this.#calls.length >= QUEUE_LIMIT || this.#items >= QUEUED_ITEMS_LIMIT) throw overloaded()
    this.#items += items.length
    return new Promise((resolve) => {
      const outcomes = new Array<Outcome<unknown>>(items.length)
      this.#calls.push({ record, items, taken: 0, missing: items.length, isWriting: false, outcomes, resolve })
      this.#freeItems += items.length
    })
  }

  /** Takes items of all calls in turn, so that none waits for all items of another. */
  take(limit: number): TakenItem[] {
    const taken = takeInTurn(this.#calls, limit)
    this.#items -= taken.length
    this.#freeItems -= taken.length
    return taken
  }

  /**
   * As `take`, for a group that is written next to others: the items of a call keep their order because it is in one
   * group at a time. Takes those of the oldest call and of the shortest ones.
   */
  takeFree(limit: number): TakenItem[] {
    const [oldest, ...others] = this.#calls.filter(({ isWriting }) => !isWriting)
    if (!oldest) return []
    const chosen = [oldest]
    // A long oldest call alone would fill the group: the short ones next to it do not wait for its end.
    let items = Math.min(remaining(oldest), limit / 2)
    for (const call of others.sort((one, other) => remaining(one) - remaining(other))) {
      if (items >= limit) break
      chosen.push(call)
      items += remaining(call)
    }
    for (const call of chosen) {
      call.isWriting = true
      this.#freeItems -= remaining(call)
    }
    const taken = takeInTurn(chosen, limit)
    this.#items -= taken.length
    this.#calls.splice(0, Number.POSITIVE_INFINITY, ...this.#calls.filter((call) => remaining(call) > 0))
    return taken
  }

  /** Items that were taken and are left wait again, before all others of their calls. */
  putBack(items: readonly TakenItem[]): void {
    for (const [call, { length }] of Map.groupBy(items, (item) => item.call)) {
      if (remaining(call) === 0) this.#calls.unshift(call)
      call.taken -= length
      this.#items += length
      if (!call.isWriting) this.#freeItems += length
    }
  }

  /** A group is written: the rest of its calls may be taken. */
  release(items: readonly TakenItem[]): void {
    for (const call of new Set(items.map((item) => item.call))) {
      call.isWriting = false
      this.#freeItems += remaining(call)
    }
  }
}

function remaining({ items, taken }: Call): number {
  return items.length - taken
}

/** Takes items of all calls in turn, and leaves in `calls` those that have more. */
function takeInTurn(calls: Call[], limit: number): TakenItem[] {
  const taken: TakenItem[] = []
  while (taken.length < limit && calls.length > 0) {
    const call = calls.shift()!
    taken.push(new TakenItem(call, call.taken))
    call.taken += 1
    if (remaining(call) > 0) calls.push(call)
  }
  return taken
}
