/**
 * How a server proves to commands of its own user that it is theirs, before they send it anything secret. Its process id and
 * port prove nothing, as both are used again by others. Its address is part of the proof, so that no program at another port
 * can pass on the question.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export interface ServerIdentity {
  /** Known to whoever can read the folder of the database. */
  key: string
  url: string
  pid: number
}

/** Followed by the nonce, as its only parameter. */
export const PROOF_PATH = '/.well-known/tally'

export function proofOf({ key, url, pid }: ServerIdentity, nonce: string): string {
  return createHmac('sha256', key).update(`tally\n${url}\n${pid}\n${nonce}`).digest('base64url')
}

export function isProof(identity: ServerIdentity, nonce: string, answer: unknown): boolean {
  const [expected, given] = [Buffer.from(proofOf(identity, nonce)), Buffer.from(String(answer))]
  return expected.length === given.length && timingSafeEqual(expected, given)
}
