/**
 * A thread for work that would stop the main thread. It does one job at a time, or a few, while others wait; it starts with
 * the first and ends when it has been idle. If it breaks, or a job takes too long, the next job has a new thread.
 */
export interface JobThreadOptions {
  /** The URL of the worker, which answers with `answerJobs`. */
  program: string
  /** How many jobs the thread does at a time; one if absent. */
  atOnce?: number
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
  deadline?: Timer | undefined
}

/** What passes between a thread and its worker, with the number of the job. */
interface Envelope<Content> {
  job: number
  content: Content
}

export class JobThread<Question, Message extends object> {
  readonly #waiting: Job<Question, Message>[] = []
  readonly #running = new Map<number, Job<Question, Message>>()
  #worker: Worker | undefined
  #started = 0
  /** The end of the idle thread. */
  #idle: Timer | undefined

  constructor(readonly options: JobThreadOptions) {}

  /** How many jobs wait, without those that are being done. */
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
      this.#next()
    })
  }

  #next(): void {
    clearTimeout(this.#idle)
    const { atOnce = 1, idleMs } = this.options
    while (this.#running.size < atOnce && this.#waiting.length > 0) this.#begin(this.#waiting.shift()!)
    if (this.#running.size > 0) return
    this.#worker?.unref()
    this.#idle = setTimeout(() => this.#end(), idleMs)
    this.#idle.unref()
  }

  #begin(job: Job<Question, Message>): void {
    this.#started += 1
    this.#running.set(this.#started, job)
    this.#worker ??= this.#start()
    // A command may have nothing else that keeps it alive until the job is done.
    this.#worker.ref()
    const envelope: Envelope<Question> = { job: this.#started, content: job.question }
    this.#worker.postMessage(envelope, job.transfer)
    const { deadlineMs } = this.options
    if (deadlineMs) job.deadline = setTimeout(() => this.#fail('it took too long'), deadlineMs)
  }

  #start(): Worker {
    const worker = new Worker(this.options.program, { smol: true })
    worker.onmessage = ({ data }: MessageEvent<Envelope<Message>>) => {
      if (worker === this.#worker) this.#hear(data)
    }
    const fail = (reason: string) => {
      if (worker === this.#worker) this.#fail(reason)
    }
    worker.onerror = ({ message }) => fail(`the thread failed: ${message}`)
    worker.addEventListener('close', () => fail('the thread ended'))
    return worker
  }

  #hear({ job: number, content }: Envelope<Message>): void {
    const job = this.#running.get(number)
    if ('part' in content) {
      job?.onPart(content.part as PartOf<Message>)
      return
    }
    clearTimeout(job?.deadline)
    this.#running.delete(number)
    job?.resolve(content as AnswerOf<Message>)
    this.#next()
  }

  #fail(reason: string): void {
    this.#end()
    for (const job of this.#running.values()) {
      clearTimeout(job.deadline)
      job.reject(this.options.unfinished(reason))
    }
    this.#running.clear()
    this.#next()
  }

  #end(): void {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate()
  }
}

declare const self: Worker

/**
 * Answers the jobs of a {@link JobThread} in its worker.
 *
 * @param answer posts an answer to each question, and may post `{ part }` several times before it
 */
export function answerJobs<Question, Message extends object>(
  answer: (question: Question, post: (message: Message, transfer?: ArrayBuffer[]) => void) => unknown,
): void {
  self.onmessage = ({ data: { job, content } }: MessageEvent<Envelope<Question>>) =>
    answer(content, (message, transfer = []) => {
      const envelope: Envelope<Message> = { job, content: message }
      self.postMessage(envelope, transfer)
    })
}
