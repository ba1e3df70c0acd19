/** The events of a session of GitHub Copilot CLI. A fork begins with copies of those of the session that it continues. */
import { basename, dirname } from 'node:path'
import { ActivityReading } from '../active-time.ts'
import {
  countsOf,
  disjointCounts,
  type FileReading,
  momentOf,
  objectOf,
  type SessionTotals,
  textOf,
} from '../model-calls.ts'
import { Damages, readMarkedLines } from '../session-lines.ts'
import { type CountNames, Requests, remoteOf } from './github-copilot-requests.ts'
import { reportUnknownUsage } from './known-fields.ts'

const NAMES: CountNames = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens']

const MARKS = [
  '"session.start"',
  '"session.resume"',
  '"session.context_changed"',
  '"session.usage_record"',
  '"session.compaction_complete"',
  '"session.shutdown"',
  '"user.message"',
  `"${NAMES[0]}"`,
]

/** They sum up or repeat the requests that have lines of their own. */
const REPEATING = /^(?:assistant\.usage|session\.usage_checkpoint|(?:assistant|session)\.fusion_\w+)$/

type Fields = Record<string, unknown>

export function readEvents(path: string): FileReading {
  return new EventReading(path).run()
}

class EventReading {
  readonly #damages = new Damages()
  readonly #requests = new Requests(NAMES)
  readonly #activity = new ActivityReading()
  #session: string
  #startedAt: number | undefined
  /** Where the agent works now. */
  #place = {}
  /** The session of the latest request that is not a sub-agent's. */
  #owner = ''
  /** The session that it continues in the background, and its sub-agents: hooks of these name them. */
  readonly #relatives = new Set<string>()
  #totals: SessionTotals | undefined

  constructor(readonly path: string) {
    this.#session = basename(dirname(path))
  }

  run(): FileReading {
    this.#activity.of(this.#session)
    this.#damages.session = this.#session
    const visit = (record: Fields, line: number) => {
      this.#read(record, line)
      const at = momentOf(record.timestamp)
      if (at !== undefined) this.#activity.of(this.#session).add(at, isPrompt(record))
    }
    readMarkedLines(this.path, MARKS, this.#damages, visit, (at) => this.#activity.line(at))
    return {
      calls: this.#requests.calls,
      startedAt: this.#startedAt ?? null,
      damage: this.#damages.list(),
      parents: this.#relatives.size > 0 ? { [this.#session]: [...this.#relatives] } : {},
      ...(this.#totals ? { totals: [this.#totals] } : {}),
      activity: this.#activity.activity(),
    }
  }

  #read(record: Fields, line: number): void {
    const type = textOf(record.type)
    const data = objectOf(record.data) ?? {}
    if (type === 'session.start') this.#start(record, data)
    else if (type === 'session.resume') this.#place = placeIn(data.context)
    else if (type === 'session.context_changed') this.#place = placeIn(data)
    else if (type === 'session.usage_record') this.#addRequest(record, objectOf(data.usage) ?? {}, line)
    else if (type === 'session.compaction_complete') this.#addCompaction(record, data, line)
    else if (type === 'session.shutdown') this.#totals = totalsIn(this.#session, data)
    else if (!REPEATING.test(type)) reportUnknownUsage(data, type, this.#damages.of(line))
  }

  #start(record: Fields, data: Fields): void {
    this.#session = textOf(data.sessionId) || this.#session
    this.#damages.session = this.#session
    this.#startedAt = momentOf(data.startTime) ?? momentOf(record.timestamp)
    this.#place = placeIn(data.context)
    this.#addRelative(data.detachedFromSpawningParentSessionId)
  }

  #addRelative(id: unknown): void {
    if (textOf(id) !== '') this.#relatives.add(textOf(id))
  }

  #addRequest(record: Fields, usage: Fields, line: number): void {
    const source = textOf(objectOf(usage.accounting)?.sourceSessionId)
    // Sub-agents have session ids of their own, but their requests are recorded with the session that started them.
    const isSidechain = Boolean(record.agentId ?? usage.parentToolCallId) || usage.initiator === 'sub-agent'
    if (!isSidechain) this.#owner = source
    this.#addRelative(record.agentId)
    this.#add(record, usage, line, { isSidechain })
  }

  #addCompaction(record: Fields, data: Fields, line: number): void {
    const usage = objectOf(data.compactionTokensUsed)
    // One that failed or was cancelled may have used nothing.
    if (!usage && data.success !== true) return
    const model = textOf(usage?.model) || textOf(data.model)
    const requests = typeof usage?.requestCount === 'number' ? usage.requestCount : 1
    this.#add(record, { ...usage, model }, line, { requests })
  }

  #add(record: Fields, usage: Fields, line: number, more: { isSidechain?: boolean; requests?: number }): void {
    const at = momentOf(record.timestamp)
    const isOther = this.#owner !== '' && this.#owner !== this.#session
    const isCopy = this.#startedAt === undefined ? isOther : at !== undefined && at < this.#startedAt
    const onDamage = this.#damages.of(line)
    if (isCopy && !isOther) return void onDamage('a request of an earlier session does not name it, and is not counted')
    const nanoCredits = objectOf(usage.copilotUsage)?.totalNanoAiu
    if (usage.aiCreditsStatus === 'complete' && typeof nanoCredits !== 'number')
      onDamage('a request has no count of totalNanoAiu, so its cost is not reported', 'note')
    this.#requests.add(
      {
        ...this.#place,
        ...more,
        session: this.#session,
        owner: isCopy ? this.#owner : '',
        at,
        model: textOf(usage.model),
        provider: sellerOf(usage),
        usage,
        nanoCredits,
      },
      onDamage,
    )
  }
}

/** What a sub-agent is asked has its id. */
function isPrompt({ type, agentId }: Fields): boolean {
  return type === 'user.message' && agentId === undefined
}

function placeIn(context: unknown) {
  const { cwd, branch, ...repository } = objectOf(context) ?? {}
  const { repository: name, hostType } = repository
  return { folder: textOf(cwd), branch: textOf(branch), ...remoteOf({ repository: name, hostType }) }
}

/** A person's own provider, unless it is the model's maker; the other names are not those of sellers. */
function sellerOf({ modelProvider }: Fields): string {
  return modelProvider === 'azure_openai' ? 'azure' : modelProvider === 'ollama' ? 'ollama' : ''
}

/** Of all requests but compactions; of forks, with those of the session that they continue. */
function totalsIn(session: string, data: Fields): SessionTotals {
  const recorded = objectOf(data.modelMetrics) ?? objectOf(objectOf(data.accountingSnapshot)?.modelMetrics) ?? {}
  const models = Object.entries(recorded).map(([model, metrics]) => {
    const usage = objectOf(objectOf(metrics)?.usage) ?? {}
    const [input, output, cached, written] = countsOf(usage, NAMES, () => {})
    return [model, { ...disjointCounts({ input, cached, written, output, total: 0 }), webSearches: 0 }]
  })
  const times = { since: 0, runningMs: 0, at: 0, until: null, ownFrom: 0, copiedUntil: null }
  return { session, ...times, models: Object.fromEntries(models) }
}

/** The first prompt. */
export function readFirstPrompt(path: string): Map<string, string> {
  const titles = new Map<string, string>()
  const session = basename(dirname(path))
  readMarkedLines(path, ['"user.message"'], new Damages(), ({ type, data }) => {
    const title = textOf(objectOf(data)?.content)
    if (type === 'user.message' && title !== '' && !titles.has(session)) titles.set(session, title)
  })
  return titles
}
