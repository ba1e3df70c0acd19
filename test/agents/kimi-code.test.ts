import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { SessionUse } from '../../src/agents/agent.ts'
import { AgentHome } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const PROJECT = '.kimi-code/sessions/wd_acme-web_2bd88ea5e093'
const ONE = 'session_f5a4930d-1f5c-45f3-86b8-8719bd8bf6e5'
const FORK = 'session_e8df3c91-7f06-4f91-a475-6336379c848f'

const figures = ({ sessionId, model, requests, tokens, missing }: SessionUse) => [
  ...[sessionId, model, requests],
  [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
  missing,
]

/** From the ledger of the model server, which also served writes of one hour. */
const SERVED = [
  [ONE, 'gpt-5.4', 1, [1_001, 103, 5_007, 0], null],
  [ONE, 'claude-sonnet-4-5', 4, [4 * 1_000 + 14, 4 * 100 + 42, 4 * 5_000 + 98, 4 * 370], null],
]

describe('captured sessions of Kimi Code', () => {
  test('have what the model server sent, by the models’ own names, and once although one was forked', () => {
    home.copy('cases/kimi-code/wd_acme-web_2bd88ea5e093', PROJECT)
    const uses = home.uses('kimi-code')
    expect(uses.map(figures)).toEqual(SERVED)
    expect(uses[0]!.folder).toBe('/home/dev/acme-web')
  })

  test('have it in the session that made it where that is gone', () => {
    home.copy(`cases/kimi-code/wd_acme-web_2bd88ea5e093/${FORK}`, `${PROJECT}/${FORK}`)
    expect(home.uses('kimi-code').map(({ sessionId, requests }) => [sessionId, requests])).toEqual([
      [ONE, 1],
      [ONE, 3],
    ])
  })
})

describe('Kimi Code', () => {
  let clock: number
  beforeEach(() => {
    clock = Date.parse('2026-11-20T10:00:00Z')
  })
  const record = (type: string, fields: object = {}) => {
    clock += 60_000
    return { type, agentId: 'main', ...fields, time: clock }
  }
  const request = (model = 'gpt-5.4') => record('llm.request', { modelAlias: 'fast', model })
  const usage = (inputOther: number) =>
    record('usage.record', {
      model: 'fast',
      usage: { inputOther, output: 5, inputCacheRead: 0, inputCacheCreation: 0 },
    })
  const write = (session: string, agent: string, ...records: object[]) =>
    home.writeLines(`.kimi-code/sessions/wd_w/${session}/agents/${agent}/wire.jsonl`, records)
  const inputs = () => home.uses('kimi-code').map(({ sessionId, model, tokens }) => [sessionId, model, tokens.input])

  test('has sub-agents in the session, and the model that a name stood for at the time', () => {
    write('session_1', 'main', request(), usage(1), request('gpt-5'), usage(20))
    write('session_1', 'agent-1', request(), usage(300))
    expect(inputs()).toEqual([
      ['session_1', 'gpt-5.4', 301],
      ['session_1', 'gpt-5', 20],
    ])
  })

  test('has what a fork of a fork made itself, and the rest where it was made', () => {
    const first = [request(), usage(1)]
    const second = [...first, record('forked'), request(), usage(20)]
    write('session_1', 'main', ...first)
    write('session_2', 'main', ...second)
    write('session_3', 'main', ...second, record('forked'), request(), usage(300))
    const state = (session: string, forkedFrom: string) =>
      home.write(`.kimi-code/sessions/wd_w/${session}/state.json`, JSON.stringify({ forkedFrom, title: 'Fork' }))
    state('session_2', 'session_1')
    state('session_3', 'session_2')
    expect(inputs().map(([session, , input]) => [session, input])).toEqual([
      ['session_1', 1],
      ['session_2', 20],
      ['session_3', 300],
    ])
    expect(home.scan({ withTitles: true }).uses.map(({ title }) => title)).toEqual([null, 'Fork', 'Fork'])
    // What is left names another session than the first.
    write('session_1', 'main')
    write('session_2', 'main')
    expect(inputs().map(([session, , input]) => [session, input])).toEqual([
      ['session_1', 1],
      ['session_2', 20],
      ['session_3', 300],
    ])
  })

  test('names requests that were cancelled or had no usage, but not those that were refused', () => {
    const refused = record('turn.step.retrying', { statusCode: 429 })
    write('session_1', 'main', request(), usage(1), request(), record('turn.step.interrupted'))
    write('session_2', 'main', request(), refused, request(), usage(1), record('turn.step.interrupted'))
    const none = { inputOther: 0, output: 0, inputCacheRead: 0, inputCacheCreation: 0 }
    write('session_3', 'main', request(), usage(1), request(), record('usage.record', { model: 'fast', usage: none }))
    expect(home.uses('kimi-code').map(({ missing }) => missing)).toEqual([
      'requests without usage not included',
      null,
      'requests without usage not included',
    ])
    const file = write('session_4', 'main', request(), record('full_compaction.cancel'))
    expect(home.scan().damage).toEqual([
      { file, line: null, what: 'has requests without usage not included', isNote: true },
    ])
  })

  test('does not take the name in the settings for a model, and names a newer version', () => {
    write('session_1', 'main', record('metadata', { protocol_version: '1.10' }), usage(1))
    const { uses, damage } = home.scan({ agents: ['kimi-code'] })
    expect(uses.map(({ model }) => model)).toEqual(['unknown'])
    expect(damage.map(({ line, what }) => [line, what])).toEqual([
      [1, 'has version 1.10 of the format, which this version of Tally may not read completely'],
      [2, 'names its model only as “fast” in your settings, and is counted as the model unknown'],
    ])
  })
})
