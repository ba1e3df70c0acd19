import { addCount } from './counts.ts'

interface Limits {
  total: number
  perOwner: number
}

/** How much of something may run at the same time, in total and per owner, so that nobody takes what others need. */
export class ShareLimit<Owner> {
  #running = 0
  readonly #runningOf = new Map<Owner, number>()

  constructor(readonly limits: Limits) {}

  /** The limit that one more of this owner would exceed. */
  exceeded(owner: Owner): keyof Limits | undefined {
    if ((this.#runningOf.get(owner) ?? 0) >= this.limits.perOwner) return 'perOwner'
    return this.#running >= this.limits.total ? 'total' : undefined
  }

  /** Counts one more until the returned function is called. */
  begin(owner: Owner): () => void {
    this.#running += 1
    addCount(this.#runningOf, owner)
    let isRunning = true
    return () => {
      if (!isRunning) return
      isRunning = false
      this.#running -= 1
      const left = this.#runningOf.get(owner)! - 1
      if (left > 0) this.#runningOf.set(owner, left)
      else this.#runningOf.delete(owner)
    }
  }
}
