/** Passes passwords to the hashing thread, which runs only while people sign in. */
import { JobThread } from '../../../lib/job-thread.ts'
import type { FromHashing, ToHashing } from './hashing-worker.ts'

/** On a busy processor a hash takes two seconds. */
const DEADLINE_MS = 30_000

/** Many people sign in at the same time in the morning; an idle thread holds a few megabytes. */
const IDLE_MS = 30_000

/** Hashes and verifies passwords, one at a time. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  verify(password: string, hash: string): Promise<boolean>
}

export class HashingThread implements PasswordHasher {
  readonly #thread = new JobThread<ToHashing, FromHashing>({
    program: new URL('./hashing-worker.ts', import.meta.url).href,
    deadlineMs: DEADLINE_MS,
    idleMs: IDLE_MS,
    unfinished: notHashed,
  })

  async hash(password: string): Promise<string> {
    const answer = await this.#ask({ password, hash: null })
    return (answer as { hash: string }).hash
  }

  async verify(password: string, hash: string): Promise<boolean> {
    const answer = await this.#ask({ password, hash })
    return (answer as { fits: boolean }).fits
  }

  async #ask(question: ToHashing): Promise<FromHashing> {
    const answer = await this.#thread.run(question)
    if ('error' in answer) throw notHashed(answer.error)
    return answer
  }
}

function notHashed(reason: string): Error {
  return new Error(`A password could not be hashed: ${reason}`)
}
