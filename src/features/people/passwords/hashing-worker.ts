/**
 * Hashes passwords on a thread of its own with a lower priority than those that handle reports: a hash keeps a
 * processor busy for a fifth of a second, and on the pool that the main thread uses for files it would delay file
 * access.
 */
import { setPriority } from 'node:os'
import { answerJobs } from '../../../lib/job-thread.ts'
import { HASHING_COST } from './hashing-cost.ts'

export interface ToHashing {
  password: string
  /** The hash to verify against; null to hash the password. */
  hash: string | null
}

export type FromHashing = { hash: string } | { fits: boolean } | { error: string }

/**
 * A tenth of the weight of a normal thread if all processors are busy, so that a sign-in takes a second or two, and no
 * limit if they are not.
 */
const NICENESS = 10

try {
  // Only Linux applies it to the calling thread; elsewhere it would slow down the whole process.
  if (process.platform === 'linux') setPriority(0, NICENESS)
} catch {
  // A sandbox may forbid it. Then one hash at a time still leaves the other processors.
}

function answer({ password, hash }: ToHashing): FromHashing {
  try {
    if (hash === null) return { hash: Bun.password.hashSync(password, HASHING_COST) }
    return { fits: Bun.password.verifySync(password, hash) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

answerJobs<ToHashing, FromHashing>((question, post) => post(answer(question)))
