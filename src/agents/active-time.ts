/**
 * How long agents worked: within a turn, from a person's prompt to the last call that follows it, the time between
 * consecutive lines of all files of a conversation. It belongs to the next call. After the last call, the agent waits for
 * the person: that time is of no call, so that an earlier call never changes when the next line is written.
 */
import type { Activity, ModelCall } from './model-calls.ts'
import type { ReadFile } from './readers/reader.ts'

/** The most that counts between two lines: in longer gaps, an agent waits for a permission, or its machine sleeps. */
const LONGEST_GAP_MS = 5 * 60_000

type Span = Activity['spans'][number]

/** Collects the times of the lines of a file, which may be in any order. */
export class ActivityReading {
  readonly #sessions = new Map<string, Activity>()
  #session: Activity | undefined
  #name: string | undefined
  /** That of the previous line, which the next one mostly extends. */
  #span: Span | undefined

  /** Names the session of the lines that follow. */
  of(session: string): this {
    if (session === this.#name) return this
    this.#name = session
    this.#session = this.#sessions.get(session) ?? { prompts: [], spans: [] }
    this.#sessions.set(session, this.#session)
    this.#span = this.#session.spans.at(-1)
    return this
  }

  line(at: number): void {
    const span = this.#span
    if (!span || at < span[0] || at > span[1] + LONGEST_GAP_MS) {
      this.#span = [at, at]
      this.#session!.spans.push(this.#span)
    } else if (at > span[1]) span[1] = at
  }

  /** The time of a line that may be a prompt of a person. */
  add(at: number, isPrompt: boolean): void {
    this.line(at)
    if (isPrompt) this.#session!.prompts.push(at)
  }

  /** By session. */
  activity(): Record<string, Activity> {
    return Object.fromEntries(this.#sessions)
  }
}

/** Sets the active time of each call whose turn is known, in place. */
export function setActiveTimes(files: readonly ReadFile[]): void {
  for (const { prompts, spans, calls } of conversationsIn(files)) {
    prompts.sort((one, other) => one - other)
    calls.sort((one, other) => endOf(one) - endOf(other))
    const workWithin = createWorkWithin(spans)
    let turns = 0
    let countedTo = 0
    for (const call of calls) {
      const end = endOf(call)
      while (turns < prompts.length && prompts[turns]! <= end) turns += 1
      if (turns > 0) call.activeMs = workWithin(Math.max(countedTo, prompts[turns - 1]!), end)
      countedTo = end
    }
  }
}

function endOf({ at, endedAt }: ModelCall): number {
  return endedAt ?? at
}

/** A session with those of its sub-agents, so that what they do at the same time counts once. */
interface Conversation extends Activity {
  calls: ModelCall[]
}

function conversationsIn(files: readonly ReadFile[]): Iterable<Conversation> {
  const mainOf = createMainOf(files)
  const found = new Map<string, Conversation>()
  const conversationOf = (session: string) => {
    const main = mainOf(session)
    const conversation = found.get(main) ?? { prompts: [], spans: [], calls: [] }
    found.set(main, conversation)
    return conversation
  }
  for (const { reading } of files) {
    for (const [session, activity] of Object.entries(reading.activity ?? {})) {
      const { prompts, spans } = conversationOf(session)
      for (const span of activity.spans) spans.push(span)
      // The prompts of sub-agents are the agent's own.
      if (mainOf(session) === session) for (const prompt of activity.prompts) prompts.push(prompt)
    }
    let last: string | undefined
    let calls: ModelCall[] = []
    for (const call of reading.calls) {
      // Most files contain one session, which is looked up once.
      if (call.session !== last) calls = conversationOf(call.session).calls
      last = call.session
      calls.push(call)
    }
  }
  return found.values()
}

/** Returns the session that a sub-agent with a session of its own works for; of any other session, the session itself. */
function createMainOf(files: readonly ReadFile[]): (session: string) => string {
  const parents = new Map<string, string>()
  const mains = new Set<string>()
  for (const { reading } of files) {
    if (Object.keys(reading.parents).length === 0) continue
    for (const { isSidechain, session } of reading.calls) {
      const parent = reading.parents[session]?.[0]
      if (!isSidechain) mains.add(session)
      else if (parent !== undefined) parents.set(session, parent)
    }
  }
  // A fork with sub-agents of its own has a parent, but works for nobody.
  for (const session of mains) parents.delete(session)
  return (session) => {
    const passed = new Set<string>()
    let main = session
    for (let parent = parents.get(main); parent !== undefined && !passed.has(parent); parent = parents.get(main)) {
      passed.add(parent)
      main = parent
    }
    return main
  }
}

/** Returns how long the agent worked between two moments, in milliseconds. Must be called in the order of time. */
function createWorkWithin(spans: Span[]): (from: number, to: number) => number {
  const worked: Span[] = []
  for (const [first, last] of spans.sort(([one], [other]) => one - other)) {
    const before = worked.at(-1)
    if (before && first <= before[1]) before[1] = Math.max(before[1], last + LONGEST_GAP_MS)
    else worked.push([first, last + LONGEST_GAP_MS])
  }
  let passed = 0
  return (from, to) => {
    while (passed < worked.length && worked[passed]![1] <= from) passed += 1
    let time = 0
    for (let index = passed; index < worked.length && worked[index]![0] < to; index += 1) {
      const [first, last] = worked[index]!
      time += Math.min(to, last) - Math.max(from, first)
    }
    return time
  }
}
