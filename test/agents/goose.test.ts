import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionUse } from '../../src/agents/agent.ts'
import { scanSession } from '../../src/agents/scan.ts'
import { AgentHome, FIXTURES, type Row } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

type Tables = Record<'schema_version' | 'sessions' | 'usage_ledger' | 'messages', Row[]>

const captured = JSON.parse(readFileSync(join(FIXTURES, 'cases/goose/rows.json'), 'utf8')) as Tables
const PLACE = '.local/share/goose/sessions/sessions.db'

/** A database as Goose makes it, which stays open. */
const write = (tables: Partial<Tables>, path = PLACE) => home.writeDatabase(path, tables)

const figures = ({ sessionId, model, requests, tokens, missing }: SessionUse) => [
  ...[sessionId, model, requests],
  [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
  missing,
]

const [RESUMED = '', DELEGATING = '', SUBAGENT = ''] = captured.sessions.map(
  ({ id, created_at }) => `${id}-${Date.parse(`${created_at}Z`) / 1_000}`,
)
const TITLES = 'title requests not included'
/** From the ledger of the model server, which also served titles. */
const SERVED = [
  [RESUMED, 'claude-sonnet-4-5', 3, [1_018 + 1_019 + 1_021, 154 + 157 + 163, 5_126 + 5_133 + 5_147, 3 * 370], TITLES],
  [RESUMED, 'gpt-5.4', 1, [1_022, 166, 5_154, 0], TITLES],
  [SUBAGENT, 'gpt-5.4', 1, [1_025, 175, 5_175, 0], null],
  [DELEGATING, 'gpt-5.4', 2, [1_024 + 1_026, 172 + 178, 5_168 + 5_182, 0], TITLES],
]

describe('captured sessions of Goose', () => {
  test('have what the model server sent, also while the database is open', () => {
    const database = write(captured)
    try {
      const uses = home.uses('goose')
      expect(uses.map(figures)).toEqual(SERVED)
      expect(uses.map(({ activeMs, reportedCost }) => [activeMs, reportedCost])).toEqual([
        [0, null],
        [0, null],
        [1_000, null],
        [1_000, null],
      ])
      const { uses: family } = scanSession('goose', { sessionId: DELEGATING }, home.environment)
      expect(family.map(({ sessionId }) => sessionId)).toEqual([SUBAGENT, DELEGATING])
    } finally {
      database.close()
    }
  })
})

describe('Goose', () => {
  test('names a database whose version it cannot read', () => {
    const schema_version = captured.schema_version.map(({ version, ...rest }) => ({ ...rest, number: version! }))
    write({ ...captured, schema_version }).close()
    expect(home.scan({ agents: ['goose'] }).readings[0]!.notRead).toContainEqual({
      ...{ reason: 'unknown_record', name: 'schema_version', count: 1 },
    })
  })

  const session = (id: string, created_at: string, fields: Row = {}): Row => ({
    ...captured.sessions[0]!,
    ...{ id, created_at, accumulated_input_tokens: 0, accumulated_output_tokens: 0 },
    ...{ accumulated_cache_read_tokens: null, accumulated_cache_write_tokens: null },
    ...fields,
  })
  const request = (id: number, session_id: string, created: string, fields: Row = {}): Row => ({
    ...{ id, session_id, created_timestamp: Date.parse(created) / 1_000, model: 'gpt-5.4', total_tokens: 12 },
    ...{ input_tokens: 10, output_tokens: 2, cache_read_tokens: null, cache_write_tokens: null },
    ...{ cost: null, cost_source: null, is_compaction: 0 },
    ...fields,
  })
  const at = (version: number, applied_at: string) => ({ version, applied_at })
  const totals = { accumulated_input_tokens: 110, accumulated_output_tokens: 22 }
  const inputs = (uses: SessionUse[]) => uses.map(({ model, tokens, startedAt }) => [model, tokens.input, startedAt])

  test('has the totals of a session from before its ledger, and once after it was continued', () => {
    const sessions = [session('20261101_1', '2026-11-01 10:00:00', totals)]
    const model_config_json = '{"model_name":"gpt-5"}'
    const old = { sessions: [{ ...sessions[0]!, model_config_json }], messages: [] }
    const scanned = (tables: Partial<Tables>) => {
      write(tables).close()
      const { uses, damage } = home.scan({ agents: ['goose'] })
      expect(damage.map(({ isNote }) => isNote)).toEqual([true])
      rmSync(join(home.folder, PLACE))
      return uses
    }
    const total = ['gpt-5', 110, '2026-11-01T10:00:00.000Z']
    expect(inputs(scanned({ ...old, schema_version: [at(13, '2026-10-01 00:00:00')] }))).toEqual([total])
    const schema_version = [at(13, '2026-10-01 00:00:00'), at(15, '2026-11-05 00:00:00')]
    const continued = [{ ...old.sessions[0]!, accumulated_input_tokens: 120, accumulated_output_tokens: 24 }]
    const carried = request(1, '20261101_1', '2026-11-06T10:00:00Z', {
      ...{ model: null, cost_source: 'carried_forward', input_tokens: 110, output_tokens: 22 },
    })
    const usage_ledger = [carried, request(2, '20261101_1', '2026-11-06T10:00:00Z')]
    expect(inputs(scanned({ sessions: continued, messages: [], schema_version, usage_ledger }))).toEqual([
      total,
      ['gpt-5.4', 10, '2026-11-06T10:00:00.000Z'],
    ])
  })

  test('does not have the totals that were imported with a session, and says so', () => {
    const sessions = [session('20261108_1', '2026-11-08 10:00:00', totals)]
    const usage_ledger = [request(1, '20261108_1', '2026-11-08T11:00:00Z')]
    write({ schema_version: [at(16, '2026-11-01 00:00:00')], sessions, usage_ledger, messages: [] }).close()
    const { uses, damage } = home.scan({ agents: ['goose'] })
    expect(inputs(uses)).toEqual([['gpt-5.4', 10, '2026-11-08T11:00:00.000Z']])
    expect(damage.map(({ what }) => what)).toEqual([
      'has imported sessions with the totals of others, which are not counted',
    ])
  })

  test('does not take a session for one that was deleted and had the same number', () => {
    const first = { sessions: [session('20261108_1', '2026-11-08 10:00:00')], messages: [] }
    const schema_version = [at(16, '2026-11-01 00:00:00')]
    write({ ...first, schema_version, usage_ledger: [request(1, '20261108_1', '2026-11-08T10:00:00Z')] }).close()
    const [before] = home.uses('goose')
    home.write(PLACE, '')
    const second = { sessions: [session('20261108_1', '2026-11-08 12:00:00')], messages: [] }
    write({ ...second, schema_version, usage_ledger: [request(1, '20261108_1', '2026-11-08T12:00:00Z')] }).close()
    const [after] = home.uses('goose')
    expect([before!.tokens.input, after!.tokens.input]).toEqual([10, 10])
    expect(after!.sessionId).not.toBe(before!.sessionId)
  })

  test('has a reported cost only of requests whose provider reported it', () => {
    const sessions = ['1', '2'].map((id) => session(`20261108_${id}`, '2026-11-08 10:00:00'))
    const usage_ledger = ['provider_reported', 'estimated'].map((cost_source, index) =>
      request(index, `20261108_${index + 1}`, '2026-11-08T10:00:00Z', { cost: 0.25, cost_source }),
    )
    write({ schema_version: [at(16, '2026-11-01 00:00:00')], sessions, usage_ledger, messages: [] }).close()
    expect(home.uses('goose').map(({ reportedCost }) => reportedCost)).toEqual(['0.25', null])
  })

  test('is read where its variable says, and names a version that is not known', () => {
    write({ ...captured, schema_version: [at(99, '2026-11-01 00:00:00')] }, 'root/data/sessions/sessions.db').close()
    home.environment.gooseRoot = join(home.folder, 'root')
    const { uses, damage } = home.scan({ agents: ['goose'] })
    expect(uses.map(figures)).toEqual(SERVED)
    expect(damage.map(({ what }) => what)).toEqual([
      'has version 99 of the format, which this version of Tally may not read completely',
    ])
  })
})
