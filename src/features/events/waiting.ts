/** How many requests may wait for events at the same time, so that nobody takes the connections of others. */
import { Problem } from '../../errors.ts'

/** Each waiting request has a socket, and a stream up to a megabyte in it that nobody reads. */
const WAITING_LIMIT = 128

/** Per person, over all credentials: some programs, and a browser or two. */
const PERSON_LIMIT = 8

interface Limits {
  perPerson: number
  total: number
}

export class WaitingRequests {
  #running = 0
  readonly #runningOf = new Map<number, number>()

  constructor(readonly limits: Limits = { perPerson: PERSON_LIMIT, total: WAITING_LIMIT }) {}

  /** Counts a request until the returned function is called. Throws `too_many_waiting`. */
  begin(personId: number): () => void {
    const own = this.#runningOf.get(personId) ?? 0
    const { perPerson, total } = this.limits
    if (own >= perPerson) throw tooManyWaiting(`${perPerson} of your requests`)
    if (this.#running >= total) throw tooManyWaiting(`${total} requests`)
    this.#running += 1
    this.#runningOf.set(personId, own + 1)
    let isRunning = true
    return () => {
      if (!isRunning) return
      isRunning = false
      this.#running -= 1
      const left = this.#runningOf.get(personId)! - 1
      if (left > 0) this.#runningOf.set(personId, left)
      else this.#runningOf.delete(personId)
    }
  }
}

function tooManyWaiting(whose: string): Problem {
  return new Problem(
    'too_many_waiting',
    `${whose} already wait for events. End one of them, read without \`wait\`, or try again later.`,
    { headers: { 'retry-after': '10' } },
  )
}
