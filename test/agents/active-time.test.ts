/** How long agents worked, as their session files show it. */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { AgentName } from '../../src/agents/agent.ts'
import { AgentHome, withCells } from '../support/agent-home.ts'
import { runs } from '../support/tier.ts'

const START = Date.parse('2026-11-20T12:00:00Z')
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const iso = (ms: number) => new Date(START + ms).toISOString()

/** Lines as Claude Code writes them, at a time in milliseconds. */
const prompt = (at: number, more: object = {}) => user(at, 'Please fix it.', more)
const user = (at: number, content: unknown, more: object = {}) => ({
  ...{ type: 'user', message: { role: 'user', content }, timestamp: iso(at), sessionId: 's', ...more },
})
const result = (at: number) => user(at, [{ type: 'tool_result', content: 'ok' }], { toolUseResult: { stdout: 'ok' } })
const call = (id: string, at: number, more: object = {}) => ({
  message: { id, model: 'claude-sonnet-4-5', usage: { input_tokens: 1, output_tokens: 1 } },
  ...{ type: 'assistant', requestId: `r-${id}`, sessionId: 's', timestamp: iso(at), ...more },
})

const MAIN = '.claude/projects/p/s.jsonl'
const SUBAGENT = (name: string) => `.claude/projects/p/s/subagents/agent-${name}.jsonl`

/** The active time of each cell. */
function cellsOf(agent: AgentName) {
  const uses = home.uses(agent)
  // The same from the cache.
  expect(withCells(home.uses(agent))).toEqual(withCells(uses))
  return uses.flatMap((use) => use.cells().map(({ firstAt, activeMs }) => [firstAt - START, activeMs] as const))
}

function activeMs(agent: AgentName): (number | null)[] {
  const uses = home.uses(agent)
  for (const { cells, activeMs } of uses) {
    const known = cells().flatMap((cell) => cell.activeMs ?? [])
    expect(activeMs).toBe(known.length === 0 ? null : known.reduce((sum, each) => sum + each))
  }
  return uses.map((use) => use.activeMs)
}

interface Line {
  kind: 'prompt' | 'call' | 'other'
  at: number
  /** The file it is in: 0 is that of the session, the others those of sub-agents. */
  file: number
}

/** By the definition, line by line. */
function expectedTime(lines: readonly Line[]): number {
  let time = 0
  let sinceCall: number | undefined
  for (const [index, { kind, at }] of lines.entries()) {
    if (kind === 'prompt') sinceCall = 0
    else if (sinceCall !== undefined) sinceCall += Math.min(at - lines[index - 1]!.at, 5 * MINUTE)
    if (kind !== 'call' || sinceCall === undefined) continue
    time += sinceCall
    sinceCall = 0
  }
  return time
}

const gap = fc.oneof(fc.integer({ min: 1, max: MINUTE }), fc.constantFrom(5 * MINUTE, 5 * MINUTE + 1, 9 * HOUR))
const session: fc.Arbitrary<Line[]> = fc
  .array(fc.record({ gap, kind: fc.constantFrom('prompt', 'call', 'call', 'other'), file: fc.nat(2) }), {
    ...{ minLength: 1, maxLength: 40 },
  })
  .map((drawn) => {
    let at = 0
    const lines = drawn.map(({ gap, kind, file }): Line => {
      at += gap
      return { kind, at, file: kind === 'prompt' ? 0 : file } as Line
    })
    return [{ kind: 'prompt', at: 0, file: 0 }, ...lines]
  })

function write(lines: readonly Line[]): void {
  for (const file of [0, 1, 2]) {
    const records = lines.filter((line) => line.file === file)
    home.writeLines(
      file === 0 ? MAIN : SUBAGENT(`${file}`),
      records.map(({ kind, at }) => {
        const more = file === 0 ? {} : { isSidechain: true }
        if (kind === 'call') return call(`m${at}`, at, more)
        return kind === 'prompt' ? prompt(at) : { ...result(at), ...more }
      }),
    )
  }
}

test('the times of cells add up to the gaps between all lines of turns, each at most five minutes', () => {
  fc.assert(
    fc.property(session, (lines) => {
      write(lines)
      const time = cellsOf('claude-code').reduce((sum, [, each]) => sum + each!, 0)
      expect(time).toBe(expectedTime(lines))
      expect(time).toBeLessThanOrEqual(lines.at(-1)!.at)
    }),
    { numRuns: runs(300, 60) },
  )
})

test('what is written later never changes the time of a cell, except that of the last call', () => {
  fc.assert(
    fc.property(session, fc.nat(), (lines, chance) => {
      const prefix = lines.slice(0, 1 + (chance % lines.length))
      const lastCall = prefix.findLast(({ kind }) => kind === 'call')
      if (!lastCall) return
      write(lines)
      const whole = new Map(cellsOf('claude-code'))
      write(prefix)
      const earlier = cellsOf('claude-code')
      const quarterOf = (at: number) => Math.floor(at / (15 * MINUTE))
      for (const [at, time] of earlier) {
        if (quarterOf(at) !== quarterOf(lastCall.at)) expect([at, whole.get(at)]).toEqual([at, time])
      }
    }),
    { numRuns: runs(300, 60) },
  )
})

describe('of a session of Claude Code', () => {
  test('a gap belongs to the call after it: its day, its place and its model', () => {
    const night = Date.parse('2026-11-20T23:58:00Z') - START
    home.writeLines(MAIN, [
      ...[prompt(night), call('a', night + MINUTE, { cwd: '/nowhere', gitBranch: 'main' })],
      ...[result(night + 2 * MINUTE), call('b', night + 4 * MINUTE, { cwd: '/nowhere', gitBranch: 'fix' })],
    ])
    const [use] = home.uses('claude-code')
    expect(use!.cells().map(({ place, activeMs }) => [place.branch, activeMs])).toEqual([
      ['main', MINUTE],
      ['fix', 3 * MINUTE],
    ])
    expect(use!.days.map(({ activeMs }) => activeMs)).toEqual([MINUTE, 3 * MINUTE])
  })

  test('a night counts five minutes within a turn, and nothing between two turns', () => {
    home.writeLines(MAIN, [prompt(0), call('a', MINUTE), result(9 * HOUR), call('b', 9 * HOUR + MINUTE)])
    expect(activeMs('claude-code')).toEqual([7 * MINUTE])
    home.writeLines(MAIN, [prompt(0), call('a', MINUTE), prompt(9 * HOUR), call('b', 9 * HOUR + MINUTE)])
    expect(activeMs('claude-code')).toEqual([2 * MINUTE])
  })

  test('what follows the last call of a turn does not count, such as notes before the next prompt', () => {
    const note = (at: number) => ({ type: 'system', subtype: 'stop_hook_summary', timestamp: iso(at), sessionId: 's' })
    const queued = { type: 'queue-operation', operation: 'enqueue', timestamp: iso(HOUR - 9), sessionId: 's' }
    home.writeLines(MAIN, [
      ...[prompt(0), call('a', MINUTE), result(2 * MINUTE), note(3 * MINUTE)],
      ...[queued, prompt(HOUR), call('b', HOUR + SECOND), note(HOUR + MINUTE)],
    ])
    expect(activeMs('claude-code')).toEqual([MINUTE + SECOND])
  })

  test('sub-agents that work at the same time count once, also while the session itself waits for them', () => {
    home.writeLines(MAIN, [prompt(0), call('a', MINUTE), result(21 * MINUTE), call('b', 22 * MINUTE)])
    const more = { isSidechain: true }
    for (const [index, name] of ['x', 'y'].entries()) {
      const steps = Array.from({ length: 10 }, (_, step) => MINUTE + index + step * 2 * MINUTE)
      home.writeLines(
        SUBAGENT(name),
        steps.flatMap((at) => [prompt(at, more), call(`${name}${at}`, at + SECOND, more)]),
      )
    }
    expect(activeMs('claude-code')).toEqual([22 * MINUTE])
  })

  test('the lines of one answer count for its call, and copies in a fork only for the session that it is of', () => {
    const turn = [prompt(0), call('a', MINUTE), call('a', 2 * MINUTE), call('b', 4 * MINUTE)]
    home.writeLines(MAIN, turn)
    const copies = turn.map((line) => ({ ...line, sessionId: 'f', forkedFrom: { sessionId: 's' } }))
    const own = { sessionId: 'f' }
    home.writeLines('.claude/projects/p/f.jsonl', [...copies, prompt(HOUR, own), call('c', HOUR + MINUTE, own)])
    const times = () => home.uses('claude-code').map(({ sessionId, activeMs }) => [sessionId, activeMs])
    expect(times()).toEqual([
      ['s', 4 * MINUTE],
      ['f', MINUTE],
    ])
    // Once the first file is gone, its calls are known from the copies.
    home.writeLines(MAIN, [])
    expect(times()).toEqual([
      ['s', 4 * MINUTE],
      ['f', MINUTE],
    ])
  })

  test('a session in two files counts once, and a call in both of them too', () => {
    const lines = [prompt(0), call('a', MINUTE), call('b', 3 * MINUTE)]
    home.writeLines(MAIN, lines)
    home.writeLines('.claude/projects/q/s.jsonl', [...lines.slice(0, 2), call('a', MINUTE + SECOND)])
    expect(activeMs('claude-code')).toEqual([3 * MINUTE])
  })

  test('only what a person writes is a prompt', () => {
    const others = [
      user(HOUR, 'Caveat: the messages below', { isMeta: true }),
      user(HOUR, 'This session is being continued', { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
      user(HOUR, '<local-command-stdout>Compacted</local-command-stdout>'),
      user(HOUR, '<bash-stdout>ok</bash-stdout><bash-stderr></bash-stderr>'),
      user(HOUR, [{ type: 'text', text: '[Request interrupted by user]' }]),
      user(HOUR, 'Find the file.', { isSidechain: true }),
      result(HOUR),
    ]
    for (const other of others) {
      home.writeLines(MAIN, [prompt(0), call('a', MINUTE), other, call('b', HOUR + MINUTE)])
      expect(activeMs('claude-code')).toEqual([7 * MINUTE])
    }
    const prompts = [
      user(HOUR, 'Go on.'),
      user(HOUR, [{ type: 'text', text: 'Go on.' }]),
      user(HOUR, [{ type: 'image', source: {} }]),
      user(HOUR, '<command-name>/review</command-name>'),
      user(HOUR, '<bash-input>ls</bash-input>'),
    ]
    for (const each of prompts) {
      home.writeLines(MAIN, [prompt(0), call('a', MINUTE), each, call('b', HOUR + MINUTE)])
      expect(activeMs('claude-code')).toEqual([2 * MINUTE])
    }
  })

  test('times within a line are not those of the line', () => {
    const later = { timestamp: iso(4 * MINUTE) }
    home.writeLines(MAIN, [
      ...[prompt(0), call('a', MINUTE)],
      { data: later, ...result(2 * MINUTE), toolUseResult: { log: [later] } },
      { type: 'system', content: `{"timestamp":"${iso(3 * MINUTE)}"}`, sessionId: 's' },
      call('b', HOUR),
    ])
    expect(activeMs('claude-code')).toEqual([7 * MINUTE])
  })

  test('without a prompt it is unknown, as that of calls before the first one', () => {
    home.writeLines(MAIN, [call('a', 0), call('b', MINUTE)])
    expect(activeMs('claude-code')).toEqual([null])
    home.writeLines(MAIN, [call('a', 0), call('b', MINUTE), prompt(HOUR), call('c', HOUR + MINUTE)])
    expect(cellsOf('claude-code')).toEqual([
      [0, null],
      [HOUR + MINUTE, MINUTE],
    ])
  })
})

describe('of a thread of Codex', () => {
  const line = (type: string, at: number, payload: object) => ({ timestamp: iso(at), type, payload })
  const meta = (id: string, more: object = {}) => line('session_meta', 0, { id, cwd: '/nowhere', ...more })
  const asked = (at: number) => line('event_msg', at, { type: 'item_completed', item: { type: 'UserMessage' } })
  const askedEarlier = (at: number) => line('event_msg', at, { type: 'user_message', message: 'Please fix it.' })
  const output = (at: number) => line('response_item', at, { type: 'function_call_output', output: 'ok' })
  const response = (id: string, at: number) =>
    line('token_usage_record', at, {
      response_id: id,
      usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1, total_tokens: 2 },
    })

  test('it is the time between its lines', () => {
    for (const ask of [asked, askedEarlier]) {
      home.writeLines('.codex/sessions/rollout-1.jsonl', [
        ...[meta('t'), ask(MINUTE), response('a', 2 * MINUTE), output(4 * MINUTE), response('b', 10 * MINUTE)],
        ...[output(11 * MINUTE), ask(HOUR), response('c', HOUR + SECOND)],
      ])
      expect(activeMs('codex')).toEqual([8 * MINUTE + SECOND])
    }
  })

  test('what its sub-agents do at the same time counts once, although they are threads of their own', () => {
    home.writeLines('.codex/sessions/rollout-1.jsonl', [
      ...[meta('t'), asked(0), response('a', MINUTE), output(13 * MINUTE), response('z', 14 * MINUTE)],
    ])
    for (const id of ['u', 'v']) {
      home.writeLines(`.codex/sessions/rollout-${id}.jsonl`, [
        ...[meta(id, { parent_thread_id: 't' }), askedEarlier(2 * MINUTE)],
        ...[4, 8, 12].map((minute) => response(`${id}${minute}`, minute * MINUTE)),
      ])
    }
    const times = home.uses('codex').map(({ sessionId, activeMs }) => [sessionId, activeMs] as const)
    expect(times.map(([session]) => session).sort()).toEqual(['t', 'u', 'v'])
    expect(times.reduce((sum, [, each]) => sum + each!, 0)).toBe(14 * MINUTE)
  })
})

test('of a session of Gemini CLI, it is the time between its messages, and what tools respond is no prompt', () => {
  const message = (id: string, type: string, at: number, more: object) => ({ id, timestamp: iso(at), type, ...more })
  const answer = (id: string, at: number) =>
    message(id, 'gemini', at, { model: 'gemini-2.5-pro', tokens: { input: 1, output: 1, cached: 0, total: 2 } })
  const lines = [
    message('1', 'user', 0, { content: [{ text: 'Please fix it.' }] }),
    answer('2', MINUTE),
    message('3', 'user', 2 * MINUTE, { content: [{ functionResponse: { name: 'ls' } }] }),
    message('4', 'info', 4 * MINUTE, { content: 'Still there.' }),
    answer('5', 5 * MINUTE),
    message('6', 'user', HOUR, { content: 'Go on.' }),
    answer('7', HOUR + SECOND),
  ]
  home.writeLines('.gemini/tmp/p/chats/session-1.jsonl', [{ sessionId: 's', startTime: iso(0) }, ...lines])
  expect(activeMs('gemini-cli')).toEqual([5 * MINUTE + SECOND])
  home.remove()
  home = new AgentHome()
  home.writeLines('.gemini/tmp/p/chats/session-1.json', [{ sessionId: 's', startTime: iso(0), messages: lines }])
  expect(activeMs('gemini-cli')).toEqual([5 * MINUTE + SECOND])
})

test('of a session of Qwen Code, it is the time between its lines, and unknown of what only the ledger has', () => {
  const line = (type: string, at: number, more: object) => ({ sessionId: 's', timestamp: iso(at), type, ...more })
  const event = (id: string, at: number) => {
    const counts = { input_token_count: 1, output_token_count: 1, cached_content_token_count: 0, total_token_count: 2 }
    const uiEvent = {
      'event.name': 'qwen-code.api_response',
      'event.timestamp': iso(at),
      response_id: id,
      model: 'qwen3',
    }
    return line('system', at, { subtype: 'ui_telemetry', systemPayload: { uiEvent: { ...uiEvent, ...counts } } })
  }
  const message = { parts: [{ text: 'Please fix it.' }] }
  home.writeLines('.qwen/projects/p/chats/s.jsonl', [
    line('user', 0, { message }),
    event('1', MINUTE),
    line('tool_result', 2 * MINUTE, { message: { parts: [{ functionResponse: {} }] } }),
    line('user', 3 * MINUTE, { message, provenance: 'system' }),
    event('2', 4 * MINUTE),
    line('user', HOUR, { message, provenance: 'real_user' }),
    event('3', HOUR + SECOND),
  ])
  home.writeLines('.qwen/usage_record.jsonl', [
    {
      sessionId: 'gone',
      startTime: START + HOUR,
      models: { qwen3: { requests: 1, inputTokens: 1, outputTokens: 0, cachedTokens: 0 } },
    },
  ])
  expect(activeMs('qwen-code')).toEqual([4 * MINUTE + SECOND, null])
})

describe('of a session of opencode', () => {
  const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } }
  const model = { modelID: 'gpt-mock', providerID: 'mock', cost: 0 }
  const asked = (at: number) => ({ role: 'user', time: { created: START + at } })
  const answer = (from: number, to?: number) => ({
    ...{ role: 'assistant', ...model, tokens },
    time: { created: START + from, ...(to === undefined ? {} : { completed: START + to }) },
  })

  test('an answer counts until it is complete, and what sub-agents do meanwhile counts once', () => {
    const folder = join(home.folder, '.local/share/opencode')
    mkdirSync(folder, { recursive: true })
    const database = new Database(join(folder, 'opencode.db'))
    database.run('CREATE TABLE session (id TEXT, parent_id TEXT, title TEXT)')
    database.run('CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)')
    database.run('CREATE TABLE part (id TEXT, session_id TEXT, time_created INTEGER, data TEXT)')
    database.run("INSERT INTO session VALUES ('s', NULL, 'One'), ('u', 's', 'Two')")
    const messages: [session: string, message: { time: { created: number } }][] = [
      ['s', asked(0)],
      ['s', answer(SECOND, 20 * MINUTE)],
      ['u', asked(MINUTE)],
      ['u', answer(2 * MINUTE, 5 * MINUTE)],
      ['u', answer(5 * MINUTE, 19 * MINUTE)],
      ['s', asked(HOUR)],
      ['s', answer(HOUR + SECOND, HOUR + MINUTE)],
      ['s', asked(2 * HOUR)],
      ['s', answer(2 * HOUR + SECOND)],
    ]
    for (const [index, [session, message]] of messages.entries()) {
      const row = [`m${index}`, session, message.time.created, JSON.stringify(message)]
      database.query('INSERT INTO message VALUES (?, ?, ?, ?)').run(...(row as [string]))
    }
    for (const minute of [8, 12, 16]) {
      database.query("INSERT INTO part VALUES (?, 'u', ?, '{}')").run(`p${minute}`, START + minute * MINUTE)
    }
    database.close()
    const times = home.uses('opencode').map(({ sessionId, activeMs }) => [sessionId, activeMs])
    expect(times).toEqual([
      ['s', 2 * MINUTE + SECOND],
      ['u', 19 * MINUTE],
    ])
    expect(withCells(home.uses('opencode'))).toEqual(withCells(home.uses('opencode')))
  })

  test('of an older version, it is known from the files of its messages', () => {
    for (const [index, message] of [asked(0), answer(SECOND, MINUTE), asked(HOUR), answer(HOUR, HOUR + 1)].entries()) {
      home.write(
        `.local/share/opencode/storage/message/s/m${index}.json`,
        JSON.stringify({ sessionID: 's', ...message }),
      )
    }
    expect(activeMs('opencode')).toEqual([MINUTE + 1])
  })
})

describe('of a session of GitHub Copilot CLI', () => {
  const line = (type: string, at: number, data: object = {}, more: object = {}) => ({
    ...{ type, data, timestamp: iso(at) },
    ...more,
  })
  const request = (inputTokens: number, at: number, more: object = {}) => {
    const counts = { inputTokens, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
    return line('session.usage_record', at, { usage: { model: 'gpt-mock', ...counts } }, more)
  }
  const start = line('session.start', 0, { sessionId: 's', startTime: iso(0) })
  const EVENTS = '.copilot/session-state/s/events.jsonl'
  const asked = (at: number, more: object = {}) => line('user.message', at, { content: 'Please fix it.' }, more)

  test('it is the time between its events, also while its sub-agents work, whose prompts are its own', () => {
    const agent = { agentId: 'a' }
    home.writeLines(EVENTS, [
      ...[start, asked(0), request(1, MINUTE), asked(2 * MINUTE, agent), request(2, 3 * MINUTE, agent)],
      ...[line('tool.execution_complete', 5 * MINUTE), request(3, 6 * MINUTE), line('session.shutdown', 7 * MINUTE)],
      ...[asked(HOUR), request(4, HOUR + SECOND)],
    ])
    expect(activeMs('github-copilot')).toEqual([6 * MINUTE + SECOND])
  })

  test('a request that its database also has counts once, and is unknown without the events', () => {
    home.writeLines(EVENTS, [start, asked(0), request(1, MINUTE), asked(HOUR), request(2, HOUR + MINUTE)])
    const database = new Database(join(home.folder, '.copilot/session-store.db'))
    database.run('CREATE TABLE schema_version (version INTEGER)')
    database.run('CREATE TABLE sessions (id TEXT, cwd TEXT, repository TEXT, host_type TEXT)')
    database.run(`CREATE TABLE assistant_usage_events (id INTEGER, session_id TEXT, parent_tool_call_id TEXT, model TEXT,
      input_tokens INTEGER, output_tokens INTEGER, cache_read_tokens INTEGER, cache_write_tokens INTEGER,
      total_nano_aiu INTEGER, created_at TEXT)`)
    database.run('INSERT INTO schema_version VALUES (8)')
    const insert = database.query(
      `INSERT INTO assistant_usage_events VALUES (?, ?, NULL, 'gpt-mock', ?, 1, 0, 0, 0, ?)`,
    )
    insert.run(1, 's', 1, iso(MINUTE - 9))
    insert.run(2, 's', 2, iso(HOUR + MINUTE + 9))
    insert.run(3, 'other', 2, iso(HOUR))
    database.close()
    const times = home.uses('github-copilot').map(({ sessionId, activeMs }) => [sessionId, activeMs])
    expect(times).toEqual([
      ['s', 2 * MINUTE + 9],
      ['other', null],
    ])
  })
})

describe('of a session of Pi', () => {
  const line = (type: string, at: number, more: object = {}) => ({ type, timestamp: iso(at), ...more })
  const header = (id: string, at: number, more: object = {}) => line('session', at, { version: 3, id, ...more })
  const message = (role: string, at: number, more: object = {}) => line('message', at, { message: { role, ...more } })
  const answer = (at: number, from = at) => {
    const usage = { input: 1 + at / SECOND, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 }
    return message('assistant', at, { usage, model: 'm', provider: 'openai', timestamp: START + from })
  }
  const asked = (at: number) => message('user', at, { content: 'Please fix it.', timestamp: START + at })
  const path = (id: string) => `.omp/agent/sessions/-w/2026-11-20T12-00-00-000Z_${id}`

  test('it is the time between its lines, and an answer counts until it is complete', () => {
    home.writeLines(`${path('s')}.jsonl`, [
      ...[header('s', 0), asked(0), answer(4 * MINUTE, SECOND)],
      message('toolResult', 5 * MINUTE, { toolCallId: 't', timestamp: START + 5 * MINUTE }),
      ...[line('thinking_level_change', 6 * MINUTE), answer(10 * MINUTE, 9 * MINUTE)],
      ...[asked(HOUR), answer(HOUR + MINUTE, HOUR)],
    ])
    expect(activeMs('pi')).toEqual([11 * MINUTE])
  })

  test('sub-agents that work at the same time count once, also in a fork', () => {
    const turn = [asked(0), answer(MINUTE)]
    const subAgent = (id: string) => [header(id, MINUTE), asked(MINUTE), answer(3 * MINUTE), answer(5 * MINUTE)]
    home.writeLines(`${path('s')}.jsonl`, [header('s', 0), ...turn, answer(6 * MINUTE)])
    home.writeLines(`${path('s')}/scout.jsonl`, subAgent('x'))
    home.writeLines(`${path('f')}.jsonl`, [
      ...[header('f', HOUR, { parentSession: 's' }), ...turn, asked(HOUR), answer(HOUR + MINUTE)],
      answer(HOUR + 4 * MINUTE),
    ])
    const own = [asked(HOUR + MINUTE), answer(HOUR + 2 * MINUTE)]
    home.writeLines(`${path('f')}/scout.jsonl`, [header('x', HOUR, { parentSession: 's' }), ...own])
    const times = home.uses('pi').map(({ sessionId, activeMs }) => [sessionId, activeMs])
    expect(times).toEqual([
      ['s', 6 * MINUTE],
      ['f', 4 * MINUTE],
    ])
  })
})

test('of a session of Kimi Code, it is the time between the records of all its agents, from where a turn begins', () => {
  const record = (type: string, at: number, more: object = {}) => ({ type, ...more, time: START + at })
  const request = (at: number, output: number) => [
    record('llm.request', at - SECOND, { model: 'm', modelAlias: 'a' }),
    record('usage.record', at, {
      model: 'a',
      usage: { inputOther: 1, output, inputCacheRead: 0, inputCacheCreation: 0 },
    }),
  ]
  const asked = (at: number) => record('turn.prompt', at, { origin: { kind: 'user' } })
  const folder = '.kimi-code/sessions/w/s'
  home.write(`${folder}/state.json`, JSON.stringify({ forkedFrom: 'gone' }))
  home.writeLines(`${folder}/agents/main/wire.jsonl`, [
    ...[asked(0), ...request(MINUTE, 1)],
    record('context.append_message', 5 * MINUTE, { message: { role: 'tool', content: '"time":1' } }),
    ...[...request(9 * MINUTE, 2), asked(HOUR), ...request(HOUR + MINUTE, 3)],
  ])
  expect(activeMs('kimi-code')).toEqual([10 * MINUTE])
  home.writeLines(`${folder}/agents/agent-1/wire.jsonl`, [
    ...[asked(2 * MINUTE), ...request(3 * MINUTE, 4), record('other', 7 * MINUTE), ...request(8 * MINUTE, 5)],
  ])
  expect(activeMs('kimi-code')).toEqual([10 * MINUTE])
})

describe('of a session of Cline', () => {
  const metrics = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const message = (role: string, at: number, more: object) => ({ id: `m${at}`, role, ts: START + at, ...more })
  const answer = (at: number) => message('assistant', at, { metrics, modelInfo: { id: 'm', provider: 'openai' } })
  const asked = (at: number, type = 'text') => message('user', at, { content: [{ type }] })
  const write = (name: string, messages: object[]) =>
    home.write(`.cline/data/sessions/s/${name}.messages.json`, JSON.stringify({ version: 1, messages }))

  test('it is the time between the messages of all its agents, and what tools respond is no prompt', () => {
    write('s', [asked(0), answer(MINUTE), asked(5 * MINUTE, 'tool_result'), answer(6 * MINUTE), asked(HOUR)])
    write('agent_1', [asked(2 * MINUTE), answer(3 * MINUTE), answer(4 * MINUTE)])
    expect(activeMs('cline')).toEqual([6 * MINUTE])
  })

  test('of the extension, an answer counts until the last that the agent says of it', () => {
    const say = (kind: string, at: number, more: object = {}) => ({ type: 'say', say: kind, ts: START + at, ...more })
    const request = (at: number) => {
      const text = JSON.stringify({ tokensIn: 1, tokensOut: 1, cacheWrites: 0, cacheReads: 0 })
      return say('api_req_started', at, { text, modelInfo: { modelId: 'm', providerId: 'openai' } })
    }
    home.write(
      '.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/t/ui_messages.json',
      JSON.stringify([
        ...[say('task', 0), request(SECOND), say('text', MINUTE), say('command_output', 3 * MINUTE)],
        ...[request(4 * MINUTE), say('completion_result', 5 * MINUTE)],
        ...[{ type: 'ask', ask: 'resume_task', ts: START + HOUR }, say('user_feedback', HOUR + MINUTE)],
        ...[request(HOUR + MINUTE + SECOND), say('text', HOUR + 2 * MINUTE)],
      ]),
    )
    expect(activeMs('cline')).toEqual([6 * MINUTE])
  })
})
