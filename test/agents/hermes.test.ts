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

type Row = Record<string, string | number | null>
type Tables = Record<'schema_version' | 'sessions' | 'session_model_usage', Row[]>

const captured: Tables = JSON.parse(readFileSync(join(FIXTURES, 'cases/hermes/rows.json'), 'utf8'))

/** A database as Hermes makes it, which stays open. Its columns are those of the rows. */
function write(tables: Partial<Tables>, path = '.hermes/state.db'): Database {
  const place = join(home.folder, path)
  mkdirSync(dirname(place), { recursive: true })
  for (const suffix of ['', '-wal', '-shm']) rmSync(place + suffix, { force: true })
  const database = new Database(place)
  database.run('PRAGMA journal_mode = WAL')
  for (const [table, rows] of Object.entries(tables)) {
    const columns = [...new Set(['other', ...rows.flatMap((row) => Object.keys(row))])]
    database.run(`CREATE TABLE ${table} (${columns.join(', ')})`)
    for (const row of rows) {
      const values = columns.map((column) => row[column] ?? null)
      database.query(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`).run(...values)
    }
  }
  return database
}

const figures = ({ sessionId, model, requests, tokens }: SessionUse) => [
  ...[sessionId, model, requests],
  [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
]

const [RESUMED = '', DELEGATING = '', SUBAGENT = ''] = captured.sessions.map(({ id }) => String(id))
/** From the ledger of the model server. */
const SERVED = [
  [RESUMED, 'gpt-5.4', 1, [1_001, 103, 5_007, 0]],
  [RESUMED, 'claude-sonnet-4-5', 1, [1_002, 106, 5_014, 0]],
  [DELEGATING, 'gpt-5.4', 2, [1_003 + 1_004, 109 + 112, 5_021 + 5_028, 0]],
  [SUBAGENT, 'gpt-5.4', 1, [1_005, 115, 5_035, 0]],
]

describe('captured sessions of Hermes Agent', () => {
  test('have what the model server sent, also while the database is open', () => {
    const database = write(captured)
    try {
      const uses = home.uses('hermes')
      expect(uses.map(figures)).toEqual(SERVED)
      expect(uses.map(({ folder, activeMs }) => [folder, activeMs])).toEqual(SERVED.map(() => ['/home/dev/work', null]))
      const { uses: family } = scanSession('hermes', { sessionId: DELEGATING }, home.environment)
      expect(family.map(({ sessionId }) => sessionId)).toEqual([DELEGATING, SUBAGENT])
    } finally {
      database.close()
    }
  })
})

describe('Hermes Agent', () => {
  const at = (time: string) => Date.parse(time) / 1_000
  const counts = (input_tokens: number) => ({
    ...{ input_tokens, output_tokens: 5, cache_read_tokens: 3, cache_write_tokens: 2, reasoning_tokens: 1 },
  })
  const session = (id: string, input: number, fields: Row = {}): Row => ({
    ...captured.sessions[0]!,
    ...{ id, started_at: at('2026-11-20T10:00:00Z'), ...counts(input), ...fields },
  })
  const sum = (session_id: string, input: number, fields: Row = {}): Row => ({
    ...captured.session_model_usage[0]!,
    ...{ session_id, api_call_count: 2, ...counts(input) },
    ...{ first_seen: at('2026-11-20T10:05:00Z'), last_seen: at('2026-11-20T11:00:00Z'), ...fields },
  })
  const { schema_version } = captured
  const found = () => home.scan({ agents: ['hermes'] })
  const inputs = () =>
    found().uses.map(({ sessionId, model, tokens, startedAt }) => [sessionId, model, tokens.input, startedAt])

  test('counts a sum that grows where it began, and says if that was on an earlier day', () => {
    const FIRST = '2026-11-20T10:05:00.000Z'
    write({ schema_version, sessions: [session('s', 10)], session_model_usage: [sum('s', 10)] }).close()
    expect(inputs()).toEqual([['s', 'gpt-5.4', 10, FIRST]])
    expect(found().damage).toEqual([])
    const grown = sum('s', 300, { last_seen: at('2026-11-21T11:00:00Z') })
    write({ schema_version, sessions: [session('s', 300)], session_model_usage: [grown] }).close()
    expect(inputs()).toEqual([['s', 'gpt-5.4', 300, FIRST]])
    expect(found().damage.map(({ what, isNote }) => [what, isNote])).toEqual([
      ['a sum is of several days, and counts on the first', true],
    ])
  })

  test('has what it used besides the conversation, which is not in the totals of the session', () => {
    const title = sum('s', 7, { model: 'gpt-5.4-mini', task: 'title_generation', api_call_count: 1 })
    write({ schema_version, sessions: [session('s', 10)], session_model_usage: [sum('s', 10), title] }).close()
    expect(inputs().map(([, model, input]) => [model, input])).toEqual([
      ['gpt-5.4', 10],
      ['gpt-5.4-mini', 7],
    ])
    expect(found().damage).toEqual([])
    write({ schema_version, sessions: [session('s', 15)], session_model_usage: [sum('s', 10), title] }).close()
    expect(inputs().map(([, model, input]) => [model, input])).toEqual([
      ['gpt-5.4', 15],
      ['gpt-5.4-mini', 7],
    ])
  })

  test('has the totals of sessions of versions without sums, and what totals have more', () => {
    const tables = { sessions: [session('s', 10)], session_model_usage: [sum('s', 4, { output_tokens: 5 })] }
    const START = '2026-11-20T10:00:00.000Z'
    const note = 'a session has totals that are not in its sums, and count at its start'
    write({ schema_version: [{ version: 19 }], sessions: tables.sessions }).close()
    expect(inputs()).toEqual([['s', 'gpt-5.4', 10, START]])
    expect(found().damage.map(({ what, isNote }) => [what, isNote])).toEqual([[note, true]])
    write({ schema_version, ...tables }).close()
    expect(inputs()).toEqual([['s', 'gpt-5.4', 10, START]])
    expect(found().damage.map(({ what }) => what)).toEqual([note])
  })

  test('is read in profiles, and where its variable says', () => {
    const tables = (id: string) => ({ schema_version, sessions: [session(id, 1)], session_model_usage: [sum(id, 1)] })
    write(tables('s')).close()
    write(tables('t'), '.hermes/profiles/work/state.db').close()
    write(tables('u'), 'elsewhere/state.db').close()
    expect(inputs().map(([id]) => id)).toEqual(['t', 's'])
    home.environment.hermesHome = join(home.folder, 'elsewhere')
    expect(inputs().map(([id]) => id)).toEqual(['u'])
  })

  test('names a newer version, and has the title of a session', () => {
    const sessions = [session('s', 1, { title: 'Fixes' })]
    write({ schema_version: [{ version: 30 }], sessions, session_model_usage: [sum('s', 1)] }).close()
    const { uses, damage } = home.scan({ agents: ['hermes'], withTitles: true })
    expect(uses.map(({ title }) => title)).toEqual(['Fixes'])
    expect(damage.map(({ what }) => what)).toEqual([
      'has version 30 of the format, which this version of Tally may not read completely',
    ])
  })
})
