/** Slow reads that wait, of all callers in turn. */
import type { DatabaseCaller } from '../caller.ts'

interface Waiting {
  caller: DatabaseCaller | undefined
}

export class CallerQueue<Item extends Waiting> {
  readonly #items: Item[] = []

  get length(): number {
    return this.#items.length
  }

  add(item: Item): void {
    this.#items.push(item)
  }

  /** For an item that had its turn already. */
  addFirst(item: Item): void {
    this.#items.unshift(item)
  }

  /** Returns whether the item was waiting. */
  remove(item: Item): boolean {
    const at = this.#items.indexOf(item)
    if (at < 0) return false
    this.#items.splice(at, 1)
    return true
  }

  /**
   * Takes the item that waits longest among those of the callers with the fewest running ones, so that the many of one
   * caller never delay the first of another by more than one.
   *
   * @param maximum takes none if its caller has more than so many running
   */
  take(running: readonly Waiting[], maximum = Number.POSITIVE_INFINITY): Item | undefined {
    let [next, fewest] = [undefined as Item | undefined, maximum + 1]
    for (const item of this.#items) {
      const count = running.filter((each) => keyOf(each) === keyOf(item)).length
      if (count < fewest) [next, fewest] = [item, count]
      if (count === 0) break
    }
    if (next) this.remove(next)
    return next
  }

  /**
   * Removes the last item of the caller who has most, to make room for one of another caller; undefined if that one
   * would have as many.
   */
  displaceFor(caller: DatabaseCaller | undefined): Item | undefined {
    const byCaller = Map.groupBy(this.#items, keyOf)
    const most = [...byCaller.values()].reduce((one, other) => (other.length > one.length ? other : one), [])
    const own = byCaller.get(caller?.key)?.length ?? 0
    const last = most.at(-1)
    if (!last || most.length <= own + 1) return undefined
    this.remove(last)
    return last
  }

  /** Whether somebody waits of whom none is running. */
  hasOther(running: readonly Waiting[]): boolean {
    return this.#items.some((item) => !running.some((each) => keyOf(each) === keyOf(item)))
  }

  takeAll(): Item[] {
    return this.#items.splice(0)
  }
}

const keyOf = ({ caller }: Waiting): number | undefined => caller?.key
