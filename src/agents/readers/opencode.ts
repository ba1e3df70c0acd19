/** opencode: a SQLite database of all sessions; in older versions, a JSON file per message. */
import { constants, Database } from 'bun:sqlite'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Counts } from '../agent.ts'
import { settleByKey } from '../duplicate-calls.ts'
import {
  CALL_DEFAULTS,
  countsOf,
  type FileReading,
  findCountable,
  type ModelCall,
  momentOf,
  type OnDamage,
  objectOf,
  textOf,
  totalOf,
} from '../model-calls.ts'
import { Damages } from '../session-lines.ts'
import type { Reader } from './reader.ts'

/** Unreleased versions have a separate database in the same folder, such as `opencode-dev.db`. */
const DATABASE = /^opencode(?:-[\w-]+)?\.db$/
const FOLDER = /^storage(?:[/\\]message(?:[/\\][^/\\]+)?)?$/
const MESSAGE = /^storage[/\\]message[/\\][^/\\]+[/\\][^/\\]+\.json$/

export const opencode: Reader = {
  name: 'opencode',
  title: 'opencode',
  folders: ({ dataHome }) => [join(dataHome, 'opencode')],
  isSessionFile: (path) => DATABASE.test(path) || MESSAGE.test(path),
  isSessionFolder: (path) => FOLDER.test(path),
  companions: (path) => (path.endsWith('.db') ? [`${path}-wal`] : []),
  read: (path) => (path.endsWith('.db') ? readDatabase(path) : readMessageFile(path)),
  // A message that is still being written has the tokens of its steps so far.
  settle: (files) => settleByKey(files, (candidate, held) => totalOf(candidate.counts) > totalOf(held.counts)),
  readTitles,
}

interface MessageRow {
  session_id: string
  data: string
}

interface SessionRow {
  id: string
  parent_id: string | null
  title: string
  time_created: number
}

function readDatabase(path: string): FileReading {
  return withDatabase(path, (database) => {
    const damages = new Damages()
    // Without json_extract, which fails for all rows if one of them is not JSON.
    const rows = database.query<MessageRow, []>(
      `SELECT session_id, data FROM message WHERE data LIKE '%"tokens"%' ORDER BY time_created, id`,
    )
    const calls: ModelCall[] = []
    for (const { session_id, data } of rows.iterate()) {
      const call = callOf(parsed(data), session_id, damages)
      if (call) calls.push(call)
    }
    const sessions = sessionsIn(database)
    const children = sessions.filter(({ parent_id }) => parent_id !== null)
    return {
      ...{ calls, startedAt: null, damage: damages.list() },
      parents: Object.fromEntries(children.map(({ id, parent_id }) => [id, [parent_id!]])),
      missing: Object.fromEntries(sessions.filter(hasMadeTitle).map(({ id }) => [id, TITLE_MISSING])),
    }
  })
}

function sessionsIn(database: Database): SessionRow[] {
  const columns = database.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('session')`).all()
  if (!columns.some(({ name }) => name === 'parent_id')) return []
  return database.query<SessionRow, []>('SELECT id, parent_id, title FROM session').all()
}

/** opencode keeps the answer of this request as the title, and nothing about its tokens. */
const TITLE_MISSING = 'title request not included'

/** The titles of sub-agents and forks are not made by a model. */
function hasMadeTitle({ parent_id, title }: SessionRow): boolean {
  return parent_id === null && !/ \(fork #\d+\)$/.test(title)
}

/**
 * Reads without writing anything. After opencode has closed the database, there is no log file: the database is then
 * opened as immutable, since SQLite would otherwise leave two files there, and read again if it changed after all.
 */
function withDatabase<Answer>(path: string, read: (database: Database) => Answer): Answer {
  const before = statSync(path)
  if (!existsSync(`${path}-wal`)) {
    const answer = attempt(() => open(`${pathToFileURL(path).href}?immutable=1`, read))
    const after = statSync(path)
    const isSame = after.size === before.size && after.mtimeMs === before.mtimeMs && !existsSync(`${path}-wal`)
    if (isSame && 'value' in answer) return answer.value
    if (isSame && 'error' in answer) throw answer.error
  }
  return open(pathToFileURL(path).href, read)
}

function attempt<Answer>(run: () => Answer): { value: Answer } | { error: unknown } {
  try {
    return { value: run() }
  } catch (error) {
    return { error }
  }
}

function open<Answer>(address: string, read: (database: Database) => Answer): Answer {
  const database = new Database(address, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI)
  try {
    return read(database)
  } finally {
    database.close()
  }
}

function readMessageFile(path: string): FileReading {
  const damages = new Damages()
  const message = parsed(readFileSync(path, 'utf8'))
  const call = callOf(message, textOf(message?.sessionID) || basename(dirname(path)), damages)
  return { calls: call ? [call] : [], startedAt: null, damage: damages.list(), parents: {} }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return objectOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

const TOKENS = ['input', 'output', 'reasoning'] as const
const CACHE = ['read', 'write'] as const

function callOf(
  message: Record<string, unknown> | undefined,
  session: string,
  damages: Damages,
): ModelCall | undefined {
  const addDamage: OnDamage = (what, kind) => damages.add(`a message ${what}`, null, kind)
  if (!message) return void addDamage('is not a JSON object and was skipped')
  const tokens = objectOf(message.tokens)
  if (message.role !== 'assistant' || !tokens) return undefined
  const time = objectOf(message.time)
  const recorded = {
    counts: countsOfTokens(tokens, addDamage),
    at: momentOf(time?.created),
    model: textOf(message.modelID),
  }
  const countable = findCountable(recorded, addDamage)
  if (!countable) return undefined
  const { counts, at, model } = countable
  const provider = textOf(message.providerID)
  return {
    ...CALL_DEFAULTS,
    ...countable,
    // A fork gives copies new ids, but keeps their times to the millisecond.
    key: [at, momentOf(time?.completed) ?? '', provider, model, ...Object.values(counts)].join(' '),
    session,
    provider: MAKERS.has(provider) ? '' : provider,
    // Free, or unknown: a list value is better than none.
    cost: typeof message.cost === 'number' && message.cost > 0 ? String(message.cost) : '',
    folder: textOf(objectOf(message.path)?.cwd),
  }
}

/** They sell the models that they make, so their names add no information. */
const MAKERS = new Set(['anthropic', 'openai', 'google'])

/** The input excludes the cache, the output excludes the reasoning. */
function countsOfTokens(tokens: Record<string, unknown>, onDamage: OnDamage): Counts {
  const [input, output, reasoning] = countsOf(tokens, TOKENS, onDamage)
  const [cache_read, cache_write] = countsOf(objectOf(tokens.cache) ?? {}, CACHE, onDamage)
  return { input, output: output + reasoning, cache_read, cache_write, cache_write_1h: 0 }
}

function readTitles(path: string): Map<string, string> {
  if (!path.endsWith('.db')) return new Map()
  return withDatabase(path, (database) => {
    const rows = database.query<SessionRow, []>('SELECT id, title FROM session').all()
    return new Map(rows.map(({ id, title }) => [id, title]))
  })
}
