/**
 * Cline: a folder per session with the messages of the session and of its sub-agents, each file a JSON document that is
 * written anew; in the extension of editors, a folder per task with its messages.
 */
import { readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { ActivityReading } from '../active-time.ts'
import { hasMoreTokens, settleByKey } from '../duplicate-calls.ts'
import {
  addCounts,
  CALL_DEFAULTS,
  countsOf,
  disjointCounts,
  type FileReading,
  findCountable,
  LargestCounts,
  type ModelCall,
  momentOf,
  noCounts,
  objectOf,
  textOf,
  totalOf,
  UNKNOWN_MODEL,
} from '../model-calls.ts'
import { Damages } from '../session-lines.ts'
import type { SettledCalls } from '../settled-calls.ts'
import { parseObject, readCompanion } from './json-objects.ts'
import { recordedCounts, reportUnknownFields, reportUnknownUsage, reportUnknownVersion } from './known-fields.ts'
import type { Reader, ReadFile } from './reader.ts'

const MESSAGES = /(?:^|[/\\])sessions[/\\][^/\\]+[/\\][^/\\]+\.messages\.json$/
const TASK = /(?:^|[/\\])tasks[/\\][^/\\]+[/\\]ui_messages\.json$/
const FOLDER = /^(?:sessions|tasks)(?:[/\\][^/\\]+)?$/

/** The folder of the extension's files in those of an editor. */
const EXTENSION = join('User', 'globalStorage', 'saoudrizwan.claude-dev')
const EDITORS = ['Code', 'Code - Insiders', 'Cursor', 'VSCodium', 'Windsurf']
const SERVERS = ['.vscode-server', '.cursor-server', '.windsurf-server']

export const cline: Reader = {
  name: 'cline',
  folders,
  isSessionFile: (path) => MESSAGES.test(path) || TASK.test(path),
  isSessionFolder: (path) => FOLDER.test(path),
  recordsFirstBranch: true,
  companions: (path) => (isTask(path) ? [metadataPath(path)] : [manifestPath(path)]),
  read: (path) => (isTask(path) ? readTask(path) : readSession(path)),
  // A file that was copied while it was written may have a part of a request.
  settle: (files, settledCalls) => withDeleted(files, settleByKey(files, hasMoreTokens, settledCalls), settledCalls),
  readTitles,
}

function folders({ home, configHome, clineData }: AgentsEnvironment): string[] {
  return [
    clineData ?? join(home, '.cline', 'data'),
    ...EDITORS.flatMap((editor) => [
      join(configHome, editor, EXTENSION),
      join(home, 'Library', 'Application Support', editor, EXTENSION),
      join(home, 'AppData', 'Roaming', editor, EXTENSION),
    ]),
    ...SERVERS.map((server) => join(home, server, 'data', EXTENSION)),
  ]
}

function isTask(path: string): boolean {
  return basename(path) === 'ui_messages.json'
}

const COUNTS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const
const METRICS = new Set<string>([...COUNTS, 'cost'])

/** The newest version of the format that is known. */
const VERSION = 1

const DELETED_MISSING = 'requests that its messages lack may be missing'
const UNFINISHED_MISSING = 'requests without usage not included'

/** Sums of what each message of a file has, as Cline counts it. */
function readSession(path: string): FileReading {
  const damages = new Damages()
  const manifest = readCompanion(manifestPath(path))
  const session = basename(dirname(path))
  damages.session = session
  const isSidechain = basename(path) !== `${session}.messages.json`
  const git = objectOf(objectOf(manifest.metadata)?.git)
  const calls: ModelCall[] = []
  const sums = COUNTS.map(() => 0)
  const activity = new ActivityReading().of(session)
  for (const message of messagesIn(path, damages)) {
    const at = momentOf(message.ts)
    if (at !== undefined) activity.add(at, !isSidechain && isPrompt(message))
    const info = objectOf(message.modelInfo)
    const metrics = objectOf(message.metrics)
    const onDamage = damages.of(null)
    if (message.role !== 'assistant') {
      reportUnknownUsage(metrics, message.role, onDamage)
      continue
    }
    if (!metrics) {
      onDamage('has an answer without metrics, which is not counted')
      continue
    }
    reportUnknownFields(metrics, METRICS, onDamage)
    const counted = recordedCounts(metrics, COUNTS, onDamage)
    for (const [index, count] of counted.entries()) sums[index]! += count
    const [input, output, cached, written] = counted
    const counts = disjointCounts({ input, output, cached, written, total: 0 })
    const countable = findCountable({ counts, at, model: textOf(info?.id) }, onDamage)
    if (!countable) continue
    const remote = textOf(git?.url)
    calls.push({
      ...CALL_DEFAULTS,
      ...countable,
      key: `${textOf(message.id) || session} ${countable.at}`,
      ...{ session, isSidechain },
      provider: providerOf(info?.provider),
      folder: textOf(manifest.cwd),
      branch: textOf(git?.branch),
      ...(remote === '' ? {} : { remote }),
    })
  }
  const usage = objectOf(objectOf(manifest.metadata)?.usage) ?? {}
  const isLess = !isSidechain && countsOf(usage, COUNTS, () => {}).some((count, index) => count > sums[index]!)
  return {
    calls,
    startedAt: momentOf(manifest.started_at) ?? null,
    damage: damages.list(),
    parents: {},
    activity: activity.activity(),
    ...(isLess ? { missing: { [session]: DELETED_MISSING } } : {}),
  }
}

/** What tools respond is of the same role as what a person writes. */
function isPrompt({ role, content }: Record<string, unknown>): boolean {
  const blocks = Array.isArray(content) ? content : []
  return role === 'user' && !blocks.some((block) => objectOf(block)?.type === 'tool_result')
}

function messagesIn(path: string, damages: Damages): Record<string, unknown>[] {
  const document = parsed(readFileSync(path, 'utf8'))
  const { version, messages } = (objectOf(document) ?? {}) as { version?: unknown; messages?: unknown }
  if (!Array.isArray(messages)) damages.add('has no list of messages that this version of Tally knows', null)
  if (typeof version === 'number' && version > VERSION) {
    reportUnknownVersion(version, damages.of(null))
  }
  return (Array.isArray(messages) ? messages : []).map((message) => objectOf(message) ?? {})
}

const TASK_COUNTS = ['tokensIn', 'tokensOut', 'cacheWrites', 'cacheReads'] as const
const TASK_FIELDS = new Set<string>([...TASK_COUNTS, 'cost'])

/** Older versions have the usage in a message of its own. */
const REQUESTS = new Set(['api_req_started', 'api_req_finished', 'deleted_api_reqs'])

const PROMPTS = new Set(['task', 'user_feedback', 'user_feedback_diff'])

/** The extension counts what it read from and wrote to the cache apart from the input. */
function readTask(path: string): FileReading {
  const damages = new Damages()
  const onDamage = damages.of(null)
  const session = basename(dirname(path))
  const document = parsed(readFileSync(path, 'utf8'))
  if (!Array.isArray(document)) onDamage('has no list of messages that this version of Tally knows')
  const modelAt = modelsOf(path)
  const folder = folderOf(path, session)
  const calls: ModelCall[] = []
  let unfinished = 0
  const activity = new ActivityReading().of(session)
  let latest: ModelCall | undefined
  for (const each of Array.isArray(document) ? document : []) {
    const { ts, say, text, modelInfo } = objectOf(each) ?? {}
    const usage = usageIn(text)
    const at = momentOf(ts)
    const isPrompt = PROMPTS.has(textOf(say))
    if (at !== undefined) activity.add(at, isPrompt)
    // A request has the time of its start. What the agent says until the next one is its answer, and what tools did.
    if (isPrompt || REQUESTS.has(textOf(say))) latest = undefined
    else if (latest && say !== undefined && at !== undefined && at > latest.at) latest.endedAt = at
    if (!REQUESTS.has(textOf(say))) {
      reportUnknownUsage(usage, say, onDamage)
      continue
    }
    if (say === 'api_req_started' && !usage) unfinished += 1
    if (say === 'api_req_finished') unfinished -= 1
    if (!usage) continue
    reportUnknownFields(usage, TASK_FIELDS, onDamage)
    const [input, output, cache_write, cache_read] = countsOf(usage, TASK_COUNTS, onDamage)
    const counts = { input, output, cache_read, cache_write, cache_write_1h: 0 }
    const info = objectOf(modelInfo)
    const used = info ? { model: textOf(info.modelId), provider: providerOf(info.providerId) } : modelAt(at ?? 0)
    if (used.model === UNKNOWN_MODEL) onDamage('has requests of an unknown model', 'note')
    const countable = findCountable({ counts, at, model: used.model }, onDamage)
    if (!countable) continue
    const isSum = say === 'deleted_api_reqs'
    const call: ModelCall = {
      ...CALL_DEFAULTS,
      ...countable,
      key: `${session} ${isSum ? 'deleted ' : ''}${countable.at}`,
      ...{ session, folder, provider: used.provider },
      ...(isSum ? { isSum } : {}),
    }
    calls.push(call)
    latest = isSum ? undefined : call
  }
  if (unfinished > 0 && calls.length === 0) damages.add(`has ${UNFINISHED_MISSING}`, null, 'note')
  const missing = unfinished > 0 ? { [session]: UNFINISHED_MISSING } : undefined
  const found = { calls, startedAt: null, damage: damages.list(), parents: {}, activity: activity.activity() }
  return { ...found, ...(missing ? { missing } : {}) }
}

/**
 * When a person goes back to an earlier message, Cline deletes the later ones. Their requests stay counted where they were,
 * so they are kept. Of the sum of deleted requests that the extension writes, only what was not counted before is left.
 */
function withDeleted(files: readonly ReadFile[], found: readonly ModelCall[], settledCalls: SettledCalls): ModelCall[] {
  const foundIn = Map.groupBy(found, ({ session }) => session)
  const filesOf = Map.groupBy(files, ({ path }) => basename(dirname(path)))
  const sessions = [...new Set([...foundIn.keys(), ...filesOf.keys()])].map((session) => {
    const calls = new Map(settledCalls.kept(session).map((call) => [call.key, call]))
    for (const call of foundIn.get(session) ?? []) {
      if (!call.isSum) calls.set(call.key, asFirstFound(call, calls.get(call.key)))
    }
    for (const { reading } of filesOf.get(session) ?? []) addUncounted(calls, reading)
    return { session, calls: [...calls.values()] }
  })
  settledCalls.keep(sessions)
  return sessions.flatMap(({ calls }) => calls)
}

/** A request with the place that it had first, and the counts of when it was complete. */
function asFirstFound(call: ModelCall, kept: ModelCall | undefined): ModelCall {
  if (!kept) return call
  const { folder, branch, remote = '' } = kept.folder === '' ? call : kept
  const { counts } = hasMoreTokens(call, kept) ? call : kept
  return { ...call, counts, folder, branch, remote }
}

/** Adds what a file's sums of deleted requests have more than the known requests that the file lacks. */
function addUncounted(calls: Map<string, ModelCall>, reading: FileReading): void {
  const sums = reading.calls.filter(({ isSum }) => isSum).sort((one, other) => one.at - other.at)
  if (sums.length === 0) return
  const present = new Set(reading.calls.flatMap(({ key, isSum }) => (isSum ? [] : key)))
  const deleted = noCounts()
  for (const sum of sums) {
    addCounts(deleted, sum.counts)
    if (calls.has(sum.key)) continue
    const known = new LargestCounts()
    for (const { key, at, counts } of calls.values()) if (!present.has(key) && at <= sum.at) known.add(counts)
    const counts = known.exceed(deleted)
    if (totalOf(counts) > 0) calls.set(sum.key, { ...sum, counts })
  }
}

/** A request has no usage until it has finished, and none if it was cancelled. */
function usageIn(text: unknown): Record<string, unknown> | undefined {
  const usage = textOf(text).startsWith('{') ? parseObject(textOf(text)) : undefined
  return usage?.tokensIn === undefined || usage.tokensOut === undefined ? undefined : usage
}

/** Older versions record the model when it changes, in a file of its own. */
function modelsOf(path: string): (at: number) => { model: string; provider: string } {
  const { model_usage } = readCompanion(metadataPath(path))
  const changes = (Array.isArray(model_usage) ? model_usage : []).map((change) => objectOf(change) ?? {})
  return (at) => {
    const change = changes.findLast(({ ts }) => (momentOf(ts) ?? 0) <= at) ?? changes[0]
    return { model: textOf(change?.model_id) || UNKNOWN_MODEL, provider: providerOf(change?.model_provider_id) }
  }
}

/** The history of all tasks, which is read once for them. */
let history: { state: string; folders: Map<unknown, string> } | undefined

function folderOf(path: string, session: string): string {
  const file = join(dirname(dirname(dirname(path))), 'state', 'taskHistory.json')
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return ''
  const state = `${file} ${stats.mtimeMs} ${stats.size}`
  if (history?.state !== state) {
    const items = parsed(readFileSync(file, 'utf8'))
    const tasks = (Array.isArray(items) ? items : []).map((item) => objectOf(item) ?? {})
    history = { state, folders: new Map(tasks.map((task) => [task.id, textOf(task.cwdOnTaskInitialization)])) }
  }
  return history.folders.get(session) ?? ''
}

/** They sell the models that they make, or are not known. */
const NAMELESS = new Set(['anthropic', 'openai', 'openai-native', 'openai-codex', 'openai-compatible', 'gemini'])

function providerOf(recorded: unknown): string {
  const provider = textOf(recorded).toLowerCase()
  return NAMELESS.has(provider) ? '' : provider
}

function manifestPath(path: string): string {
  const folder = dirname(path)
  return join(folder, `${basename(folder)}.json`)
}

function metadataPath(path: string): string {
  return join(dirname(path), 'task_metadata.json')
}

/** Undefined if it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The one that Cline keeps, otherwise the first prompt. */
function readTitles(path: string): Map<string, string> {
  const session = basename(dirname(path))
  if (isTask(path)) {
    const document = parsed(readFileSync(path, 'utf8'))
    const task = Array.isArray(document) ? document.find((message) => objectOf(message)?.say === 'task') : undefined
    const title = textOf(objectOf(task)?.text)
    return title === '' ? new Map() : new Map([[session, title]])
  }
  const { prompt, metadata } = readCompanion(manifestPath(path))
  const title = textOf(objectOf(metadata)?.title) || textOf(prompt)
  return title === '' ? new Map() : new Map([[session, title]])
}
