/**
 * Kimi Code: a folder per session, with a file of JSON lines for each of its agents. Usage is recorded by the name that the
 * model has in the person's settings; the record of the request before it has the model's own.
 */
import { basename, dirname, join } from 'node:path'
import { ActivityReading } from '../active-time.ts'
import type { Counts } from '../agent.ts'
import { settleByKey } from '../duplicate-calls.ts'
import {
  CALL_DEFAULTS,
  type FileReading,
  findCountable,
  type ModelCall,
  momentOf,
  type OnDamage,
  objectOf,
  textOf,
  totalOf,
  UNKNOWN_MODEL,
} from '../model-calls.ts'
import { Damages, readMarkedLines } from '../session-lines.ts'
import { readCompanion } from './json-objects.ts'
import { recordedCounts, reportUnknownFields, reportUnknownUsage, reportUnknownVersion } from './known-fields.ts'
import type { Reader } from './reader.ts'

/** Folders of projects, and in them of sessions. Others contain indexes. */
const WIRE = /^[^./\\][^/\\]*[/\\][^/\\]+[/\\]agents[/\\][^/\\]+[/\\]wire\.jsonl$/
const FOLDER = /^[^./\\][^/\\]*(?:[/\\][^/\\]+(?:[/\\]agents(?:[/\\][^/\\]+)?)?)?$/

export const kimiCode: Reader = {
  name: 'kimi-code',
  folders: ({ home, kimiHome }) => [join(kimiHome ?? join(home, '.kimi-code'), 'sessions')],
  isSessionFile: (path) => WIRE.test(path),
  isSessionFolder: (path) => FOLDER.test(path),
  companions: (path) => [statePath(path)],
  read: (path) => new WireReading(path).run(),
  settle: (files, settledCalls) => settleByKey(files, () => false, settledCalls),
  readTitles: (path) => {
    const title = textOf(readCompanion(statePath(path)).title)
    return title === '' ? new Map() : new Map([[sessionOf(path), title]])
  },
}

const ENDS = ['turn.step.interrupted', 'turn.step.retrying', 'full_compaction.cancel']
const TYPES = [
  'metadata',
  'turn.prompt',
  'profile.bind',
  'config.update',
  'llm.request',
  'usage.record',
  'step.end',
  'forked',
  ...ENDS,
]
/** Also records of any type with counts. */
const MARKS = [...TYPES.map((type) => `"${type}"`), '"inputOther"']

/** Its usage is that of the request. */
const REPEATING = 'agent.message.appended'

/** The newest version of the format that is known. */
const VERSION = [1, 5] as const

const COUNTS = ['inputOther', 'inputCacheRead', 'inputCacheCreation', 'output'] as const
const USAGE_FIELDS = new Set<string>(COUNTS)

const REQUESTS_MISSING = 'requests without usage not included'

class WireReading {
  readonly #damages = new Damages()
  readonly #calls: ModelCall[] = []
  readonly #session: string
  readonly #isSubAgent: boolean
  readonly #state: Record<string, unknown>
  /** The models' own names, by those of the person's settings. */
  readonly #models = new Map<string, string>()
  #startedAt: number | null = null
  #folder: string
  #openRequests = 0
  #records = 0
  /** Steps of a conversation repeat the usage of their request. */
  #steps = 0
  #isMissingRequests = false

  constructor(readonly path: string) {
    this.#session = sessionOf(path)
    this.#damages.session = this.#session
    this.#isSubAgent = basename(dirname(path)) !== 'main'
    this.#state = readCompanion(statePath(path))
    this.#folder = textOf(this.#state.cwd)
  }

  run(): FileReading {
    const activity = new ActivityReading().of(this.#session)
    const visit = (record: Record<string, unknown>, line: number) => {
      this.#read(record, line)
      const at = momentOf(record.time)
      if (at !== undefined) activity.add(at, record.type === 'turn.prompt' && !this.#isSubAgent)
    }
    readMarkedLines(this.path, MARKS, this.#damages, visit, (at) => activity.line(at), { timeName: 'time' })
    if (this.#steps > this.#records) {
      this.#damages.add('has steps with usage that is not recorded for a model, and is not counted', null)
    }
    const parent = textOf(this.#state.forkedFrom)
    if (this.#isMissingRequests && this.#calls.length === 0) this.#damages.add(`has ${REQUESTS_MISSING}`, null, 'note')
    return {
      calls: this.#calls,
      startedAt: this.#startedAt,
      damage: this.#damages.list(),
      parents: parent === '' ? {} : { [this.#session]: [parent] },
      ...(this.#isMissingRequests ? { missing: { [this.#session]: REQUESTS_MISSING } } : {}),
      activity: activity.activity(),
    }
  }

  #read(record: Record<string, unknown>, line: number): void {
    switch (record.type) {
      case 'metadata':
        this.#readMetadata(record, line)
        return
      case 'profile.bind':
      case 'config.update':
        this.#folder = textOf(objectOf(record.environmentDisclosure)?.cwd) || this.#folder
        return
      case 'llm.request':
        this.#openRequests += 1
        this.#models.set(textOf(record.modelAlias), textOf(record.model))
        return
      case 'usage.record':
        this.#readUsage(record, line)
        return
      case 'context.append_loop_event':
        if (objectOf(objectOf(record.event)?.usage)) this.#steps += 1
        return
      case 'forked':
        for (const call of this.#calls) call.owner = textOf(this.#state.forkedFrom)
        return
      default:
        if (ENDS.includes(textOf(record.type))) this.#endRequest(record)
        else if (record.type !== REPEATING) reportUnknownUsage(record, record.type, this.#damages.of(line))
    }
  }

  #readMetadata(record: Record<string, unknown>, line: number): void {
    const version = textOf(record.protocol_version)
    const [major = 0, minor = 0] = version.split('.').map(Number)
    this.#startedAt = momentOf(record.created_at) ?? null
    if (major > VERSION[0] || (major === VERSION[0] && minor > VERSION[1])) {
      reportUnknownVersion(version, this.#damages.of(line))
    }
  }

  /** Without usage: a request that was cancelled may have been charged, one that was refused was not. */
  #endRequest({ statusCode }: Record<string, unknown>): void {
    if (this.#openRequests > 0 && statusCode === undefined) this.#isMissingRequests = true
    this.#openRequests = 0
  }

  #readUsage(record: Record<string, unknown>, line: number): void {
    const onDamage = this.#damages.of(line)
    const usage = objectOf(record.usage)
    this.#records += 1
    this.#openRequests = Math.max(0, this.#openRequests - 1)
    if (!usage) return void onDamage('is a request without usage, and is not counted')
    reportUnknownFields(usage, USAGE_FIELDS, onDamage)
    const counts = countsOfUsage(usage, onDamage)
    if (totalOf(counts) === 0) this.#isMissingRequests = true
    const countable = findCountable(
      { counts, at: momentOf(record.time), model: this.#modelOf(record, onDamage) },
      onDamage,
    )
    if (!countable) return
    this.#calls.push({
      ...CALL_DEFAULTS,
      ...countable,
      key: [countable.at, record.model, ...Object.values(counts)].join(' '),
      session: this.#session,
      folder: this.#folder,
      isSidechain: this.#isSubAgent,
    })
  }

  #modelOf(record: Record<string, unknown>, onDamage: OnDamage): string {
    const name = textOf(record.model)
    const model = this.#models.get(name)
    if (model) return model
    onDamage(`names its model only as “${name}” in your settings, and is counted as the model ${UNKNOWN_MODEL}`, 'note')
    return UNKNOWN_MODEL
  }
}

/** Disjoint. How long cache writes last is not recorded. */
function countsOfUsage(usage: Record<string, unknown>, onDamage: OnDamage): Counts {
  const [input, cache_read, cache_write, output] = recordedCounts(usage, COUNTS, onDamage)
  return { input, output, cache_read, cache_write, cache_write_1h: 0 }
}

function sessionFolder(path: string): string {
  return dirname(dirname(dirname(path)))
}

function sessionOf(path: string): string {
  return basename(sessionFolder(path))
}

function statePath(path: string): string {
  return join(sessionFolder(path), 'state.json')
}
