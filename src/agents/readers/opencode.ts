/**
 * opencode: a SQLite database of all sessions; in older versions, a JSON file per message. Version 2 has tables of its own
 * in the same database, and leaves those of version 1 as they were.
 */
import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { ActivityReading } from '../active-time.ts'
import type { Counts } from '../agent.ts'
import { hasMoreTokens, settleByKey } from '../duplicate-calls.ts'
import {
  CALL_DEFAULTS,
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
import { newestVersion } from '../not-read.ts'
import { columnsOf, type Database, withDatabase } from '../session-database.ts'
import { Damages } from '../session-lines.ts'
import { parseObject } from './json-objects.ts'
import { recordedCounts, reportAbsentCounts, reportUnknownFields, reportUnknownUsage } from './known-fields.ts'
import type { Reader } from './reader.ts'

/** Unreleased versions have a separate database in the same folder, such as `opencode-dev.db`; Kilo takes over opencode's. */
const DATABASE = /^(?:opencode|kilo)(?:-[\w.-]+)?\.db$/
const FOLDER = /^storage(?:[/\\]message(?:[/\\][^/\\]+)?)?$/
const MESSAGE = /^storage[/\\]message[/\\][^/\\]+[/\\][^/\\]+\.json$/

export const opencode = readerOf({
  name: 'opencode',
  databaseIn: ({ opencodeDatabase }) => opencodeDatabase,
  // Free, or unknown: a list value is better than none.
  hasCharged: () => true,
})

/** A fork of version 1, which records what its own gateway and OpenRouter charged, and calculates other costs. */
export const kilo = readerOf({
  name: 'kilo',
  databaseIn: ({ kiloDatabase }) => kiloDatabase,
  hasCharged: (provider) => provider === 'kilo' || provider === 'openrouter',
})

interface Variant {
  name: 'opencode' | 'kilo'
  /** Where the person has moved the database to, if so. */
  databaseIn(environment: AgentsEnvironment): string | undefined
  hasCharged: HasCharged
}

/** Whether the costs of a provider's requests are what it charged. */
type HasCharged = (provider: string) => boolean

function readerOf({ name, databaseIn, hasCharged }: Variant): Reader {
  return {
    name,
    folders: ({ dataHome }) => [join(dataHome, name)],
    files: (environment) => {
      const database = databaseIn(environment)
      return database === undefined || database === ':memory:' ? [] : [resolve(environment.dataHome, name, database)]
    },
    isSessionFile: (path) => DATABASE.test(path) || MESSAGE.test(path),
    isSessionFolder: (path) => FOLDER.test(path),
    recordsStarts: true,
    companions: (path) => (isMessageFile(path) ? [] : [`${path}-wal`]),
    read: (path) => withCharges(isMessageFile(path) ? readMessageFile(path) : readDatabase(path), hasCharged),
    // A message that is still being written has the tokens of its steps so far.
    settle: (files, settledCalls) => settleByKey(files, hasMoreTokens, settledCalls),
    readTitles,
  }
}

function withCharges(reading: FileReading, hasCharged: HasCharged): FileReading {
  const calls = reading.calls.map((call) => (hasCharged(call.provider) ? call : { ...call, cost: '' }))
  return { ...reading, calls }
}

function isMessageFile(path: string): boolean {
  return path.endsWith('.json')
}

interface MessageRow {
  id: string
  session_id: string
  /** Only in version 2. */
  type?: string
  data: string
}

interface SessionRow {
  id: string
  parent_id: string | null
  title: string | null
  /** The session that it is a fork of. Version 2 only. */
  fork_session_id?: string | null
  directory?: string | null
  time_created?: number
  version?: string | null
  /** Sums of its messages. */
  tokens_input?: number
  tokens_output?: number
}

/** The tables of messages and sessions, by version. */
const TABLES = [
  { messages: 'message', sessions: 'session' },
  { messages: 'session_message', sessions: 'session_v2' },
] as const

function readDatabase(path: string): FileReading {
  return withDatabase(path, (database) => {
    const damages = new Damages()
    const sessions = sessionsIn(database)
    const calls = new Map<string, ModelCall>()
    const activity = new ActivityReading()
    const tables = TABLES.filter(({ messages }) => columnsOf(database, messages, COLUMNS).length === COLUMNS.length)
    const unknown = unknownSessions(database, tables)
    for (const { table, count } of unknown) {
      const kind = { reason: 'unknown_session', name: table, count } as const
      damages.add(`has sessions in its table ${table} in a format that this version of Tally does not know`, null, kind)
    }
    if (tables.length === 0 && unknown.length === 0) {
      const kind = { reason: 'unknown_file' } as const
      damages.add('has no table of messages that this version of Tally knows', null, kind)
    }
    if (hasAnswersWithoutTokens(database)) damages.add('has answers without tokens, which are not counted', null)
    for (const { messages } of tables) {
      for (const row of messagesIn(database, messages)) {
        damages.session = row.session_id
        const session = sessions.get(row.session_id)
        const found = callOfRow(row, session, damages)
        const call = found && session?.parent_id ? { ...found, isSidechain: true } : found
        // What version 2 takes over of a session keeps its id.
        if (call && totalOf(call.counts) >= totalOf(calls.get(row.id)?.counts ?? noCounts())) calls.set(row.id, call)
        if (call) activity.of(call.session).line(call.endedAt ?? call.at)
      }
    }
    for (const { session_id, time_created, is_prompt } of linesIn(database)) {
      const at = momentOf(time_created)
      if (at !== undefined) activity.of(session_id).add(at, is_prompt === 1)
    }
    const versions = [...sessions.values(), ...unknown].map((each) => each.version)
    const version = newestVersion(versions) ?? ''
    const counted = new Set([...calls.values()].map((call) => call.session))
    const parents: Record<string, string[]> = {}
    const missing: Record<string, string> = {}
    for (const session of sessions.values()) {
      damages.session = session.id
      if (session.parent_id) parents[session.id] = [session.parent_id]
      if (!counted.has(session.id) && (session.tokens_input || session.tokens_output)) {
        damages.add('has sessions with tokens that their messages do not have, which are not counted', null)
      }
      if (hasMadeTitle(session)) missing[session.id] = TITLE_MISSING
    }
    const found = { calls: [...calls.values()], startedAt: null, damage: damages.list(), parents, missing, version }
    return { ...found, activity: activity.activity() }
  })
}

/** Version 1 records tokens from the beginning of an answer. */
function hasAnswersWithoutTokens(database: Database): boolean {
  if (columnsOf(database, 'message', ['data']).length === 0) return false
  const condition = `data LIKE '%"role":"assistant"%' AND data NOT LIKE '%"tokens"%'`
  return database.query(`SELECT 1 FROM message WHERE ${condition} LIMIT 1`).get() !== null
}

interface UnknownSessions {
  table: string
  count: number
  version: string | null
}

/** Sessions whose messages are not in the readable tables: those in other tables that are called like them. */
function unknownSessions(database: Database, readable: readonly (typeof TABLES)[number][]): UnknownSessions[] {
  const named = `type = 'table' AND name LIKE 'session%' AND name NOT LIKE '%message%'`
  const tables = database
    .query<{ name: string }, []>(`SELECT name FROM sqlite_schema WHERE ${named} ORDER BY name`)
    .all()
  const known = tables.filter(({ name }) => readable.some(({ sessions }) => sessions === name))
  const others = tables.filter(({ name }) => !known.some((each) => each.name === name))
  return others.flatMap(({ name }): UnknownSessions[] => {
    // Other tables are about sessions, too.
    if (columnsOf(database, name, ['id', 'title']).length < 2) return []
    const version = columnsOf(database, name, ['version']).length > 0 ? 'max(version)' : 'null'
    const taken = known.map((each) => ` AND id NOT IN (SELECT id FROM ${each.name})`).join('')
    const table = `"${name.replaceAll('"', '""')}"`
    const query = `SELECT count(*) AS count, ${version} AS version FROM ${table} WHERE true${taken}`
    const [row] = database.query<Omit<UnknownSessions, 'table'>, []>(query).all()
    return row!.count > 0 ? [{ table: name, ...row! }] : []
  })
}

/** Without json_extract, which fails for all rows if one of them is not JSON. */
function messagesIn(database: Database, table: string): Iterable<MessageRow> {
  const columns = columnsOf(database, table, ['id', 'session_id', 'type', 'data'])
  const order = columnsOf(database, table, ['time_created', 'id'])
  return database
    .query<MessageRow, []>(
      `SELECT ${columns.join(', ')} FROM ${table} WHERE data LIKE '%"tokens"%' ORDER BY ${order.join(', ')}`,
    )
    .iterate()
}

interface LineRow {
  session_id: string
  time_created: unknown
  is_prompt: number
}

/** What shows that a row is a prompt, by table. */
const IS_PROMPT = { message: `data LIKE '%"role":"user"%'`, part: '0', session_message: `type = 'user'` }

/** The times of messages, and of their parts, such as uses of tools. */
function* linesIn(database: Database): Iterable<LineRow> {
  for (const [table, isPrompt] of Object.entries(IS_PROMPT)) {
    const needed = ['session_id', 'time_created', table === 'session_message' ? 'type' : 'data']
    if (columnsOf(database, table, needed).length < needed.length) continue
    const columns = `session_id, time_created, ${isPrompt} AS is_prompt`
    yield* database.query<LineRow, []>(`SELECT ${columns} FROM ${table}`).iterate()
  }
}

function callOfRow({ session_id, type, data }: MessageRow, session: SessionRow | undefined, damages: Damages) {
  const message = parseObject(data)
  if (type === undefined || !message) return callOf(message, session_id, damages)
  if (type !== 'assistant') return void reportUnknownUsage(message, type, damages.of(null))
  const model = objectOf(message.model)
  const call = callOf(
    {
      ...{ role: 'assistant', tokens: message.tokens, cost: message.cost, time: message.time },
      ...{ modelID: model?.id, providerID: model?.providerID, path: { cwd: session?.directory } },
    },
    session_id,
    damages,
  )
  if (!call) return undefined
  // A fork begins with copies of what the other session had until then.
  const isCopy = session?.time_created !== undefined && call.at < session.time_created
  return isCopy && session.fork_session_id ? { ...call, owner: session.fork_session_id } : call
}

/** Those of version 2 in place of those that it took over. */
function sessionsIn(database: Database): Map<string, SessionRow> {
  const found = new Map<string, SessionRow>()
  for (const { sessions } of TABLES) {
    const columns = columnsOf(database, sessions, SESSION_COLUMNS)
    if (!columns.includes('parent_id')) continue
    for (const session of database.query<SessionRow, []>(`SELECT ${columns.join(', ')} FROM ${sessions}`).iterate()) {
      found.set(session.id, session)
    }
  }
  return found
}

const COLUMNS = ['id', 'session_id', 'data']

const SESSION_COLUMNS = [
  ...['id', 'parent_id', 'title', 'fork_session_id', 'directory', 'time_created', 'version'],
  ...['tokens_input', 'tokens_output'],
]

/** opencode keeps the answer of this request as the title, and nothing about its tokens. */
const TITLE_MISSING = 'title request not included'

/** The titles of sub-agents and forks are not made by a model, nor is the first one of a session. */
function hasMadeTitle({ parent_id, fork_session_id, title }: SessionRow): boolean {
  return !parent_id && !fork_session_id && !/ \(fork #\d+\)$|^New session - \d{4}-/.test(title ?? '')
}

function readMessageFile(path: string): FileReading {
  const damages = new Damages()
  const message = parseObject(readFileSync(path, 'utf8'))
  const session = textOf(message?.sessionID) || basename(dirname(path))
  damages.session = session
  const call = callOf(message, session, damages)
  const activity = new ActivityReading().of(session)
  const at = momentOf(objectOf(message?.time)?.created)
  if (at !== undefined) activity.add(at, message?.role === 'user')
  if (call?.endedAt !== undefined) activity.line(call.endedAt)
  const found = { calls: call ? [call] : [], startedAt: null, damage: damages.list(), parents: {} }
  return { ...found, activity: activity.activity() }
}

const TOKENS = ['input', 'output', 'reasoning'] as const
const CACHE = ['read', 'write'] as const
const TOKENS_FIELDS = new Set<string>([...TOKENS, 'total', 'cache'])
const CACHE_FIELDS = new Set<string>(CACHE)

function callOf(
  message: Record<string, unknown> | undefined,
  session: string,
  damages: Damages,
): ModelCall | undefined {
  const addDamage: OnDamage = (what, kind) => damages.add(`a message ${what}`, null, kind)
  if (!message) return void addDamage('is not a JSON object and was skipped')
  const tokens = objectOf(message.tokens)
  if (message.role === 'assistant' && !tokens) return void addDamage('is an answer without tokens, and is not counted')
  if (!tokens || message.role === 'user') return undefined
  if (message.role !== 'assistant') return void reportUnknownUsage(message, message.role, addDamage)
  const time = objectOf(message.time)
  const recorded = {
    counts: countsOfTokens(tokens, addDamage),
    at: momentOf(time?.created),
    model: textOf(message.modelID),
  }
  const countable = findCountable(recorded, addDamage)
  if (!countable) return undefined
  reportAbsentCounts(message, ['cost'], addDamage)
  const { counts, at, model } = countable
  const provider = textOf(message.providerID)
  const endedAt = momentOf(time?.completed)
  return {
    ...CALL_DEFAULTS,
    ...countable,
    // A fork gives copies new ids, but keeps their times to the millisecond.
    key: [at, endedAt ?? '', provider, model, ...Object.values(counts)].join(' '),
    session,
    ...(endedAt !== undefined && endedAt > at ? { endedAt } : {}),
    provider: MAKERS.has(provider) ? '' : provider,
    cost: typeof message.cost === 'number' && message.cost > 0 ? String(message.cost) : '',
    folder: textOf(objectOf(message.path)?.cwd),
  }
}

/** They sell the models that they make, so their names add no information. */
const MAKERS = new Set(['anthropic', 'openai', 'google'])

/** The input excludes the cache, the output excludes the reasoning. */
function countsOfTokens(tokens: Record<string, unknown>, onDamage: OnDamage): Counts {
  const cache = objectOf(tokens.cache) ?? {}
  reportUnknownFields(tokens, TOKENS_FIELDS, onDamage)
  reportUnknownFields(cache, CACHE_FIELDS, onDamage)
  const [input, output, reasoning] = recordedCounts(tokens, TOKENS, onDamage)
  const [cache_read, cache_write] = recordedCounts(cache, CACHE, onDamage)
  return { input, output: output + reasoning, cache_read, cache_write, cache_write_1h: 0 }
}

function readTitles(path: string): Map<string, string> {
  if (isMessageFile(path)) return new Map()
  return withDatabase(path, (database) => {
    const titles = new Map<string, string>()
    for (const { id, title } of sessionsIn(database).values()) titles.set(id, textOf(title))
    return titles
  })
}
