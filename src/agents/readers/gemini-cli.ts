/** Gemini CLI: a file of JSON lines per session, or one JSON document in older versions. */
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ActivityReading } from '../active-time.ts'
import type { Counts } from '../agent.ts'
import { settleByKey } from '../duplicate-calls.ts'
import {
  CALL_DEFAULTS,
  countsOf,
  disjointCounts,
  type FileReading,
  findCountable,
  hasToolResponse,
  type ModelCall,
  momentOf,
  type OnDamage,
  objectOf,
  textOf,
} from '../model-calls.ts'
import { Damages, readMarkedLines } from '../session-lines.ts'
import { recordedCounts, reportUnknownFields, reportUnknownUsage } from './known-fields.ts'
import type { Reader } from './reader.ts'

/** The same folders contain logs of prompts and checkpoints, which are JSON too. */
const CHAT = /^[^/\\]+[/\\]chats[/\\](?:[^/\\]+[/\\])*[^/\\]+\.jsonl?$/

/** The file of a sub-agent is in a folder named after the session, which its calls belong to, as in telemetry. */
const SUBAGENT = /[/\\]chats[/\\]([^/\\]+)[/\\]/

/** A project's folder, or a path within its chats. */
const CHATS = /^[^/\\]+(?:[/\\]chats(?:[/\\].*)?)?$/

export const geminiCli: Reader = {
  name: 'gemini-cli',
  folders: ({ geminiHome, home }) => [join(geminiHome ?? home, '.gemini', 'tmp')],
  isSessionFile: (path) => CHAT.test(path),
  isSessionFolder: (path) => CHATS.test(path),
  read: (path) => new ChatReading(path).run(),
  // A message is written again when its tools respond; the last line is complete.
  settle: (files, settledCalls) => settleByKey(files, () => true, settledCalls),
  readTitles,
}

/** Heads of sessions, answers, other messages with counts, and prompts. */
const MARKS = ['"sessionId"', '"gemini"', '"cached"', '"user"']

class ChatReading {
  readonly #damages = new Damages()
  readonly #calls = new Map<string, ModelCall>()
  readonly #folder: string
  readonly #parent: string | undefined
  readonly #activity = new ActivityReading()
  #session: string
  #startedAt: number | null = null
  #hasHead = false
  /** Answers, of which some may have no counts, such as those that were cancelled. */
  #answers = 0

  constructor(readonly path: string) {
    this.#parent = SUBAGENT.exec(path)?.[1]
    this.#session = this.#parent ?? basename(path).replace(/\.jsonl?$/, '')
    this.#folder = projectFolder(path)
  }

  run(): FileReading {
    this.#activity.of(this.#session)
    this.#damages.session = this.#session
    if (this.path.endsWith('.json')) this.#readDocument()
    else {
      const visit = (record: Record<string, unknown>, line: number) => this.#read(record, line)
      readMarkedLines(this.path, MARKS, this.#damages, visit, (at) => this.#activity.line(at))
    }
    if (this.#answers > 0 && !this.#hasHead) this.#damages.add('has no session id, and counts as its file', null)
    // Also in the second file of a session that was resumed in a later minute.
    if (this.#answers > 0 && this.#calls.size === 0) this.#damages.add(UNCOUNTED_ANSWERS, null, 'note')
    return {
      calls: [...this.#calls.values()],
      startedAt: this.#startedAt,
      damage: this.#damages.list(),
      parents: {},
      activity: this.#activity.activity(),
    }
  }

  #readDocument(): void {
    const text = readFileSync(this.path, 'utf8')
    let document: Record<string, unknown> | undefined
    try {
      document = objectOf(JSON.parse(text))
    } catch {
      // Reported below.
    }
    if (!document) this.#damages.add('is not a JSON object and was skipped', null)
    else if (!Array.isArray(document.messages)) this.#damages.add('has no list of messages that Tally knows', null)
    if (document) this.#read(document, null)
  }

  /** The head of a session, a message, or a change of the session that contains messages. */
  #read(record: Record<string, unknown>, line: number | null): void {
    const startedAt = momentOf(record.startTime)
    if (startedAt !== undefined) this.#startedAt = Math.min(this.#startedAt ?? startedAt, startedAt)
    if (record.type === undefined) this.#session = this.#parent ?? (textOf(record.sessionId) || this.#session)
    this.#damages.session = this.#session
    this.#hasHead ||= textOf(record.sessionId) !== ''
    this.#activity.of(this.#session)
    const changed = objectOf(record.$set)
    const messages = record.messages ?? changed?.messages
    if (Array.isArray(messages)) for (const message of messages) this.#readMessage(objectOf(message), line)
    else this.#readMessage(record, line)
  }

  #readMessage(message: Record<string, unknown> | undefined, line: number | null): void {
    const at = momentOf(message?.timestamp)
    if (at !== undefined) this.#activity.add(at, this.#parent === undefined && isPrompt(message!))
    const onDamage = this.#damages.of(line)
    if (message?.type !== 'gemini') return void reportUnknownUsage(message, message?.type, onDamage)
    this.#answers += 1
    const tokens = objectOf(message.tokens)
    if (!tokens) return void reportUnknownUsage(message, message.type, onDamage)
    const counts = countsOfTokens(tokens, onDamage)
    const recorded = { counts, at, model: textOf(message.model) }
    const countable = findCountable(recorded, onDamage)
    if (!countable) return
    const id = textOf(message.id)
    if (id === '') onDamage('has no id, so that it may be counted twice')
    const key = id === '' ? '' : `${this.#session} ${id}`
    const isSidechain = this.#parent !== undefined
    const where = { session: this.#session, folder: this.#folder, isSidechain }
    const call: ModelCall = { ...CALL_DEFAULTS, ...countable, key, ...where }
    this.#calls.set(key || `at ${call.at} ${this.#calls.size}`, call)
  }
}

/** What tools respond is of the same type as what a person writes. */
function isPrompt({ type, content }: Record<string, unknown>): boolean {
  return type === 'user' && !hasToolResponse(content)
}

const TOKENS = ['input', 'output', 'cached'] as const
/** Absent if the model has none. */
const OTHER_TOKENS = ['thoughts', 'tool', 'total'] as const
const TOKENS_FIELDS = new Set<string>([...TOKENS, ...OTHER_TOKENS])

const UNCOUNTED_ANSWERS = 'has answers without token counts, which are not counted'

/** The input includes cached tokens, but not those added by tools; the output excludes thoughts. */
function countsOfTokens(tokens: Record<string, unknown>, onDamage: OnDamage): Counts {
  reportUnknownFields(tokens, TOKENS_FIELDS, onDamage)
  const [input, output, cached] = recordedCounts(tokens, TOKENS, onDamage)
  const [thoughts, tool, total] = countsOf(tokens, OTHER_TOKENS, onDamage)
  const counts = disjointCounts({ input, cached, output: output + thoughts, total: total - tool })
  return { ...counts, input: counts.input + tool }
}

/** The client stores the path of a project's folder next to its chats. */
function projectFolder(path: string): string {
  let folder = dirname(path)
  while (basename(folder) !== 'chats' && dirname(folder) !== folder) folder = dirname(folder)
  try {
    return readFileSync(join(dirname(folder), '.project_root'), 'utf8').trim()
  } catch {
    // Older versions only store a hash of the folder's path.
    return ''
  }
}

/** The client's own summary of the session, otherwise the first prompt. */
function readTitles(path: string): Map<string, string> {
  if (SUBAGENT.test(path)) return new Map()
  let session = basename(path).replace(/\.jsonl?$/, '')
  let summary = ''
  let prompt = ''
  const read = (record: Record<string, unknown>) => {
    if (record.type === undefined) session = textOf(record.sessionId) || session
    summary = textOf(record.summary) || textOf(objectOf(record.$set)?.summary) || summary
    for (const message of [record, ...((record.messages as unknown[] | undefined) ?? [])]) {
      const { type, content } = objectOf(message) ?? {}
      if (type !== 'user' || prompt !== '') continue
      const [part] = Array.isArray(content) ? content : []
      prompt = textOf(content) || textOf(objectOf(part)?.text)
    }
  }
  if (path.endsWith('.json')) read(objectOf(JSON.parse(readFileSync(path, 'utf8'))) ?? {})
  else readMarkedLines(path, ['"sessionId"', '"summary"', '"user"'], new Damages(), read)
  const title = summary || prompt
  return title === '' ? new Map() : new Map([[session, title]])
}
