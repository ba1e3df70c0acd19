/** Hands a password to the thread that hashes. It is there only while somebody signs in. */
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

interface Job {
  question: ToHashing
  resolve: (answer: FromHashing) => void
}

export class HashingThread implements PasswordHasher {
  #worker: Worker | undefined
  #job: Job | undefined
  /** Gives a hash up at its deadline; without one, ends the thread. */
  #timer: Timer | undefined

  async hash(password: string): Promise<string> {
    const answer = await this.#ask({ password, hash: null })
    return (answer as { hash: string }).hash
  }

  async verify(password: string, hash: string): Promise<boolean> {
    const answer = await this.#ask({ password, hash })
    return (answer as { fits: boolean }).fits
  }

  async #ask(question: ToHashing): Promise<FromHashing> {
    const answer = await this.#run(question)
    if ('error' in answer) throw new Error(`A password could not be hashed: ${answer.error}`)
    return answer
  }

  #run(question: ToHashing): Promise<FromHashing> {
    return new Promise((resolve) => {
      clearTimeout(this.#timer)
      this.#job = { question, resolve }
      this.#worker ??= this.#start()
      // A command that sets a password has nothing else that keeps it alive until it is hashed.
      this.#worker.ref()
      this.#worker.postMessage(question)
      this.#timer = setTimeout(() => this.#fail('it took too long'), DEADLINE_MS)
    })
  }

  #start(): Worker {
    const worker = new Worker(new URL('./hashing-worker.ts', import.meta.url).href, { smol: true })
    worker.onmessage = ({ data }: MessageEvent<FromHashing>) => {
      if (worker === this.#worker) this.#answer(data)
    }
    const broken = (reason: string) => () => {
      if (worker === this.#worker) this.#fail(reason)
    }
    worker.onerror = broken('the thread failed')
    worker.addEventListener('close', broken('the thread ended'))
    return worker
  }

  #answer(answer: FromHashing): void {
    const job = this.#job
    this.#job = undefined
    clearTimeout(this.#timer)
    this.#worker?.unref()
    this.#timer = setTimeout(() => this.#end(), IDLE_MS)
    this.#timer.unref()
    job?.resolve(answer)
  }

  /** The next password has a new thread. */
  #fail(reason: string): void {
    this.#end()
    const job = this.#job
    this.#job = undefined
    job?.resolve({ error: reason })
  }

  #end(): void {
    clearTimeout(this.#timer)
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
  }
}
