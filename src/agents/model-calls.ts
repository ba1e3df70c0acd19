/** What readers find in session files, before duplicates are removed. */
import type { Counts } from './agent.ts'

/** One call of a model, as recorded in one file. */
export interface ModelCall {
  /** Two with the same name are the same call; empty where the agent names none. */
  key: string
  /** The session whose file contains it. */
  session: string
  /** The session that made it, where the file says so; empty where it does not. */
  owner: string
  /** Milliseconds since 1970. */
  at: number
  model: string
  provider: string
  counts: Counts
  /** Exact decimal text of US dollars; empty where the file says none. */
  cost: string
  folder: string
  branch: string
  /** Stands beside the conversation, as what sub-agents do. Such a file may repeat calls of the conversation. */
  isSidechain: boolean
  /** How many calls it stands for, where a file only tells sums; else it is one. */
  requests?: number
  /** The address of the folder's repository, where the agent notes it. */
  remote?: string
  /** The running total of the session after it, as text, where the file tells no more than that. */
  total?: string
}

/** What a file tells beside a call's key, session, time, model and counts, where it tells nothing. */
export const UNTOLD = { owner: '', provider: '', cost: '', folder: '', branch: '', isSidechain: false } as const

/** The fields without which a call cannot be counted. */
export type Countable = Pick<ModelCall, 'counts' | 'at' | 'model'>

/**
 * Undefined where nothing was used, and where something is missing without which a call cannot be counted, which is
 * told as damage. The counts are undefined where they are none.
 */
export function findCountable(
  { counts, at, model }: { [Field in keyof Countable]: Countable[Field] | undefined },
  tellDamage: (what: string) => void,
): Countable | undefined {
  const missing = (what: string) => void tellDamage(`has token counts ${what}, and is not counted`)
  if (!counts) return missing('that are not whole numbers')
  if (totalOf(counts) === 0) return undefined
  if (at === undefined) return missing('without a time')
  return model ? { counts, at, model } : missing('without a model')
}

export interface FileDamage {
  line: number | null
  what: string
}

/** Everything that a scan wants to know of a file. Holds nothing of what was said, so that it can be kept. */
export interface FileReading {
  calls: ModelCall[]
  /** The first moment that the file names; null where it names none. */
  startedAt: number | null
  damage: FileDamage[]
  /** Sessions that were made of others, as sub-agents and forks are, with those. */
  parents: Record<string, string[]>
}

/** A count as files have it: absent and null are none. Undefined where it is no count, which is damage. */
export function countOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Several counts at once; undefined where one of them is none. */
export function countsOf<Names extends readonly string[]>(
  record: Record<string, unknown>,
  names: Names,
): { -readonly [Index in keyof Names]: number } | undefined {
  const counts = names.map((name) => countOf(record[name]))
  return counts.includes(undefined) ? undefined : (counts as { -readonly [Index in keyof Names]: number })
}

export function totalOf({ input, output, cache_read, cache_write, cache_write_1h }: Counts): number {
  return input + output + cache_read + cache_write + cache_write_1h
}

/** An object of JSON, or undefined for anything else. */
export function objectOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/** Empty where it is no text. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A moment as agents write it: ISO 8601 text, or milliseconds since 1970. Undefined for anything else. */
export function momentOf(value: unknown): number | undefined {
  const moment = typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isFinite(moment) && moment >= 0 && moment < LATEST_MOMENT ? Math.floor(moment) : undefined
}

/** The end of the year 9999, beyond which a timestamp has no four digits. */
const LATEST_MOMENT = 253_402_300_800_000
