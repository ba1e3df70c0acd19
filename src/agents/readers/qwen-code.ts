/**
 * Qwen Code: a file of JSON lines per session, and a ledger of finished sessions. A session's file contains every call
 * as a telemetry event, including those of sub-agents; its answers cover fewer calls, and are all there is of old
 * versions. The ledger contains only sums.
 */
import { basename, join } from 'node:path'
import { ActivityReading } from '../active-time.ts'
import type { Counts } from '../agent.ts'
import { hasMoreTokens, settleByKey } from '../duplicate-calls.ts'
import {
  CALL_DEFAULTS,
  countOf,
  countsOf,
  disjointCounts,
  type FileReading,
  findCountable,
  hasToolResponse,
  LargestCounts,
  type ModelCall,
  momentOf,
  type OnDamage,
  objectOf,
  textOf,
} from '../model-calls.ts'
import { Damages, readMarkedLines } from '../session-lines.ts'
import { reportAbsentCounts, reportUnknownFields, reportUnknownUsage, reportUnknownVersion } from './known-fields.ts'
import type { Reader, ReadFile } from './reader.ts'

const CHAT = /^projects[/\\][^/\\]+[/\\]chats[/\\][^/\\]+\.jsonl$/
const FOLDER = /^projects(?:[/\\][^/\\]+(?:[/\\]chats)?)?$/
const LEDGER = 'usage_record.jsonl'

export const qwenCode: Reader = {
  name: 'qwen-code',
  folders: ({ qwenHome, home }) => [qwenHome ?? join(home, '.qwen')],
  isSessionFolder: (path) => FOLDER.test(path),
  isSessionFile: (path) => path === LEDGER || CHAT.test(path),
  read: (path) => (basename(path) === LEDGER ? readLedger(path) : readChat(path)),
  settle: (files, settledCalls) => settleByKey(withoutLedgerDuplicates(files), hasMoreTokens, settledCalls),
  readTitles,
}

const EVENT_COUNTS = [
  'input_token_count',
  'output_token_count',
  'cached_content_token_count',
  'total_token_count',
] as const
const ANSWER_COUNTS = [
  'promptTokenCount',
  'candidatesTokenCount',
  'cachedContentTokenCount',
  'totalTokenCount',
] as const
const LEDGER_COUNTS = ['inputTokens', 'outputTokens', 'cachedTokens', 'totalTokens'] as const

/** The newest version of the ledger that is known. */
const LEDGER_VERSION = 1

/** The output includes the thoughts. */
const PARTS = ['thoughts_token_count', 'thoughtsTokenCount', 'thoughtsTokens']
const OTHERS = ['requests', 'status_code', 'duration_ms', 'ttft_ms', 'totalLatencyMs']
const FIELDS = new Set<string>([...EVENT_COUNTS, ...ANSWER_COUNTS, ...LEDGER_COUNTS, ...PARTS, ...OTHERS])

/** Events, answers and other lines with counts, and what persons wrote. */
const MARKS = ['"ui_telemetry"', '_token_count"', 'TokenCount"', '"assistant"', '"user"']

/** Their usage is that of sub-agents, which have events of their own. */
const REPEATING = new Set<unknown>(['user', 'tool_result'])

/** The input includes cached tokens, and the output, unlike Gemini's, includes thoughts. */
function countsOfUsage(
  usage: Record<string, unknown>,
  names: readonly [input: string, output: string, cached: string, total: string],
  onDamage: OnDamage,
): Counts {
  reportUnknownFields(usage, FIELDS, onDamage)
  // Servers without a cache do not name it in answers.
  reportAbsentCounts(usage, names.slice(0, names[0] === ANSWER_COUNTS[0] ? 2 : 3), onDamage)
  const [input, output, cached, total] = countsOf(usage, names, onDamage)
  return disjointCounts({ input, cached, output, total })
}

interface RecordedCall {
  usage: Record<string, unknown>
  names: typeof EVENT_COUNTS | typeof ANSWER_COUNTS
  model: unknown
  at: unknown
  id: string
}

/** A call with the version of the client that recorded it. */
interface ChatCall {
  call: ModelCall
  version: string
}

function readChat(path: string): FileReading {
  const damages = new Damages()
  const events: ChatCall[] = []
  const answers: ChatCall[] = []
  const pathSession = basename(path, '.jsonl')
  const activity = new ActivityReading().of(pathSession)
  let hasAnswers = false
  const visit = (record: Record<string, unknown>, line: number) => {
    const session = textOf(record.sessionId) || pathSession
    const at = momentOf(record.timestamp)
    if (at !== undefined) activity.of(session).add(at, isPrompt(record))
    damages.session = session
    const onDamage = damages.of(line)
    const recorded = callIn(record)
    if (record.type === 'assistant') hasAnswers = true
    if (record.subtype === 'ui_telemetry' && !objectOf(objectOf(record.systemPayload)?.uiEvent)) {
      onDamage('is an event without contents, which may have been a request')
    }
    if (!recorded) return REPEATING.has(record.type) ? undefined : reportUnknownUsage(record, typeOf(record), onDamage)
    const countable = findCountable(
      {
        counts: countsOfUsage(recorded.usage, recorded.names, onDamage),
        at: momentOf(recorded.at) ?? at,
        model: textOf(recorded.model),
      },
      onDamage,
    )
    if (!countable) return
    const calls = recorded.names === EVENT_COUNTS ? events : answers
    const call = {
      ...CALL_DEFAULTS,
      ...countable,
      key: recorded.id === '' ? '' : `${recorded.id} ${countable.at}`,
      session,
      folder: textOf(record.cwd),
      branch: textOf(record.gitBranch),
    }
    activity.line(call.at)
    calls.push({ call, version: textOf(record.version) })
  }
  readMarkedLines(path, MARKS, damages, visit, (at) => activity.line(at))
  if (hasAnswers && events.length + answers.length === 0) {
    damages.add('has answers without token counts, which are not counted', null)
  }
  const calls = [...events, ...answersWithoutEvents(answers, events)].map(({ call }) => call)
  const version = [...events, ...answers].at(-1)?.version ?? ''
  return { calls, startedAt: null, damage: damages.list(), parents: {}, activity: activity.activity(), version }
}

/** Newer versions record whether a person wrote the line. What tools respond may be of the same type. */
function isPrompt({ type, provenance = 'real_user', message }: Record<string, unknown>): boolean {
  return type === 'user' && provenance === 'real_user' && !hasToolResponse(objectOf(message)?.parts)
}

/**
 * The answers of versions that write no events, before the session was continued by one that does, or after it. An
 * answer with the counts of an event is the same call; others of the same version may have counts of their own.
 */
function answersWithoutEvents(answers: ChatCall[], events: ChatCall[]): ChatCall[] {
  if (events.length === 0) return answers
  const countsIn = ({ call: { model, counts } }: ChatCall) => [model, ...Object.values(counts)].join(' ')
  const left = Map.groupBy(answers, countsIn)
  for (const event of events) {
    const alike = left.get(countsIn(event)) ?? []
    const distance = ({ call }: ChatCall) => Math.abs(call.at - event.call.at)
    const nearest = alike.toSorted((one, other) => distance(one) - distance(other))[0]
    if (nearest) alike.splice(alike.indexOf(nearest), 1)
  }
  const versions = new Set(events.map(({ version }) => version))
  const firstAt = Math.min(...events.map(({ call }) => call.at))
  return [...left.values()].flat().filter(({ call, version }) => call.at < firstAt || !versions.has(version))
}

/** Of an event if it is one, otherwise of the line. */
function typeOf({ type, subtype, systemPayload }: Record<string, unknown>): unknown {
  return objectOf(objectOf(systemPayload)?.uiEvent)?.['event.name'] ?? subtype ?? type
}

function callIn(record: Record<string, unknown>): RecordedCall | undefined {
  if (record.type === 'system' && record.subtype === 'ui_telemetry') {
    const event = objectOf(objectOf(record.systemPayload)?.uiEvent)
    if (event?.['event.name'] !== 'qwen-code.api_response') return undefined
    const id = textOf(event.response_id)
    return { usage: event, names: EVENT_COUNTS, model: event.model, at: event['event.timestamp'], id }
  }
  const usage = objectOf(record.usageMetadata)
  if (record.type !== 'assistant' || !usage) return undefined
  return { usage, names: ANSWER_COUNTS, model: record.model, at: record.timestamp, id: textOf(record.uuid) }
}

/**
 * The sums of sessions; a continued session is in it again, with larger sums. What is new in them was used until the time
 * of the line.
 */
function readLedger(path: string): FileReading {
  const damages = new Damages()
  const calls: ModelCall[] = []
  const largest = new Map<string, LargestCounts>()
  readMarkedLines(path, ['"models"', 'Tokens"'], damages, (record, line) => {
    damages.session = textOf(record.sessionId)
    const onDamage = damages.of(line)
    if (Number(record.version ?? 1) > LEDGER_VERSION) reportUnknownVersion(record.version, onDamage)
    if (!objectOf(record.models)) return reportUnknownUsage(record, 'session', onDamage)
    const session = textOf(record.sessionId)
    const startedAt = momentOf(record.startTime)
    const endedAt = momentOf(record.timestamp)
    if (session === '' || (startedAt ?? endedAt) === undefined) {
      return void onDamage('is a session without an id or a time, and is not counted')
    }
    for (const [model, usage] of Object.entries(objectOf(record.models) ?? {})) {
      const name = `${session} ${model}`
      const before = largest.get(name)
      const sums = before ?? new LargestCounts()
      largest.set(name, sums)
      const total = countsOfUsage(objectOf(usage) ?? {}, LEDGER_COUNTS, onDamage)
      const counts = sums.exceed(total)
      const at = before ? (endedAt ?? startedAt) : (startedAt ?? endedAt)
      const countable = findCountable({ counts, at, model }, onDamage)
      if (!countable) continue
      reportAbsentCounts(objectOf(usage) ?? {}, ['requests'], onDamage)
      const requests = sums.exceedUses(countOf(objectOf(usage)?.requests) || 1)
      calls.push({
        ...CALL_DEFAULTS,
        ...countable,
        key: [LEDGER, name, ...Object.values(total)].join(' '),
        session,
        folder: textOf(record.project),
        requests,
        isSum: requests !== 1,
      })
    }
  })
  return { calls, startedAt: null, damage: damages.list(), parents: {} }
}

/** The ledger counts only for sessions without a file, such as deleted ones. */
function withoutLedgerDuplicates(files: ReadFile[]): ReadFile[] {
  const chats = files.filter(({ path }) => basename(path) !== LEDGER)
  const recorded = new Set(chats.flatMap(({ reading }) => reading.calls.map(({ session }) => session)))
  const ledgers = files.filter(({ path }) => basename(path) === LEDGER)
  return [
    ...chats,
    ...ledgers.map((file) => {
      const calls = file.reading.calls.filter(({ session }) => !recorded.has(session))
      return { ...file, reading: { ...file.reading, calls } }
    }),
  ]
}

/** The first prompt. */
function readTitles(path: string): Map<string, string> {
  const titles = new Map<string, string>()
  if (basename(path) === LEDGER) return titles
  readMarkedLines(path, ['"user"'], new Damages(), (record) => {
    const session = textOf(record.sessionId)
    const parts = objectOf(record.message)?.parts
    const title = Array.isArray(parts) ? textOf(objectOf(parts[0])?.text) : ''
    if (record.type === 'user' && title !== '' && !titles.has(session)) titles.set(session, title)
  })
  return titles
}
