import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionUse } from '../../src/agents/agent.ts'
import { scanSession } from '../../src/agents/scan.ts'
import { AgentHome, FIXTURES } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

type Row = Record<string, string | number | Uint8Array | null>
interface Line {
  session_id: string
  seq: number
  created_at: number
  /** Whether OpenClaw compressed it. */
  is_compressed: number
  event: object
}
interface Tables {
  schema_meta: Row[]
  session_nodes: Row[]
  session_windows: Row[]
  transcript_events: Line[]
  session_transcript_cold_archives?: Row[]
}

const fixture = (name: string) => JSON.parse(readFileSync(join(FIXTURES, 'cases/openclaw', name), 'utf8'))
const captured: Tables = fixture('rows.json')
const truncated: Line[] = fixture('truncated.json').transcript_events
const PLACE = '.openclaw/agents/main/agent/openclaw-agent.sqlite'

const rowOf = ({ event, is_compressed, ...row }: Line): Row => {
  const text = JSON.stringify(event)
  return {
    ...row,
    ...(is_compressed ? { event_json: null, event_zstd: Bun.zstdCompressSync(text) } : { event_json: text }),
  }
}

/** A database as OpenClaw makes it, which stays open. Its columns are those of the rows. */
function write(tables: Partial<Tables>, path = PLACE): Database {
  const place = join(home.folder, path)
  mkdirSync(dirname(place), { recursive: true })
  for (const suffix of ['', '-wal', '-shm']) rmSync(place + suffix, { force: true })
  const database = new Database(place)
  database.run('PRAGMA journal_mode = WAL')
  const rows = { ...tables, transcript_events: tables.transcript_events?.map(rowOf) }
  for (const [table, content] of Object.entries(rows)) {
    if (content) writeTable(database, table, content as Row[])
  }
  return database
}

function writeTable(database: Database, table: string, rows: readonly Row[]): void {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  database.run(`CREATE TABLE ${table} (${columns.join(', ')})`)
  for (const row of rows) {
    const values = columns.map((column) => row[column] ?? null)
    database.query(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`).run(...values)
  }
}

const figures = ({ sessionId, model, requests, tokens, missing }: SessionUse) => [
  ...[sessionId, model, requests],
  [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.cache_write_1h],
  missing,
]

const [MAIN, SUBAGENT, FORK] = captured.session_windows.map(({ session_id }) => session_id) as [string, string, string]
const SUMMARIES = 'requests for summaries not included'
/** From the ledger of the model server, which also served the summary. */
const SERVED = [
  [MAIN, 'gpt-5.4', 4, [1_001 + 1_003 + 1_004 + 1_006, 103 + 109 + 112 + 118, 5_007 + 5_021 + 5_028 + 5_042, 0, 0]],
  [MAIN, 'claude-sonnet-4-5', 1, [1_002, 106, 5_014, 300, 70]],
  [SUBAGENT, 'gpt-5.4', 1, [1_005, 115, 5_035, 0, 0]],
  [FORK, 'gpt-5.4', 1, [1_008, 124, 5_056, 0, 0]],
].map((served) => [...served, served[0] === MAIN ? SUMMARIES : null])
const found = () => home.uses('openclaw').map(figures)
const linesOf = (session: string) => captured.transcript_events.filter(({ session_id }) => session_id === session)

describe('captured sessions of OpenClaw', () => {
  test('have what the model server sent, also while the database is open', () => {
    const database = write(captured)
    try {
      expect(found()).toEqual(SERVED)
      const uses = home.uses('openclaw')
      expect(uses.map(({ sessionId, activeMs }) => [sessionId === MAIN, Number(activeMs) > 0])).toEqual([
        ...[true, true].map(() => [true, true]),
        ...[false, false].map(() => [false, true]),
      ])
      const { uses: family } = scanSession('openclaw', { sessionId: MAIN }, home.environment)
      expect(new Set(family.map(({ sessionId }) => sessionId))).toEqual(new Set([MAIN, SUBAGENT, FORK]))
    } finally {
      database.close()
    }
  })

  test('have it where a session that was forked is gone', () => {
    write({ ...captured, transcript_events: linesOf(FORK) }).close()
    expect(found().map(([session, model, requests]) => [session, model, requests])).toEqual([
      [MAIN, 'gpt-5.4', 1],
      [MAIN, 'claude-sonnet-4-5', 1],
      [FORK, 'gpt-5.4', 1],
    ])
  })

  test('have it after all but the last lines were removed', () => {
    write(captured).close()
    expect(found()).toEqual(SERVED)
    write({ ...captured, transcript_events: [...truncated, ...linesOf(SUBAGENT)] }).close()
    expect(found()).toEqual(SERVED.slice(0, 3))
  })

  test('have it once where they are also in files, of older versions and of archives', () => {
    write(captured).close()
    const events = linesOf(MAIN).map(({ event }) => event)
    const folder = '.openclaw/agents/main/sessions'
    home.writeLines(`${folder}/${MAIN}.jsonl`, events)
    home.write(
      `${folder}/${MAIN}.jsonl.deleted.2026-11-29T00-22-30.837Z.0.zst`,
      Bun.zstdCompressSync(jsonLines(events)),
    )
    home.write(`${folder}/cold/0.jsonl.zst`, coldArchive(MAIN))
    // What was done, with the usage again.
    home.writeLines(`${folder}/${MAIN}.trajectory.jsonl`, [{ type: 'model.completed', data: { usage: { input: 1 } } }])
    expect(found()).toEqual(SERVED)
  })

  test('have it where a session was moved to an archive, in a file or in the database', () => {
    const rest = { ...captured, transcript_events: [...linesOf(SUBAGENT), ...linesOf(FORK)] }
    write({ ...rest, session_transcript_cold_archives: [{ archive_blob: coldArchive(MAIN) }] }).close()
    expect(found().toSorted()).toEqual(SERVED.toSorted())
    home.remove()
    home = new AgentHome()
    write(rest).close()
    home.write('.openclaw/agents/main/sessions/cold/0.jsonl.zst', coldArchive(MAIN))
    expect(found().toSorted()).toEqual(SERVED.toSorted())
  })

  test('of a version with a file per session have what the model server sent', () => {
    home.copy('cases/openclaw/2026.5.19', '.openclaw/agents/main/sessions')
    expect(found().map(([, ...use]) => use)).toEqual([
      ['gpt-5.4', 2, [1_010 + 1_011, 130 + 133, 5_070 + 5_077, 0, 0], null],
    ])
  })

  test.each(['event_json', 'seq', 'session_id', 'event_zstd'])('are right or reported as not without %s', (column) => {
    const { transcript_events: _, ...others } = captured
    const database = write(others)
    const rows = captured.transcript_events.map((line) => {
      const { [column]: value, ...row } = rowOf(line)
      return { ...row, ...(value === undefined ? {} : { other: value }) }
    })
    writeTable(database, 'transcript_events', rows as Row[])
    database.close()
    expectRightOrReported()
  })
})

/** The requests of a session may be listed with others, but none may be missing or have other counts. */
function expectRightOrReported(): void {
  const { uses, damage } = home.scan({ agents: ['openclaw'] })
  if (damage.length === 0) expect(uses.map(figures)).toEqual(SERVED)
}

const jsonLines = (records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('')

/** As OpenClaw moves a session that has not been used for long. */
function coldArchive(session: string): Uint8Array {
  const rows = linesOf(session).map(({ seq, created_at, event }) => ({
    kind: 'event',
    row: { seq, created_at, event_json: JSON.stringify(event) },
  }))
  const header = { kind: 'header', version: 1, sessionId: session, generation: '1' }
  return Bun.zstdCompressSync(jsonLines([header, ...rows, { kind: 'index', row: { indexed_seq: 1 } }]))
}

describe('OpenClaw', () => {
  const START = Date.parse('2026-11-20T10:00:00Z')
  let minute = 0
  beforeEach(() => {
    minute = 0
  })
  const line = (session_id: string, event: object): Line => {
    minute += 1
    const created_at = START + minute * 60_000
    const timestamp = new Date(created_at).toISOString()
    return { session_id, seq: minute, created_at, is_compressed: 0, event: { id: `e${minute}`, timestamp, ...event } }
  }
  const header = (id: string, more: object = {}) =>
    line(id, { type: 'session', version: 4, id, cwd: '/nowhere', ...more })
  const usageOf = (input: number, more: object = {}) => ({
    ...{ input, output: 5, cacheRead: 3, cacheWrite: 0, totalTokens: input + 8, reasoningTokens: 2 },
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.25 },
    ...more,
  })
  const message = (input: number, more: object = {}) => ({
    ...{ role: 'assistant', api: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' },
    ...{ usage: usageOf(input), timestamp: START + input * 1_000, responseId: `msg_${input}`, ...more },
  })
  const answer = (session: string, input: number, more: object = {}) =>
    line(session, { type: 'message', message: message(input, more) })
  const windows = (...rows: Row[]) => ({
    session_nodes: rows.map(({ session_id, key, forked = null }) => ({
      ...{ session_key: key ?? session_id!, current_session_id: session_id!, fork_source_session_id: forked },
      ...{ label: null, display_name: null },
    })),
    session_windows: rows.map(({ session_id, key, by = null, created = 1 }) => ({
      ...{ session_id: session_id!, session_key: key ?? session_id!, spawned_by: by, created_at: created },
    })),
  })
  const writeLines = (lines: Line[], ...rows: Row[]) =>
    write({ ...windows(...(rows.length > 0 ? rows : [{ session_id: 's' }])), transcript_events: lines }).close()
  const inputs = () =>
    home.uses('openclaw').map(({ sessionId, requests, tokens }) => [sessionId, requests, tokens.input])

  test('counts a request once whose line was written again, also after the first one was removed', () => {
    const first = answer('s', 100)
    const again = answer('s', 100)
    writeLines([header('s'), first, answer('s', 20), again])
    expect(inputs()).toEqual([['s', 2, 120]])
    writeLines([header('s'), answer('s', 20), again])
    expect(inputs()).toEqual([['s', 2, 120]])
  })

  test('has a request of the first session where a fork of a fork has written it again', () => {
    const parentSession = 'sqlite:main:a:/x/openclaw-agent.sqlite'
    const timestamp = new Date(START + 200_000).toISOString()
    writeLines([header('c', { parentSession, timestamp }), answer('c', 100), answer('c', 900_000)], { session_id: 'c' })
    expect(inputs()).toEqual([
      ['a', 1, 100],
      ['c', 1, 900_000],
    ])
  })

  test('has sub-agents in the session of that name that was current when they began', () => {
    writeLines(
      [...[header('a'), answer('a', 1)], ...[header('b'), answer('b', 20)], ...[header('x'), answer('x', 300)]],
      { session_id: 'a', key: 'main', created: 1 },
      { session_id: 'x', key: 'sub', by: 'main', created: 2 },
      { session_id: 'b', key: 'main', created: 3 },
    )
    const family = (sessionId: string) =>
      scanSession('openclaw', { sessionId }, home.environment).uses.map((use) => use.sessionId)
    expect([family('a'), family('b')]).toEqual([['a', 'x'], ['b']])
  })

  test('does not count answers of the programs of other agents, and says so', () => {
    writeLines([header('s'), answer('s', 100), answer('s', 7, { api: 'cli', provider: 'claude-cli' })])
    const { uses, damage } = home.scan({ agents: ['openclaw'] })
    expect(uses.map(({ tokens }) => tokens.input)).toEqual([100])
    expect(damage.map(({ what, isNote }) => [what, isNote])).toEqual([
      ['is an answer of claude-cli, which counts where that agent recorded it', true],
    ])
  })

  test('has a reported cost only where the provider charged it', () => {
    const cost = { total: 0.125, totalOrigin: 'provider-billed' }
    writeLines([header('s'), answer('s', 1, { usage: usageOf(1, { cost }) })])
    expect(home.uses('openclaw').map(({ reportedCost }) => reportedCost)).toEqual(['0.125'])
    writeLines([header('t'), answer('t', 2)])
    expect(home.uses('openclaw').map(({ reportedCost }) => reportedCost)).toEqual([null])
  })

  test('names summaries, newer versions and lines that it cannot read', () => {
    const broken = { ...line('s', {}), is_compressed: 0 }
    const database = write({
      ...windows({ session_id: 's' }),
      schema_meta: [{ schema_version: 99, app_version: '2027.1.1' }],
      transcript_events: [
        header('s', { version: 5 }),
        answer('s', 100),
        line('s', { type: 'compaction', fromHook: true }),
        broken,
      ],
    })
    database.run('ALTER TABLE transcript_events ADD COLUMN event_zstd')
    database
      .query('UPDATE transcript_events SET event_json = NULL, event_zstd = ? WHERE seq = ?')
      .run(new Uint8Array([1, 2, 3]), broken.seq)
    database.close()
    const { uses, damage } = home.scan({ agents: ['openclaw'] })
    expect(uses.map(({ missing }) => missing)).toEqual([SUMMARIES])
    expect(damage.map(({ what }) => what)).toEqual([
      'has version 99 of the format, which this version of Tally may not read completely',
      'has a line that cannot be read, and is not counted',
      'has version 5 of the format, which this version of Tally may not read completely',
    ])
  })

  test('is read in profiles, and where its variables say', () => {
    const lines = (session: string) => ({
      ...windows({ session_id: session }),
      transcript_events: [header(session), answer(session, session.charCodeAt(0))],
    })
    write(lines('s')).close()
    write(lines('t'), '.openclaw-work/agents/ops/agent/openclaw-agent.sqlite').close()
    write(lines('u'), 'elsewhere/agents/main/agent/openclaw-agent.sqlite').close()
    write(lines('v'), 'other/.openclaw/agents/main/agent/openclaw-agent.sqlite').close()
    expect(inputs().map(([session]) => session)).toEqual(['s', 't'])
    home.environment.openclawState = join(home.folder, 'elsewhere')
    home.environment.openclawHome = join(home.folder, 'other')
    expect(inputs().map(([session]) => session)).toEqual(['u', 'v'])
  })

  test('has the title that it was given, otherwise the first prompt', () => {
    const prompt = (session: string) => line(session, { type: 'message', message: { role: 'user', content: 'Fix it' } })
    const tables = windows({ session_id: 's' }, { session_id: 't' })
    tables.session_nodes[0]!.label = 'Fixes' as never
    const lines = [header('s'), prompt('s'), answer('s', 1), header('t'), prompt('t'), answer('t', 2)]
    write({ ...tables, transcript_events: lines }).close()
    expect(home.scan({ withTitles: true }).uses.map(({ title }) => title)).toEqual(['Fixes', 'Fix it'])
  })
})
