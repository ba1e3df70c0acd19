/**
 * Requests that report entries as agents do, as ready-made bytes. Creating JSON during a measurement would take
 * processor time from the server, so only the digits that differ are written before each request.
 */

/** The number of projects that entries name. */
const PROJECTS = 200

/** Each variant is a request with different names. More of them would make no difference to any cache. */
const VARIANTS = 200

const MODELS = ['claude-sonnet-4-5', 'claude-opus-4-8', 'claude-haiku-4-5', 'gpt-5-codex']
const HARNESSES = ['claude-code', 'codex', 'gemini-cli']
const AGENTS = ['reviewer', 'implementer', 'planner', 'release-notes', 'triage']

const SESSION_ID = '00000000-0000-7000-8000-000000000000'
const MOMENT = '2026-01-01T00:00:00.000Z'

/** The digits that are overwritten in each entry: five per number, because numbers in JSON can't start with 0. */
interface Slots {
  sessionId: number
  startedAt: number
  endedAt: number
  /** Of each slice, or of the whole if it has none. */
  parts: { startedAt: number | undefined; endedAt: number | undefined; counts: number[] }[]
  /** A number in the summary: hardly any two summaries are the same. */
  summary: number
}

interface Entry {
  slots: Slots
  /** Of the session that it reports at the moment. */
  startedAtMs: number
  endedAtMs: number
  counts: number[]
}

interface Request {
  bytes: Buffer
  entries: Entry[]
  /** How often it will report the same sessions again. */
  reportsLeft: number
}

const TOKENS = { input: 11111, output: 22222, cache_read: 33333, cache_write: 44444 }

function entryText(variant: number, named: boolean, slices: number): string {
  const repository = `acme/repository-${variant % 40}`
  const cell = (branch: number) => ({
    ...{ started_at: MOMENT, ended_at: MOMENT, tokens: TOKENS, requests: 12 },
    labels: { repository, branch: `feature/change-${(variant + branch) % VARIANTS}` },
  })
  return JSON.stringify({
    agent_harness: HARNESSES[variant % HARNESSES.length],
    agent_name: AGENTS[variant % AGENTS.length],
    model: MODELS[variant % MODELS.length],
    started_at: MOMENT,
    ended_at: MOMENT,
    ...(slices === 0 && { tokens: TOKENS, labels: cell(0).labels, requests: 12 }),
    // As of a session with two branches.
    ...(slices > 0 && { slices: Array.from({ length: slices }, (_, at) => cell(at < slices / 2 ? 0 : 1)) }),
    summary: 'Make the checkout keep the cart as login 55555 fails',
    ...(named && { project: `project-${variant % PROJECTS}` }),
    session_id: SESSION_ID,
  })
}

function requestOf(path: string, token: string, texts: string[], slices: number): Request {
  const body = texts.length === 1 ? texts[0]! : `[${texts.join(',')}]`
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ].join('\r\n')
  const bytes = Buffer.from(`${head}\r\n\r\n${body}`, 'latin1')
  const entries: Entry[] = []
  for (let at = 0; entries.length < texts.length; ) {
    const startedAt = bytes.indexOf(MOMENT, at)
    const endedAt = bytes.indexOf(MOMENT, startedAt + 1)
    let from = endedAt + 1
    const parts = Array.from({ length: Math.max(1, slices) }, () => {
      const start = slices > 0 ? bytes.indexOf(MOMENT, from) : undefined
      const end = start === undefined ? undefined : bytes.indexOf(MOMENT, start + 1)
      const counts = ['11111', '22222', '33333', '44444'].map((digits) => bytes.indexOf(digits, end ?? from))
      from = counts.at(-1)!
      return { startedAt: start, endedAt: end, counts }
    })
    const summary = bytes.indexOf('55555', endedAt)
    const sessionId = bytes.indexOf(SESSION_ID, endedAt)
    const slots = { sessionId, startedAt, endedAt, parts, summary }
    entries.push({ slots, startedAtMs: 0, endedAtMs: 0, counts: [] })
    at = Math.max(sessionId, from)
  }
  return { bytes, entries, reportsLeft: 0 }
}

const HEX = Buffer.from('0123456789abcdef')
const DIGIT_0 = 48
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** The least and the greatest number of five digits. */
const LEAST = 10_000
const GREATEST = 99_999

const LONGEST_MINUTES = 50

export interface BodyOptions {
  path: string
  token: string
  /** Entries in one request; more than one is a batch. */
  batch: number
  /** Entries start at a random time within this many days before now. */
  days: number
  /** Whether entries name their project (default); otherwise rules place them. */
  named?: boolean
  /** How often each session is reported, with growing totals as hooks do; once by default. */
  repeat?: number
  /** The number of slices of each session; 0 for reports without slices. */
  slices?: number
}

/** An endless supply of requests, with new sessions or later totals of earlier ones. */
export class Bodies {
  readonly #requests: Request[]
  readonly #days: number
  readonly #repeat: number
  /** Distinguishes the sessions of this run from those of other runs. */
  readonly #run = crypto.getRandomValues(new Uint8Array(4))
  #sessions = 0
  #turn = 0
  #random = 1

  constructor({ path, token, batch, days, named = true, repeat = 1, slices = 0 }: BodyOptions) {
    this.#days = days
    this.#repeat = repeat
    this.#requests = Array.from({ length: VARIANTS }, (_, variant) =>
      requestOf(
        path,
        token,
        Array.from({ length: batch }, (_, item) => entryText(variant + item, named, slices)),
        slices,
      ),
    )
  }

  /** The bytes of the next request, valid until every other variant has been used. */
  next(): Buffer {
    const turn = this.#turn++
    const request = this.#requests[turn % VARIANTS]!
    const { bytes, entries } = request
    const isNew = request.reportsLeft === 0
    if (isNew) {
      // The first sessions end at different times, so that new ones are evenly spread over all requests.
      request.reportsLeft = turn < VARIANTS ? turn % this.#repeat : this.#repeat - 1
    } else {
      request.reportsLeft -= 1
    }
    for (const entry of entries) {
      if (isNew) this.#startSession(bytes, entry)
      else this.#continueSession(entry)
      bytes.write(new Date(entry.endedAtMs).toISOString(), entry.slots.endedAt, 'latin1')
      for (const [position, part] of entry.slots.parts.entries()) this.#writePart(bytes, entry, part, position)
    }
    return bytes
  }

  /** Slices follow each other, and the last one ends with the session. */
  #writePart(bytes: Buffer, entry: Entry, part: Slots['parts'][number], position: number): void {
    const { startedAtMs, endedAtMs, slots } = entry
    const at = (share: number) => startedAtMs + Math.floor(((endedAtMs - startedAtMs) * share) / slots.parts.length)
    if (part.startedAt !== undefined) bytes.write(new Date(at(position)).toISOString(), part.startedAt, 'latin1')
    if (part.endedAt !== undefined) bytes.write(new Date(at(position + 1)).toISOString(), part.endedAt, 'latin1')
    for (const [index, slot] of part.counts.entries()) this.#writeNumber(bytes, slot, entry.counts[index]!)
  }

  #startSession(bytes: Buffer, entry: Entry): void {
    const { slots } = entry
    entry.startedAtMs = Date.now() - Math.floor(this.#fraction() * this.#days * DAY_MS) - 60 * MINUTE_MS
    entry.endedAtMs = entry.startedAtMs + this.#step(LONGEST_MINUTES) * MINUTE_MS
    entry.counts = slots.parts[0]!.counts.map(() => LEAST + this.#step(GREATEST - LEAST))
    bytes.write(new Date(entry.startedAtMs).toISOString(), slots.startedAt, 'latin1')
    this.#writeNumber(bytes, slots.summary, LEAST + Math.floor(this.#fraction() * (GREATEST - LEAST)))
    this.#writeSessionId(bytes, slots.sessionId)
  }

  #continueSession(entry: Entry): void {
    entry.endedAtMs += this.#step(LONGEST_MINUTES) * MINUTE_MS
    entry.counts = entry.counts.map((count) => count + this.#step(GREATEST - LEAST))
  }

  /** A part of a range, small enough that all reports of a session stay within it. */
  #step(range: number): number {
    return Math.floor((this.#fraction() * range) / this.#repeat)
  }

  #writeNumber(bytes: Buffer, at: number, number: number): void {
    let rest = number
    for (let digit = 4; digit >= 0; digit--) {
      bytes[at + digit] = DIGIT_0 + (rest % 10)
      rest = Math.floor(rest / 10)
    }
  }

  #writeSessionId(bytes: Buffer, at: number): void {
    this.#run.forEach((byte, position) => {
      bytes[at + 2 * position] = HEX[byte >> 4]!
      bytes[at + 2 * position + 1] = HEX[byte & 15]!
    })
    let rest = this.#sessions++
    for (let digit = SESSION_ID.length - 1; digit >= SESSION_ID.length - 8; digit--) {
      bytes[at + digit] = HEX[rest & 15]!
      rest >>>= 4
    }
  }

  /** A pseudo-random number between 0 and 1: the same in every run, and cheap to compute. */
  #fraction(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0
    return this.#random / 2 ** 32
  }
}
