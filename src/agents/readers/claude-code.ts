/** Claude Code: a file of JSON lines per session, and one per sub-agent in a folder named after the session. */
import { basename, join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { ActivityReading } from '../active-time.ts'
import type { Counts } from '../agent.ts'
import { settleByKey } from '../duplicate-calls.ts'
import { FieldsReader } from '../json-fields.ts'
import {
  addCounts,
  type Countable,
  countOf,
  countsOf,
  type FileReading,
  findCountable,
  type ModelCall,
  momentOf,
  noCounts,
  type OnDamage,
  objectOf,
  type SessionOrigin,
  serviceOf,
  textOf,
  totalOf,
  UNKNOWN_MODEL,
} from '../model-calls.ts'
import { Damages, readMarkedLines, type VisitLine } from '../session-lines.ts'
import { RequestKeys, withKnownIds, withoutReplays } from './claude-code-identity.ts'
import { TotalsReading, unlistedCalls } from './claude-code-totals.ts'
import { recordedCounts, reportAbsentCounts, reportUnknownFields, reportUnknownUsage } from './known-fields.ts'
import type { Reader } from './reader.ts'

/** Lines that the client itself adds after a failed request; no model was used. */
const NO_MODEL = '<synthetic>'

const SESSION_FILE = /\.jsonl$/

/** A sub-agent's file is in a folder of this name, within a folder named after the session. */
const SUBAGENTS = /(?:^|[/\\])([^/\\]+)[/\\]subagents[/\\]/

export const claudeCode: Reader = {
  name: 'claude-code',
  folders: (environment) => configFolders(environment).map((folder) => join(folder, 'projects')),
  isSessionFile: (path) => SESSION_FILE.test(path),
  read: readSessionFile,
  settle: (files, settledCalls) => {
    const known = withKnownIds(files)
    const calls = withoutReplays(settleByKey(known, isMoreComplete, settledCalls))
    return [...calls, ...unlistedCalls(calls, known, settledCalls)]
  },
  readTitles,
}

/**
 * The variable as Claude Code and other tools read it: one folder or several, which may also be the `projects` folder
 * itself.
 */
function configFolders({ claudeConfigDir, home, configHome }: AgentsEnvironment): string[] {
  if (claudeConfigDir === undefined) return [join(home, '.claude'), join(configHome, 'claude')]
  return claudeConfigDir
    .split(',')
    .map((folder) => folder.trim().replace(/^~(?=$|[/\\])/, home))
    .filter(Boolean)
    .map((folder) => folder.replace(/[/\\]projects[/\\]*$/, ''))
}

/**
 * Answers and other lines with token counts, lines whose time shows when a session started or continued, and those that may be
 * prompts.
 */
const MARKS = [
  ...['"assistant"', 'put_tokens"', 'putTokens"', '"queue-operation"', '"compact_boundary"'],
  // Tool results, which are most of the other lines, begin with another type of content.
  ...[
    '"role":"user","content":"',
    '"role":"user","content":[{"type":"text"',
    '"role":"user","content":[{"type":"image"',
  ],
]

/** Their usage is that of sub-agents, which have files of their own. */
const REPEATING = new Set<unknown>(['user', 'progress', 'attachment', 'system'])

function readSessionFile(path: string): FileReading {
  const damages = new Damages()
  const calls = new Map<string, ModelCall>()
  const totals = new TotalsReading()
  const keys = new RequestKeys()
  let startedAt: number | null = null
  let version = ''
  const origins: Record<string, SessionOrigin> = {}
  const mainSession = SUBAGENTS.exec(path)?.[1]
  const pathSession = mainSession ?? basename(path, '.jsonl')
  const activity = new ActivityReading().of(pathSession)
  damages.session = pathSession
  const add = (call: ModelCall, line: number) => {
    // A session's file mostly repeats the same calls, once for each block of content.
    const held = call.key === '' ? undefined : calls.get(call.key)
    if (!held || isMoreComplete(call, held)) calls.set(call.key || `line ${line}`, call)
  }
  const visit: VisitLine = (record, line, isUsual) => {
    const at = momentOf(record.timestamp)
    if (at !== undefined) {
      const session = textOf(record.sessionId)
      const owner = ownerOf(record)
      activity.of(session || pathSession).add(at, mainSession === undefined && isPrompt(record))
      startedAt = Math.min(startedAt ?? at, at)
      totals.passLine(at, owner !== '' && owner !== session)
    }
    damages.session = textOf(record.sessionId) || pathSession
    const onDamage = damages.of(line)
    if (record.type === 'cost-state') totals.read(record, pathSession, onDamage)
    else if (record.type !== 'assistant' && !REPEATING.has(record.type)) {
      reportUnknownUsage(record, record.type, onDamage)
    }
    if (record.type !== 'assistant') return
    const message = objectOf(record.message)
    const usage = objectOf(message?.usage)
    if (!message || !usage) return void onDamage('is an answer without usage, and is not counted')
    version = textOf(record.version) || version
    const entrypoint = textOf(record.entrypoint)
    if (entrypoint !== '') origins[damages.session] = { entrypoint }
    const model = textOf(message.model)
    if (model === NO_MODEL) return
    const counts = (isUsual && usualCounts(usage)) || countsOfUsage(usage, onDamage)
    const countable = findCountable({ counts, at, model }, onDamage)
    if (!countable) return
    const call = callOf(record, countable, textOf(message.id), keys, pathSession)
    addCharges(call, usage, onDamage)
    if (!Array.isArray(usage.iterations)) add(call, line)
    else for (const each of callsOf(call, usage.iterations, onDamage)) add(each, line)
  }
  readMarkedLines(path, MARKS, damages, visit, (at) => activity.line(at), { fields: FIELDS })
  const found = { calls: [...calls.values()], startedAt, damage: damages.list(), parents: {}, version }
  const reading = { ...found, activity: activity.activity(), origins }
  return totals.totals.length === 0 ? reading : { ...reading, totals: totals.totals }
}

/** What a line begins with that is of type `user`, but that the client wrote. */
const CLIENT_TEXT = /^\s*(?:<local-command-|<bash-std|\[Request interrupted by user)/

/** Whether a person wrote the line. Tool results, what the client adds, and the prompts of sub-agents have its type too. */
function isPrompt(record: Record<string, unknown>): boolean {
  const isOther = record.isMeta === true || record.isCompactSummary === true || record.isSidechain === true
  if (record.type !== 'user' || isOther) return false
  const content = objectOf(record.message)?.content
  if (!Array.isArray(content)) return !CLIENT_TEXT.test(textOf(content))
  const blocks = content.map((block) => objectOf(block) ?? {})
  return !blocks.some(({ type, text }) => type === 'tool_result' || CLIENT_TEXT.test(textOf(text)))
}

/** The session that made the request of a copied line; otherwise empty, or the line's own session. */
function ownerOf(record: Record<string, unknown>): string {
  return textOf(objectOf(record.forkedFrom)?.sessionId) || textOf(record.requestSessionId)
}

function callOf(
  record: Record<string, unknown>,
  { counts, at, model }: Countable,
  id: string,
  keys: RequestKeys,
  pathSession: string,
): ModelCall {
  const branch = textOf(record.gitBranch)
  // Without copies of objects, which would take as long as the rest.
  return {
    counts,
    at,
    model,
    key: keys.keyOf(record, id, { counts, at }),
    session: textOf(record.sessionId) || pathSession,
    owner: ownerOf(record),
    provider: providerOf(id),
    cost: typeof record.costUSD === 'number' ? String(record.costUSD) : '',
    folder: textOf(record.cwd),
    // Git returns this if no branch is checked out.
    branch: branch === 'HEAD' ? '' : branch,
    isSidechain: record.isSidechain === true,
    activeMs: null,
  }
}

/** The call on a line, and the model's calls of an advisor, which are not included in its own counts. */
function callsOf(call: ModelCall, recorded: unknown[], onDamage: OnDamage): ModelCall[] {
  const iterations = recorded.map((each) => objectOf(each) ?? {})
  const parts = partsOf(iterations, call.counts)
  return [parts ? { ...call, parts } : call, ...separateCalls(iterations, call, onDamage)]
}

/** Adds what is charged besides tokens, or changes their price. */
function addCharges(call: ModelCall, usage: Record<string, unknown>, onDamage: OnDamage): void {
  const { service_tier, speed, inference_geo } = usage
  const service = serviceOf({ service_tier, speed, region: inference_geo })
  const used = objectOf(usage.server_tool_use)
  if (used) reportUnknownFields(used, TOOL_FIELDS, onDamage)
  const searches = used ? countsOf(used, ['web_search_requests'] as const, onDamage)[0] : 0
  if (service) call.service = service
  if (searches > 0) call.tools = { web_search: searches }
}

const COUNTS = ['input_tokens', 'output_tokens'] as const
/** Absent if the server has no cache. */
const CACHE_COUNTS = ['cache_read_input_tokens', 'cache_creation_input_tokens'] as const
const DURATIONS = ['ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens'] as const
const LONGER = DURATIONS.slice(1)

/** The details are parts of the counts. */
const DETAILS = ['cache_creation', 'output_tokens_details', 'server_tool_use', 'fallback_credit', 'iterations']
/** With them, servers that also answer as OpenAI does repeat the counts. */
const REPEATED = ['prompt_tokens', 'completion_tokens', 'total_tokens', 'cached_tokens', 'prompt_tokens_details']
const USAGE_FIELDS = new Set<string>([...COUNTS, ...CACHE_COUNTS, ...DETAILS, ...REPEATED, 'completion_tokens_details'])
const DURATION_FIELDS = new Set<string>(DURATIONS)
/** Only searches are charged by use. */
const TOOL_FIELDS = new Set(['web_search_requests', 'web_fetch_requests', 'code_execution_requests'])

/** What is read of the lines that most files consist of. */
const FIELDS = new FieldsReader([
  { names: ['type', 'operation', 'timestamp', 'sessionId'], others: ['content'] },
  {
    names: [
      ...['type', 'timestamp', 'sessionId', 'version', 'cwd', 'gitBranch', 'requestId', 'costUSD', 'entrypoint'],
      ...['isSidechain', 'requestSessionId', 'forkedFrom'],
    ],
    objects: {
      message: {
        names: ['id', 'model'],
        objects: {
          usage: {
            names: [...COUNTS, ...CACHE_COUNTS, 'service_tier', 'speed', 'inference_geo', 'iterations'],
            objects: {
              cache_creation: { names: DURATIONS, others: [] },
              server_tool_use: { names: [...TOOL_FIELDS], others: [] },
            },
            others: [...USAGE_FIELDS],
          },
        },
      },
    },
    // Others are needed without a request id.
    suffices: ({ type, requestId }) => type === 'assistant' && textOf(requestId) !== '',
  },
])

/** The counts of most lines. Undefined if one is absent or invalid, or there may be others. */
function usualCounts(usage: Record<string, unknown>): Counts | undefined {
  const { input_tokens: input, output_tokens: output, cache_read_input_tokens: cache_read } = usage
  const { cache_creation_input_tokens: written, cache_creation, service_tier, speed, inference_geo } = usage
  const split = cache_creation as Record<string, unknown> | undefined
  const shorter = split ? split.ephemeral_5m_input_tokens : 0
  const cache_write_1h = split ? split.ephemeral_1h_input_tokens : 0
  const areTexts = isAbsentOrText(service_tier) && isAbsentOrText(speed) && isAbsentOrText(inference_geo)
  if (!isCount(input) || !isCount(output) || !isCount(cache_read) || !isCount(written) || !areTexts) return undefined
  if (!isCount(shorter) || !isCount(cache_write_1h)) return undefined
  return { input, output, cache_read, cache_write: Math.max(shorter, written - cache_write_1h), cache_write_1h }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && countOf(value) !== undefined
}

function isAbsentOrText(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

/**
 * How long something is cached may be recorded of all cache writes, of some, or of none, as in old versions. The rest
 * counts as cached for five minutes, which is the default and the lower price.
 */
function countsOfUsage(usage: Record<string, unknown>, onDamage: OnDamage): Counts {
  reportUnknownFields(usage, USAGE_FIELDS, onDamage)
  // By index, because destructuring of arrays compiles to an iteration, and this runs for each line.
  const counts = recordedCounts(usage, COUNTS, onDamage)
  const cached = countsOf(usage, CACHE_COUNTS, onDamage)
  const split = objectOf(usage.cache_creation)
  if (split) {
    reportUnknownFields(split, DURATION_FIELDS, onDamage)
    // Some servers record only the longer one.
    reportAbsentCounts(split, LONGER, onDamage)
  }
  const writes = split ? countsOf(split, DURATIONS, onDamage) : undefined
  const cache_write_1h = writes?.[1] ?? 0
  const cache_write = Math.max(writes?.[0] ?? 0, cached[1] - cache_write_1h)
  return { input: counts[0], output: counts[1], cache_read: cached[0], cache_write, cache_write_1h }
}

/**
 * The counts of each time that the model was called for one message, which are priced one by one. Undefined if there is
 * only one, or if they do not add up to those of the message.
 */
function partsOf(iterations: Record<string, unknown>[], counts: Counts): Counts[] | undefined {
  // Invalid counts do not add up.
  const parts = iterations.filter(({ type }) => type === 'message').map((each) => countsOfUsage(each, () => {}))
  if (parts.length < 2) return undefined
  const sum = noCounts()
  for (const part of parts) addCounts(sum, part)
  // Some versions have the duration of cache writes only for the message.
  let longer = counts.cache_write_1h - sum.cache_write_1h
  const isWhole = (['input', 'output', 'cache_read'] as const).every((count) => sum[count] === counts[count])
  if (!isWhole || longer < 0 || sum.cache_write - longer !== counts.cache_write) return undefined
  return parts.map((part) => {
    const moved = Math.min(longer, part.cache_write)
    longer -= moved
    return { ...part, cache_write: part.cache_write - moved, cache_write_1h: part.cache_write_1h + moved }
  })
}

/**
 * What a message's own counts do not include: the model's calls of an advisor
 * (https://platform.claude.com/docs/en/agents-and-tools/tool-use/advisor-tool), and the vendor's summary of a long
 * conversation (https://platform.claude.com/docs/en/build-with-claude/compaction).
 */
const SEPARATE = new Set<unknown>(['advisor_message', 'compaction'])

function separateCalls(iterations: Record<string, unknown>[], call: ModelCall, onDamage: OnDamage): ModelCall[] {
  return iterations.flatMap((iteration, index): ModelCall[] => {
    const { type } = iteration
    if (type !== 'message' && !SEPARATE.has(type)) reportUnknownUsage(iteration, type, onDamage)
    if (!SEPARATE.has(type)) return []
    const counts = countsOfUsage(iteration, onDamage)
    const model = type === 'compaction' ? call.model : textOf(iteration.model) || UNKNOWN_MODEL
    if (totalOf(counts) === 0) return []
    const { tools: _, ...rest } = call
    return [{ ...rest, key: call.key === '' ? '' : `${call.key} ${type} ${index}`, model, counts, cost: '' }]
  })
}

/** The ids of messages show where the model ran, if not at Anthropic. */
function providerOf(messageId: string): string {
  if (messageId.startsWith('msg_bdrk_')) return 'aws'
  return messageId.startsWith('msg_vrtx_') ? 'google' : ''
}

/** Prefers the conversation's own line to a sub-agent's, then the one with more output; if equal, the later one. */
function isMoreComplete(candidate: ModelCall, held: ModelCall): boolean {
  if (candidate.isSidechain !== held.isSidechain) return held.isSidechain
  return candidate.counts.output >= held.counts.output
}

/** The name that a person gave, otherwise the client's own, the summary, or the first prompt. */
const TITLES = [
  ['custom-title', 'customTitle'],
  ['ai-title', 'aiTitle'],
  ['summary', 'summary'],
  ['last-prompt', 'lastPrompt'],
] as const

function readTitles(path: string): Map<string, string> {
  const found = new Map<string, { rank: number; title: string }>()
  const pathSession = basename(path, '.jsonl')
  if (SUBAGENTS.test(path)) return new Map()
  const marks = TITLES.map(([type]) => `"${type}"`)
  readMarkedLines(path, marks, new Damages(), (record) => {
    const rank = TITLES.findIndex(([type]) => type === record.type)
    const title = textOf(record[TITLES[rank]?.[1] ?? ''])
    const session = textOf(record.sessionId) || pathSession
    if (title !== '' && rank <= (found.get(session)?.rank ?? rank)) found.set(session, { rank, title })
  })
  return new Map([...found].map(([session, { title }]) => [session, title]))
}
