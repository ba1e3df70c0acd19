/** Hands a password to the thread that hashes. It is there only while somebody signs in. */
import { JobThread } from '../../../lib/job-thread.ts'
import type { FromHashing, ToHashing } from './hashing-worker.ts'

/** On a processor that others keep busy a hash takes two seconds. */
const DEADLINE_MS = 30_000

/** People sign in together in the morning; an idle thread holds some megabytes. */
const IDLE_MS = 30_000

/** What hashes and checks passwords, asked for one at a time. */
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
