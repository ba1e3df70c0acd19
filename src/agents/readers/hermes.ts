/**
 * Hermes Agent: a SQLite database of all sessions. It adds up what each model was used for in a session, and does not keep the
 * requests.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import type { Counts } from '../agent.ts'
import { settleByKey } from '../duplicate-calls.ts'
import {
  CALL_DEFAULTS,
  countOf,
  type FileReading,
  findCountable,
  LargestCounts,
  type ModelCall,
  momentOf,
  type OnDamage,
  textOf,
  UNKNOWN_MODEL,
} from '../model-calls.ts'
import { columnsOf, type Database, withDatabase } from '../session-database.ts'
import { Damages } from '../session-lines.ts'
import {
  recordedCounts,
  reportAbsentColumns,
  reportUnknownFields,
  reportUnknownVersion,
  tokenFields,
} from './known-fields.ts'
import type { Reader } from './reader.ts'

const DATABASE = 'state.db'

export const hermes: Reader = {
  name: 'hermes',
  folders,
  isSessionFile: (path) => path === DATABASE,
  isSessionFolder: () => false,
  companions: (path) => [`${path}-wal`],
  read: readDatabase,
  // The sums only grow.
  settle: (files, settledCalls) => settleByKey(files, () => false, settledCalls),
  readTitles: (path) =>
    withDatabase(path, (database) => {
      const titles = [...sessionsIn(database, new Damages()).values()].map(({ id, title }) => [
        textOf(id),
        textOf(title),
      ])
      return new Map(titles.filter(([, title]) => title !== '') as [string, string][])
    }),
}

/** Each profile has a folder of its own. */
function folders({ home, hermesHome = join(home, '.hermes') }: AgentsEnvironment): string[] {
  const profiles = join(hermesHome, 'profiles')
  try {
    return [hermesHome, ...readdirSync(profiles).map((name) => join(profiles, name))]
  } catch {
    return [hermesHome]
  }
}

/** Of the schema: the first one with sums by model, and the newest that is known. */
const VERSIONS = { sums: 20, last: 22 }

type Row = Record<string, unknown>

const COUNTS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const

/** `output_tokens` includes the reasoning, and costs are estimated, apart from `actual_cost_usd`. */
const USAGE_FIELDS = new Set<string>([
  ...COUNTS,
  ...['session_id', 'model', 'billing_provider', 'billing_base_url', 'billing_mode', 'task', 'api_call_count'],
  ...['reasoning_tokens', 'estimated_cost_usd', 'actual_cost_usd', 'cost_status', 'cost_source'],
  ...['first_seen', 'last_seen'],
])

const DAY_MS = 24 * 60 * 60_000

function readDatabase(path: string): FileReading {
  return withDatabase(path, (database) => {
    const damages = new Damages()
    // Before the sums, so that these have all that the totals have also while Hermes writes.
    const sessions = sessionsIn(database, damages)
    const sums = sumsIn(database, sessions, damages)
    const calls = [...sums, ...restsIn(sessions, sums, damages)]
    const parents: Record<string, string[]> = {}
    for (const { id, parent_session_id } of sessions.values()) {
      if (parent_session_id) parents[textOf(id)] = [textOf(parent_session_id)]
    }
    return { calls, startedAt: null, damage: damages.list(), parents }
  })
}

/** By id. Rows have all columns, so that one with another name is noticed. */
function sessionsIn(database: Database, damages: Damages): Map<unknown, Row> {
  const version = versionOf(database)
  if (version > VERSIONS.last) reportUnknownVersion(version, damages.of(null))
  if (reportAbsentColumns(database, 'sessions', ['id', 'model', 'started_at', 'cwd', ...COUNTS], { damages }))
    return new Map()
  const rows = database.query<Row, []>('SELECT * FROM sessions').all()
  return new Map(rows.map((session) => [session.id, session]))
}

/** The newest if it is not recorded. */
function versionOf(database: Database): number {
  if (columnsOf(database, 'schema_version', ['version']).length === 0) return VERSIONS.last
  return database.query<{ version: number }, []>('SELECT version FROM schema_version').get()?.version ?? VERSIONS.last
}

/** What each model was used for in a session. It counts when that began, so that the sum is of one day, and can only grow. */
function sumsIn(database: Database, sessions: Map<unknown, Row>, damages: Damages): ModelCall[] {
  if (versionOf(database) < VERSIONS.sums) return []
  const needed = ['session_id', 'model', 'api_call_count', 'first_seen', 'last_seen', ...COUNTS]
  if (reportAbsentColumns(database, 'session_model_usage', needed, { damages })) return []
  const rows = database.query<Row, []>('SELECT * FROM session_model_usage').all()
  return rows.flatMap((row) => {
    damages.session = textOf(row.session_id)
    const onDamage: OnDamage = (what, kind) => damages.add(`a sum ${what}`, null, kind)
    reportUnknownFields(row, USAGE_FIELDS, onDamage)
    const [from, to] = [momentOf(row.first_seen), momentOf(row.last_seen)]
    if (from !== undefined && to !== undefined && Math.floor(from / DAY_MS) < Math.floor(to / DAY_MS)) {
      onDamage('is of several days, and counts on the first', 'note')
    }
    const session = sessions.get(row.session_id) ?? { id: row.session_id }
    const call = callOf(session, countsIn(row, onDamage), from, sessions, { row, onDamage })
    return call ?? []
  })
}

function countsIn(row: Row, onDamage: OnDamage): Counts {
  const [input, output, cache_read, cache_write] = recordedCounts(row, COUNTS, onDamage)
  return { input, output, cache_read, cache_write, cache_write_1h: 0 }
}

/**
 * What the totals of sessions have more than their sums, which older versions did not record. What Hermes uses besides the
 * conversation is in the sums alone.
 */
function restsIn(sessions: Map<unknown, Row>, sums: readonly ModelCall[], damages: Damages): ModelCall[] {
  const bySession = Map.groupBy(
    sums.filter(({ key }) => key.endsWith(CONVERSATION)),
    ({ session }) => session,
  )
  return [...sessions.values()].flatMap((session) => {
    damages.session = textOf(session.id)
    reportUnknownFields(tokenFields(session), USAGE_FIELDS, damages.of(null))
    const onDamage: OnDamage = (what, kind) => damages.add(`a session ${what}`, null, kind)
    const known = new LargestCounts()
    for (const { counts } of bySession.get(textOf(session.id)) ?? []) known.add(counts)
    const counts = known.exceed(countsIn(session, onDamage))
    const call = callOf(session, counts, momentOf(session.started_at), sessions, { onDamage })
    if (call) onDamage('has totals that are not in its sums, and count at its start', 'note')
    return call ?? []
  })
}

/** The end of the keys of sums of the conversation itself. */
const CONVERSATION = ' conversation'

function callOf(
  session: Row,
  counts: Counts,
  at: number | undefined,
  sessions: Map<unknown, Row>,
  { row, onDamage }: { row?: Row; onDamage: OnDamage },
): ModelCall | undefined {
  const model = textOf((row ?? session).model) || UNKNOWN_MODEL
  const countable = findCountable({ counts, at, model }, onDamage)
  if (!countable) return undefined
  const id = textOf(session.id)
  const { billing_provider, billing_base_url, billing_mode, task, api_call_count } = row ?? session
  const provider = textOf(billing_provider)
  const route = [billing_provider, billing_base_url, billing_mode].map(textOf).join(' ')
  const requests = row && countOf(api_call_count)
  return {
    ...CALL_DEFAULTS,
    ...countable,
    key: `${id} ${model} ${route} ${row ? textOf(task) || CONVERSATION.trim() : 'rest'}`,
    session: id,
    isSidechain: session.source === 'subagent',
    provider: NAMELESS.has(provider) ? '' : provider,
    // A sub-agent works where the session does that started it.
    folder: textOf(session.cwd) || textOf(sessions.get(session.parent_session_id)?.cwd),
    ...(requests ? { requests } : {}),
    ...(requests === 1 ? {} : { isSum: true }),
  }
}

/** They sell the models that they make, or are not known. */
const NAMELESS = new Set(['anthropic', 'openai', 'openai-codex', 'google', 'gemini', 'xai', 'custom', 'unknown'])
