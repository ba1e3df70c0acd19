import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { basename, join } from 'node:path'
import type { SessionUse } from '../../src/agents/agent.ts'
import { scanSession } from '../../src/agents/scan.ts'
import { AgentHome } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const SESSIONS = '.pi/agent/sessions/--home-dev-acme-web--'
const [ONE, FORK, CHAT] = [
  '01a21ec7-1a1a-76ad-b1d5-95709829722e',
  '01a21ec7-43d4-7251-92c9-4960074a03ee',
  '01a21ec7-53de-772a-ac89-0c82e3616ee8',
]
const FILES = [
  `2026-11-27T20-51-34-556Z_${ONE}.jsonl`,
  `2026-11-27T20-51-45-238Z_${FORK}.jsonl`,
  `2026-11-27T20-51-49-349Z_${CHAT}.jsonl`,
] as const

const figures = ({ sessionId, model, requests, tokens, reportedCost }: SessionUse) => [
  ...[sessionId, model, requests],
  [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write, tokens.cache_write_1h],
  reportedCost,
]

/** From the ledger of the model server. */
const SERVED = [
  [ONE, 'claude-sonnet-4-5', 4, [4_251 + 4_399, 1_879 + 1_931, 140_991 + 144_979, 32_233 + 32_277, 900 + 300], null],
  [ONE, 'gpt-5.4', 1, [11_755, 2_335, 34_750, 0, 0], null],
  [FORK, 'claude-sonnet-4-5', 2, [4_621, 2_009, 150_961, 32_343, 300], null],
  [CHAT, 'kimi-k2', 2, [27_838, 2_845, 18_689, 0, 0], null],
]

describe('captured sessions of Pi', () => {
  test('have what the model server sent, each request of a fork where it was made', () => {
    home.copy('cases/pi', SESSIONS)
    expect(home.uses('pi').map(figures)).toEqual(SERVED)
  })

  test('have it where a session that was forked is gone, and its id is that of the first', () => {
    home.copy(`cases/pi/${FILES[1]}`, `${SESSIONS}/${FILES[1]}`)
    expect(home.uses('pi').map(figures)).toEqual(SERVED.slice(0, 3))
  })
})

let clock: number
beforeEach(() => {
  clock = Date.parse('2026-11-20T10:00:00Z')
})

/** A line of a session, a minute after the one before. */
const entry = (type: string, fields: object) => {
  clock += 60_000
  return { type, id: clock.toString(16).slice(-8), timestamp: new Date(clock).toISOString(), ...fields }
}
const session = (id: string, fields: object = {}) => entry('session', { version: 3, id, cwd: '/nowhere', ...fields })
const usageOf = (input: number, fields: object = {}) => ({
  ...{ input, output: 5, cacheRead: 3, cacheWrite: 0, totalTokens: input + 8 },
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0.25 },
  ...fields,
})
const answer = (input: number, { usage = {}, ...fields }: { usage?: object; [name: string]: unknown } = {}) => {
  const line = entry('message', {})
  const message = { role: 'assistant', api: 'anthropic-messages', provider: 'anthropic', model: 'claude-sonnet-4-5' }
  return { ...line, message: { ...message, usage: usageOf(input, usage), timestamp: clock - 1_000, ...fields } }
}
const write = (id: string, ...records: object[]) =>
  home.writeLines(`.pi/agent/sessions/--w--/2026-11-20T10-00-00-000Z_${id}.jsonl`, records)
const inputs = () => home.uses('pi').map(({ sessionId, model, tokens }) => [sessionId, model, tokens.input])

describe('Pi', () => {
  test('has the requests of summaries with the selected model, and those of tools and extensions without one', () => {
    write(
      's',
      ...[session('s'), entry('model_change', { provider: 'anthropic', modelId: 'claude-sonnet-4-5' }), answer(100)],
      entry('model_change', { provider: 'openai', modelId: 'gpt-5.4' }),
      entry('compaction', { usage: usageOf(20) }),
      entry('branch_summary', { usage: usageOf(30) }),
      entry('compaction', { usage: usageOf(7), fromHook: true }),
      entry('message', { message: { role: 'toolResult', toolCallId: 'c', usage: usageOf(9) } }),
      entry('usage', { kind: 'cache_warm', provider: 'anthropic', model: 'claude-sonnet-4-5', usage: usageOf(1) }),
    )
    expect(inputs()).toEqual([
      ['s', 'claude-sonnet-4-5', 101],
      ['s', 'gpt-5.4', 50],
      ['s', 'unknown', 16],
    ])
  })

  test('has both requests of a summary that cut a turn, unless only the turn was summarized', () => {
    const summaryOf = (history: string) => `${history}\n\n---\n\n**Turn Context (split turn):**\n\nIt asked.`
    const summaries = ['Plain.', summaryOf('No prior history.'), summaryOf('It began.')]
    const compactions = [...summaries, summaryOf(summaries[2]!)].map((summary) =>
      entry('compaction', { usage: usageOf(20), summary }),
    )
    write('s', session('s'), answer(100), ...compactions)
    expect(home.uses('pi').map(({ requests, tokens }) => [requests, tokens.input])).toEqual([[1 + 1 + 1 + 2 + 1, 180]])
  })

  test('names summaries of which no usage is recorded', () => {
    write('s', session('s'), answer(100), entry('compaction', {}))
    write('t', session('t'), answer(100), entry('compaction', { fromHook: true }))
    expect(home.uses('pi').map(({ sessionId, missing }) => [sessionId, missing])).toEqual([
      ['s', 'requests for summaries not included'],
      ['t', null],
    ])
  })

  test('has a reported cost only where the provider charged it', () => {
    const cost = { total: 0.125, totalFromProvider: true }
    write('s', session('s'), answer(1, { usage: { cost } }), answer(2, { usage: { cost } }))
    write('t', session('t'), answer(1, { usage: { cost } }), answer(2))
    expect(home.uses('pi').map(({ reportedCost }) => reportedCost)).toEqual(['0.25', null])
  })

  test('has the model that answered, and every branch of a conversation', () => {
    const model = { provider: 'openrouter', model: 'auto', responseModel: 'z-ai/glm-5' }
    write('s', session('s'), answer(1, model), { ...answer(2, model), parentId: null })
    expect(home.uses('pi').map(({ model, provider, requests }) => [model, provider, requests])).toEqual([
      ['z-ai/glm-5', 'openrouter', 2],
    ])
  })

  test('has the calls of a fork of a fork in the first session, without its file', () => {
    const [first, second] = [answer(100), session('b', { parentSession: '/x/2026-11-20T10-00-00-000Z_a.jsonl' })]
    const own = answer(20)
    const third = session('c', { parentSession: '/x/2026-11-20T10-03-00-000Z_b.jsonl' })
    write('b', second, first, own)
    write('c', third, first, own, answer(3))
    expect(inputs()).toEqual([
      ['a', 'claude-sonnet-4-5', 100],
      ['b', 'claude-sonnet-4-5', 20],
      ['c', 'claude-sonnet-4-5', 3],
    ])
  })

  test('names a newer version of its format, and usage where none is known', () => {
    write(
      's',
      ...[session('s', { version: 4 }), entry('thought', { usage: usageOf(1) })],
      entry('message', { message: { role: 'judge', usage: usageOf(1) } }),
      answer(10, { usage: { audio: 7 } }),
    )
    const { uses, damage } = home.scan({ agents: ['pi'] })
    expect(uses.map(({ tokens }) => tokens.input)).toEqual([10])
    expect(damage.map(({ line, what }) => [line, what])).toEqual([
      [1, 'has version 4 of the format, which this version of Tally may not read completely'],
      [2, 'is a record of the unknown type thought with token counts, and is not counted'],
      [3, 'is a record of the unknown type judge with token counts, and is not counted'],
      [4, 'has audio next to its counts, which is left out'],
    ])
  })

  test('is read where its variables say, and by the file that a hook names', () => {
    const elsewhere = { ...home.environment, piAgentDir: join(home.folder, 'a'), piSessionDir: join(home.folder, 'b') }
    home.writeLines('a/sessions/--w--/x_s.jsonl', [session('s'), answer(1)])
    home.writeLines('b/x_t.jsonl', [session('t'), answer(1)])
    const { uses } = scanSession('pi', { sessionId: 't' }, elsewhere)
    expect(uses.map(({ file }) => basename(file))).toEqual(['x_t.jsonl'])
    expect(scanSession('pi', { sessionId: 's' }, elsewhere).uses).toHaveLength(1)
  })

  test('has the title that it was given, otherwise the first prompt', () => {
    const prompt = entry('message', { message: { role: 'user', content: [{ type: 'text', text: 'Fix it' }] } })
    write('s', session('s'), prompt, answer(1), entry('session_info', { name: 'Fixes' }))
    write('t', session('t'), prompt, answer(1))
    expect(home.scan({ withTitles: true }).uses.map(({ title }) => title)).toEqual(['Fixes', 'Fix it'])
  })
})

describe('Oh My Pi', () => {
  const root = (id: string) => `.omp/agent/sessions/-w/2026-11-20T10-00-00-000Z_${id}`

  test('has sub-agents, advisors and side requests in the session that started them', () => {
    const side = { purpose: 'auto-thinking', provider: 'openai', model: 'gpt-5.4-mini', api: 'openai-responses' }
    home.writeLines(`${root('s')}.jsonl`, [
      { type: 'title', v: 1, title: 'Fixes', pad: '   ' },
      ...[session('s'), entry('model_change', { model: 'anthropic/claude-sonnet-4-5' }), answer(100)],
      entry('model_usage', { ...side, usage: usageOf(20) }),
    ])
    home.writeLines(`${root('s')}/scout.jsonl`, [session('x'), answer(7)])
    home.writeLines(`${root('s')}/scout/__advisor.jsonl`, [session('y'), answer(3)])
    expect(inputs()).toEqual([
      ['s', 'claude-sonnet-4-5', 110],
      ['s', 'gpt-5.4-mini', 20],
    ])
    expect(scanSession('pi', { sessionId: 's' }, home.environment).uses).toHaveLength(2)
    expect(home.scan({ withTitles: true }).uses.map(({ title }) => title)).toEqual(['Fixes', 'Fixes'])
  })

  test('counts once what a fork copied with the files of sub-agents', () => {
    const first = [answer(100)]
    const sub = [session('x'), answer(7)]
    home.writeLines(`${root('s')}.jsonl`, [session('s', { timestamp: '2026-11-20T09:00:00Z' }), ...first])
    home.writeLines(`${root('s')}/scout.jsonl`, sub)
    home.writeLines(`${root('t')}.jsonl`, [session('t', { parentSession: 's' }), ...first, answer(20)])
    home.writeLines(`${root('t')}/scout.jsonl`, sub)
    expect(inputs()).toEqual([
      ['s', 'claude-sonnet-4-5', 107],
      ['t', 'claude-sonnet-4-5', 20],
    ])
  })

  test('does not count what it imported from another agent, also in a fork', () => {
    const foreign = answer(100, { responseId: 'msg_1' })
    const note = entry('custom', { customType: 'foreign_session_import', data: { source: 'claude' } })
    home.writeLines(`${root('s')}.jsonl`, [session('s'), foreign, note, answer(20)])
    home.writeLines(`${root('t')}.jsonl`, [session('t'), foreign, answer(3)])
    expect(inputs()).toEqual([
      ['s', 'claude-sonnet-4-5', 20],
      ['t', 'claude-sonnet-4-5', 3],
    ])
  })

  test('does not count it either when a fork is all that is left', () => {
    const foreign = answer(100, { responseId: 'msg_1' })
    const note = entry('custom', { customType: 'foreign_session_import', data: { source: 'claude' } })
    home.writeLines(`${root('s')}.jsonl`, [session('s'), foreign, note])
    expect(inputs()).toEqual([])
    home.writeLines(`${root('s')}.jsonl`, [])
    home.writeLines(`${root('t')}.jsonl`, [session('t'), foreign, answer(3)])
    expect(inputs()).toEqual([['t', 'claude-sonnet-4-5', 3]])
  })

  test('has orchestration, writes of one hour, searches and the tier that was chosen', () => {
    const usage = {
      ...{ cacheWrite: 50, cttl: { ephemeral5m: 20, ephemeral1h: 30 }, server: { webSearch: 2, webFetch: 1 } },
      orchestration: { input: 1, output: 2, cacheRead: 3 },
    }
    const tiers = (serviceTier: unknown) => entry('service_tier_change', { serviceTier })
    const openai = { provider: 'openai', model: 'gpt-5.4', api: 'openai-responses' }
    home.writeLines(`${root('s')}.jsonl`, [
      ...[session('s'), answer(100, { usage }), tiers({ openai: 'priority' }), answer(10, openai), answer(1)],
      ...[tiers('flex'), answer(20, openai), tiers(null), answer(30, openai)],
    ])
    expect(home.uses('pi').map(({ model, service, tools, tokens }) => [model, service, tools, tokens.input])).toEqual([
      ['claude-sonnet-4-5', {}, { web_search: 2 }, 102],
      ['gpt-5.4', { service_tier: 'priority' }, {}, 10],
      ['gpt-5.4', { service_tier: 'flex' }, {}, 20],
      ['gpt-5.4', {}, {}, 30],
    ])
    const tokens = { input: 102, output: 12, cache_read: 9, cache_write: 20, cache_write_1h: 30 }
    expect(home.uses('pi')[0]!.tokens).toEqual(tokens)
  })

  test('is read in profiles, and in files elsewhere that it notes', () => {
    home.writeLines('.omp/profiles/work/agent/sessions/-w/x_s.jsonl', [session('s'), answer(1)])
    const elsewhere = home.writeLines('elsewhere/t.jsonl', [session('t'), answer(1)])
    home.write('.omp/agent/custom-session-files/0123', elsewhere)
    expect(inputs().map(([id]) => id)).toEqual(['s', 't'])
  })
})
