/**
 * Readers append only: whatever is written after a line changes nothing that was read until then, apart from the call
 * that is written last. So what was reported of earlier days and places stays as it is.
 */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import type { AgentName } from '../../src/agents/agent.ts'
import type { ModelCall } from '../../src/agents/model-calls.ts'
import { READERS } from '../../src/agents/readers/all.ts'
import type { ReadFile } from '../../src/agents/readers/reader.ts'
import { findFiles } from '../../src/agents/session-files.ts'
import { SettledCalls } from '../../src/agents/settled-calls.ts'
import { AgentHome, FIXTURES, withCells } from '../support/agent-home.ts'
import { runs } from '../support/tier.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const START = Date.parse('2026-11-20T10:00:00Z')
const at = (minute: number) => new Date(START + minute * 60_000).toISOString()

/** The calls that an agent's files contain, and the key of the one that was written last to the file. */
function readCalls(agent: AgentName, path: string): { calls: ModelCall[]; lastKey: string | undefined } {
  const reader = READERS[agent]
  const files = findFiles(reader, home.environment, []).map(
    (file): ReadFile => ({ path: file.path, bornAt: 0, reading: reader.read(file.path) }),
  )
  const calls = reader.settle(files, new SettledCalls(home.environment, agent), () => {})
  const changed = files.find((file) => file.path === join(home.folder, path))
  return { calls, lastKey: changed?.reading.calls.at(-1)?.key }
}

/** Everything about a call that decides which cell it is in, and what it adds there. */
function textOfCall({ session, model, provider, at, folder, branch, remote = '', ...call }: ModelCall): string {
  const { counts, cost, requests = 1, service = {}, tools = {} } = call
  return JSON.stringify({
    session,
    model,
    provider,
    at,
    folder,
    branch,
    remote,
    counts,
    cost,
    requests,
    service,
    tools,
  })
}

/** Each prefix of the file, which `write` writes, has what the one before it has, apart from its last call. */
function expectAppendOnly(agent: AgentName, path: string, length: number, write: (length: number) => void): void {
  let before: { calls: ModelCall[]; lastKey: string | undefined } = { calls: [], lastKey: undefined }
  for (let lines = 1; lines <= length; lines += 1) {
    write(lines)
    const now = readCalls(agent, path)
    const counts = new Map<string, number>()
    for (const call of now.calls) counts.set(textOfCall(call), (counts.get(textOfCall(call)) ?? 0) + 1)
    const changed = before.calls.filter((call) => {
      const left = counts.get(textOfCall(call)) ?? 0
      counts.set(textOfCall(call), left - 1)
      // The calls of an advisor have the key of the one that asked it, and more.
      return left === 0 && !(before.lastKey && call.key.startsWith(before.lastKey))
    })
    expect({ lines, changed }).toEqual({ lines, changed: [] })
    before = now
  }
}

const jsonLines = (lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`)

/** The contents of a file after each line is written. */
const prefixesOf = (lines: readonly string[]) => lines.map((_, index) => lines.slice(0, index + 1).join(''))

function expectStatesAppendOnly(agent: AgentName, path: string, states: readonly string[]): void {
  expectAppendOnly(agent, path, states.length, (length) => home.write(path, states[length - 1]!))
}

/** Lines, of which Kimi Code writes those that it copies for a fork at once. */
const WRITTEN_AT_ONCE = /^[\s\S]*"type":"forked".*\n|.*\n/g

describe('a prefix of a captured file has what the whole file has, except for its last call', () => {
  const captures: [AgentName, from: string, to: string][] = [
    ['claude-code', 'agents/claude-code/transcripts', '.claude/projects'],
    ['claude-code', 'cases/claude-code-fork/run4-fork.jsonl', '.claude/projects/p/84ccdd11.jsonl'],
    ['claude-code', 'cases/claude-code-tool/run1-tool.jsonl', '.claude/projects/p/03972874.jsonl'],
    ['claude-code', 'cases/claude-code-subagent/run3-main-with-subagent.jsonl', '.claude/projects/p/5471ecff.jsonl'],
    [
      ...(['claude-code', 'cases/claude-code-subagent/agent-a8b646202984886b8.jsonl'] as const),
      '.claude/projects/p/5471ecff/subagents/agent-a8b646202984886b8.jsonl',
    ],
    ['claude-code', 'cases/claude-code-compact/compacted.jsonl', '.claude/projects/p/b62ca140.jsonl'],
    ['claude-code', 'cases/claude-code-compact/fork.jsonl', '.claude/projects/p/0eb1e74c.jsonl'],
    ['codex', 'agents/codex/transcripts', '.codex/sessions'],
    ['codex', 'cases/codex-hooks/codex-0.169.0-run2-resumed.jsonl', '.codex/sessions/rollout-1.jsonl'],
    ['gemini-cli', 'agents/gemini-cli/transcripts', '.gemini/tmp'],
    [
      ...(['gemini-cli', 'cases/gemini-cli-tool/session-2026-11-20T17-55-98d86c96.jsonl'] as const),
      '.gemini/tmp/gproj/chats/session-2026-11-20T17-55-98d86c96.jsonl',
    ],
    [
      ...(['qwen-code', 'cases/qwen-code/947158b7-b45d-419a-9d7d-25a1ee1e37f7.jsonl'] as const),
      '.qwen/projects/-home-dev-qproj/chats/947158b7-b45d-419a-9d7d-25a1ee1e37f7.jsonl',
    ],
    ['qwen-code', 'cases/qwen-code/usage_record.jsonl', '.qwen/usage_record.jsonl'],
    ['github-copilot', 'cases/github-copilot/session-state', '.copilot/session-state'],
    ['pi', 'cases/pi', '.pi/agent/sessions/p'],
    ['kimi-code', 'cases/kimi-code', '.kimi-code/sessions'],
  ]

  test.each(captures)('of %s, %s', (agent, from, to) => {
    home.copy(from, to)
    const paths = statSync(join(FIXTURES, from)).isDirectory()
      ? readdirSync(join(FIXTURES, from), { recursive: true, encoding: 'utf8' })
          .filter((path) => path.endsWith('.jsonl'))
          .map((path) => join(to, path))
      : [to]
    for (const path of paths) {
      const text = readFileSync(join(home.folder, path), 'utf8')
      expectStatesAppendOnly(agent, path, prefixesOf(text.match(WRITTEN_AT_ONCE)!))
    }
  })
})

/** What an agent does between two requests, and how much these use. */
const aStep = fc.record({
  kind: fc.nat(9),
  pause: fc.integer({ min: 1, max: 90 }),
  tokens: fc.integer({ min: 1, max: 1_000 }),
  model: fc.constantFrom('claude-sonnet-4-5', 'claude-opus-4-8'),
  folder: fc.constantFrom('/gone/web', '/gone/api'),
  branch: fc.constantFrom('main', 'feature/ACME-1', 'HEAD'),
  /** How often the call is written, with more output each time. */
  times: fc.integer({ min: 1, max: 3 }),
})
type Step = typeof aStep extends fc.Arbitrary<infer Drawn> ? Drawn : never

const SESSIONS = ['01a1fa18-3e35-7d51-80d0-978a660e9e1f', '01a1fa18-3e35-7d51-80d0-978a660e9e2a'] as const

interface Totals {
  since: number
  models: Record<string, number[]>
}

/** Processes of a session, which write totals when they end and not when they are killed. */
function claudeLines(steps: readonly Step[]): string[] {
  const lines: object[] = []
  let [minute, runningMs] = [0, 0]
  let totals: Totals | undefined
  let current: Totals | undefined
  steps.forEach((step, index) => {
    const { kind, pause, tokens, model, folder: cwd, branch: gitBranch, times } = step
    minute += pause
    runningMs += pause
    current ??= structuredClone(totals) ?? { since: START + minute * 60_000, models: {} }
    const { since, models } = current
    const used = [tokens, tokens * 2, tokens % 7, tokens % 5]
    if (kind >= 4) models[model] = used.map((count, each) => count + (models[model]?.[each] ?? 0))
    if (kind < 3) {
      const modelUsage = Object.fromEntries(
        Object.entries(models).map(([name, [input, output, read, written]]) => [
          kind === 0 ? `us.anthropic.${name}-v1:0` : name,
          { inputTokens: input, outputTokens: output, cacheReadInputTokens: read, cacheCreationInputTokens: written },
        ]),
      )
      lines.push({ type: 'cost-state', sessionId: 's', startTime: since, totalDuration: runningMs, modelUsage })
      totals = current
      current = undefined
    } else if (kind === 3) {
      current = undefined
    } else if (kind < 6) {
      // A request that no line has.
      lines.push({ type: 'queue-operation', timestamp: at(minute), sessionId: 's' })
    } else {
      for (let time = 1; time <= times; time += 1) {
        const usage = {
          ...{ input_tokens: used[0], output_tokens: time === times ? used[1] : time },
          ...{ cache_read_input_tokens: used[2], cache_creation_input_tokens: used[3] },
        }
        const [id, requestId] = [`m${index}`, `r${index}`]
        lines.push({
          ...{ type: 'assistant', message: { id, model, usage }, requestId, sessionId: 's', cwd, gitBranch },
          timestamp: at(minute),
        })
      }
    }
    // A line that is written again, as by a session that continues in the same file.
    if (kind === 9) lines.push(...lines.filter((line) => 'requestId' in line).slice(0, 1))
  })
  return jsonLines(lines)
}

/** A thread with a record per response, or with running totals, that continues another one. */
function codexLines(steps: readonly Step[], { isFork }: { isFork: boolean }): string[] {
  const [parent, thread] = SESSIONS
  const line = (type: string, minute: number, payload: object) => ({ type, timestamp: at(minute), payload })
  const lines: object[] = [
    line('session_meta', 0, { id: thread, cwd: '/gone/web', ...(isFork ? { forked_from_id: parent } : {}) }),
  ]
  let total = [0, 0, 0]
  let minute = 0
  let isRecorded = false
  steps.forEach(({ kind, pause, tokens, model, folder: cwd }, index) => {
    minute += isFork && index < 3 ? 0 : pause
    const usage = (counts: readonly number[]) => ({
      ...{ input_tokens: counts[0], cached_input_tokens: counts[1], output_tokens: counts[2] },
      total_tokens: counts[0]! + counts[2]!,
    })
    if (kind < 2) {
      isRecorded = kind === 0
      lines.push(line('turn_context', minute, { cwd, model }))
    } else if (kind === 2) {
      lines.push(line('response_item', minute, { type: 'web_search_call', action: { type: 'search' } }))
    } else if (kind === 3) {
      const thread_settings = { service_tier: tokens % 2 ? 'priority' : undefined }
      lines.push(line('event_msg', minute, { type: 'thread_settings_applied', thread_settings }))
    } else {
      const used = [tokens, tokens % 11, tokens % 13]
      total = used.map((count, each) => count + total[each]!)
      const info = { total_token_usage: usage(total), last_token_usage: usage(used) }
      const record = { response_id: `resp-${index}`, thread_id: thread, usage: usage(used) }
      if (isRecorded) lines.push(line('token_usage_record', minute, record))
      lines.push(line('event_msg', minute, { type: 'token_count', info }))
      // The same total again, as with each change of the account's limits.
      if (kind === 9) lines.push(line('event_msg', minute, { type: 'token_count', info }))
    }
  })
  return jsonLines(lines)
}

function geminiLines(steps: readonly Step[]): string[] {
  const lines: object[] = [{ sessionId: 's', startTime: at(0) }]
  const messages: object[] = []
  let minute = 0
  steps.forEach(({ kind, pause, tokens: input, model, times }, index) => {
    minute += pause
    for (let time = 1; time <= times; time += 1) {
      const tokens = { input, output: time, cached: input % 3, thoughts: 5, tool: 3, total: input + time + 8 }
      const message = { id: `g${index}`, timestamp: at(minute), type: 'gemini', model, tokens }
      if (time === times) messages.push(message)
      lines.push(message)
    }
    if (kind === 0) lines.push({ $set: { messages: [...messages] } })
    if (kind === 1) lines.push({ type: 'user', timestamp: at(minute), content: 'on' })
  })
  return jsonLines(lines)
}

/** Versions with and without events take turns. */
function qwenLines(steps: readonly Step[]): string[] {
  const lines: object[] = []
  let minute = 0
  steps.forEach(({ pause, tokens, model, folder: cwd, branch: gitBranch, times }, index) => {
    minute += pause
    const version = `0.${times}.0`
    const line = { sessionId: 's', timestamp: at(minute), cwd, gitBranch, version }
    const usageMetadata = { promptTokenCount: tokens, candidatesTokenCount: index + 1 }
    const uiEvent = {
      ...{ 'event.name': 'qwen-code.api_response', model, response_id: `r${index}` },
      ...{ input_token_count: tokens, output_token_count: index + 1 },
    }
    if (times > 1) lines.push({ ...line, type: 'system', subtype: 'ui_telemetry', systemPayload: { uiEvent } })
    lines.push({ ...line, uuid: `u${index}`, type: 'assistant', model, usageMetadata })
  })
  return jsonLines(lines)
}

/** Sessions without a file, of which each line has the totals so far. */
function qwenLedgerLines(steps: readonly Step[]): string[] {
  const sums = new Map<string, Record<string, { requests: number; inputTokens: number; outputTokens: number }>>()
  let minute = 0
  return jsonLines(
    steps.map(({ kind, pause, tokens, model, folder: project }) => {
      minute += pause
      const sessionId = `s${kind % 3}`
      const models = sums.get(sessionId) ?? {}
      sums.set(sessionId, models)
      const { requests, inputTokens, outputTokens } = models[model] ?? { requests: 0, inputTokens: 0, outputTokens: 0 }
      models[model] = { requests: requests + 1, inputTokens: inputTokens + tokens, outputTokens: outputTokens + kind }
      return structuredClone({ sessionId, startTime: START, timestamp: START + minute * 60_000, project, models })
    }),
  )
}

function copilotLines(steps: readonly Step[]): string[] {
  const line = (type: string, minute: number, data: object, more: object = {}) => ({
    ...{ type, data, timestamp: at(minute) },
    ...more,
  })
  const place = ({ folder: cwd, branch }: Step) => ({ cwd, branch, repository: 'acme/web', hostType: 'github' })
  const lines: object[] = [line('session.start', 0, { sessionId: 's', startTime: at(0), context: place(steps[0]!) })]
  let minute = 0
  for (const step of steps) {
    const { kind, pause, tokens: inputTokens, model, times } = step
    minute += pause
    const usage = { model, inputTokens, outputTokens: times, cacheReadTokens: inputTokens % 3, cacheWriteTokens: 0 }
    if (kind < 2) lines.push(line('session.resume', minute, { context: place(step) }))
    else if (kind === 2) lines.push(line('session.context_changed', minute, place(step)))
    else if (kind === 3) lines.push(line('user.message', minute, { content: 'on' }))
    else if (kind === 4)
      lines.push(line('session.compaction_complete', minute, { success: true, compactionTokensUsed: usage }))
    else if (kind === 5) lines.push(line('session.shutdown', minute, { modelMetrics: { [model]: { usage } } }))
    else {
      const more = kind === 9 ? { agentId: 'a' } : {}
      lines.push(line('session.usage_record', minute, { usage: { ...usage, copilotUsage: { totalNanoAiu: 9 } } }, more))
    }
  }
  return jsonLines(lines)
}

/** A fork begins with what it copied, which is older than itself. */
function piLines(steps: readonly Step[], { isFork }: { isFork: boolean }): string[] {
  const line = (type: string, minute: number, more: object) => ({ type, timestamp: at(minute), ...more })
  const parentSession = isFork ? { parentSession: `/gone/2026-11-19T10-00-00-000Z_${SESSIONS[0]}.jsonl` } : {}
  const lines: object[] = [line('session', 0, { version: 3, id: SESSIONS[1], cwd: '/gone/web', ...parentSession })]
  let minute = isFork ? -1_000 : 0
  steps.forEach(({ kind, pause, tokens: input, model, times }, index) => {
    minute = (index === 3 ? Math.max(0, minute) : minute) + pause
    const usage = { input, output: times, cacheRead: input % 3, cacheWrite: 5, totalTokens: 0 }
    const message = (role: string, more: object) => line('message', minute, { message: { role, ...more } })
    if (kind === 0) lines.push(line('model_change', minute, { provider: 'anthropic', modelId: model }))
    else if (kind === 1) lines.push(line('compaction', minute, { usage }))
    else if (kind === 2) lines.push(line('branch_summary', minute, {}))
    else if (kind === 3) lines.push(line('service_tier_change', minute, { serviceTier: 'priority' }))
    else if (kind === 4) lines.push(message('toolResult', { toolCallId: `t${index}`, usage }))
    else if (kind === 5) lines.push(message('user', { content: 'on' }))
    else {
      const timestamp = START + minute * 60_000 - 20_000
      lines.push(message('assistant', { usage, model, provider: 'anthropic', timestamp, responseId: `r${index}` }))
    }
    if (kind === 9) lines.push(lines.at(-1)!)
  })
  return jsonLines(lines)
}

function kimiLines(steps: readonly Step[]): string[] {
  const lines: object[] = [{ type: 'metadata', protocol_version: '1.5', created_at: START }]
  let minute = 0
  for (const { kind, pause, tokens: inputOther, model, folder: cwd, times } of steps) {
    minute += pause
    const line = (type: string, more: object) => ({ type, ...more, time: START + minute * 60_000 })
    const usage = { inputOther, output: times, inputCacheRead: inputOther % 3, inputCacheCreation: 4 }
    const modelAlias = `alias-${kind % 2}`
    if (kind < 2) lines.push(line('config.update', { environmentDisclosure: { cwd } }))
    else if (kind === 2) lines.push(line('turn.prompt', { origin: { kind: 'user' } }))
    else if (kind < 5) lines.push(line('llm.request', { model, modelAlias }))
    else if (kind === 5) lines.push(line('turn.step.interrupted', {}))
    else {
      if (kind > 6) lines.push(line('llm.request', { model, modelAlias }))
      lines.push(line('usage.record', { model: modelAlias, usage }))
      lines.push(line('context.append_loop_event', { event: { type: 'step.end', usage } }))
    }
  }
  return jsonLines(lines)
}

/** Documents that are written anew with each message. */
const documentsOf = (messages: readonly object[], fields?: object) =>
  messages.map((_, index) => {
    const own = messages.slice(0, index + 1)
    return JSON.stringify(fields ? { ...fields, messages: own } : own)
  })

function clineDocuments(steps: readonly Step[]): string[] {
  let minute = 0
  const messages = steps.map(({ kind, pause, tokens: inputTokens, model, times }, index) => {
    minute += pause
    const message = { id: `m${index}`, ts: START + minute * 60_000 }
    if (kind < 3) return { ...message, role: 'user', content: [{ type: kind === 0 ? 'text' : 'tool_result' }] }
    const metrics = { inputTokens, outputTokens: times, cacheReadTokens: 0, cacheWriteTokens: inputTokens % 3 }
    return { ...message, role: 'assistant', metrics, modelInfo: { id: model, provider: 'openrouter' } }
  })
  return documentsOf(messages, { version: 1 })
}

function clineTaskDocuments(steps: readonly Step[]): string[] {
  let minute = 0
  const messages = steps.map(({ kind, pause, tokens: tokensIn, model: modelId, times: tokensOut }) => {
    minute += pause
    const message = { ts: START + minute * 60_000, type: 'say' }
    if (kind < 3) return { ...message, say: ['text', 'user_feedback', 'command_output'][kind], text: 'on' }
    const text = JSON.stringify({ tokensIn, tokensOut, cacheWrites: 1, cacheReads: 2 })
    return { ...message, say: 'api_req_started', text, modelInfo: { modelId, providerId: 'openrouter' } }
  })
  return documentsOf(messages)
}

describe('a prefix of a random file has what the whole file has, except for its last call', () => {
  const TASK = '.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/s/ui_messages.json'
  const inLines = (linesOf: (steps: readonly Step[]) => string[]) => (steps: readonly Step[]) =>
    prefixesOf(linesOf(steps))
  const codex = ['codex', `.codex/sessions/rollout-${SESSIONS[1]}.jsonl`] as const
  const pi = ['pi', `.pi/agent/sessions/p/2026-11-20T10-00-00-000Z_${SESSIONS[1]}.jsonl`] as const
  /** The contents that the file has one after the other. */
  const files: [what: string, AgentName, path: string, statesOf: (steps: readonly Step[]) => string[]][] = [
    ['a session of Claude Code with totals', 'claude-code', '.claude/projects/p/s.jsonl', inLines(claudeLines)],
    ['a thread of Codex', ...codex, inLines((steps) => codexLines(steps, { isFork: false }))],
    ['a fork of Codex', ...codex, inLines((steps) => codexLines(steps, { isFork: true }))],
    ['a session of Gemini CLI', 'gemini-cli', '.gemini/tmp/web/chats/session-1.jsonl', inLines(geminiLines)],
    ['a session of Qwen Code', 'qwen-code', '.qwen/projects/p/chats/s.jsonl', inLines(qwenLines)],
    ['the ledger of Qwen Code', 'qwen-code', '.qwen/usage_record.jsonl', inLines(qwenLedgerLines)],
    [
      ...(['a session of GitHub Copilot CLI', 'github-copilot', '.copilot/session-state/s/events.jsonl'] as const),
      inLines(copilotLines),
    ],
    ['a session of Pi', ...pi, inLines((steps) => piLines(steps, { isFork: false }))],
    ['a fork of Pi', ...pi, inLines((steps) => piLines(steps, { isFork: true }))],
    ['a session of Kimi Code', 'kimi-code', '.kimi-code/sessions/w/s/agents/main/wire.jsonl', inLines(kimiLines)],
    ['a session of Cline', 'cline', '.cline/data/sessions/s/s.messages.json', clineDocuments],
    ['a task of Cline', 'cline', TASK, clineTaskDocuments],
  ]

  test.each(files)('of %s', (_, agent, path, statesOf) => {
    fc.assert(
      fc.property(fc.array(aStep, { minLength: 1, maxLength: 24 }), (steps) => {
        expectStatesAppendOnly(agent, path, statesOf(steps))
      }),
      { numRuns: runs(400, 40) },
    )
  })

  test.each(files)('of %s, which is scanned after each line as when it is whole', (_, agent, path, statesOf) => {
    fc.assert(
      fc.property(fc.array(aStep, { minLength: 1, maxLength: 10 }), (steps) => {
        const often = new AgentHome()
        const once = new AgentHome()
        try {
          const states = statesOf(steps)
          const found = (home: AgentHome, state: string) => {
            home.write(path, state)
            return withCells(home.scan({ agents: [agent] }).uses).map((use) => ({ ...use, file: null }))
          }
          const whole = states.pop() ?? ''
          for (const state of states) found(often, state)
          expect(found(often, whole)).toEqual(found(once, whole))
        } finally {
          often.remove()
          once.remove()
        }
      }),
      { numRuns: runs(50, 5) },
    )
  })

  test('of the database of OpenClaw, whose lines are those of Pi', () => {
    const path = '.openclaw/agents/main/agent/openclaw-agent.sqlite'
    const place = join(home.folder, path)
    mkdirSync(dirname(place), { recursive: true })
    fc.assert(
      fc.property(fc.array(aStep, { minLength: 1, maxLength: 8 }), fc.boolean(), (steps, isFork) => {
        const lines = piLines(steps, { isFork })
        expectAppendOnly('openclaw', path, lines.length, (length) => {
          for (const suffix of ['', '-wal', '-shm']) rmSync(place + suffix, { force: true })
          using database = new Database(place)
          database.run('CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT)')
          for (const [seq, line] of lines.slice(0, length).entries()) {
            database.query('INSERT INTO transcript_events VALUES (?, ?, ?)').run(SESSIONS[1], seq, line.trim())
          }
        })
      }),
      { numRuns: runs(100, 10) },
    )
  })

  test.each(['opencode', 'kilo'] as const)('of the database of %s', (agent) => {
    const path = `.local/share/${agent}/${agent}.db`
    const place = join(home.folder, path)
    mkdirSync(dirname(place), { recursive: true })
    fc.assert(
      fc.property(fc.array(aStep, { minLength: 1, maxLength: 8 }), (steps) => {
        let minute = 0
        const rows = steps.map(({ pause, tokens: input, model: modelID, folder: cwd, kind }, index) => {
          minute += pause
          const time = { created: START + minute * 60_000, completed: START + minute * 60_000 + 1 }
          const tokens = { input, output: 5, reasoning: 2, cache: { read: 3, write: 4 } }
          const data = { role: 'assistant', modelID, providerID: 'anthropic', cost: 0.25, path: { cwd }, tokens, time }
          return [`m${index}`, kind % 2, time.created, JSON.stringify(data)] as const
        })
        expectAppendOnly(agent, path, rows.length, (length) => {
          for (const suffix of ['', '-wal', '-shm']) rmSync(place + suffix, { force: true })
          using database = new Database(place)
          database.run('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)')
          database.run('CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT)')
          for (const row of rows.slice(0, length)) database.query('INSERT INTO message VALUES (?, ?, ?, ?)').run(...row)
        })
      }),
      { numRuns: runs(100, 10) },
    )
  })
})
