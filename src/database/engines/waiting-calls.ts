import type { Outcome, Tx } from '../database.ts'
import { asProblem, overloaded } from '../errors.ts'

/** Bodies and items per commit. 256 take about 20 ms, which is as long as the event loop should be blocked. */
export const GROUP_LIMIT = 256

/** The maximum number of waiting calls: 10,000 are a few seconds of work and a few megabytes. */
const QUEUE_LIMIT = 10_000

/** The number of waiting items from which calls are refused: some seconds of work, and a hundred megabytes. */
const QUEUED_ITEMS_LIMIT = 100_000

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
  /** Whether a group with some of its items is being written, next to which others are. */
  isWriting: boolean
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

  /** The caller gets its outcomes when all its items are settled: the errors of the database as problems. */
  settle(outcome: Outcome<unknown>): void {
    const { call } = this
    call.outcomes[this.position] = 'error' in outcome ? { error: asProblem(outcome.error) } : outcome
    call.missing -= 1
    if (call.missing === 0) call.resolve(call.outcomes)
  }
}

/** Has `record` write the items, and gives each its outcome. */
export async function recordItems(record: Recorder, tx: object, items: readonly TakenItem[]): Promise<void> {
  const outcomes = await record(
    tx as Tx,
    items.map(({ item }) => item as never),
  )
  if (outcomes.length !== items.length)
    throw new Error(`${outcomes.length} outcomes were returned for ${items.length} items`)
  for (const [position, item] of items.entries()) item.outcome = outcomes[position]
}

/** Runs the effects of a commit. If one fails, its callers get the error; the writes stay. */
export function runEffects(effects: readonly (() => void)[], items: readonly TakenItem[]): void {
  try {
    for (const effect of effects) effect()
  } catch (error) {
    for (const item of items) item.outcome = { error }
  }
}

/** Processor time of a group, ten times that of a full one of usual items: all other callers wait meanwhile. */
const LONG_GROUP_MS = 250

/** How many items a group has: fewer after one whose items took long, and twice as many after a full one that did not. */
export class GroupSize {
  #items: number

  constructor(readonly most: number) {
    this.#items = most
  }

  get items(): number {
    return this.#items
  }

  /** Call the result when a group of so many items is recorded. Waiting for a disk or a lock takes no processor time. */
  measure(): (items: number) => void {
    const before = process.cpuUsage()
    return (items) => {
      const { user, system } = process.cpuUsage(before)
      const ms = (user + system) / 1_000
      if (ms > LONG_GROUP_MS) this.#items = Math.max(1, Math.floor((items * LONG_GROUP_MS) / ms))
      else if (items >= this.#items) this.#items = Math.min(this.most, this.#items * 2)
    }
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
