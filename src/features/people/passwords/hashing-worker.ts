/**
 * Hashes passwords on a thread of its own, which the system lets run after those that take reports: a hash keeps a
 * processor busy for a fifth of a second, and on the pool that the main thread shares with files it would keep those
 * waiting.
 */
import { setPriority } from 'node:os'
import { HASHING_COST } from './hashing-cost.ts'

export interface ToHashing {
  password: string
  /** To be checked against; null where the password is to be hashed. */
  hash: string | null
}

export type FromHashing = { hash: string } | { fits: boolean } | { error: string }

declare const self: Worker

/**
 * A tenth of the weight of a usual thread where all processors are busy, so that a sign-in then takes a second or two,
 * and all there is where they are not.
 */
const NICENESS = 10

try {
  // Linux alone takes it for the calling thread; elsewhere it would slow down the whole process.
  if (process.platform === 'linux') setPriority(0, NICENESS)
} catch {
  // A sandbox may forbid it. Then one hash at a time leaves the other processors.
}

function answer({ password, hash }: ToHashing): FromHashing {
  try {
    if (hash === null) return { hash: Bun.password.hashSync(password, HASHING_COST) }
    return { fits: Bun.password.verifySync(password, hash) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

self.onmessage = ({ data }: MessageEvent<ToHashing>) => self.postMessage(answer(data))
