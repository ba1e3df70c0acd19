/**
 * Requests that report entries as agents do, as ready-made bytes. Creating JSON during a measurement would take
 * processor time from the server, so only the digits that differ are written before each request.
 */

/** The batch size that the targets refer to. */
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
  /** Of the counts, and one in the summary: hardly any two are the same. */
  numbers: number[]
}

interface Request {
  bytes: Buffer
  entries: Slots[]
}

function entryText(variant: number, named: boolean): string {
  return JSON.stringify({
    agent_harness: HARNESSES[variant % HARNESSES.length],
    agent_name: AGENTS[variant % AGENTS.length],
    model: MODELS[variant % MODELS.length],
    started_at: MOMENT,
    ended_at: MOMENT,
    tokens: { input: 11111, output: 22222, cache_read: 33333, cache_write: 44444 },
    summary: 'Make the checkout keep the cart as login 55555 fails',
    ...(named && { project: `project-${variant % PROJECTS}` }),
    session_id: SESSION_ID,
    labels: { repository: `acme/repository-${variant % 40}`, branch: `feature/change-${variant % VARIANTS}` },
    requests: 12,
  })
}

function requestOf(path: string, token: string, texts: string[]): Request {
  const body = texts.length === 1 ? texts[0]! : `[${texts.join(',')}]`
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ].join('\r\n')
  const bytes = Buffer.from(`${head}\r\n\r\n${body}`, 'latin1')
  const entries: Slots[] = []
  for (let at = 0; entries.length < texts.length; ) {
    const startedAt = bytes.indexOf(MOMENT, at)
    const endedAt = bytes.indexOf(MOMENT, startedAt + 1)
    const numbers = ['11111', '22222', '33333', '44444', '55555'].map((digits) => bytes.indexOf(digits, endedAt))
    const sessionId = bytes.indexOf(SESSION_ID, endedAt)
    entries.push({ startedAt, endedAt, numbers, sessionId })
    at = sessionId
  }
  return { bytes, entries }
}

const HEX = Buffer.from('0123456789abcdef')
const DIGIT_0 = 48
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

export interface BodyOptions {
  path: string
  token: string
  /** Entries in one request; more than one is a batch. */
  batch: number
  /** Entries start at a random time within this many days before now. */
  days: number
  /** Whether entries name their project (default); otherwise rules place them. */
  named?: boolean
}

/** An endless supply of requests, each with new sessions. */
export class Bodies {
  readonly #requests: Request[]
  readonly #days: number
  /** Distinguishes the sessions of this run from those of other runs. */
  readonly #run = crypto.getRandomValues(new Uint8Array(4))
  #sessions = 0
  #turn = 0
  #random = 1

  constructor({ path, token, batch, days, named = true }: BodyOptions) {
    this.#days = days
    this.#requests = Array.from({ length: VARIANTS }, (_, variant) =>
      requestOf(
        path,
        token,
        Array.from({ length: batch }, (_, item) => entryText(variant + item, named)),
      ),
    )
  }

  /** The bytes of the next request, valid until every other variant has been used. */
  next(): Buffer {
    const { bytes, entries } = this.#requests[this.#turn++ % VARIANTS]!
    for (const slots of entries) {
      const startedAt = Date.now() - Math.floor(this.#fraction() * this.#days * DAY_MS) - 60 * MINUTE_MS
      bytes.write(new Date(startedAt).toISOString(), slots.startedAt, 'latin1')
      bytes.write(
        new Date(startedAt + Math.floor(this.#fraction() * 50) * MINUTE_MS).toISOString(),
        slots.endedAt,
        'latin1',
      )
      for (const at of slots.numbers) this.#writeNumber(bytes, at)
      this.#writeSessionId(bytes, slots.sessionId)
    }
    return bytes
  }

  #writeNumber(bytes: Buffer, at: number): void {
    let rest = 10_000 + Math.floor(this.#fraction() * 89_999)
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
