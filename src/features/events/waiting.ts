/** How many requests may wait for events at the same time, so that nobody takes the connections of others. */
import { Problem } from '../../errors.ts'
import { ShareLimit } from '../../lib/share-limit.ts'

/** Each waiting request has a socket, and a stream up to a megabyte in it that nobody reads. */
const WAITING_LIMIT = 128

/** Per person, over all credentials: some programs, and a browser or two. */
const PERSON_LIMIT = 8

export class WaitingRequests extends ShareLimit<number> {
  constructor(limits = { perOwner: PERSON_LIMIT, total: WAITING_LIMIT }) {
    super(limits)
  }

  /** Throws `too_many_waiting`. */
  override begin(personId: number): () => void {
    const exceeded = this.exceeded(personId)
    if (exceeded === 'perOwner') throw tooManyWaiting(`${this.limits.perOwner} of your requests`)
    if (exceeded === 'total') throw tooManyWaiting(`${this.limits.total} requests`)
    return super.begin(personId)
  }
}

function tooManyWaiting(whose: string): Problem {
  return new Problem(
    'too_many_waiting',
    `${whose} already wait for events. End one of them, read without \`wait\`, or try again later.`,
    { headers: { 'retry-after': '10' } },
  )
}
