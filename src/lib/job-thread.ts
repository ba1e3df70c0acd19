/**
 * A thread for work that would stop the main thread. It does one job at a time while others wait, starts with the first
 * and ends when it has been idle. If it breaks, or a job takes too long, the next job has a new thread.
 */
export interface JobThreadOptions {
  /** The URL of the worker, which posts an answer to each message, and may post `{ part }` several times before it. */
  program: string
  /** What a job may take; any time if absent. */
  deadlineMs?: number
  idleMs: number
  /** The error of a job that the thread did not finish. */
  unfinished: (reason: string) => Error
}

type AnswerOf<Message> = Exclude<Message, { part: unknown }>
type PartOf<Message> = Message extends { part: infer Part } ? Part : never

interface Job<Question, Message> {
  question: Question
  transfer: ArrayBuffer[]
  onPart: (part: PartOf<Message>) => void
  resolve: (answer: AnswerOf<Message>) => void
  reject: (reason: Error) => void
}

export class JobThread<Question, Message extends object> {
  readonly #waiting: Job<Question, Message>[] = []
  #job: Job<Question, Message> | undefined
  #worker: Worker | undefined
  /** The deadline of the job; without one, the end of the idle thread. */
  #timer: Timer | undefined

  constructor(readonly options: JobThreadOptions) {}

  /** How many jobs wait, without the one that is being done. */
  get waiting(): number {
    return this.#waiting.length
  }

  run(
    question: Question,
    transfer: ArrayBuffer[] = [],
    onPart: (part: PartOf<Message>) => void = () => {},
  ): Promise<AnswerOf<Message>> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, transfer, onPart, resolve, reject })
      if (!this.#job) this.#next()
    })
  }

  #next(): void {
    clearTimeout(this.#timer)
    this.#job = this.#waiting.shift()
    if (this.#job) {
      this.#worker ??= this.#start()
      // A command may have nothing else that keeps it alive until the job is done.
      this.#worker.ref()
      this.#worker.postMessage(this.#job.question, this.#job.transfer)
      const { deadlineMs } = this.options
      if (deadlineMs) this.#timer = setTimeout(() => this.#fail('it took too long'), deadlineMs)
    } else {
      this.#worker?.unref()
      this.#timer = setTimeout(() => this.#end(), this.options.idleMs)
      this.#timer.unref()
    }
  }

  #start(): Worker {
    const worker = new Worker(this.options.program, { smol: true })
    worker.onmessage = ({ data }: MessageEvent<Message>) => {
      if (worker === this.#worker) this.#hear(data)
    }
    const fail = (reason: string) => {
      if (worker === this.#worker) this.#fail(reason)
    }
    worker.onerror = ({ message }) => fail(`the thread failed: ${message}`)
    worker.addEventListener('close', () => fail('the thread ended'))
    return worker
  }

  #hear(message: Message): void {
    if ('part' in message) {
      this.#job?.onPart(message.part as PartOf<Message>)
      return
    }
    this.#job?.resolve(message as AnswerOf<Message>)
    this.#next()
  }

  #fail(reason: string): void {
    this.#end()
    this.#job?.reject(this.options.unfinished(reason))
    this.#next()
  }

  #end(): void {
    clearTimeout(this.#timer)
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
  }
}
