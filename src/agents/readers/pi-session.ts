/**
 * The format of Pi's sessions, which its forks have too: lines of JSON, each with a time. A session is a tree in its lines;
 * one that is forked begins with copies of the other's lines.
 */
import { basename } from 'node:path'
import { ActivityReading } from '../active-time.ts'
import type { Counts, Service } from '../agent.ts'
import {
  CALL_DEFAULTS,
  countsOf,
  type FileReading,
  findCountable,
  type ModelCall,
  momentOf,
  type OnDamage,
  objectOf,
  serviceOf,
  textOf,
  UNKNOWN_MODEL,
} from '../model-calls.ts'
import { Damages, type OnTime, readMarkedLines, type VisitLine } from '../session-lines.ts'
import { recordedCounts, reportUnknownFields, reportUnknownUsage, reportUnknownVersion } from './known-fields.ts'

const MARKS = [
  '"session"',
  '"usage"',
  '"assistant"',
  '"model_usage"',
  '"compaction"',
  '"branch_summary"',
  '"model_change"',
  '"service_tier_change"',
  '"foreign_session_import"',
  '"user"',
]

/** What differs between the agents that write it. */
export interface Dialect {
  /** The newest version of the format that is known. */
  version: number
  /** Lines may be written again, with another time. Requests keep theirs. */
  rewritesLines?: true
  /** Summaries that extensions make are the agent's own, too. */
  extendsItself?: true
}

const COUNTS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const

/** `output` includes the reasoning. Context and credits are no tokens, and `cost` is read apart. */
const USAGE_FIELDS = new Set<string>([
  ...COUNTS,
  ...['cacheWrite1h', 'reasoning', 'totalTokens', 'cost'],
  ...['cttl', 'orchestration', 'reasoningTokens', 'contextTokens', 'premiumRequests', 'server', 'credits'],
  'contextUsage',
])
const COST_FIELDS = new Set<string>([...COUNTS, 'total', 'totalFromProvider', 'totalOrigin'])

/** The owner of calls that another agent made, before Oh My Pi imported its session. */
export const OTHER_AGENT = 'other agent'

/** The API of answers that OpenClaw got from the program of another agent, such as Claude Code. */
const OTHER_PROGRAM = 'cli'

const SUMMARIES_MISSING = 'requests for summaries not included'

/** A request, wherever a line has it. */
interface Recorded {
  usage: unknown
  model: string
  provider: unknown
  api?: unknown
  at: unknown
  id: unknown
  /** What a tool or a summary used may be several requests. */
  isSum?: true
  requests?: number
}

/** In a summary, between that of earlier turns and that of the turn which had to be cut. */
const CUT_TURN = '\n\n---\n\n**Turn Context (split turn):**\n\n'

/** Before it, if there was no earlier turn. */
const NO_HISTORY = 'No prior history.'

/** Where the lines of a session come from, and what is known of it besides. */
export interface PiSource {
  dialect: Dialect
  /** If its lines do not name it. */
  session: string
  /** The session that counts for it, if it is of a sub-agent. */
  root?: string | undefined
  /** The session that it was made from, if its lines do not name that. */
  parent?: string | undefined
  /** A sub-agent that counts as a session of its own. */
  isSubagent?: boolean
  damages: Damages
  /** Visits the lines that contain one of the marks. */
  read(marks: readonly string[], visit: VisitLine<number | null>, onTime: OnTime): void
}

export function readPiSession(source: PiSource): FileReading {
  return new SessionReading(source).run()
}

/** Of a session in a file of lines. */
export function piFile(path: string, more: Pick<PiSource, 'dialect' | 'root'>): PiSource {
  const damages = new Damages()
  return {
    ...{ session: idOf(path), damages, ...more },
    read: (marks, visit, onTime) => readMarkedLines(path, marks, damages, visit, onTime),
  }
}

class SessionReading {
  readonly #damages: Damages
  readonly #calls: ModelCall[] = []
  readonly #activity = new ActivityReading()
  readonly #isSubagent: boolean
  #session: string
  #parent: string
  #startedAt: number | null = null
  #folder = ''
  /** The one that was chosen or answered last, which is also asked for summaries. */
  #model = { name: UNKNOWN_MODEL, provider: '' }
  #tiers: unknown
  #isMissingSummaries = false
  readonly #summaries = new Set([NO_HISTORY])

  constructor(readonly source: PiSource) {
    const { root, session, parent = '', isSubagent = root !== undefined, damages } = source
    this.#damages = damages
    this.#isSubagent = isSubagent
    this.#session = root ?? session
    this.#damages.session = this.#session
    this.#parent = parent
  }

  run(): FileReading {
    this.#activity.of(this.#session)
    const visit = (record: Record<string, unknown>, line: number | null) => {
      this.#read(record, line)
      const at = momentOf(record.timestamp)
      const isPrompt = !this.#isSubagent && objectOf(record.message)?.role === 'user'
      if (at !== undefined) this.#activity.of(this.#session).add(at, isPrompt)
    }
    this.source.read(MARKS, visit, (at) => this.#activity.line(at))
    return {
      calls: this.#calls,
      startedAt: this.#startedAt,
      damage: this.#damages.list(),
      parents: this.#parent === '' ? {} : { [this.#session]: [this.#parent] },
      ...(this.#isMissingSummaries ? { missing: { [this.#session]: SUMMARIES_MISSING } } : {}),
      activity: this.#activity.activity(),
    }
  }

  #read(record: Record<string, unknown>, line: number | null): void {
    if (record.type === 'session') this.#readHeader(record, line)
    else if (record.type === 'message') this.#readMessage(record, line)
    else if (record.type === 'usage' || record.type === 'model_usage') {
      const { usage, provider, api } = record
      this.#add(record, { usage, model: textOf(record.model), provider, api, at: undefined, id: record.kind }, line)
    } else if (record.type === 'compaction' || record.type === 'branch_summary') this.#readSummary(record, line)
    else if (record.type === 'model_change') this.#readModel(record)
    else if (record.type === 'service_tier_change') this.#tiers = record.serviceTier
    else if (record.type === 'custom' && record.customType === 'foreign_session_import') {
      for (const call of this.#calls) call.owner = OTHER_AGENT
    } else reportUnknownUsage(record, record.type, this.#damages.of(line))
  }

  #readHeader(record: Record<string, unknown>, line: number | null): void {
    const isNewer = Number(record.version ?? 1) > this.source.dialect.version
    if (isNewer) reportUnknownVersion(record.version, this.#damages.of(line))
    this.#session = this.source.root ?? (textOf(record.id) || this.#session)
    this.#damages.session = this.#session
    this.#startedAt = momentOf(record.timestamp) ?? null
    this.#folder = textOf(record.cwd)
    const parent = idOf(textOf(record.parentSession)) || this.#parent
    this.#parent = parent === this.#session ? '' : parent
  }

  /** Pi names the model, Oh My Pi the model with its provider. */
  #readModel({ provider, modelId, model }: Record<string, unknown>): void {
    const [first, ...rest] = textOf(model).split('/')
    this.#model = { name: textOf(modelId) || rest.join('/'), provider: textOf(provider) || first! }
  }

  #readMessage(record: Record<string, unknown>, line: number | null): void {
    const message = objectOf(record.message)
    const { role, usage, timestamp: at, provider, api } = message ?? {}
    if (role === 'assistant' && api === OTHER_PROGRAM) {
      this.#damages.add(`is an answer of ${textOf(provider)}, which counts where that agent recorded it`, line, 'note')
    } else if (role === 'assistant') {
      const model = textOf(message!.responseModel) || textOf(message!.upstreamModel) || textOf(message!.model)
      this.#model = { name: model, provider: textOf(provider) }
      this.#add(record, { usage, model, provider, api, at, id: message!.responseId }, line)
    } else if (role === 'toolResult') {
      // What a tool asked a model for itself: which model is not recorded.
      const id = message!.toolCallId
      if (usage) this.#add(record, { usage, model: UNKNOWN_MODEL, provider: '', at, id, isSum: true }, line)
    } else reportUnknownUsage(record, role, this.#damages.of(line))
  }

  /** An extension may ask any model for its summaries, or none. Oh My Pi and older versions of Pi record no usage. */
  #readSummary(record: Record<string, unknown>, line: number | null): void {
    const isOfExtension = record.fromHook === true || record.fromExtension === true
    if (record.usage) {
      const { name: model, provider } = isOfExtension ? { name: UNKNOWN_MODEL, provider: '' } : this.#model
      const requests = this.#requestsOf(textOf(record.summary))
      this.#add(record, { usage: record.usage, model, provider, at: undefined, id: '', isSum: true, requests }, line)
    } else if (!isOfExtension || this.source.dialect.extendsItself) this.#isMissingSummaries = true
  }

  /** A turn that had to be cut is summarized by a request of its own, besides one for new turns before it. */
  #requestsOf(summary: string): number {
    const cutAt = summary.lastIndexOf(CUT_TURN)
    const isOfTwo = cutAt !== -1 && !this.#summaries.has(summary.slice(0, cutAt))
    this.#summaries.add(summary)
    return isOfTwo ? 2 : 1
  }

  #add(record: Record<string, unknown>, recorded: Recorded, line: number | null): void {
    const onDamage = this.#damages.of(line)
    const usage = objectOf(recorded.usage)
    if (!usage) return void onDamage('is an answer without usage, and is not counted')
    reportUnknownFields(usage, USAGE_FIELDS, onDamage)
    const writtenAt = momentOf(record.timestamp)
    const at = momentOf(recorded.at) ?? writtenAt
    const counts = countsOfUsage(usage, onDamage)
    const countable = findCountable({ counts, at, model: recorded.model }, onDamage)
    if (!countable) return
    const provider = textOf(recorded.provider).toLowerCase()
    const [webSearch] = countsOf(objectOf(usage.server) ?? {}, ['webSearch'] as const, onDamage)
    const service = this.#serviceOf(provider, recorded)
    const id = textOf(recorded.id)
    const lineAt = this.source.dialect.rewritesLines ? countable.at : writtenAt
    this.#calls.push({
      ...CALL_DEFAULTS,
      ...countable,
      // A fork keeps times, but older files have no ids, or new ones after they were opened again.
      key: [record.type, lineAt, countable.at, provider, recorded.model, id, ...Object.values(counts)].join(' '),
      session: this.#session,
      // A message has the time when it was requested, and its line that when it was complete.
      ...(writtenAt !== undefined && writtenAt > countable.at ? { endedAt: writtenAt } : {}),
      owner: this.#isCopy(lineAt) ? this.#parent : '',
      provider: MAKERS.has(provider) ? '' : provider,
      cost: costOf(objectOf(usage.cost), onDamage),
      folder: this.#folder,
      isSidechain: this.#isSubagent,
      ...(recorded.isSum ? { isSum: true, requests: recorded.requests ?? 1 } : {}),
      ...(service ? { service } : {}),
      ...(webSearch > 0 ? { tools: { web_search: webSearch } } : {}),
    })
  }

  #isCopy(at: number | undefined): boolean {
    return this.#parent !== '' && at !== undefined && at < (this.#startedAt ?? 0)
  }

  /** Only Oh My Pi records what was chosen: by the family of models, or in older versions for all or one of them. */
  #serviceOf(provider: string, { api, model }: Recorded): Service | undefined {
    const chosen = objectOf(this.#tiers) ?? OLD_TIERS[textOf(this.#tiers)] ?? { openai: this.#tiers }
    if (provider === 'openai' || provider === 'openai-codex') return serviceOf({ service_tier: chosen.openai })
    const isFast = chosen.anthropic === 'priority' && api === 'anthropic-messages' && provider === 'anthropic'
    return isFast && /opus/.test(model) ? { speed: 'fast' } : undefined
  }
}

const OLD_TIERS: Record<string, Record<string, string>> = {
  priority: { openai: 'priority', anthropic: 'priority' },
  'openai-only': { openai: 'priority' },
  'claude-only': { anthropic: 'priority' },
}

/** The id in the path of a session's file or in its address in a database of OpenClaw, or the id itself. */
function idOf(path: string): string {
  const [, stored] = /^sqlite:[^:]*:([^:]+)/.exec(path) ?? []
  return stored ?? (path.endsWith('.jsonl') ? basename(path, '.jsonl').replace(/^[^_]*_/, '') : path)
}

/** Disjoint, apart from the writes of one hour, which are part of all writes. */
function countsOfUsage(usage: Record<string, unknown>, onDamage: OnDamage): Counts {
  const [input, output, cache_read, written] = recordedCounts(usage, COUNTS, onDamage)
  const [ofPi] = countsOf(usage, ['cacheWrite1h'] as const, onDamage)
  const [ofOhMyPi] = countsOf(objectOf(usage.cttl) ?? {}, ['ephemeral1h'] as const, onDamage)
  const cache_write_1h = Math.min(written, ofPi || ofOhMyPi)
  const orchestration = objectOf(usage.orchestration) ?? {}
  const [moreInput, moreOutput, moreRead] = countsOf(orchestration, ['input', 'output', 'cacheRead'] as const, onDamage)
  return {
    input: input + moreInput,
    output: output + moreOutput,
    cache_read: cache_read + moreRead,
    ...{ cache_write: written - cache_write_1h, cache_write_1h },
  }
}

/** Only what the provider charged; otherwise it is calculated from a price list of the agent. */
function costOf(cost: Record<string, unknown> | undefined, onDamage: OnDamage): string {
  if (!cost) return ''
  reportUnknownFields(cost, COST_FIELDS, onDamage)
  const isOfProvider = cost.totalFromProvider === true || cost.totalOrigin === 'provider-billed'
  const isCharged = isOfProvider && typeof cost.total === 'number' && cost.total > 0
  return isCharged ? String(cost.total) : ''
}

/** They sell the models that they make, so their names add no information. */
const MAKERS = new Set(['anthropic', 'openai', 'openai-codex', 'google'])

/** The name that the person or the agent gave the session, otherwise the first prompt. */
export function readTitle(source: PiSource): Map<string, string> {
  let { session } = source
  let title = ''
  let prompt = ''
  const visit = (record: Record<string, unknown>) => {
    if (record.type === 'session') session = textOf(record.id) || session
    if (record.type === 'session_info') title = textOf(record.name)
    else if (typeof record.title === 'string') title = record.title
    const { role, content } = objectOf(record.message) ?? {}
    if (role !== 'user' || prompt !== '') return
    const [part] = Array.isArray(content) ? content : []
    prompt = textOf(content) || textOf(objectOf(part)?.text)
  }
  source.read(['"session"', '"title"', '"name"', '"user"'], visit, () => {})
  return title || prompt ? new Map([[session, title || prompt]]) : new Map()
}
