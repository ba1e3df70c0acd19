/**
 * Codex: a rollout of JSON lines per thread. Newer versions record the usage of each response; older ones only the
 * thread's running total, some of them repeatedly. A thread that was continued by another version contains both.
 */

import { basename, join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { counted } from '../../lib/counted.ts'
import { ActivityReading } from '../active-time.ts'
import type { Counts, Limit, Service } from '../agent.ts'
import { settleByKey } from '../duplicate-calls.ts'
import { codexLimits, latestLimits } from '../limits.ts'
import {
  CALL_DEFAULTS,
  countsOf,
  disjointCounts,
  type FileReading,
  findCountable,
  type ModelCall,
  momentOf,
  objectOf,
  serviceOf,
  textOf,
  totalOf,
  UNKNOWN_MODEL,
} from '../model-calls.ts'
import { Damages, readMarkedLines } from '../session-lines.ts'
import type { SettledCalls } from '../settled-calls.ts'
import { reportAbsentCounts, reportUnknownFields, reportUnknownUsage } from './known-fields.ts'
import type { OnNote, Reader, ReadFile } from './reader.ts'

/** Codex compresses those that are older than a week. While one is continued, both files may exist. */
const ROLLOUT = /(?:^|[/\\])rollout-[^/\\]*\.jsonl(?:\.zst)?$/

/** The id of a thread in the name of its file. */
const THREAD = /([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\.jsonl(?:\.zst)?$/

export const codex: Reader = {
  name: 'codex',
  folders: ({ codexHome, home }: AgentsEnvironment) => {
    const folder = codexHome ?? join(home, '.codex')
    return [join(folder, 'sessions'), join(folder, 'archived_sessions')]
  },
  isSessionFile: (path) => ROLLOUT.test(path),
  recordsFirstBranch: true,
  read: (path) => new RolloutReading(path).run(),
  settle: (files, settledCalls, onNote) =>
    settleByKey(withoutInherited(files, settledCalls, onNote), isLarger, settledCalls),
  readTitles,
}

const USAGE_COUNTS = [
  'input_tokens',
  'cached_input_tokens',
  'cache_write_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
] as const

/** Older versions do not have all others. */
const ALWAYS_COUNTED = ['input_tokens', 'cached_input_tokens', 'output_tokens', 'total_tokens']

const USAGE_FIELDS = new Set<string>(USAGE_COUNTS)
const INFO_FIELDS = new Set(['total_token_usage', 'last_token_usage', 'model_context_window'])

/** Counted by Codex: the input includes both cache counts, the output the reasoning, and the total both. */
type Usage = [input: number, cached: number, written: number, output: number, reasoning: number, total: number]

const NOTHING: Usage = [0, 0, 0, 0, 0, 0]

/** What a person wrote, in older and newer versions. */
const PROMPTS = ['"user_message"', '"UserMessage"']

const MARKS = [
  '"session_meta"',
  '"turn_context"',
  // Records of any type with counts.
  '_tokens"',
  '"token_count"',
  '"thread_settings_applied"',
  '"web_search_call"',
  ...PROMPTS,
]

class RolloutReading {
  readonly #damages = new Damages()
  readonly #calls: ModelCall[] = []
  #thread = ''
  #startedAt: number | null = null
  #parents: string[] = []
  #root = ''
  #folder = ''
  /** What git said when the session started, and where. */
  #git = { folder: '', branch: '', remote: '' }
  #provider = ''
  #version = ''
  /** Rollouts of 2025 and before contain none if the person chose none. */
  #model = UNKNOWN_MODEL
  #service: Service | undefined
  /** Searches of the response that is not counted yet. */
  #webSearches = 0
  /** The thread's total that has been counted so far. */
  #total: Usage | undefined
  /** How often the total started again from zero, as in old versions when a thread continues on another day. */
  #restarts = 0
  /** The turn's usage is recorded for each response, and the running totals only repeat it. */
  #hasRecords = false
  /** How often a record without a response id occurred so far. */
  readonly #alike = new Map<string, number>()
  #isSpawned = false
  /** The plan of the account, as the vendor last named it. */
  #plan = ''
  #limits: Limit[] = []

  constructor(readonly path: string) {}

  run(): FileReading {
    const pathThread = THREAD.exec(this.path)?.[1] ?? basename(this.path).replace(/\.jsonl(?:\.zst)?$/, '')
    const activity = new ActivityReading().of(pathThread)
    this.#damages.session = pathThread
    const visit = (record: Record<string, unknown>, line: number) => {
      const at = momentOf(record.timestamp)
      const payload = objectOf(record.payload)
      this.#read(record, payload ?? {}, line)
      activity.of(this.#thread || pathThread)
      if (at !== undefined) activity.add(at, record.type === 'event_msg' && isPrompt(payload))
    }
    readMarkedLines(this.path, MARKS, this.#damages, visit, (at) => activity.line(at))
    const thread = this.#thread || pathThread
    for (const call of this.#calls) call.session ||= thread
    // The thread that it continues is the first.
    const family = [...new Set([...this.#parents, this.#root])].filter((id) => id !== '' && id !== thread)
    return {
      calls: this.#calls,
      startedAt: this.#startedAt,
      damage: this.#damages.list(),
      version: this.#version,
      parents: family.length > 0 ? { [thread]: family } : {},
      activity: activity.activity(),
      ...(this.#limits.length === 0 ? {} : { limits: this.#limits }),
      ...(this.#plan === '' ? {} : { origins: { [thread]: { plan: `codex:${this.#plan}` } } }),
    }
  }

  #read(record: Record<string, unknown>, payload: Record<string, unknown>, line: number): void {
    if (record.type === 'session_meta') this.#readMeta(record, payload)
    else if (record.type === 'turn_context') this.#readTurn(payload)
    else if (record.type === 'token_usage_record') this.#readRecord(record, payload, line)
    else if (record.type === 'event_msg' && payload.type === 'token_count') this.#readTotal(record, payload, line)
    else if (record.type === 'event_msg' && payload.type === 'thread_settings_applied') this.#readSettings(payload)
    else if (record.type === 'response_item' && payload.type === 'web_search_call') this.#readSearch(payload)
    else reportUnknownUsage(record, payload.type ?? record.type, this.#damages.of(line))
  }

  /** The first one belongs to the thread; a fork also copies the one of its parent. */
  #readMeta(record: Record<string, unknown>, meta: Record<string, unknown>): void {
    const id = textOf(meta.id) || textOf(meta.session_id)
    if (this.#thread !== '') {
      if (id !== this.#thread) this.#parents.push(id)
      return
    }
    const git = objectOf(meta.git)
    const spawned = objectOf(objectOf(objectOf(meta.source)?.subagent)?.thread_spawn)
    this.#thread = id
    this.#isSpawned = spawned !== undefined || textOf(meta.parent_thread_id) !== ''
    this.#root = textOf(meta.session_id)
    this.#parents = [meta.forked_from_id, meta.parent_thread_id, spawned?.parent_thread_id].map(textOf).filter(Boolean)
    this.#startedAt = momentOf(record.timestamp) ?? momentOf(meta.timestamp) ?? null
    this.#folder = textOf(meta.cwd)
    this.#version = textOf(meta.cli_version)
    this.#git = { folder: this.#folder, branch: textOf(git?.branch), remote: textOf(git?.repository_url) }
    const provider = textOf(meta.model_provider).toLowerCase()
    this.#provider = provider === 'openai' ? '' : provider
  }

  #readTurn(turn: Record<string, unknown>): void {
    this.#hasRecords = false
    this.#model = textOf(turn.model) || this.#model
    this.#folder = textOf(turn.cwd) || this.#folder
  }

  /** What Codex asks for. It does not record what the vendor's answers say. */
  #readSettings(payload: Record<string, unknown>): void {
    this.#service = serviceOf({ service_tier: objectOf(payload.thread_settings)?.service_tier })
  }

  /** Opening a page that was found is not charged. */
  #readSearch(payload: Record<string, unknown>): void {
    if (objectOf(payload.action)?.type === 'search') this.#webSearches += 1
  }

  #readRecord(record: Record<string, unknown>, payload: Record<string, unknown>, line: number): void {
    const usage = this.#usageOf(payload.usage, line)
    const at = momentOf(record.timestamp)
    if (!usage) return
    this.#hasRecords = true
    this.#add(usage, at, line, this.#recordKey(payload), textOf(payload.thread_id))
  }

  /**
   * The response's id. Some providers give none: then copies have the same thread, turn and counts, and are the same of
   * those, in their order.
   */
  #recordKey(payload: Record<string, unknown>): string {
    const response = textOf(payload.response_id)
    if (response !== '') return response
    const { thread_id, turn_id, usage, thread_token_usage } = payload
    const alike = JSON.stringify([textOf(thread_id) || this.#thread, turn_id, usage, thread_token_usage])
    const count = (this.#alike.get(alike) ?? 0) + 1
    this.#alike.set(alike, count)
    return `${alike} ${count}`
  }

  #readTotal(record: Record<string, unknown>, payload: Record<string, unknown>, line: number): void {
    // Null with an API key.
    this.#plan = textOf(objectOf(payload.rate_limits)?.plan_type) || this.#plan
    const at = momentOf(record.timestamp)
    const onDamage = this.#damages.of(line)
    if (at !== undefined) {
      const limits = codexLimits(payload.rate_limits, at, onDamage)
      if (limits.length > 0) this.#limits = latestLimits([...this.#limits, ...limits])
    }
    // Account limits arrive as the same event, without counts.
    if (payload.info === null) return
    const info = objectOf(payload.info)
    if (!info) return void onDamage('has no token counts, and is not counted')
    reportUnknownFields(info, INFO_FIELDS, onDamage)
    reportAbsentCounts(info, ['total_token_usage'], onDamage)
    const last = info.last_token_usage === undefined ? undefined : this.#usageOf(info.last_token_usage, line)
    const expected = sumOf(this.#total ?? NOTHING, last ?? NOTHING)
    const total = info.total_token_usage === undefined ? last : this.#usageOf(info.total_token_usage, line, expected)
    if (!total) return
    const counted = this.#total ?? (this.#parents.length > 0 && last ? difference(total, last) : NOTHING)
    this.#total = total
    const isAnew = total.some((count, index) => count < counted[index]!)
    if (isAnew) this.#restarts += 1
    if (this.#hasRecords) return
    const used = isAnew ? (last ?? total) : difference(total, counted)
    if (used.some((count) => count > 0)) this.#add(used, at, line, '', '', `${this.#restarts} ${total.join(' ')}`)
  }

  /** An invalid count is taken from `expected`, so that a running total does not seem to start again. */
  #usageOf(value: unknown, line: number, expected?: Usage): Usage | undefined {
    const usage = objectOf(value)
    const onDamage = this.#damages.of(line)
    if (!usage) return void onDamage('has no token counts, and is not counted')
    reportUnknownFields(usage, USAGE_FIELDS, onDamage)
    reportAbsentCounts(usage, ALWAYS_COUNTED, onDamage)
    return countsOf(usage, USAGE_COUNTS, onDamage, expected)
  }

  #add(usage: Usage, at: number | undefined, line: number, key: string, owner: string, total?: string): void {
    const recorded = { counts: countsOfUsage(usage), at, model: this.#model }
    const countable = findCountable(recorded, this.#damages.of(line))
    if (!countable) return
    this.#calls.push({
      ...CALL_DEFAULTS,
      ...countable,
      key,
      session: this.#thread,
      owner,
      isSidechain: this.#isSpawned,
      provider: this.#provider,
      folder: this.#folder,
      ...(this.#folder === this.#git.folder ? { branch: this.#git.branch, remote: this.#git.remote } : {}),
      ...(total === undefined ? {} : { total }),
      ...(this.#service ? { service: this.#service } : {}),
      ...(this.#webSearches > 0 ? { tools: { web_search: this.#webSearches } } : {}),
    })
    this.#webSearches = 0
  }
}

function isPrompt(payload: Record<string, unknown> | undefined): boolean {
  return payload?.type === 'user_message' || objectOf(payload?.item)?.type === 'UserMessage'
}

function sumOf(one: Usage, other: Usage): Usage {
  return one.map((count, index) => count + other[index]!) as Usage
}

function difference(total: Usage, counted: Usage): Usage {
  return total.map((count, index) => Math.max(0, count - counted[index]!)) as Usage
}

function countsOfUsage([input, cached, written, output, , total]: Usage): Counts {
  return disjointCounts({ input, cached, written, output, total })
}

function isLarger(candidate: ModelCall, held: ModelCall): boolean {
  return totalOf(candidate.counts) >= totalOf(held.counts)
}

/**
 * Removes running totals that a thread inherited from the thread that it continues. The remaining calls are identified
 * by their total, because an archived thread may be in two files.
 */
function withoutInherited(files: readonly ReadFile[], settledCalls: SettledCalls, onNote: OnNote): ReadFile[] {
  const threads = threadsIn(files)
  return files.map((file) => {
    const { reading } = file
    const running = reading.calls.filter(({ total }) => total !== undefined)
    if (running.length === 0) return file
    const { count, isGuess } = inheritedFrom(running, reading, threads, settledCalls)
    if (isGuess) onNote(file.path, guessed(count, reading.parents[running[0]!.session]![0]!))
    const inherited = new Set(running.slice(0, count))
    const calls = reading.calls
      .filter((call) => !inherited.has(call))
      .map((call) => (call.total === undefined ? call : { ...call, key: keyOfTotal(call.session, call.total) }))
    return { ...file, reading: { ...reading, calls } }
  })
}

function keyOfTotal(session: string, total: string): string {
  return `${session} ${total}`
}

interface Thread {
  session: string
  totals: string[]
}

interface Threads {
  bySession: Map<string, Thread>
  /** By the thread that they continue. */
  byParent: Map<string, Thread[]>
}

/** The threads with running totals. */
function threadsIn(files: readonly ReadFile[]): Threads {
  const threads: Threads = { bySession: new Map(), byParent: new Map() }
  for (const { reading } of files) {
    const totals = reading.calls.flatMap(({ total }) => total ?? [])
    if (totals.length === 0) continue
    const { session } = reading.calls[0]!
    const thread = { session, totals }
    // An archived thread may be in two files.
    if (totals.length > (threads.bySession.get(session)?.totals.length ?? 0)) threads.bySession.set(session, thread)
    const parent = reading.parents[session]?.[0]
    if (parent !== undefined) threads.byParent.set(parent, [...(threads.byParent.get(parent) ?? []), thread])
  }
  return threads
}

/**
 * How many of a thread's running totals are inherited, which come first. What its parent's file has in the same order is.
 * Without that file, it is what is remembered of it, or what others have that inherited it too: a thread further up, or
 * one with the same parent. If there is nothing, or more seems to be inherited, the times are the only evidence, which is
 * a guess.
 */
function inheritedFrom(
  running: readonly ModelCall[],
  reading: FileReading,
  { bySession, byParent }: Threads,
  settledCalls: SettledCalls,
): { count: number; isGuess: boolean } {
  const { session } = running[0]!
  const [parent, ...ancestors] = reading.parents[session] ?? []
  if (parent === undefined) return { count: 0, isGuess: false }
  const own = running.map(({ total }) => total!)
  const original = bySession.get(parent)
  if (original) return { count: sharedWith(own, original.totals), isGuess: false }
  const isOthers = (total: string) => [parent, ...ancestors].some((id) => settledCalls.has(id, keyOfTotal(id, total)))
  const isOwn = (total: string) => settledCalls.has(session, keyOfTotal(session, total))
  const remembered = leadingCount(own, isOthers)
  if (remembered > 0 && own.some(isOwn)) return { count: own.findIndex(isOwn), isGuess: false }
  const siblings = byParent.get(parent)!.filter((each) => each.session !== session)
  const relatives = [...ancestors.flatMap((id) => bySession.get(id) ?? []), ...siblings]
  const shared = Math.max(remembered, ...relatives.map(({ totals }) => sharedWith(own, totals)))
  const replayed = replayedCount(running, reading)
  return replayed > shared ? { count: replayed, isGuess: true } : { count: shared, isGuess: false }
}

/** How many totals at the start of a thread are in the same order in another one. */
function sharedWith(own: readonly string[], totals: readonly string[]): number {
  const from = totals.indexOf(own[0]!)
  if (from === -1) return 0
  return leadingCount(own, (total, index) => total === totals[from + index])
}

/** How many totals at the start match. */
function leadingCount(totals: readonly string[], matches: (total: string, index: number) => boolean): number {
  const differing = totals.findIndex((total, index) => !matches(total, index))
  return differing === -1 ? totals.length : differing
}

/**
 * A fork writes what it inherits when it starts, within milliseconds or, if it is much, seconds. Its own first answer
 * comes later, because a person has to ask.
 */
const FORK_PAUSE_MS = 2_000

/** Nobody has to ask a sub-agent: its first answer may be quick, but not two of them in a row. */
const SPAWN_PAUSE_MS = 1_000

/** How many totals follow the start of the thread, and each other, sooner than its own answers can. */
function replayedCount(running: readonly ModelCall[], { startedAt }: FileReading): number {
  const { isSidechain } = running[0]!
  const pauseMs = isSidechain ? SPAWN_PAUSE_MS : FORK_PAUSE_MS
  const before = (index: number) => (index === 0 ? startedAt : null) ?? running[Math.max(0, index - 1)]!.at
  const own = running.findIndex(({ at }, index) => at - before(index) > pauseMs)
  const count = own === -1 ? running.length : own
  return isSidechain && count < 2 ? 0 : count
}

function guessed(count: number, parent: string): string {
  const requests = counted(count, 'request')
  return `${requests} at its start, judged by the times, belong to thread ${parent}, which has no file, and are left out`
}

/** A rollout contains no title of the thread, so the first prompt is used. */
function readTitles(path: string): Map<string, string> {
  const titles = new Map<string, string>()
  let thread = ''
  readMarkedLines(path, ['"session_meta"', ...PROMPTS], new Damages(), (record) => {
    const payload = objectOf(record.payload)
    if (record.type === 'session_meta') thread ||= textOf(payload?.id)
    if (thread === '' || titles.has(thread)) return
    const [content] = (objectOf(payload?.item)?.content as unknown[] | undefined) ?? []
    const title = textOf(payload?.message) || textOf(objectOf(content)?.text)
    if (title !== '') titles.set(thread, title)
  })
  return titles
}
