import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import { reportOf } from '../../src/agents/report.ts'
import { scanSession } from '../../src/agents/scan.ts'
import { readAgentsEnvironment } from '../../src/config.ts'
import { AgentHome } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const THREADS = ['11111111-0000-4000-8000-000000000000', '22222222-0000-4000-8000-000000000000'] as const
const [ONE, TWO] = THREADS

const rollout = (thread: string, folder = 'sessions/2025/11/20') =>
  `.codex/${folder}/rollout-2025-11-20T10-00-00-${thread}.jsonl`

type Vector = [input: number, cached: number, output: number]

const usage = ([input_tokens, cached_input_tokens, output_tokens]: Vector) => ({
  ...{ input_tokens, cached_input_tokens, output_tokens, reasoning_output_tokens: 0 },
  total_tokens: input_tokens + output_tokens,
})

let clock: number
beforeEach(() => {
  clock = Date.parse('2025-11-20T10:00:00Z')
})

/** A line of a rollout, a minute after the one before. */
const line = (type: string, payload: object, afterMs = 60_000) => {
  clock += afterMs
  return { timestamp: new Date(clock).toISOString(), type, payload }
}
const meta = (id: string, more: object = {}) => line('session_meta', { id, cwd: '/nowhere', ...more })
const turn = (model: string) => line('turn_context', { model })
const total = (sum: Vector, last?: Vector, afterMs?: number) =>
  line(
    'event_msg',
    {
      type: 'token_count',
      info: { total_token_usage: usage(sum), ...(last ? { last_token_usage: usage(last) } : {}) },
    },
    afterMs,
  )

const codexFigures = () =>
  home
    .uses('codex')
    .map(({ sessionId, model, requests, tokens: { input, cache_read, output } }) => [
      ...[sessionId, model, requests],
      [input, cache_read, output],
    ])

/** Synthetic: no capture has a plan, because all were made with an API key. */
describe('the plan of a Codex account', () => {
  const limits = (plan_type: string | null, info: object | null = null) =>
    line('event_msg', {
      type: 'token_count',
      info,
      rate_limits: {
        ...{ limit_id: 'codex', limit_name: null, plan_type, rate_limit_reached_type: null },
        primary: { used_percent: 12.5, window_minutes: 300, resets_at: 1_764_000_000 },
        secondary: { used_percent: 40, window_minutes: 10_080, resets_at: 1_764_400_000 },
        credits: { has_credits: false, unlimited: false, balance: null },
      },
    })
  const plans = () => home.uses('codex').map(({ sessionId, plan }) => [sessionId, plan])

  test('is the one that was named last, also without counts', () => {
    home.writeLines(rollout(ONE), [
      meta(ONE),
      turn('gpt-5'),
      limits('plus'),
      total([10, 0, 1]),
      limits('pro'),
      limits(null),
    ])
    home.writeLines(rollout(TWO), [meta(TWO), turn('gpt-5'), limits(null), total([20, 0, 1])])
    expect(plans()).toEqual([
      [ONE, 'codex:pro'],
      [TWO, null],
    ])
    // From the cache.
    expect(plans()[0]).toEqual([ONE, 'codex:pro'])
  })
})

describe('Codex with running totals only', () => {
  test('is counted by what they grow, however often one is repeated', () => {
    home.writeLines(rollout(ONE), [
      meta(ONE),
      turn('gpt-5-codex'),
      total([100, 60, 10], [100, 60, 10]),
      total([100, 60, 10], [100, 60, 10]),
      line('event_msg', { type: 'token_count', info: null, rate_limits: {} }),
      total([250, 160, 30], [150, 100, 20]),
      total([250, 160, 30], [150, 100, 20]),
    ])
    expect(codexFigures()).toEqual([[ONE, 'gpt-5-codex', 2, [90, 160, 30]]])
  })

  test('is counted for the model that was chosen at that moment', () => {
    home.writeLines(rollout(ONE), [
      meta(ONE),
      total([10, 0, 1]),
      turn('gpt-5-codex'),
      total([110, 60, 11]),
      turn('gpt-5.4'),
      total([310, 160, 31]),
    ])
    expect(codexFigures()).toEqual([
      [ONE, 'unknown', 1, [10, 0, 1]],
      [ONE, 'gpt-5-codex', 1, [40, 60, 10]],
      [ONE, 'gpt-5.4', 1, [100, 100, 20]],
    ])
  })

  test('continues to be counted when the totals restart', () => {
    home.writeLines(rollout(ONE), [
      meta(ONE),
      turn('gpt-5-codex'),
      total([100, 60, 10], [100, 60, 10]),
      total([30, 0, 5], [30, 0, 5]),
      total([100, 60, 10], [70, 60, 5]),
    ])
    expect(codexFigures()).toEqual([[ONE, 'gpt-5-codex', 3, [80, 120, 20]]])
  })

  test('has the other counts if one is invalid, and its total does not seem to start again', () => {
    const invalid = { ...usage([250, 160, 30]), cached_input_tokens: -1 }
    home.writeLines(rollout(ONE), [
      meta(ONE),
      turn('gpt-5-codex'),
      total([100, 60, 10]),
      line('event_msg', {
        type: 'token_count',
        info: { total_token_usage: invalid, last_token_usage: usage([150, 100, 20]) },
      }),
      total([300, 200, 35]),
    ])
    const { uses, damage } = home.scan()
    expect(
      uses.map(({ requests, tokens: { input, cache_read, output } }) => [requests, input, cache_read, output]),
    ).toEqual([[3, 100, 200, 35]])
    expect(damage.map(({ line, what }) => [line, what])).toEqual([
      [4, 'has an invalid count of cached_input_tokens, which is left out'],
    ])
  })

  test('has an input without the cache where it is smaller than the cache, or the total shows it', () => {
    const response = (sum: Vector, all: number) =>
      line('event_msg', { type: 'token_count', info: { total_token_usage: { ...usage(sum), total_tokens: all } } })
    home.writeLines(rollout(ONE), [
      meta(ONE),
      turn('gpt-5-codex'),
      response([100, 400, 5], 505),
      response([300, 500, 10], 810),
      response([400, 560, 15], 915),
    ])
    expect(codexFigures()).toEqual([[ONE, 'gpt-5-codex', 3, [100 + 200 + 40, 560, 15]]])
  })

  test('is counted once if the thread is also archived', () => {
    const lines = [meta(ONE), turn('gpt-5-codex'), total([100, 60, 10]), total([250, 160, 30])]
    home.writeLines(rollout(ONE), lines)
    home.writeLines(rollout(ONE, 'archived_sessions'), lines)
    expect(codexFigures()).toEqual([[ONE, 'gpt-5-codex', 2, [90, 160, 30]]])
  })

  const original = () => [
    meta(ONE),
    turn('gpt-5-codex'),
    total([100, 60, 10], [100, 60, 10]),
    total([250, 160, 30], [150, 100, 20]),
  ]
  /** Everything that is inherited is written at once, with new times. */
  const fork = () => [
    meta(TWO, { forked_from_id: ONE }),
    line('session_meta', { id: ONE }, 1),
    line('turn_context', { model: 'gpt-5-codex' }, 1),
    total([100, 60, 10], [100, 60, 10], 1),
    total([250, 160, 30], [150, 100, 20], 1),
    total([300, 200, 35], [50, 40, 5]),
  ]

  test('is not counted again in a fork, which begins with what the other thread used', () => {
    home.writeLines(rollout(ONE), original())
    home.writeLines(rollout(TWO), fork())
    expect(codexFigures()).toEqual([
      [ONE, 'gpt-5-codex', 2, [90, 160, 30]],
      [TWO, 'gpt-5-codex', 1, [10, 40, 5]],
    ])
  })

  /** With what is noted about them. */
  const judgedFigures = () => {
    const { uses, damage } = home.scan({ agents: ['codex'] })
    return [
      uses.map(({ sessionId, requests, tokens: { input } }) => [sessionId, requests, input]),
      damage.map(({ what, isNote }) => isNote && what.replace(/ judged.*/, '')),
    ]
  }

  test('is not counted in a fork even if the parent thread is gone, which is noted', () => {
    home.writeLines(rollout(TWO), fork())
    expect(judgedFigures()).toEqual([[[TWO, 1, 10]], ['2 requests at its start,']])
  })

  test('is not counted in a fork that wrote what it inherited over seconds, but after a person asked', () => {
    home.writeLines(rollout(TWO), [
      meta(TWO, { forked_from_id: ONE }),
      line('turn_context', { model: 'gpt-5-codex' }, 1),
      total([100, 60, 10], [100, 60, 10], 300),
      total([250, 160, 30], [150, 100, 20], 1_100),
      total([290, 190, 40], [40, 30, 10], 1_900),
      total([300, 195, 45], [10, 5, 5], 2_100),
    ])
    expect(judgedFigures()).toEqual([[[TWO, 1, 5]], ['3 requests at its start,']])
  })

  const spawned = (id: string, ...lines: object[]) =>
    home.writeLines(rollout(id), [
      meta(id, { session_id: ONE, source: { subagent: { thread_spawn: { parent_thread_id: ONE } } } }),
      line('turn_context', { model: 'gpt-5-codex' }, 1),
      ...lines,
    ])

  test('is counted if a sub-agent answers at once, although its parent is gone', () => {
    spawned(TWO, total([900, 0, 40], [900, 0, 40], 800), total([2_300, 900, 95], [1_400, 900, 55]))
    expect(judgedFigures()).toEqual([[[TWO, 2, 1_400]], []])
  })

  test('is not counted in sub-agents that begin with the same, whatever time that took', () => {
    const three = '33333333-0000-4000-8000-000000000000'
    const inherited = () => [total([100, 60, 10], [100, 60, 10], 1_500), total([250, 160, 30], [150, 100, 20], 1_500)]
    spawned(TWO, ...inherited(), total([300, 200, 35], [50, 40, 5]))
    spawned(three, ...inherited(), total([320, 210, 35], [70, 50, 5]))
    expect(judgedFigures()).toEqual([
      [
        [TWO, 1, 10],
        [three, 1, 20],
      ],
      [],
    ])
  })

  test('is not counted in a fork of a fork whose parent is gone, as far as a thread further up has it', () => {
    home.writeLines(rollout(ONE), original())
    home.writeLines(rollout(TWO), [
      meta(TWO, { session_id: ONE, forked_from_id: '33333333-0000-4000-8000-000000000000' }),
      turn('gpt-5-codex'),
      total([100, 60, 10], [100, 60, 10], 3_000),
      total([250, 160, 30], [150, 100, 20], 3_000),
      total([300, 200, 35], [50, 40, 5]),
    ])
    expect(judgedFigures()).toEqual([
      [
        [ONE, 2, 90],
        [TWO, 1, 10],
      ],
      [],
    ])
  })

  test("is counted from a fork's own calls if it does not repeat inherited ones", () => {
    home.writeLines(rollout(TWO), [
      meta(TWO, { source: { subagent: { thread_spawn: { parent_thread_id: ONE } } } }),
      turn('gpt-5-codex'),
      total([300, 200, 35], [50, 40, 5]),
      total([360, 240, 41], [60, 40, 6]),
    ])
    expect(codexFigures()).toEqual([[TWO, 'gpt-5-codex', 2, [30, 80, 11]]])
  })

  test('is counted in each of two threads that happen to use as much', () => {
    home.writeLines(rollout(ONE), original())
    home.writeLines(rollout(TWO), [meta(TWO), turn('gpt-5-codex'), total([100, 60, 10], [100, 60, 10])])
    expect(codexFigures()).toEqual([
      [ONE, 'gpt-5-codex', 2, [90, 160, 30]],
      [TWO, 'gpt-5-codex', 1, [40, 60, 10]],
    ])
  })
})

describe('Codex with a record per response', () => {
  const record = (id: string, thread: string, used: Vector) =>
    line('token_usage_record', { response_id: id, thread_id: thread, usage: usage(used) })

  test('is counted once per response, in the thread that had it', () => {
    home.writeLines(rollout(ONE), [
      meta(ONE),
      turn('gpt-5-codex'),
      record('a', ONE, [100, 60, 10]),
      total([100, 60, 10]),
    ])
    home.writeLines(rollout(TWO), [
      meta(TWO, { forked_from_id: ONE }),
      turn('gpt-5-codex'),
      record('a', ONE, [100, 60, 10]),
      total([100, 60, 10]),
      record('b', TWO, [50, 40, 5]),
      total([150, 100, 15]),
    ])
    expect(codexFigures()).toEqual([
      [ONE, 'gpt-5-codex', 1, [40, 60, 10]],
      [TWO, 'gpt-5-codex', 1, [10, 40, 5]],
    ])
  })

  test('has the service tier that it was asked with, also in a copy without it', () => {
    const settings = (service_tier?: string) =>
      line('event_msg', { type: 'thread_settings_applied', thread_settings: { service_tier } })
    home.writeLines(rollout(ONE), [
      ...[meta(ONE), turn('gpt-5.4'), settings('priority'), record('a', ONE, [100, 60, 10])],
      ...[settings(), record('b', ONE, [50, 40, 5]), settings('default'), record('c', ONE, [50, 40, 5])],
    ])
    home.writeLines(rollout(TWO), [
      ...[meta(TWO, { forked_from_id: ONE }), turn('gpt-5.4'), record('a', ONE, [100, 60, 10])],
      ...[settings('flex'), record('d', TWO, [50, 40, 5])],
    ])
    expect(home.uses('codex').map(({ sessionId, service, requests }) => [sessionId, service, requests])).toEqual([
      [ONE, { service_tier: 'priority' }, 1],
      [ONE, {}, 2],
      [TWO, { service_tier: 'flex' }, 1],
    ])
  })

  test('has the web searches of its thread, but not those that a fork copied, nor pages that were opened', () => {
    const search = (type = 'search') => line('response_item', { type: 'web_search_call', action: { type } })
    const original = [meta(ONE), turn('gpt-5.4'), search(), search('open_page'), record('a', ONE, [100, 60, 10])]
    home.writeLines(rollout(ONE), original)
    home.writeLines(rollout(TWO), [
      ...[meta(TWO, { forked_from_id: ONE }), ...original.slice(1)],
      ...[search(), search(), record('b', TWO, [50, 40, 5])],
    ])
    expect(home.uses('codex').map(({ sessionId, tools }) => [sessionId, tools])).toEqual([
      [ONE, { web_search: 1 }],
      [TWO, { web_search: 2 }],
    ])
  })

  test('counts what an older version did before in the same thread', () => {
    home.writeLines(rollout(ONE), [
      meta(ONE),
      turn('gpt-5-codex'),
      total([100, 60, 10]),
      record('a', ONE, [50, 40, 5]),
      total([150, 100, 15]),
    ])
    expect(codexFigures()).toEqual([[ONE, 'gpt-5-codex', 2, [50, 100, 15]]])
  })

  test('counts what an older version did later in the same thread, and its fork', () => {
    const lines = [
      ...[meta(ONE), turn('gpt-5-codex'), record('a', ONE, [100, 60, 10]), total([100, 60, 10], [100, 60, 10])],
      ...[turn('gpt-5-codex'), total([100, 60, 10], [100, 60, 10]), total([150, 100, 15], [50, 40, 5])],
      ...[turn('gpt-5-codex'), record('b', ONE, [20, 0, 1]), total([170, 100, 16], [20, 0, 1])],
    ]
    home.writeLines(rollout(ONE), lines)
    home.writeLines(rollout(TWO), [
      meta(TWO, { forked_from_id: ONE }),
      ...lines.slice(1),
      turn('gpt-5-codex'),
      total([200, 110, 20], [30, 10, 4]),
    ])
    expect(codexFigures()).toEqual([
      [ONE, 'gpt-5-codex', 3, [70, 100, 16]],
      [TWO, 'gpt-5-codex', 1, [20, 10, 4]],
    ])
  })

  test('without a response id is the same in an archived copy and in a fork, and not the same twice', () => {
    const nameless = (thread: string, turn_id: string) =>
      line('token_usage_record', { response_id: null, thread_id: thread, turn_id, usage: usage([100, 60, 10]) })
    const lines = [meta(ONE), turn('gpt-5-codex'), nameless(ONE, 't'), nameless(ONE, 't'), nameless(ONE, 'u')]
    home.writeLines(rollout(ONE), lines)
    home.writeLines(rollout(ONE, 'archived_sessions'), lines)
    home.writeLines(rollout(TWO), [meta(TWO, { forked_from_id: ONE }), ...lines.slice(1), nameless(TWO, 't')])
    expect(codexFigures()).toEqual([
      [ONE, 'gpt-5-codex', 3, [120, 180, 30]],
      [TWO, 'gpt-5-codex', 1, [40, 60, 10]],
    ])
  })

  test('has the threads of sub-agents with the session that a hook names', () => {
    home.writeLines(rollout(ONE), [meta(ONE), turn('gpt-5-codex'), record('a', ONE, [100, 60, 10])])
    home.writeLines(rollout(TWO), [
      meta(TWO, { session_id: ONE, parent_thread_id: ONE }),
      turn('gpt-5-codex'),
      record('b', TWO, [50, 40, 5]),
    ])
    const { uses } = scanSession('codex', { sessionId: ONE }, home.environment)
    expect(uses.map(({ sessionId }) => sessionId)).toEqual([ONE, TWO])
  })
})

describe('A compressed thread of Codex', () => {
  const record = (id: string, input: number) =>
    line('token_usage_record', { response_id: id, thread_id: ONE, usage: usage([input, 0, 1]) })
  const lines = () => [meta(ONE), turn('gpt-5-codex'), record('a', 100), record('b', 50)]
  const compressed = (records: object[]) =>
    zstdCompressSync(records.map((each) => `${JSON.stringify(each)}\n`).join(''))

  test('is counted, and once if it is beside the file that was continued', () => {
    home.write(`${rollout(ONE)}.zst`, compressed(lines()))
    expect(codexFigures()).toEqual([[ONE, 'gpt-5-codex', 2, [150, 0, 2]]])
    home.writeLines(rollout(ONE), [...lines(), record('c', 7)])
    expect(codexFigures()).toEqual([[ONE, 'gpt-5-codex', 3, [157, 0, 3]]])
  })

  test('of more than one block is read as a whole', () => {
    const filler = Array.from({ length: 60 }, () => line('response_item', { text: 'x'.repeat(100_000) }))
    home.write(`${rollout(ONE)}.zst`, compressed([...lines(), ...filler, record('c', 7)]))
    expect(codexFigures()).toEqual([[ONE, 'gpt-5-codex', 3, [157, 0, 3]]])
  })

  test('is the parent of its forks', () => {
    const totals = [meta(ONE), turn('gpt-5-codex'), total([100, 60, 10], [100, 60, 10])]
    home.write(`${rollout(ONE)}.zst`, compressed(totals))
    home.writeLines(rollout(TWO), [meta(TWO, { forked_from_id: ONE }), ...totals.slice(1), total([150, 90, 15])])
    expect(codexFigures()).toEqual([
      [ONE, 'gpt-5-codex', 1, [40, 60, 10]],
      [TWO, 'gpt-5-codex', 1, [20, 30, 5]],
    ])
  })

  test('is found beside the one that a hook names, outside the usual folders', () => {
    home.write('elsewhere/rollout-1.jsonl.zst', compressed(lines()))
    const path = home.writeLines('elsewhere/rollout-2.jsonl', [meta(ONE), turn('gpt-5-codex'), record('c', 7)])
    const { uses } = scanSession('codex', { sessionId: ONE, transcriptPath: path }, home.environment)
    expect(uses.map(({ requests, tokens }) => [requests, tokens.input])).toEqual([[3, 157]])
  })

  test.each([
    ['is something else', () => 'broken'],
    ['is empty', () => ''],
    ['lacks its end', (whole: Buffer) => whole.subarray(0, -1)],
    ['lacks all but its beginning', (whole: Buffer) => whole.subarray(0, 20)],
  ])('is named if it %s', (_, damaged) => {
    const file = home.write(`${rollout(ONE)}.zst`, damaged(compressed(lines())))
    expect(home.scan()).toMatchObject({
      uses: [],
      damage: [{ file, line: null, what: 'cannot be read: it is not a complete Zstandard file' }],
    })
  })
})

describe('Gemini CLI', () => {
  const message = (id: string, output: number, more: object = {}) => ({
    ...{ id, timestamp: '2026-11-20T10:00:00Z', type: 'gemini', model: 'gemini-2.5-pro' },
    tokens: { input: 100, output, cached: 40, thoughts: 5, tool: 3, total: 108 + output },
    ...more,
  })
  const geminiFigures = () =>
    home
      .uses('gemini-cli')
      .map(({ sessionId, requests, tokens: { input, cache_read, output } }) => [
        sessionId,
        requests,
        input,
        cache_read,
        output,
      ])

  test('is read from the one document of older versions', () => {
    const messages = [{ type: 'user', content: 'hello' }, message('a', 10), message('b', 20)]
    home.write('.gemini/tmp/web/chats/session-1.json', JSON.stringify({ sessionId: 's', messages }, null, 2))
    expect(geminiFigures()).toEqual([['s', 2, 126, 80, 40]])
  })

  test('is counted once if both kinds of files contain the session, and a change repeats its messages', () => {
    home.write('.gemini/tmp/web/chats/session-1.json', JSON.stringify({ sessionId: 's', messages: [message('a', 10)] }))
    home.writeLines('.gemini/tmp/web/chats/session-1.jsonl', [
      { sessionId: 's', startTime: '2026-11-20T09:59:00Z' },
      message('a', 10),
      { $set: { messages: [message('a', 10), message('b', 20)] } },
      message('b', 30),
    ])
    expect(geminiFigures()).toEqual([['s', 2, 126, 80, 50]])
  })

  test('has an input without the cache where it is smaller than the cache, or the total shows it', () => {
    const tokens = { thoughts: 7, tool: 3, output: 5 }
    home.writeLines('.gemini/tmp/web/chats/session-1.jsonl', [
      { sessionId: 's' },
      message('a', 0, { tokens: { ...tokens, input: 100, cached: 400 } }),
      message('b', 0, { tokens: { ...tokens, input: 500, cached: 400, total: 915 } }),
      message('c', 0, { tokens: { ...tokens, input: 500, cached: 400, total: 515 } }),
    ])
    expect(geminiFigures()).toEqual([['s', 3, 103 + 503 + 103, 1_200, 36]])
  })

  test('has the calls of its sub-agents in the session that started them, also when a hook names it', () => {
    const tokens = { input: 10, output: 5, cached: 0, thoughts: 0, tool: 0 }
    const chat = (sessionId: string, kind: string, id: string) => [
      { sessionId, startTime: '2026-11-20T10:00:00Z', kind },
      { id: 'u', timestamp: '2026-11-20T10:00:01Z', type: 'user', content: [{ text: `Ask ${kind}` }] },
      { id, timestamp: '2026-11-20T10:00:02Z', type: 'gemini', tokens, model: 'gemini-2.5-pro' },
    ]
    home.writeLines('.gemini/tmp/web/chats/session-1.jsonl', chat('main', 'main', 'm1'))
    home.writeLines('.gemini/tmp/web/chats/main/sub.jsonl', chat('sub', 'subagent', 'm2'))
    const { uses } = scanSession('gemini-cli', { sessionId: 'main' }, home.environment)
    expect(uses.map(({ sessionId, requests, tokens: { input } }) => [sessionId, requests, input])).toEqual([
      ['main', 2, 20],
    ])
    expect(home.scan({ withTitles: true }).uses.map(({ title }) => title)).toEqual(['Ask main'])
  })

  test('has other JSON beside its chats, which is none of them', () => {
    home.write('.gemini/tmp/web/logs.json', '[{"type":"gemini"}]')
    home.write('.gemini/tmp/web/checkpoint-1.json', 'broken')
    expect(home.scan({ agents: ['gemini-cli'] })).toMatchObject({ files: 0, damage: [] })
  })

  test('names a document that is broken', () => {
    const file = home.write('.gemini/tmp/web/chats/session-1.json', '{"sessionId":"s","messages":[{')
    expect(home.scan().damage).toMatchObject([{ file, line: null, what: 'is not a JSON object and was skipped' }])
  })
})

describe('Qwen Code', () => {
  test('of a version without events is counted by its answers', () => {
    const answer = (uuid: string) => ({
      ...{ uuid, sessionId: 's', timestamp: '2026-11-20T10:00:00Z', type: 'assistant', model: 'qwen3-coder-plus' },
      usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, cachedContentTokenCount: 30 },
    })
    home.writeLines('.qwen/projects/p/chats/s.jsonl', [answer('a'), answer('b'), answer('b')])
    const [use] = home.uses('qwen-code')
    expect(use).toMatchObject({ sessionId: 's', requests: 2, tokens: { input: 140, output: 40, cache_read: 60 } })
  })

  test('is counted once if versions with and without events took turns in a session', () => {
    const at = (minutes: number) => new Date(Date.parse('2026-11-20T10:00:00Z') + minutes * 60_000).toISOString()
    const answer = (minutes: number, promptTokenCount: number, version?: string) => ({
      ...{ uuid: `u${minutes}`, sessionId: 's', type: 'assistant', model: 'm', timestamp: at(minutes), version },
      usageMetadata: { promptTokenCount, candidatesTokenCount: 1 },
    })
    const event = (minutes: number, input_token_count: number, version?: string) => ({
      ...{ sessionId: 's', type: 'system', subtype: 'ui_telemetry', timestamp: at(minutes), version },
      systemPayload: {
        uiEvent: {
          ...{ 'event.name': 'qwen-code.api_response', model: 'm', response_id: `r${minutes}` },
          ...{ input_token_count, output_token_count: 1, cached_content_token_count: 0 },
        },
      },
    })
    const inputs = (...lines: object[]) => {
      home.writeLines('.qwen/projects/p/chats/s.jsonl', lines)
      return home.uses('qwen-code').map(({ requests, tokens }) => [requests, tokens.input])
    }
    expect(inputs(answer(0, 10), answer(5, 200), event(5, 200))).toEqual([[2, 210]])
    expect(inputs(answer(0, 200), answer(5, 200), event(5, 200))).toEqual([[2, 400]])
    expect(inputs(event(5, 200), answer(5.001, 190), event(6, 50), answer(6, 50))).toEqual([[2, 250]])
    const [old, recent] = ['0.9.0', '0.24.4']
    expect(inputs(event(5, 200, recent), answer(5.001, 190, recent), answer(9, 30, old))).toEqual([[2, 230]])
  })

  test('has an input without the cache where it is smaller than the cache', () => {
    const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 5, cachedContentTokenCount: 400 }
    const answer = { sessionId: 's', timestamp: '2026-11-20T10:00:00Z', type: 'assistant', model: 'm', usageMetadata }
    home.writeLines('.qwen/projects/p/chats/s.jsonl', [answer])
    const usage = { requests: 1, inputTokens: 10, outputTokens: 7, cachedTokens: 50 }
    home.writeLines('.qwen/usage_record.jsonl', [
      { sessionId: 't', startTime: 1_795_197_386_196, models: { m: usage } },
    ])
    expect(home.uses('qwen-code').map(({ tokens: { input, cache_read } }) => [input, cache_read])).toEqual([
      [100, 400],
      [10, 50],
    ])
  })

  test('has the totals of a continued session in the last line of its ledger', () => {
    const ledger = (inputTokens: number, requests: number) => ({
      ...{ sessionId: 's', startTime: 1_795_197_386_196, project: '/home/dev/web' },
      models: { 'qwen3-coder-plus': { requests, inputTokens, outputTokens: 7, cachedTokens: 0 } },
    })
    home.writeLines('.qwen/usage_record.jsonl', [ledger(10, 1), ledger(25, 3)])
    expect(home.uses('qwen-code')[0]).toMatchObject({ requests: 3, tokens: { input: 25 } })
  })

  test('has what the last line of its ledger adds at the time of that line', () => {
    const ledger = (timestamp: string, requests: number, inputTokens: number) => ({
      ...{ sessionId: 's', startTime: '2026-11-20T10:00:00Z', timestamp },
      models: { m: { requests, inputTokens, outputTokens: requests, cachedTokens: 0 } },
    })
    const [first, second] = ['2026-11-20T11:00:00Z', '2026-11-21T12:00:00Z']
    home.writeLines('.qwen/usage_record.jsonl', [
      ...[ledger(first, 2, 10), ledger(first, 2, 10), ledger(second, 3, 25), ledger(second, 4, 40)],
    ])
    const [use] = home.uses('qwen-code')
    expect(
      use!.days.map(({ firstAt, requests, tokens }) => [new Date(firstAt).getUTCDate(), requests, tokens]),
    ).toEqual([
      [20, 2, { input: 10, output: 2, cache_read: 0, cache_write: 0, cache_write_1h: 0 }],
      [21, 2, { input: 30, output: 2, cache_read: 0, cache_write: 0, cache_write_1h: 0 }],
    ])
  })
})

describe('opencode', () => {
  const data = (change: object = {}) =>
    JSON.stringify({
      ...{ role: 'assistant', modelID: 'claude-sonnet-4-5', providerID: 'anthropic', cost: 0.25 },
      path: { cwd: '/nowhere' },
      tokens: { input: 10, output: 5, reasoning: 2, cache: { read: 3, write: 4 } },
      time: { created: 1_795_197_430_122, completed: 1_795_197_431_427 },
      ...change,
    })

  function write(
    messages: [id: string, session: string, data: string][],
    sessions: [id: string, parent: string | null][] = [],
  ) {
    const folder = join(home.folder, '.local/share/opencode')
    mkdirSync(folder, { recursive: true })
    const database = new Database(join(folder, 'opencode.db'))
    database.run('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)')
    database.run('CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT)')
    for (const [id, session, text] of messages) {
      database.query('INSERT INTO message VALUES (?, ?, 1, ?)').run(id, session, text)
    }
    for (const [id, parent] of sessions) {
      database.query('INSERT INTO session VALUES (?, ?, ?)').run(id, parent, `Title of ${id}`)
    }
    database.close()
  }

  test('is counted with the cost of each message if all of them have one', () => {
    const later = { time: { created: 1_795_197_440_000 } }
    write([
      ['m1', 's', data()],
      ['m2', 's', data({ ...later, cost: 0.1 })],
      ['m3', 's', data({ ...later, modelID: 'gpt-5', providerID: 'azure', cost: 0 })],
      ['m4', 's', data({ role: 'user' })],
    ])
    expect(
      home
        .uses('opencode')
        .map(({ model, provider, requests, reportedCost }) => [model, provider, requests, reportedCost]),
    ).toEqual([
      ['claude-sonnet-4-5', null, 2, '0.35'],
      ['gpt-5', 'azure', 1, null],
    ])
    expect(home.uses('opencode')[0]!.tokens).toMatchObject({ input: 20, output: 14, cache_read: 6, cache_write: 8 })
  })

  test('names the request for the title of a session, which it does not record', () => {
    const later = { time: { created: 1_795_197_440_000 } }
    const sessions: [string, string | null][] = [
      ['ses_1', null],
      ['ses_2', 'ses_1'],
      ['Anything (fork #1)', null],
    ]
    write(
      [
        ['m1', 'ses_1', data()],
        ['m2', 'ses_2', data(later)],
        ['m3', 'Anything (fork #1)', data({ time: { created: 1_795_197_450_000 } })],
      ],
      sessions,
    )
    const uses = home.uses('opencode')
    expect(uses.map(({ sessionId, missing }) => [sessionId, missing])).toEqual([
      ['ses_1', 'title request not included'],
      ['ses_2', null],
      ['Anything (fork #1)', null],
    ])
    expect(uses.map((use) => reportOf(use).summary)).toEqual([
      'opencode (title request not included)',
      ...['opencode', 'opencode'],
    ])
  })

  test('does not count what a fork copied, though it is called otherwise', () => {
    write([
      ['m1', 'ses_1', data()],
      ['m2', 'ses_2', data()],
      ['m3', 'ses_2', data({ time: { created: 1_795_197_440_000 } })],
    ])
    expect(home.uses('opencode').map(({ sessionId, requests }) => [sessionId, requests])).toEqual([
      ['ses_1', 1],
      ['ses_2', 1],
    ])
  })

  test('has the sub-agents of the session that a hook names, and titles on request', () => {
    const later = { time: { created: 1_795_197_440_000 } }
    write(
      [
        ['m1', 'ses_1', data()],
        ['m2', 'ses_2', data(later)],
        ['m3', 'ses_3', data({ time: { created: 1_795_197_450_000 } })],
      ],
      [
        ['ses_1', null],
        ['ses_2', 'ses_1'],
        ['ses_3', null],
      ],
    )
    const { uses } = scanSession('opencode', { sessionId: 'ses_1' }, home.environment)
    expect(uses.map(({ sessionId }) => sessionId)).toEqual(['ses_1', 'ses_2'])
    const { uses: titled } = home.scan({ withTitles: true })
    expect(titled.map(({ title }) => title)).toEqual(['Title of ses_1', 'Title of ses_2', 'Title of ses_3'])
  })

  test('is read from the files of older versions, and counted once if it is also in the database', () => {
    write([['m1', 's', data()]])
    home.write('.local/share/opencode/storage/message/s/m1.json', data({ id: 'm1', sessionID: 's' }))
    const other = data({ id: 'm2', sessionID: 't', time: { created: 1_795_197_440_000 } })
    home.write('.local/share/opencode/storage/message/t/m2.json', other)
    expect(home.uses('opencode').map(({ sessionId, requests }) => [sessionId, requests])).toEqual([
      ['s', 1],
      ['t', 1],
    ])
  })

  test('has the other counts of a message if one is invalid', () => {
    write([
      ['m1', 's', data({ tokens: { input: -6_452, output: 435, reasoning: 0, cache: { read: 12_000, write: 0 } } })],
    ])
    const { uses, damage } = home.scan()
    expect(uses.map(({ tokens }) => tokens)).toMatchObject([{ input: 0, output: 435, cache_read: 12_000 }])
    expect(damage.map(({ what }) => what)).toEqual(['a message has an invalid count of input, which is left out'])
  })

  test('names a message that is broken, and a database that is none', () => {
    write([['m1', 's', `${data().slice(0, 80)} "tokens"`]])
    const file = home.write('.local/share/opencode/opencode-dev.db', 'this is no database, though it is called one')
    const { damage, uses } = home.scan()
    expect(uses).toEqual([])
    expect(damage).toMatchObject([
      { file, line: null, what: expect.stringContaining('cannot be read: file is not a database') },
      { file: file.replace('-dev', ''), line: null, what: 'a message is not a JSON object and was skipped' },
    ])
  })

  describe('of version 2', () => {
    interface Message {
      id: string
      session?: string
      type?: string
      at?: number
      input?: number
    }

    interface Session {
      id: string
      parent?: string
      forkOf?: string
    }

    const START = 1_795_197_430_000
    const tokensOf = (input: number) => ({ input, output: 5, reasoning: 2, cache: { read: 3, write: 4 } })
    const timeOf = (at: number) => ({ created: START + at, completed: START + at + 9 })

    function writeSecond(messages: Message[], sessions: Session[] = [], path = '.local/share/opencode/opencode.db') {
      const place = join(home.folder, path)
      mkdirSync(dirname(place), { recursive: true })
      const database = new Database(place)
      database.run(
        'CREATE TABLE session_v2 (id TEXT PRIMARY KEY, parent_id TEXT, fork_session_id TEXT, directory TEXT, title TEXT, time_created INTEGER)',
      )
      database.run(
        'CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, time_created INTEGER, data TEXT)',
      )
      for (const { id, session = 's', type = 'assistant', at = 0, input = 10 } of messages) {
        const model = { id: 'claude-sonnet-4-5', providerID: 'anthropic' }
        const data = { model, cost: 0.25, tokens: tokensOf(input), time: timeOf(at) }
        database
          .query('INSERT INTO session_message VALUES (?, ?, ?, ?, ?)')
          .run(id, session, type, START + at, JSON.stringify(data))
      }
      for (const { id, parent = null, forkOf = null } of sessions) {
        database
          .query('INSERT INTO session_v2 VALUES (?, ?, ?, ?, ?, ?)')
          .run(id, parent, forkOf, '/nowhere', `Title of ${id}`, START)
      }
      return database
    }
    const opencodeFigures = () =>
      home.uses('opencode').map(({ sessionId, requests, tokens }) => [sessionId, requests, tokens.input])

    test('is counted, with its folders, titles, sub-agents and costs', () => {
      const messages = [{ id: 'm1' }, { id: 'm2', at: 10 }, { id: 'm3', session: 'child', at: 20 }]
      writeSecond(messages, [{ id: 's' }, { id: 'child', parent: 's' }]).close()
      const { uses } = scanSession('opencode', { sessionId: 's' }, home.environment)
      expect(uses).toMatchObject([
        {
          ...{ sessionId: 's', model: 'claude-sonnet-4-5', provider: null, requests: 2, reportedCost: '0.5' },
          ...{ folder: '/nowhere', missing: 'title request not included' },
          tokens: { input: 20, output: 14, cache_read: 6, cache_write: 8 },
        },
        { sessionId: 'child', requests: 1, missing: null },
      ])
      expect(home.scan({ withTitles: true }).uses[0]!.title).toBe('Title of s')
    })

    test('counts what an upgrade took over once, with the same id or another, and what it left', () => {
      const database = writeSecond([{ id: 'm1' }, { id: 'new', at: 10 }, { id: 'm3', at: 30, input: 7 }], [{ id: 's' }])
      database.run('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)')
      const old = (id: string, at: number) =>
        database
          .query('INSERT INTO message VALUES (?, ?, ?, ?)')
          .run(id, 's', START + at, data({ tokens: tokensOf(10), time: timeOf(at) }))
      old('m1', 1)
      old('old', 10)
      old('m2', 20)
      database.close()
      expect(opencodeFigures()).toEqual([['s', 4, 37]])
    })

    test('with empty tables leaves those of version 1', () => {
      const database = writeSecond([])
      database.run('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)')
      database.query('INSERT INTO message VALUES (?, ?, 1, ?)').run('m1', 's', data())
      database.close()
      expect(opencodeFigures()).toEqual([['s', 1, 10]])
    })

    test('counts what a fork copied for the original, which may be gone', () => {
      const messages = [
        { id: 'm1', session: 'fork', at: -50 },
        { id: 'm2', session: 'fork', at: 10 },
      ]
      writeSecond(messages, [{ id: 'fork', forkOf: 'gone' }]).close()
      expect(opencodeFigures()).toEqual([
        ['gone', 1, 10],
        ['fork', 1, 10],
      ])
    })

    test('names what it does not know: a type of message, and a database without messages', () => {
      writeSecond([{ id: 'm1' }, { id: 'm2', type: 'shell' }, { id: 'm3', type: 'shell', at: 5 }]).close()
      new Database(join(home.folder, '.local/share/opencode/opencode-next.db')).run('CREATE TABLE turn (id TEXT)')
      const { damage, readings } = home.scan({ agents: ['opencode'] })
      expect(readings).toMatchObject([
        {
          ...{ agent: 'opencode', sessions: 1 },
          notRead: [
            { reason: 'unknown_file', name: null, count: 1 },
            { reason: 'unknown_record', name: 'shell', count: 1 },
          ],
        },
      ])
      expect(damage.map(({ what }) => what)).toEqual([
        'has no table of messages that this version of Tally knows',
        'is a record of the unknown type shell with token counts, and is not counted (2 lines)',
      ])
    })

    test('names the sessions of a later version in the same database, but not those that are also in known tables', () => {
      const database = writeSecond([{ id: 'm1' }], [{ id: 's' }])
      database.run('CREATE TABLE session_v3 (id TEXT, title TEXT, version TEXT)')
      for (const id of ['s', 't', 'u']) database.run(`INSERT INTO session_v3 VALUES ('${id}', '', '3.0.1')`)
      // Another table about sessions.
      database.run('CREATE TABLE session_share (id TEXT, url TEXT)')
      database.run(`INSERT INTO session_share VALUES ('x', '')`)
      database.close()
      const { uses, readings } = home.scan({ agents: ['opencode'] })
      expect(uses).toHaveLength(1)
      expect(readings).toMatchObject([
        { version: '3.0.1', notRead: [{ reason: 'unknown_session', name: 'session_v3', count: 2 }] },
      ])
    })

    test('is read from the database that OPENCODE_DB names, beside the usual one', () => {
      writeSecond([{ id: 'm1' }]).close()
      writeSecond([{ id: 'm1', session: 't', at: 5 }], [], 'x/team.sqlite').close()
      writeSecond([{ id: 'm1', session: 'u', at: 6 }], [], '.local/share/opencode/own/u.db').close()
      const sessionsIn = (OPENCODE_DB: string) => {
        Object.assign(home.environment, readAgentsEnvironment({ HOME: home.folder, OPENCODE_DB }))
        return opencodeFigures().map(([session]) => session)
      }
      expect(sessionsIn(join(home.folder, 'x/team.sqlite'))).toEqual(['s', 't'])
      expect(sessionsIn('own/u.db')).toEqual(['s', 'u'])
      expect(sessionsIn('opencode.db')).toEqual(['s'])
      expect(sessionsIn(':memory:')).toEqual(['s'])
    })
  })
})
