/**
 * Goose: a SQLite database of all sessions, with a ledger of requests. Versions before the ledger have totals of sessions
 * alone, which later ones carry forward into it.
 */
import { join } from 'node:path'
import { ActivityReading } from '../active-time.ts'
import { settleByKey } from '../duplicate-calls.ts'
import {
  CALL_DEFAULTS,
  countsOf,
  disjointCounts,
  type FileReading,
  findCountable,
  type ModelCall,
  momentOf,
  type OnDamage,
  textOf,
  UNKNOWN_MODEL,
} from '../model-calls.ts'
import { columnsOf, type Database, withDatabase } from '../session-database.ts'
import { Damages } from '../session-lines.ts'
import { parseObject } from './json-objects.ts'
import {
  recordedCounts,
  reportAbsentColumns,
  reportUnknownFields,
  reportUnknownVersion,
  tokenFields,
} from './known-fields.ts'
import type { Reader } from './reader.ts'

const DATABASE = 'sessions.db'

export const goose: Reader = {
  name: 'goose',
  folders: ({ home, dataHome, gooseRoot }) =>
    gooseRoot === undefined
      ? [join(dataHome, 'goose', 'sessions'), join(home, 'AppData', 'Roaming', 'Block', 'goose', 'data', 'sessions')]
      : [join(gooseRoot, 'data', 'sessions')],
  isSessionFile: (path) => path === DATABASE,
  isSessionFolder: () => false,
  companions: (path) => [`${path}-wal`],
  read: readDatabase,
  settle: (files, settledCalls) => settleByKey(files, () => false, settledCalls),
  readTitles: (path) =>
    withDatabase(path, (database) => {
      const sessions = [...sessionsIn(database, new Damages()).values()]
      return new Map(sessions.map((session) => [nameOf(session), textOf(session.name)]))
    }),
}

/** Of the schema: the first ones with counts of the cache and with the ledger, and the newest that is known. */
const VERSIONS = { cache: 14, ledger: 15, last: 17 }

type Row = Record<string, unknown>

const COUNTS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const
const TOTALS = COUNTS.map((name) => `accumulated_${name}`)

/** The others are of the latest request. */
const TOTALS_FIELDS = new Set([...TOTALS, 'accumulated_total_tokens', 'total_tokens', ...COUNTS])

/** Null if the provider does not report them. */
const CACHE = ['cache_read_tokens', 'cache_write_tokens']

const OTHERS = [
  'id',
  'session_id',
  'created_timestamp',
  'model',
  'total_tokens',
  'cost',
  'cost_source',
  'is_compaction',
]
const LEDGER_FIELDS = new Set<string>([...COUNTS, ...OTHERS])

const TITLES_MISSING = 'title requests not included'

function readDatabase(path: string): FileReading {
  return withDatabase(path, (database) => {
    const damages = new Damages()
    const sessions = sessionsIn(database, damages)
    const requests = requestsIn(database, sessions, damages)
    const calls = [...requests, ...totalsIn(database, sessions, requests, damages)]
    const made = new Set(calls.map(({ session }) => session))
    const parents: Record<string, string[]> = {}
    const missing: Record<string, string> = {}
    for (const session of sessions.values()) {
      const name = nameOf(session)
      const parent = sessions.get(session.parent_session_id)
      if (parent) parents[name] = [nameOf(parent)]
      if (made.has(name) && hasMadeTitle(session)) missing[name] = TITLES_MISSING
    }
    const activity = activityIn(database, sessions, requests)
    return { calls, startedAt: null, damage: damages.list(), parents, missing, activity }
  })
}

/** By id. Rows have all columns, so that one with another name is noticed. */
function sessionsIn(database: Database, damages: Damages): Map<unknown, Row> {
  const { version } = versionOf(database)
  reportAbsentColumns(database, 'schema_version', ['version', 'applied_at'], { damages, isLeftOut: true })
  if (version > VERSIONS.last) reportUnknownVersion(version, damages.of(null))
  const columns = ['id', 'created_at', 'working_dir', ...TOTALS.slice(0, version < VERSIONS.cache ? 2 : 4)]
  reportAbsentColumns(database, 'sessions', columns, { damages, isLeftOut: true })
  if (!hasColumns(database, 'sessions', ['id', 'created_at'])) return new Map()
  const query = `SELECT *, strftime('%s', created_at) AS started FROM sessions`
  return new Map(
    database
      .query<Row, []>(query)
      .all()
      .map((session) => [session.id, session]),
  )
}

/** When the schema got the ledger; undefined if it has none. */
function versionOf(database: Database): { version: number; ledgerSince: number | undefined } {
  if (!hasColumns(database, 'schema_version', ['version', 'applied_at'])) return { version: 0, ledgerSince: undefined }
  const query = `SELECT version, strftime('%s', applied_at) AS since FROM schema_version ORDER BY version`
  const rows = database.query<{ version: number; since: string }, []>(query).all()
  const ledger = rows.find(({ version }) => version >= VERSIONS.ledger)
  return { version: rows.at(-1)?.version ?? 0, ledgerSince: momentOf(ledger?.since) }
}

function hasColumns(database: Database, table: string, names: readonly string[]): boolean {
  return columnsOf(database, table, names).length === names.length
}

function requestsIn(database: Database, sessions: Map<unknown, Row>, damages: Damages): ModelCall[] {
  if (versionOf(database).version < VERSIONS.ledger) return []
  reportAbsentColumns(database, 'usage_ledger', [...COUNTS, ...OTHERS], { damages, isLeftOut: true })
  if (!hasColumns(database, 'usage_ledger', ['id', 'session_id'])) return []
  const calls: ModelCall[] = []
  for (const row of database.query<Row, []>('SELECT * FROM usage_ledger ORDER BY id').iterate()) {
    const onDamage: OnDamage = (what, kind) => damages.add(`a request ${what}`, null, kind)
    if (row.cost_source === CARRIED) continue
    const session = sessions.get(row.session_id) ?? { id: row.session_id }
    damages.session = nameOf(session)
    reportUnknownFields(row, LEDGER_FIELDS, onDamage)
    const recorded = { ...row, ...Object.fromEntries(CACHE.map((name) => [name, row[name] ?? 0])) }
    const counts = recordedCounts(recorded, COUNTS, onDamage)
    const call = callOf(session, counts, momentOf(row.created_timestamp), textOf(row.model), onDamage)
    const isCharge = row.cost_source === 'provider_reported' && typeof row.cost === 'number' && row.cost > 0
    if (call) calls.push({ ...call, key: `${call.session} ${row.id}`, cost: isCharge ? String(row.cost) : '' })
  }
  return calls
}

/** Of a row that repeats the totals of a session from before the ledger. */
const CARRIED = 'carried_forward'

/**
 * What the totals of sessions have more than their requests. A session that began before the ledger made those requests;
 * a later one was imported with the totals of another.
 */
function totalsIn(
  database: Database,
  sessions: Map<unknown, Row>,
  requests: readonly ModelCall[],
  damages: Damages,
): ModelCall[] {
  const { ledgerSince = Number.POSITIVE_INFINITY } = versionOf(database)
  const bySession = Map.groupBy(requests, ({ session }) => session)
  return [...sessions.values()].flatMap((session) => {
    const onDamage = damages.of(null)
    damages.session = nameOf(session)
    reportUnknownFields(tokenFields(session), TOTALS_FIELDS, onDamage)
    const known = bySession.get(nameOf(session)) ?? []
    const [input = 0, ...others] = countsOf(session, TOTALS, onDamage)
    const counts = [input, ...others].map((total, index) =>
      Math.max(0, total - known.reduce((sum, call) => sum + inclusiveCounts(call)[index]!, 0)),
    )
    if (counts.every((count) => count === 0)) return []
    const at = momentOf(session.started)
    if (at !== undefined && at >= ledgerSince) {
      onDamage('has imported sessions with the totals of others, which are not counted', 'note')
      return []
    }
    onDamage('has sessions of earlier versions, whose totals are counted at their start', 'note')
    const call = callOf(session, counts, at, modelOf(session), onDamage)
    return call ? [{ ...call, key: `${call.session} total`, isSum: true }] : []
  })
}

/** As Goose counts them. */
function inclusiveCounts({ counts }: ModelCall): number[] {
  const { input, output, cache_read, cache_write } = counts
  return [input + cache_read + cache_write, output, cache_read, cache_write]
}

/** The input includes what was read from and written to the cache. */
function callOf(
  session: Row,
  [input = 0, output = 0, cached = 0, written = 0]: readonly number[],
  at: number | undefined,
  model: string,
  onDamage: OnDamage,
): Omit<ModelCall, 'key'> | undefined {
  const counts = disjointCounts({ input, output, cached, written, total: 0 })
  const countable = findCountable({ counts, at, model }, onDamage)
  const provider = textOf(session.provider_name)
  return (
    countable && {
      ...CALL_DEFAULTS,
      ...countable,
      session: nameOf(session),
      isSidechain: session.session_type === 'sub_agent',
      provider: MAKERS.has(provider) ? '' : provider,
      folder: textOf(session.working_dir),
    }
  )
}

/** They sell the models that they make, so their names add no information. */
const MAKERS = new Set(['anthropic', 'openai', 'google', 'xai'])

/** The number of a session on its day is given again on other machines, and after it was deleted. */
function nameOf({ id, started }: Row): string {
  return `${id}-${started}`
}

function modelOf({ model_config_json }: Row): string {
  return textOf(parseObject(textOf(model_config_json))?.model_name) || UNKNOWN_MODEL
}

/** Goose asks the model for a title after each of the first prompts, and records nothing about it. */
function hasMadeTitle({ name, user_set_name, session_type, recipe_json }: Row): boolean {
  const isAsked = session_type !== 'sub_agent' && session_type !== 'scheduled' && !user_set_name && !recipe_json
  return isAsked && name !== 'CLI Session'
}

const IS_PROMPT = `role = 'user' AND content_json NOT LIKE '%"type":"toolResponse"%' AND metadata_json NOT LIKE '%"userVisible":false%'`

function activityIn(database: Database, sessions: Map<unknown, Row>, requests: readonly ModelCall[]) {
  const activity = new ActivityReading()
  for (const { session, at } of requests) activity.of(session).line(at)
  if (hasColumns(database, 'messages', ['session_id', 'created_timestamp', 'role', 'content_json', 'metadata_json'])) {
    const query = `SELECT session_id, created_timestamp AS at, ${IS_PROMPT} AS is_prompt FROM messages ORDER BY id`
    for (const { session_id, at, is_prompt } of database.query<Row, []>(query).iterate()) {
      const session = sessions.get(session_id)
      const moment = momentOf(at)
      if (session && moment !== undefined) activity.of(nameOf(session)).add(moment, is_prompt === 1)
    }
  }
  return activity.activity()
}
