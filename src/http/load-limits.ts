/**
 * How much Tally takes in at once. What is beyond is told so at once, with when to come back: agents repeat, and nothing
 * waits in memory without a bound.
 */
import { Problem } from '../errors.ts'

/**
 * Requests that are not answered yet. A server keeps up with a few hundred; so many more wait for something that is
 * stuck, each with its body and its socket, of which systems give a process 1,024 to some thousands.
 */
export const REQUEST_LIMIT = 4_000

/** Bodies from this size on are counted; of smaller ones the limit of requests allows 256 MB. */
export const COUNTED_BYTES = 65_536

/**
 * Larger bodies held at once: eight of the largest batches. What is read of one takes some times its size until it is
 * answered.
 */
const HELD_LIMIT_BYTES = 64 * 1_048_576

function overloaded(detail: string): Problem {
  return new Problem('overloaded', `${detail} Nothing was written; try again.`, { headers: { 'retry-after': '1' } })
}

/** Throws `overloaded` where this request is one too many. */
export function requireRoom(pendingRequests: number, limit: number): void {
  if (pendingRequests > limit) throw overloaded(`More than ${limit.toLocaleString('en')} requests wait for an answer.`)
}

/** Of the process, because its memory is what is bounded. */
let heldBytes = 0
const heldBy = new WeakMap<Request, number>()

/** Notes that so many bytes more of a request's body are held until it is answered. Throws `overloaded`. */
export function holdBody(request: Request, bytes: number): void {
  if (bytes < COUNTED_BYTES && !heldBy.has(request)) return
  if (heldBytes + bytes > HELD_LIMIT_BYTES) {
    throw overloaded(`More than ${HELD_LIMIT_BYTES / 1_048_576} MiB of large bodies are being worked on.`)
  }
  heldBytes += bytes
  heldBy.set(request, (heldBy.get(request) ?? 0) + bytes)
}

/** The request is answered, or never will be. */
export function releaseBody(request: Request): void {
  const bytes = heldBy.get(request)
  if (bytes === undefined) return
  heldBytes -= bytes
  heldBy.delete(request)
}
