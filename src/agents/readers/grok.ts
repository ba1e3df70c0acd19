/**
 * Grok CLI: a folder per session, with a file of JSON lines that has the usage of each turn, including that of sub-agents
 * which ended in it. Sub-agents also have sessions of their own.
 */
import { basename, dirname, join } from 'node:path'
import { ActivityReading } from '../active-time.ts'
import type { Counts } from '../agent.ts'
import { settleByKey } from '../duplicate-calls.ts'
import {
  addCounts,
  CALL_DEFAULTS,
  disjointCounts,
  type FileReading,
  findCountable,
  type ModelCall,
  momentOf,
  noCounts,
  type OnDamage,
  objectOf,
  textOf,
  totalOf,
} from '../model-calls.ts'
import { Damages, readMarkedLines } from '../session-lines.ts'
import type { SettledCalls } from '../settled-calls.ts'
import { readCompanion } from './json-objects.ts'
import { recordedCounts, reportUnknownFields, reportUnknownUsage } from './known-fields.ts'
import type { OnNote, Reader, ReadFile } from './reader.ts'

const UPDATES = /^[^/\\]+[/\\][^/\\]+[/\\]updates\.jsonl$/
const FOLDER = /^[^./\\][^/\\]*(?:[/\\][^./\\][^/\\]*)?$/

export const grok: Reader = {
  name: 'grok',
  folders: ({ home, grokHome }) => [join(grokHome ?? join(home, '.grok'), 'sessions')],
  isSessionFile: (path) => UPDATES.test(path),
  isSessionFolder: (path) => FOLDER.test(path),
  companions: (path) => [summaryPath(path)],
  read: (path) => new UpdatesReading(path).run(),
  settle: (files, settledCalls, onNote) =>
    settleByKey(withoutSubAgents(files, settledCalls, onNote), () => false, settledCalls),
  readTitles: (path) => {
    const { generated_title, session_summary } = readCompanion(summaryPath(path))
    const title = textOf(generated_title) || textOf(session_summary)
    return title === '' ? new Map() : new Map([[sessionOf(path), title]])
  },
}

/** Of all records: each has a time. */
const MARKS = ['"timestamp"', '"agentTimestampMs"', '"turn_completed"', '"usage"']

const COUNTS = [
  'inputTokens',
  'outputTokens',
  'cachedReadTokens',
  'cacheCreationTokens',
  'totalTokens',
  'modelCalls',
] as const
/** Of a turn, with and without those of sub-agents. */
const REQUESTS = ['modelCalls', 'numTurns'] as const

const OTHERS = ['reasoningTokens', 'apiDurationMs', 'costUsdTicks', 'costIsPartial', 'numTurns', 'usageIsIncomplete']
const USAGE_FIELDS = new Set<string>([...COUNTS, ...OTHERS, 'modelUsage'])

const UNRECORDED = 'titles, summaries and unfinished turns not included'

class UpdatesReading {
  readonly #damages = new Damages()
  readonly #activity = new ActivityReading()
  readonly #calls: ModelCall[] = []
  readonly #parents: Record<string, string[]> = {}
  readonly #session: string
  readonly #summary: Record<string, unknown>
  /** By session of a sub-agent, the turn that started it. */
  readonly #turnOf = new Map<unknown, unknown>()
  /** Sub-agents that have ended since the last turn. */
  #ended: string[] = []
  /** The current turn is a command, which Grok carries out itself. */
  #isCommand = false
  #turns = 0

  constructor(readonly path: string) {
    this.#session = sessionOf(path)
    this.#summary = readCompanion(summaryPath(path))
  }

  run(): FileReading {
    const parent = textOf(this.#summary.parent_session_id)
    if (parent !== '') this.#parents[this.#session] = [parent]
    readMarkedLines(this.path, MARKS, this.#damages, (record, line) => this.#read(record, this.#damages.of(line)))
    const isEmpty = this.#turns > 0 && this.#calls.length === 0
    if (isEmpty) this.#damages.add('has turns without usage, which are not counted', null, 'note')
    return {
      calls: this.#calls,
      startedAt: momentOf(this.#summary.created_at) ?? null,
      damage: this.#damages.list(),
      parents: this.#parents,
      activity: this.#activity.activity(),
      ...(this.#calls.length > 0 ? { missing: { [this.#session]: UNRECORDED } } : {}),
    }
  }

  #read({ timestamp, params }: Record<string, unknown>, onDamage: OnDamage): void {
    const { update: recorded, _meta } = objectOf(params) ?? {}
    const update = objectOf(recorded) ?? {}
    const meta = objectOf(_meta) ?? {}
    const at = momentOf(meta.agentTimestampMs) ?? momentOf(timestamp)
    if (at !== undefined) this.#activity.of(this.#session).add(at, isPrompt(update))
    switch (update.sessionUpdate) {
      case 'user_message_chunk':
        this.#isCommand = objectOf(update._meta)?.hostTurn === true
        return
      case 'subagent_spawned':
        this.#turnOf.set(update.child_session_id, update.parent_prompt_id)
        return
      case 'subagent_finished':
        this.#ended.push(textOf(update.child_session_id))
        return
      case 'turn_completed':
        this.#turns += 1
        this.#readTurn(update, at, meta, onDamage)
        this.#ended = []
        return
      default:
        if (textOf(update.sessionUpdate) === '') onDamage('is a record of no kind, and is not counted')
        reportUnknownUsage(update, update.sessionUpdate, onDamage)
    }
  }

  #readTurn(
    { prompt_id, stop_reason, usage: recorded }: Record<string, unknown>,
    at: number | undefined,
    meta: Record<string, unknown>,
    onDamage: OnDamage,
  ): void {
    const usage = objectOf(recorded)
    if (!usage) {
      if (stop_reason === 'end_turn' && !this.#isCommand) onDamage('is a turn without usage, and is not counted')
      return
    }
    if (textOf(prompt_id) === '') onDamage('has no identity of its turn, so that it may be counted twice')
    reportUnknownFields(usage, USAGE_FIELDS, onDamage)
    // Copies in forks keep the event of the session that they are from.
    const origin = textOf(meta.eventId).replace(/-\d+$/, '')
    const isCopy = origin !== '' && origin !== this.#session
    if (!isCopy) this.#addSubAgents(usage, textOf(prompt_id), onDamage)
    const rest = recordedCounts(usage, COUNTS, onDamage)
    for (const [model, each] of Object.entries(objectOf(usage.modelUsage) ?? {})) {
      const used = objectOf(each) ?? {}
      reportUnknownFields(used, USAGE_FIELDS, onDamage)
      const recordedOfModel = recordedCounts(used, COUNTS, onDamage)
      for (const [index, count] of recordedOfModel.entries()) rest[index]! -= count
      const [input, output, cached, written, total, requests] = recordedOfModel
      const counts = disjointCounts({ input, output, cached, written, total })
      const countable = findCountable({ counts, at, model }, onDamage)
      if (!countable) continue
      this.#calls.push({
        ...CALL_DEFAULTS,
        ...countable,
        key: [textOf(prompt_id), model, ...Object.values(counts)].join(' '),
        session: this.#session,
        ...(isCopy ? { owner: origin } : {}),
        folder: textOf(objectOf(this.#summary.info)?.cwd),
        isSidechain: this.#summary.session_kind === 'subagent',
        ...(requests > 1 ? { requests } : {}),
      })
    }
    if (rest.some((count) => count > 0)) onDamage('has usage without a model, which is not counted')
  }

  /** A turn with more requests than answers of its own has those of the sub-agents that it started and that ended in it. */
  #addSubAgents(usage: Record<string, unknown>, turn: string, onDamage: OnDamage): void {
    const [requests, own] = recordedCounts(usage, REQUESTS, onDamage)
    if (requests <= own) return
    const children = this.#ended.filter((child) => this.#turnOf.get(child) === turn)
    for (const child of children) this.#parents[child] = [this.#session, turn]
    if (children.length === 0) onDamage('has requests that may be of sub-agents, and may be counted twice', 'note')
  }
}

function isPrompt({ sessionUpdate, content, _meta }: Record<string, unknown>): boolean {
  if (sessionUpdate !== 'user_message_chunk' || objectOf(_meta)?.hostTurn === true) return false
  return !textOf(objectOf(content)?.text).startsWith('<system-reminder>')
}

interface Used {
  counts: Counts
  requests: number
}

/**
 * The usage of sub-agents counts for their own sessions, where it is before the turn ends that also has it. A turn stays as
 * it was found first when the file of a sub-agent is gone.
 */
function withoutSubAgents(files: ReadFile[], settledCalls: SettledCalls, onNote: OnNote): ReadFile[] {
  const children = new Map<string, string[]>()
  for (const { reading } of files) {
    for (const [child, [, turn]] of Object.entries(reading.parents)) {
      if (turn !== undefined) children.set(turn, [...(children.get(turn) ?? []), child])
    }
  }
  const used = usedBySubAgents(files, new Set([...children.values()].flat()))
  const ownCalls = (call: ModelCall, path: string): ModelCall[] => {
    const inTurn = children.get(call.key.slice(0, call.key.indexOf(' ')))
    if (!inTurn) return [call]
    const known = inTurn.flatMap((child) => used.get(child) ?? [])
    const whole = { counts: call.counts, requests: call.requests ?? 1 }
    const found = subtracted(
      whole,
      known.flatMap((models) => models.get(call.model) ?? []),
    )
    const isComplete = known.length === inTurn.length
    const own = settledCalls.firstFound(`turn ${call.key}`, isComplete ? found : undefined) ?? found
    const isLess = Object.values(own.counts).some((count) => count < 0)
    if (isLess) onNote(path, 'has a turn with less usage than its sub-agents, which may be counted twice')
    if (isLess) return [call]
    return own.requests === 0 && totalOf(own.counts) === 0 ? [] : [{ ...call, ...own }]
  }
  return files.map((file) => ({
    ...file,
    reading: { ...file.reading, calls: file.reading.calls.flatMap((call) => ownCalls(call, file.path)) },
  }))
}

/** By session and model. */
function usedBySubAgents(files: readonly ReadFile[], sessions: Set<string>): Map<string, Map<string, Used>> {
  const used = new Map<string, Map<string, Used>>()
  for (const { session, owner, model, counts, requests = 1 } of files.flatMap(({ reading }) => reading.calls)) {
    if (!sessions.has(session) || owner !== '') continue
    const models = used.get(session) ?? new Map<string, Used>()
    const sum = models.get(model) ?? { counts: noCounts(), requests: 0 }
    addCounts(sum.counts, counts)
    sum.requests += requests
    used.set(session, models.set(model, sum))
  }
  return used
}

function subtracted(whole: Used, parts: readonly Used[]): Used {
  const counts = { ...whole.counts }
  for (const part of parts) {
    for (const name of Object.keys(counts) as (keyof Counts)[]) counts[name] -= part.counts[name]
  }
  return { counts, requests: whole.requests - parts.reduce((sum, { requests }) => sum + requests, 0) }
}

function sessionOf(path: string): string {
  return basename(dirname(path))
}

function summaryPath(path: string): string {
  return join(dirname(path), 'summary.json')
}
