/**
 * GitHub Copilot CLI: a SQLite database with a row for each request of all sessions, and a file of events for each session.
 * The database is complete; only the events contain branches. Formats: docs/design/session-formats.md.
 */

import { basename, join } from 'node:path'
import { counted } from '../../lib/counted.ts'
import { settleByKey } from '../duplicate-calls.ts'
import { type FileReading, type ModelCall, momentOf, textOf, totalOf } from '../model-calls.ts'
import { columnsOf, type Database, withDatabase } from '../session-database.ts'
import { Damages } from '../session-lines.ts'
import { readEvents, readFirstPrompt } from './github-copilot-events.ts'
import { type CountNames, Requests, remoteOf } from './github-copilot-requests.ts'
import { reportUnknownVersion } from './known-fields.ts'
import type { OnNote, Reader, ReadFile } from './reader.ts'

const DATABASE = 'session-store.db'
const EVENTS = /^session-state[/\\][^/\\]+[/\\]events\.jsonl$/
const FOLDER = /^session-state(?:[/\\][^/\\]+)?$/

export const githubCopilot: Reader = {
  // Also the name of its telemetry's service.
  name: 'github-copilot',
  charges: 'credits',
  folders: ({ copilotHome, home }) => [copilotHome ?? join(home, '.copilot')],
  isSessionFile: (path) => path === DATABASE || EVENTS.test(path),
  isSessionFolder: (path) => FOLDER.test(path),
  // The events have the branch of each start of the agent, and none of a checkout while it runs.
  recordsFirstBranch: true,
  companions: (path) => (isDatabase(path) ? [`${path}-wal`] : []),
  read: (path) => (isDatabase(path) ? readDatabase(path) : readEvents(path)),
  settle: (files, settledCalls, onNote) => {
    noteUnlisted(files, onNote)
    return settleByKey(withoutSums(files), () => false, settledCalls)
  },
  readTitles: (path) => (isDatabase(path) ? readSummaries(path) : readFirstPrompt(path)),
}

function isDatabase(path: string): boolean {
  return basename(path) === DATABASE
}

const USAGE = 'assistant_usage_events'
const NAMES: CountNames = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens']
const COLUMNS = ['session_id', 'model', ...NAMES, 'total_nano_aiu', 'parent_tool_call_id', 'created_at']
const SESSION_COLUMNS = ['id', 'cwd', 'repository', 'host_type']

/** Known versions of the database; the first of them has the table of requests. */
const VERSIONS = { first: 8, last: 8 }

interface UsageRow extends Record<string, unknown> {
  session_id: string
  model: string
  created_at: string
}

interface SessionRow {
  id: string
  cwd: string | null
  repository: string | null
  host_type: string | null
}

function readDatabase(path: string): FileReading {
  return withDatabase(path, (database) => {
    const damages = new Damages()
    const requests = new Requests(NAMES)
    const version = versionOf(database)
    // Earlier versions have only totals, which are among the events.
    const isEarlier = version < VERSIONS.first && columnsOf(database, USAGE, COLUMNS).length === 0
    if (!isEarlier) {
      const sessions = sessionsIn(database)
      for (const row of rowsIn<UsageRow>(database, USAGE, COLUMNS, 'id')) {
        damages.session = row.session_id
        const session = sessions.get(row.session_id)
        requests.add(
          {
            session: row.session_id,
            at: momentOf(row.created_at),
            model: row.model,
            folder: session?.cwd ?? '',
            ...remoteOf({ repository: session?.repository, hostType: session?.host_type }),
            isSidechain: row.parent_tool_call_id !== null,
            usage: row,
            nanoCredits: row.total_nano_aiu,
          },
          damages.of(null),
        )
      }
    }
    if (version > VERSIONS.last) reportUnknownVersion(version, damages.of(null))
    return { calls: requests.calls, startedAt: null, damage: damages.list(), parents: {} }
  })
}

function versionOf(database: Database): number {
  return rowsIn<{ version: number }>(database, 'schema_version', ['version'], 'version').at(-1)?.version ?? 0
}

function sessionsIn(database: Database): Map<string, SessionRow> {
  return new Map(
    rowsIn<SessionRow>(database, 'sessions', SESSION_COLUMNS, 'id').map((session) => [session.id, session]),
  )
}

/** All columns, so that a new count is noticed. Throws if a column is missing: what it stands for may be elsewhere now. */
function rowsIn<Row>(database: Database, table: string, columns: readonly string[], order: string): Row[] {
  const found = columnsOf(database, table, columns)
  const missing = columns.filter((name) => !found.includes(name))
  if (missing.length > 0) {
    throw new Error(`this version of Tally does not know its format: ${table} has no ${missing.join(', ')}`)
  }
  return database.query<Row, []>(`SELECT * FROM ${table} ORDER BY ${order}`).all()
}

/** A compaction of several requests is one event with their sum, and has a row for each in the database. */
function withoutSums(files: ReadFile[]): ReadFile[] {
  const recorded = new Set(callsInDatabases(files).map(({ session }) => session))
  return files.map(({ reading, ...file }) => {
    const calls = reading.calls.filter(({ session, requests = 1 }) => requests === 1 || !recorded.has(session))
    return { ...file, reading: { ...reading, calls } }
  })
}

function callsInDatabases(files: readonly ReadFile[]): ModelCall[] {
  return files.flatMap(({ path, reading }) => (isDatabase(path) ? reading.calls : []))
}

/**
 * Before it recorded requests, the agent wrote totals: some versions of a session, others of each time it was resumed,
 * which cannot be told apart.
 */
function noteUnlisted(files: readonly ReadFile[], onNote: OnNote): void {
  const rows = Map.groupBy(callsInDatabases(files), ({ session }) => session)
  for (const { path, reading } of files) {
    for (const { session, models } of reading.totals ?? []) {
      const calls = [...reading.calls, ...(rows.get(session) ?? [])]
      const listed = sumOf(new Map(calls.map((call) => [call.key, call])).values().map(({ counts }) => totalOf(counts)))
      const rest = sumOf(Object.values(models).map(totalOf)) - listed
      if (rest > 0) onNote(path, `has ${counted(rest, 'token')} only in its totals, not counted`)
    }
  }
}

function sumOf(numbers: Iterable<number>): number {
  let sum = 0
  for (const number of numbers) sum += number
  return sum
}

function readSummaries(path: string): Map<string, string> {
  return withDatabase(path, (database) => {
    const sessions = rowsIn<{ id: string; summary: unknown }>(database, 'sessions', ['id', 'summary'], 'id')
    return new Map(sessions.map(({ id, summary }) => [id, textOf(summary)]))
  })
}
