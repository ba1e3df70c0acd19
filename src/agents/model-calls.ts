/** What readers find in session files, before duplicates are removed. */
import { recordedService } from '../lib/service-names.ts'
import { parseTimestamp } from '../lib/timestamp.ts'
import type { Counts, Damage, Limit, NotRead, Service } from './agent.ts'

/** One call of a model, as recorded in one file. */
export interface ModelCall {
  /** Two calls with the same key are the same; empty if the agent records none. */
  key: string
  /** The session whose file contains it. */
  session: string
  /** The session that made it; empty if the file does not record it. */
  owner: string
  /** Milliseconds since 1970. */
  at: number
  /** When the answer was complete, if `at` is when it was requested. */
  endedAt?: number
  model: string
  provider: string
  counts: Counts
  /** Exact decimal text of US dollars; empty if the file has no cost. */
  cost: string
  folder: string
  branch: string
  /**
   * Not part of the conversation itself, such as calls of sub-agents. Such a file may repeat calls of the conversation.
   */
  isSidechain: boolean
  /** How many calls it represents if a file records only sums; otherwise one. */
  requests?: number
  /** The counts may be those of several calls, of which a file records neither the number nor the length of each. */
  isSum?: boolean
  /** The parts of a call that its vendor prices one by one, if there are several. Their sum is `counts`. */
  parts?: Counts[]
  /** Absent if it is the standard one. */
  service?: Service
  /** The number of charged uses, by the name of the tool. */
  tools?: Record<string, number>
  /** The URL of the folder's repository, if the agent records it. */
  remote?: string
  /** The session's running total after the call, as text, if the file records nothing else. */
  total?: string
  /** How long the agent worked since the previous call. Null until it is known from all files, and if it is unknown. */
  activeMs: number | null
}

/** Defaults for the fields of a call that a file may not record. */
export const CALL_DEFAULTS = {
  ...{ owner: '', provider: '', cost: '', folder: '', branch: '' },
  ...{ isSidechain: false, activeMs: null },
} as const

/** The fields without which a call cannot be counted. */
export type Countable = Pick<ModelCall, 'counts' | 'at' | 'model'>

/** Called with what is wrong with a record, in words, and of which kind it is; by default it is an invalid record. */
export type OnDamage = (what: string, kind?: DamageKind) => void
/** A note is only incomplete or uncertain. `count` is how many are not read, if not one. */
export type DamageKind = 'note' | { reason: NotRead['reason']; name?: string | undefined; count?: number }

/**
 * Undefined if nothing was used, or if the call cannot be counted because its time or model is missing, which is
 * reported as damage.
 */
export function findCountable(
  { counts, at, model }: Omit<Countable, 'at'> & { at: number | undefined },
  onDamage: OnDamage,
): Countable | undefined {
  const missing = (what: string) => void onDamage(`has token counts without a ${what}, and is not counted`)
  if (totalOf(counts) === 0) return undefined
  if (at === undefined) return missing('time')
  return model ? { counts, at, model } : missing('model')
}

/** The name of a model that an agent does not record. Its price is then unknown, and shown as such. */
export const UNKNOWN_MODEL = 'unknown'

export type FileDamage = Omit<Damage, 'file'>

/** Everything that a scan needs from a file. Contains nothing of the conversation, so that it can be cached. */
export interface FileReading {
  calls: ModelCall[]
  /** The earliest time in the file; null if there is none. */
  startedAt: number | null
  damage: FileDamage[]
  /** The parents of sessions that were created from others, such as sub-agents and forks. */
  parents: Record<string, string[]>
  /** By session. Absent if the file does not have the times of lines. */
  activity?: Record<string, Activity>
  /** What the agent itself counted, if it records that. */
  totals?: SessionTotals[]
  /** By session, what the agent does not record of it, in words. */
  missing?: Record<string, string>
  /** By session, what the agent records of how it was started and is paid for, the latest. */
  origins?: Record<string, SessionOrigin>
  /** How much of the limits of the plan was used, at the latest reading of each. */
  limits?: Limit[]
  /** The version of the agent that wrote last, if the file names it. */
  version?: string
}

export interface SessionOrigin {
  /** The plan of the account, as Tally's vendor codes name it: `codex:pro`. */
  plan?: string
  /** Through what the agent was started, in its own words: `cli`, `sdk-ts`. */
  entrypoint?: string
}

/** The times of the lines of a session in a file. */
export interface Activity {
  /** Those of the prompts of a person, of which each begins a turn. */
  prompts: number[]
  /** The first and last times of lines between which no gap is longer than what counts of it. */
  spans: [first: number, last: number][]
}

/**
 * The totals of a session as its agent counted them, at one moment. They include calls that the file does not list.
 * An agent that continues or forks a session continues its totals.
 */
export interface SessionTotals {
  session: string
  /** When counting started: the same for all sessions that continue each other's totals. */
  since: number
  /** How long the agent has been running since then, in milliseconds: the order of totals with the same start. */
  runningMs: number
  /** The latest time in the file before the totals. */
  at: number
  /** The earliest time in the file after the totals; null if they are at the end. */
  until: number | null
  /** The first time in the file after everything that was copied from other sessions. */
  ownFrom: number
  /** The latest time of a call that was copied from another session; null if there is none. */
  copiedUntil: number | null
  models: Record<string, Counts & { webSearches: number }>
}

/** As for reports: more than any session has. */
const COUNT_LIMIT = 1_000_000_000_000

/** A count in a file: absent and null are 0. Undefined if it is not a valid count. */
export function countOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0
  return typeof value === 'number' && value >= 0 && value <= COUNT_LIMIT && Number.isInteger(value) ? value : undefined
}

/**
 * Several counts at once. One that is invalid is damage and counts as in `expected`, by default as 0: the other counts
 * of the call are as good as any, such as those next to the -1 that some servers answer if all input was cached.
 */
export function countsOf<Names extends readonly string[]>(
  record: Record<string, unknown>,
  names: Names,
  onDamage: OnDamage,
  expected: readonly number[] = [],
): { -readonly [Index in keyof Names]: number } {
  const counts: number[] = []
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!
    const count = countOf(record[name])
    if (count === undefined) {
      onDamage(`has an invalid count of ${name}, which is left out`, { reason: 'invalid_count', name })
    }
    counts.push(count ?? expected[index] ?? 0)
  }
  return counts as { -readonly [Index in keyof Names]: number }
}

/** The counts of a call as OpenAI and Google count them: the input includes what was read from and written to the cache. */
interface InclusiveCounts {
  input: number
  cached: number
  written?: number
  output: number
  /** Input and output, as recorded with the call; 0 if it is not. */
  total: number
}

/**
 * Some clients and proxies write an input that does not include the cache: it is then smaller than the cache, or the
 * total is larger by the cache.
 */
export function disjointCounts({ input, cached, written = 0, output, total }: InclusiveCounts): Counts {
  const cache = cached + written
  const isWithoutCache = input < cache || total === input + cache + output
  return {
    input: isWithoutCache ? input : input - cache,
    ...{ output, cache_read: cached, cache_write: written, cache_write_1h: 0 },
  }
}

export function noCounts(): Counts {
  return { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0 }
}

/** Adds the counts to a sum, in place. */
export function addCounts(sum: Counts, counts: Counts): void {
  sum.input += counts.input
  sum.output += counts.output
  sum.cache_read += counts.cache_read
  sum.cache_write += counts.cache_write
  sum.cache_write_1h += counts.cache_write_1h
}

/**
 * The largest counts of a running total so far. An agent writes it again and again: what exceeds all that it wrote before
 * was used since then, so that nothing changes what was used earlier.
 */
export class LargestCounts {
  readonly #counts = noCounts()
  #uses = 0

  /** Counts that are known already. */
  add(counts: Counts): void {
    addCounts(this.#counts, counts)
  }

  /** By how much each count exceeds the largest so far. */
  exceed({ input, output, cache_read, cache_write, cache_write_1h }: Counts): Counts {
    const largest = this.#counts
    const written = above(cache_write + cache_write_1h, largest.cache_write + largest.cache_write_1h)
    // How long something is cached may become known only later.
    const longer = Math.min(above(cache_write_1h, largest.cache_write_1h), written)
    const excess = {
      input: above(input, largest.input),
      output: above(output, largest.output),
      cache_read: above(cache_read, largest.cache_read),
      cache_write: written - longer,
      cache_write_1h: longer,
    }
    addCounts(largest, excess)
    return excess
  }

  /** The same for a number of requests or uses of a tool. */
  exceedUses(uses: number): number {
    const excess = above(uses, this.#uses)
    this.#uses += excess
    return excess
  }
}

function above(count: number, largest: number): number {
  return Math.max(0, count - largest)
}

/** Whether a tool responds in one of the parts of a message, as Gemini's API has them. */
export function hasToolResponse(parts: unknown): boolean {
  return Array.isArray(parts) && parts.some((part) => objectOf(part)?.functionResponse)
}

/** The tokens that decide whether a request has a long context. */
export function inputSideOf({ input, cache_read, cache_write, cache_write_1h }: Counts): number {
  return input + cache_read + cache_write + cache_write_1h
}

export function totalOf({ input, output, cache_read, cache_write, cache_write_1h }: Counts): number {
  return input + output + cache_read + cache_write + cache_write_1h
}

/** The value if it is a JSON object, otherwise undefined. */
export function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** Empty if it is not a text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

const SERVICE_KINDS = ['service_tier', 'speed', 'region'] as const

/** The service that an agent recorded; undefined if it is the standard one. */
export function serviceOf(recorded: { [Kind in keyof Service]?: unknown }): Service | undefined {
  let service: Service | undefined
  for (const kind of SERVICE_KINDS) {
    const name = recordedService(textOf(recorded[kind]))
    if (name !== undefined) service = { ...service, [kind]: name }
  }
  return service
}

/**
 * A time in the format of an agent: ISO 8601 text, or the number of seconds, milliseconds, microseconds or nanoseconds
 * since 1970. Undefined for anything else, and for small numbers, which are no times.
 */
export function momentOf(value: unknown): number | undefined {
  const moment = typeof value === 'string' ? momentOfText(value) : typeof value === 'number' ? millisecondsOf(value) : 0
  return moment > 0 && moment < LATEST_MOMENT ? Math.floor(moment) : undefined
}

/** What agents usually write is read several times faster than by the engine, which accepts more. */
function momentOfText(text: string): number {
  return parseTimestamp(text) ?? (NUMBER.test(text) ? millisecondsOf(Number(text)) : Date.parse(text))
}

const NUMBER = /^\d{9,}(?:\.\d+)?$/

/** From its size: a time of this century has ten digits in seconds, and three more in each smaller unit. */
function millisecondsOf(time: number): number {
  if (time < 1e8) return Number.NaN
  if (time < 1e11) return time * 1_000
  if (time < 1e14) return time
  return time < 1e17 ? time / 1_000 : time / 1_000_000
}

/** The end of the year 9999: later timestamps have no four-digit year. */
const LATEST_MOMENT = 253_402_300_800_000
