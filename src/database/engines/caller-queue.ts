/** Slow reads that wait for a process, of all callers in turn. */
import type { DatabaseCaller } from '../../caller.ts'
import type { ToSlowProcess } from './slow-process.ts'

type Unnumbered<Message> = Message extends { id: number } ? Omit<Message, 'id'> : never

export interface Question {
  asked: Unnumbered<Extract<ToSlowProcess, { sql: string } | { task: string }>>
  deadlineMs: number
  caller: DatabaseCaller | undefined
  /** Whether a process already ended with it. */
  isRepeated: boolean
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
  /** Refuses it if it has waited too long. */
  timer: Timer | undefined
}

export class SlowQueue {
  readonly #questions: Question[] = []

  get length(): number {
    return this.#questions.length
  }

  add(question: Question): void {
    if (question.isRepeated) this.#questions.unshift(question)
    else this.#questions.push(question)
  }

  /** Returns whether the question was waiting. */
  remove(question: Question): boolean {
    const at = this.#questions.indexOf(question)
    if (at < 0) return false
    this.#questions.splice(at, 1)
    return true
  }

  /**
   * Takes the question that waits longest among those of the callers with the fewest running ones, so that the many
   * questions of one caller never delay the first of another by more than one.
   *
   * @param maximum takes none if its caller has more than so many running
   */
  take(running: readonly Question[], maximum = Number.POSITIVE_INFINITY): Question | undefined {
    let [next, fewest] = [undefined as Question | undefined, maximum + 1]
    for (const question of this.#questions) {
      const count = running.filter((each) => keyOf(each) === keyOf(question)).length
      if (count < fewest) [next, fewest] = [question, count]
      if (count === 0) break
    }
    if (next) this.remove(next)
    return next
  }

  /**
   * Removes the last question of the caller who has most, to make room for one of another caller; undefined if that one
   * would have as many.
   */
  displaceFor(caller: DatabaseCaller | undefined): Question | undefined {
    const byCaller = Map.groupBy(this.#questions, keyOf)
    const most = [...byCaller.values()].reduce((one, other) => (other.length > one.length ? other : one), [])
    const own = byCaller.get(caller?.key)?.length ?? 0
    const last = most.at(-1)
    if (!last || most.length <= own + 1) return undefined
    this.remove(last)
    return last
  }

  /** Whether somebody waits of whom none is running. */
  hasOther(running: readonly Question[]): boolean {
    return this.#questions.some((question) => !running.some((each) => keyOf(each) === keyOf(question)))
  }

  takeAll(): Question[] {
    return this.#questions.splice(0)
  }
}

const keyOf = ({ caller }: Question): number | undefined => caller?.key
