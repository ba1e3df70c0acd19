import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionUse } from '../../src/agents/agent.ts'
import { scanSession } from '../../src/agents/scan.ts'
import { AgentHome, FIXTURES } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const PROJECT = '.grok/sessions/%2Fhome%2Fdev%2Facme-web'
const FIXTURE = 'cases/grok/%2Fhome%2Fdev%2Facme-web'
const ONE = '01a223fe-2c8b-7e81-8330-4ba5d69ae038'
const FORK = '01a223fe-3563-7792-b70d-2f8fba2268a6'
const DELEGATING = '01a223fe-3b96-7892-90bb-fa6e4fb0946a'
const SUBAGENT = '01a223fe-3bfd-7d00-a2e1-93bebaa89e6b'

const figures = ({ sessionId, model, requests, tokens }: SessionUse) => [
  ...[sessionId, model, requests],
  [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
]

/** From the ledger of the model server, which also served titles and summaries, and writes of one hour. */
const SERVED = [
  [ONE, 'grok-4.5', 1, [1_015, 145, 5_105, 0]],
  [ONE, 'claude-sonnet-4-5', 1, [1_017, 151, 5_119, 370]],
  [FORK, 'grok-4.5', 1, [1_019, 157, 5_133, 0]],
  [SUBAGENT, 'grok-4.5', 1, [1_024, 172, 5_168, 0]],
  [DELEGATING, 'grok-4.5', 2, [1_022 + 1_025, 166 + 175, 5_154 + 5_175, 0]],
]

describe('captured sessions of Grok', () => {
  test('have what the model server sent, once although one was forked and one had a sub-agent', () => {
    home.copy(FIXTURE, PROJECT)
    const uses = home.uses('grok')
    expect(uses.map(figures)).toEqual(SERVED)
    expect(uses[0]!.folder).toBe('/home/dev/acme-web')
    expect(new Set(uses.map(({ missing }) => missing))).toEqual(
      new Set(['titles, summaries and unfinished turns not included']),
    )
    const { uses: family } = scanSession('grok', { sessionId: DELEGATING }, home.environment)
    expect(family.map(({ sessionId }) => sessionId)).toEqual([DELEGATING, SUBAGENT])
  })

  test('have it in the session that made it where that is gone', () => {
    home.copy(`${FIXTURE}/${FORK}`, `${PROJECT}/${FORK}`)
    expect(home.uses('grok').map(({ sessionId }) => sessionId)).toEqual([ONE, ONE, FORK])
  })

  test('keep what a turn had without its sub-agent when that is gone', () => {
    home.copy(FIXTURE, PROJECT)
    home.uses('grok')
    rmSync(join(home.folder, PROJECT, SUBAGENT), { recursive: true })
    expect(home.uses('grok').map(figures)).toEqual(SERVED.filter(([session]) => session !== SUBAGENT))
  })

  interface Line {
    params: { _meta: { agentTimestampMs: number } }
  }
  const linesOf = (session: string): Line[] =>
    readFileSync(join(FIXTURES, FIXTURE, session, 'updates.jsonl'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))

  test('only grow from line to line', () => {
    const sessions = [ONE, FORK, DELEGATING, SUBAGENT]
    for (const session of sessions)
      home.copy(`${FIXTURE}/${session}/summary.json`, `${PROJECT}/${session}/summary.json`)
    const timeOf = ({ params }: Line) => params._meta.agentTimestampMs
    const lines = sessions.flatMap((session) => linesOf(session).map((line) => ({ session, line })))
    lines.sort((one, other) => timeOf(one.line) - timeOf(other.line))
    const largest = new Map<string, number>()
    for (const { session, line } of lines) {
      appendFileSync(join(home.folder, PROJECT, session, 'updates.jsonl'), `${JSON.stringify(line)}\n`)
      for (const { sessionId, model, tokens } of home.uses('grok')) {
        const name = `${sessionId} ${model}`
        expect(tokens.input).toBeGreaterThanOrEqual(largest.get(name) ?? 0)
        largest.set(name, tokens.input)
      }
    }
    expect(home.uses('grok').map(figures)).toEqual(SERVED)
  })
})

describe('Grok', () => {
  let clock: number
  beforeEach(() => {
    clock = Date.parse('2026-11-20T10:00:00Z')
  })
  const update = (session: string, sessionUpdate: string, fields: object = {}) => {
    clock += 60_000
    const params = { update: { sessionUpdate, ...fields }, _meta: { eventId: `${session}-1`, agentTimestampMs: clock } }
    return { timestamp: clock / 1_000, method: '_x.ai/session/update', params }
  }
  const prompt = (session: string, meta: object = {}) =>
    update(session, 'user_message_chunk', { content: {}, _meta: meta })
  const started = (session: string, child: string, turn: string) =>
    update(session, 'subagent_spawned', { child_session_id: child, parent_prompt_id: turn })
  const ended = (session: string, child: string) => update(session, 'subagent_finished', { child_session_id: child })
  const turn = (
    session: string,
    inputTokens: number,
    modelCalls = 1,
    numTurns = modelCalls,
    prompt_id = `turn-${clock}`,
  ) => {
    const tokens = { inputTokens, outputTokens: 5, totalTokens: inputTokens + 5 }
    const used = { ...tokens, cachedReadTokens: 0, cacheCreationTokens: 0, modelCalls }
    const usage = { ...used, numTurns, modelUsage: { 'grok-4.5': used } }
    return update(session, 'turn_completed', { prompt_id, stop_reason: 'end_turn', usage })
  }
  const write = (session: string, records: object[], summary: object = {}) => {
    home.write(`${PROJECT}/${session}/summary.json`, JSON.stringify(summary))
    return home.writeLines(`${PROJECT}/${session}/updates.jsonl`, records)
  }
  const inputs = () => home.uses('grok').map(({ sessionId, tokens, requests }) => [sessionId, tokens.input, requests])

  test('has a sub-agent that ends after the turn, and one of a sub-agent, once', () => {
    write('one', [
      ...[started('one', 'late', 'first'), turn('one', 1, 1, 1, 'first'), ended('one', 'late')],
      ...[started('one', 'child', 'second'), ended('one', 'child'), turn('one', 1_320, 4, 1, 'second')],
    ])
    write('late', [turn('late', 70)], { session_kind: 'subagent' })
    write('child', [started('child', 'grandchild', 'c'), ended('child', 'grandchild'), turn('child', 320, 3, 1, 'c')], {
      session_kind: 'subagent',
    })
    write('grandchild', [turn('grandchild', 300, 2)], { session_kind: 'subagent' })
    expect(inputs()).toEqual([
      ['one', 1_001, 2],
      ['late', 70, 1],
      ['child', 20, 1],
      ['grandchild', 300, 2],
    ])
  })

  test('has the time from a prompt to the end of its turn, and none of commands', () => {
    write('one', [
      prompt('one'),
      turn('one', 1),
      prompt('one', { hostTurn: true }),
      update('one', 'other'),
      prompt('one'),
      turn('one', 1),
    ])
    expect(home.uses('grok').map(({ activeMs }) => activeMs)).toEqual([120_000])
  })

  test('names turns without usage, and usage at an unknown place', () => {
    const failed = update('one', 'turn_completed', { prompt_id: 'p', stop_reason: 'error' })
    const file = write('one', [prompt('one'), failed])
    const other = write('two', [
      update('two', 'turn_ended', { usage: { inputTokens: 1, outputTokens: 0 } }),
      update('two', 'turn_completed', { stop_reason: 'end_turn' }),
    ])
    expect(home.scan().damage).toMatchObject([
      { file, line: null, what: 'has turns without usage, which are not counted', isNote: true },
      {
        file: other,
        line: 1,
        what: 'is a record of the unknown type turn_ended with token counts, and is not counted',
      },
      { file: other, line: 2, what: 'is a turn without usage, and is not counted' },
      { file: other, line: null, what: 'has turns without usage, which are not counted', isNote: true },
    ])
  })

  test('is read where its variable says, and has a title', () => {
    home.copy(`${FIXTURE}/${ONE}`, `elsewhere/sessions/p/${ONE}`)
    home.environment.grokHome = join(home.folder, 'elsewhere')
    expect(home.scan({ withTitles: true }).uses.map(({ title }) => title)).toEqual(['a title', 'a title'])
  })
})
