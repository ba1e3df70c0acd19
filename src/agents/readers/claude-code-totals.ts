/**
 * The totals per model that Claude Code writes to a session's file when it ends (`cost-state`). They include requests
 * without a line of their own, such as `/compact` and web searches.
 */
import type { Counts } from '../agent.ts'
import {
  addCounts,
  CALL_DEFAULTS,
  countOf,
  countsOf,
  inputSideOf,
  LargestCounts,
  type ModelCall,
  momentOf,
  noCounts,
  type OnDamage,
  objectOf,
  type SessionTotals,
  textOf,
  totalOf,
} from '../model-calls.ts'
import type { SettledCalls } from '../settled-calls.ts'
import { recordedCounts, reportUnknownFields, reportUnknownUsage } from './known-fields.ts'
import type { ReadFile } from './reader.ts'

const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadInputTokens', 'cacheCreationInputTokens'] as const
/** Only of newer versions. */
const NEWER_COUNTS = ['cacheCreationEphemeral1hInputTokens', 'webSearchRequests'] as const
/** Parts of other counts, and what is not counted in tokens. */
const OTHERS = ['cacheCreationEphemeral5mInputTokens', 'thinkingTokens', 'costUSD', 'contextWindow', 'maxOutputTokens']
const FIELDS = new Set<string>([...COUNTS, ...NEWER_COUNTS, ...OTHERS])

/** Collects the totals of one file, and what the lines around them say about their time. */
export class TotalsReading {
  readonly totals: SessionTotals[] = []
  #at = 0
  #ownFrom = 0
  #copiedUntil: number | null = null

  /** Called with the time of each line, in their order. */
  passLine(at: number, isCopied: boolean): void {
    // Lines are not always in the order of their times.
    for (const totals of this.totals) if (at > totals.at) totals.until ??= at
    this.#at = Math.max(this.#at, at)
    if (isCopied) {
      this.#copiedUntil = Math.max(this.#copiedUntil ?? at, at)
      this.#ownFrom = 0
    } else {
      this.#ownFrom ||= at
    }
  }

  read(record: Record<string, unknown>, pathSession: string, onDamage: OnDamage): void {
    const since = momentOf(record.startTime)
    const runningMs = record.totalDuration
    if (since === undefined || typeof runningMs !== 'number' || !(runningMs >= 0)) {
      onDamage('has totals without a time; requests such as /compact are not counted')
      return
    }
    const usage = objectOf(record.modelUsage)
    if (!usage) return void reportUnknownUsage(record, record.type, onDamage)
    this.totals.push({
      session: textOf(record.sessionId) || pathSession,
      since,
      runningMs,
      at: this.#at || since + runningMs,
      until: null,
      ownFrom: this.#ownFrom,
      copiedUntil: this.#copiedUntil,
      models: modelsOf(usage, onDamage),
    })
  }
}

/** A model with an invalid total is left out: without it, nothing can be compared with its calls. */
function modelsOf(usage: Record<string, unknown>, onDamage: OnDamage): SessionTotals['models'] {
  const models: SessionTotals['models'] = {}
  for (const [model, value] of Object.entries(usage)) {
    const record = objectOf(value) ?? {}
    if ([...COUNTS, ...NEWER_COUNTS].some((name) => countOf(record[name]) === undefined)) {
      onDamage('has totals that are not whole numbers; requests such as /compact are not counted')
      continue
    }
    reportUnknownFields(record, FIELDS, onDamage)
    const [input, output, cache_read, written] = recordedCounts(record, COUNTS, onDamage)
    const [longer, webSearches] = countsOf(record, NEWER_COUNTS, onDamage)
    const cache_write_1h = Math.min(longer, written)
    models[model] = { input, output, cache_read, cache_write: written - cache_write_1h, cache_write_1h, webSearches }
  }
  return models
}

/**
 * The difference between the totals and the listed calls, as calls at the times of the totals that it appears in. It can
 * only be too small, never too large: the calls of a process that was killed are listed, and its successor's totals lack
 * them.
 */
export function unlistedCalls(
  listed: readonly ModelCall[],
  files: readonly ReadFile[],
  settledCalls: SettledCalls,
): ModelCall[] {
  const totals = totalsIn(files)
  if (totals.length === 0) return []
  const calls = callsBySession(listed, files, new Set(totals.map(({ session }) => session)))
  // The totals of a session that continue each other.
  const chains = Map.groupBy(totals, ({ session, since }) => `${session} ${since}`)
  return [...chains.values()].flatMap((chain) => {
    const inherited = inheritedBy(chain[0]!, totals, settledCalls)
    return inherited ? unlistedIn(chain, inherited, [...calls.get(chain[0]!.session)!]) : []
  })
}

/** In the order in which they were written. A session that continued in another folder has copies of them. */
function totalsIn(files: readonly ReadFile[]): SessionTotals[] {
  const found = new Map<string, SessionTotals>()
  for (const { reading } of files) {
    for (const each of reading.totals ?? []) {
      const key = `${each.session} ${each.since} ${each.runningMs}`
      const known = found.get(key)
      if (!known || each.until !== null) found.set(key, each)
    }
  }
  return [...found.values()].sort((one, other) => one.at - other.at || one.runningMs - other.runningMs)
}

/**
 * What a fork's totals took over from the session that it is a fork of; undefined if that session's file was never read.
 */
function inheritedBy(
  first: SessionTotals,
  totals: readonly SessionTotals[],
  settledCalls: SettledCalls,
): Inherited | undefined {
  const { session, since, ownFrom, copiedUntil } = first
  if (copiedUntil === null || copiedUntil < since) return { models: {}, at: since - 1 }
  const found = totals.findLast((each) => each.since === since && each.session !== session && each.at <= ownFrom)
  return settledCalls.firstFound(`${session} ${since}`, found && { models: found.models, at: found.at })
}

type Inherited = Pick<SessionTotals, 'models' | 'at'>

/** All calls in the files of a session, including copied ones, and those that it made and only a fork still lists. */
function callsBySession(
  listed: readonly ModelCall[],
  files: readonly ReadFile[],
  sessions: ReadonlySet<string>,
): Map<string, Set<ModelCall>> {
  const settled = new Map(listed.map((call) => [call.key, call]))
  settled.delete('')
  const found = new Map([...sessions].map((session) => [session, new Set<ModelCall>()]))
  for (const call of listed) found.get(call.session)?.add(call)
  for (const { reading } of files) {
    for (const { key, session } of reading.totals ? reading.calls : []) {
      const call = settled.get(key)
      if (call) found.get(session)?.add(call)
    }
  }
  return found
}

/** What each totals add to the largest difference until then, which can only be too small. */
function unlistedIn(chain: readonly SessionTotals[], inherited: Inherited, calls: readonly ModelCall[]): ModelCall[] {
  const largest = new Map<string, LargestCounts>()
  return chain.flatMap((totals) => {
    const covered = calls.filter(({ at }) => at > inherited.at && (totals.until === null || at < totals.until))
    return unlistedAt(totals, inherited.models, covered, largest)
  })
}

/** `largest` has the differences of earlier totals, by common name. */
function unlistedAt(
  totals: SessionTotals,
  inherited: SessionTotals['models'],
  calls: readonly ModelCall[],
  largest: Map<string, LargestCounts>,
): ModelCall[] {
  const counted = sumsByModel(Object.entries(totals.models))
  const earlier = sumsByModel(Object.entries(inherited))
  const listed = sumsByModel(calls.map((call) => [call.model, { ...call.counts, webSearches: webSearchesOf(call) }]))
  // A name that the totals lack may be another name of one that the lines lack.
  const areNamesClear = [...listed.keys()].every((name) => counted.has(name))
  return [...counted].flatMap(([name, sum]): ModelCall[] => {
    const known = listed.get(name)
    if (!known && !areNamesClear) return []
    const difference = rest(rest(sum.counts, earlier.get(name)?.counts), known?.counts)
    if (!difference) return []
    const before = largest.get(name) ?? new LargestCounts()
    largest.set(name, before)
    const counts = before.exceed(difference)
    if (totalOf(counts) === 0) return []
    const webSearches = before.exceedUses(
      sum.webSearches - (earlier.get(name)?.webSearches ?? 0) - (known?.webSearches ?? 0),
    )
    const { provider, folder, branch } = calls.findLast(({ at }) => at <= totals.at) ?? CALL_DEFAULTS
    // Such requests have the settings of the conversation.
    const service = calls.findLast(({ at, model }) => at <= totals.at && model === known?.model)?.service
    return [
      {
        ...{ ...CALL_DEFAULTS, key: '', session: totals.session, at: totals.at, isSum: true },
        ...{ model: known?.model ?? sum.model, provider, folder, branch, counts },
        // An interrupted answer is listed with fewer output tokens, and was not another request.
        requests: inputSideOf(counts) > 0 ? 1 : 0,
        ...(service ? { service } : {}),
        ...(webSearches > 0 ? { tools: { web_search: webSearches } } : {}),
        // The time that is known is that of the listed calls.
        activeMs: calls.some((call) => call.activeMs !== null) ? 0 : null,
      },
    ]
  })
}

function webSearchesOf({ tools }: ModelCall): number {
  return tools?.web_search ?? 0
}

interface ModelSum {
  /** The name as it was written last. */
  model: string
  counts: Counts
  webSearches: number
}

function sumsByModel(used: Iterable<[model: string, used: Counts & { webSearches: number }]>): Map<string, ModelSum> {
  const sums = new Map<string, ModelSum>()
  for (const [model, each] of used) {
    const name = commonName(model)
    const sum = sums.get(name) ?? { model, counts: noCounts(), webSearches: 0 }
    addCounts(sum.counts, each)
    sum.webSearches += each.webSearches
    sum.model = model.replace(CONTEXT_WINDOW, '')
    sums.set(name, sum)
  }
  return sums
}

/** What Claude Code adds to the name of a model with a context window of its own: `claude-sonnet-4-5[1m]`. */
const CONTEXT_WINDOW = /\[\w+\]$/

/**
 * The totals have the name that was asked for, such as `us.anthropic.claude-sonnet-4-5-20250929-v1:0`; the lines have
 * the name in the answer.
 */
function commonName(model: string): string {
  const name = model.toLowerCase().replace(CONTEXT_WINDOW, '')
  return name
    .replace(/^.*(?=claude-)/, '')
    .replace(/-v\d+(?::\d+)?$/, '')
    .replace(/[-@]\d{8}$/, '')
    .replace(/-latest$/, '')
}

/** Undefined if something would be negative: then the two cannot be compared. */
function rest(counts: Counts | undefined, less: Counts = noCounts()): Counts | undefined {
  if (!counts) return undefined
  const written = counts.cache_write + counts.cache_write_1h - less.cache_write - less.cache_write_1h
  // Totals of older versions do not say how long something is cached.
  const cache_write_1h = Math.min(Math.max(0, counts.cache_write_1h - less.cache_write_1h), Math.max(0, written))
  const left = {
    input: counts.input - less.input,
    output: counts.output - less.output,
    cache_read: counts.cache_read - less.cache_read,
    cache_write: written - cache_write_1h,
    cache_write_1h,
  }
  return Object.values(left).every((count) => count >= 0) ? left : undefined
}
