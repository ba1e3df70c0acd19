/**
 * OpenClaw: a SQLite database for each agent, with the lines of its sessions in Pi's format; older versions wrote Pi's files.
 * It shortens sessions, and writes lines again, so what was found of their requests is kept.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import { settleByKey } from '../duplicate-calls.ts'
import { type FileReading, type ModelCall, objectOf, textOf } from '../model-calls.ts'
import { columnsOf, type Database, withDatabase } from '../session-database.ts'
import { Damages, readMarkedText } from '../session-lines.ts'
import type { SettledCalls } from '../settled-calls.ts'
import { parseObject } from './json-objects.ts'
import { reportUnknownVersion } from './known-fields.ts'
import { type Dialect, type PiSource, piFile, readPiSession, readTitle } from './pi-session.ts'
import type { Reader } from './reader.ts'

const DATABASE = 'openclaw-agent.sqlite'
const FOLDER = /^[^/\\]+(?:[/\\](?:agent|sessions(?:[/\\]cold)?))?$/
/** Of a session of an older version, or of one that was deleted; traces of runs beside them repeat their usage. */
const TRANSCRIPT = /^[^/\\]+[/\\]sessions[/\\](?![^/\\]*\.trajectory\.)[^/\\]+\.jsonl(?:\.(?:deleted|reset)\.[^/\\]+)?$/
const COLD = /[/\\]sessions[/\\]cold[/\\][^/\\]+\.jsonl\.zst$/

const DIALECT: Dialect = { version: 4, rewritesLines: true, extendsItself: true }

/** Of the database: the newest version of its schema that is known. */
const SCHEMA = 23

export const openclaw: Reader = {
  name: 'openclaw',
  folders,
  isSessionFile: (path) => isDatabase(path) || COLD.test(path) || TRANSCRIPT.test(path),
  isSessionFolder: (path) => FOLDER.test(path),
  companions: (path) => (isDatabase(path) ? [`${path}-wal`] : []),
  read: (path) => (isDatabase(path) ? readDatabase(path) : readPiSession(fileSource(path))),
  settle: (files, settledCalls) => {
    const found = settleByKey(files, () => false, settledCalls)
    return withRemoved(found, settledCalls)
  },
  readTitles,
}

function isDatabase(path: string): boolean {
  return basename(path) === DATABASE && basename(dirname(path)) === 'agent'
}

/** Each profile has a folder of its own in the home folder. */
function folders({ home, openclawHome = home, openclawState }: AgentsEnvironment): string[] {
  const states = [...profilesIn(openclawHome), ...(openclawState === undefined ? [] : [openclawState])]
  return states.map((folder) => join(folder, 'agents'))
}

function profilesIn(home: string): string[] {
  const usual = '.openclaw'
  try {
    const others = readdirSync(home).filter((name) => name.startsWith(`${usual}-`))
    return [usual, ...others].map((name) => join(home, name))
  } catch {
    return [join(home, usual)]
  }
}

function readDatabase(path: string): FileReading {
  return withDatabase(path, (database) => {
    const damages = new Damages()
    const { schema_version: schema = 0, app_version: version = '' } = metaOf(database) ?? {}
    if (Number(schema) > SCHEMA) reportUnknownVersion(schema, damages.of(null))
    const origins = originsIn(database, damages)
    const readings = sessionsIn(database, damages).map(({ session, lines }) =>
      readPiSession({ ...sourceOf(session, lines, damages), ...origins.get(session) }),
    )
    return {
      calls: readings.flatMap(({ calls }) => calls),
      startedAt: null,
      damage: damages.list(),
      parents: Object.assign({}, ...readings.map(({ parents }) => parents)),
      missing: Object.assign({}, ...readings.map(({ missing }) => missing)),
      activity: Object.assign({}, ...readings.map(({ activity }) => activity)),
      version: textOf(version),
    }
  })
}

type Row = Record<string, unknown>

function metaOf(database: Database): Row | undefined {
  const columns = columnsOf(database, 'schema_meta', ['schema_version', 'app_version'])
  if (columns.length === 0) return undefined
  return database.query<Row, []>(`SELECT ${columns.join(', ')} FROM schema_meta`).get() ?? undefined
}

interface Session {
  session: string
  lines: Buffer
}

/** Also those that were moved to an archive in the database. Other archives are files. */
function sessionsIn(database: Database, damages: Damages): Session[] {
  const columns = columnsOf(database, 'transcript_events', ['session_id', 'seq', 'event_json', 'event_zstd'])
  if (!['session_id', 'seq', 'event_json'].every((name) => columns.includes(name))) {
    const kind = { reason: 'unknown_session' } as const
    damages.add('has no table of lines that this version of Tally knows', null, kind)
    return []
  }
  const ids = database.query<Row, []>('SELECT DISTINCT session_id FROM transcript_events ORDER BY session_id').all()
  const events = database.query<Row, [string]>(
    `SELECT ${columns.join(', ')} FROM transcript_events WHERE session_id = ? ORDER BY seq`,
  )
  const sessions = ids.map(({ session_id }) => {
    const session = textOf(session_id)
    return { session, lines: joined(events.all(session).map((row) => textOfEvent(row, damages))) }
  })
  return [...sessions, ...archivesIn(database)]
}

/** OpenClaw compresses long lines. */
function textOfEvent({ event_json, event_zstd }: Row, damages: Damages): string {
  if (typeof event_json === 'string') return event_json
  try {
    if (event_zstd instanceof Uint8Array) return Bun.zstdDecompressSync(event_zstd).toString()
  } catch {
    // It is damaged.
  }
  damages.add('has a line that cannot be read, and is not counted', null)
  return ''
}

function joined(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\n`).join(''))
}

function archivesIn(database: Database): Session[] {
  if (columnsOf(database, 'session_transcript_cold_archives', ['archive_blob']).length === 0) return []
  const query = 'SELECT archive_blob AS content FROM session_transcript_cold_archives WHERE archive_blob IS NOT NULL'
  return database
    .query<{ content: Uint8Array }, []>(query)
    .all()
    .map(({ content }) => coldSession(content))
}

/** Of a session that is not in the database, or not only. */
function fileSource(path: string): PiSource {
  if (!COLD.test(path)) return piFile(path, { dialect: DIALECT })
  const { session, lines } = coldSession(readFileSync(path))
  return sourceOf(session, lines, new Damages())
}

/** The rows of a session that has not been used for long, one a line. */
function coldSession(content: Uint8Array): Session {
  let session = ''
  const lines: string[] = []
  for (const line of Bun.zstdDecompressSync(content).toString().split('\n')) {
    const { kind, sessionId, row } = parseObject(line) ?? {}
    if (kind === 'header') session = textOf(sessionId)
    else if (kind === 'event') lines.push(textOf(objectOf(row)?.event_json))
  }
  return { session, lines: joined(lines) }
}

function sourceOf(session: string, lines: Buffer, damages: Damages): PiSource {
  return {
    ...{ dialect: DIALECT, session, damages },
    // A row has no number that stays.
    read: (marks, visit, onTime) =>
      readMarkedText(lines, marks, damages, (record) => visit(record, null, false), onTime),
  }
}

/** By session: the one that it was forked from, or that started it as a sub-agent. */
function originsIn(database: Database, damages: Damages): Map<string, Pick<PiSource, 'parent' | 'isSubagent'>> {
  const needed = { session_windows: ['session_id', 'session_key', 'spawned_by', 'created_at'], session_nodes: NODES }
  const absent = Object.entries(needed).filter(
    ([table, names]) => columnsOf(database, table, names).length < names.length,
  )
  if (absent.length > 0) {
    damages.add('does not show which sessions are of sub-agents, which count as others', null, 'note')
    return new Map()
  }
  const spawner = `SELECT session_id FROM session_windows AS other
    WHERE other.session_key = own.spawned_by AND other.created_at <= own.created_at
    ORDER BY other.created_at DESC LIMIT 1`
  const query = `SELECT session_id, own.spawned_by, coalesce(fork_source_session_id, (${spawner})) AS parent
    FROM session_windows AS own LEFT JOIN session_nodes USING (session_key)`
  const rows = database.query<Record<'session_id' | 'spawned_by' | 'parent', string | null>, []>(query).all()
  return new Map(
    rows.map(({ session_id, spawned_by, parent }) => [
      session_id!,
      { parent: parent ?? '', isSubagent: spawned_by !== null },
    ]),
  )
}

const NODES = ['session_key', 'fork_source_session_id']

/** The found requests, and those of the same sessions that were found before and are no longer in their lines. */
function withRemoved(found: readonly ModelCall[], settledCalls: SettledCalls): ModelCall[] {
  const sessions = [...Map.groupBy(found, ({ session }) => session)].map(([session, own]) => {
    const kept = settledCalls.kept(session)
    const known = new Set(kept.map(({ key }) => key))
    return { session, calls: [...kept, ...own.filter(({ key }) => !known.has(key))] }
  })
  settledCalls.keep(sessions)
  return sessions.flatMap(({ calls }) => calls)
}

/** The name that a person gave the session, otherwise the first prompt. */
function readTitles(path: string): Map<string, string> {
  if (!isDatabase(path)) return readTitle(fileSource(path))
  return withDatabase(path, (database) => {
    const damages = new Damages()
    const titles = sessionsIn(database, damages).flatMap(({ session, lines }) => [
      ...readTitle(sourceOf(session, lines, damages)),
    ])
    return new Map([...titles, ...namesIn(database)])
  })
}

function namesIn(database: Database): [session: string, name: string][] {
  const names = columnsOf(database, 'session_nodes', ['label', 'display_name'])
  if (names.length < 2) return []
  const query = `SELECT current_session_id AS session, coalesce(label, display_name) AS name FROM session_nodes`
  const rows = database.query<{ session: string; name: string | null }, []>(query).all()
  return rows.flatMap(({ session, name }) => (name ? [[session, name]] : []))
}
