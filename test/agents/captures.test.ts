import type { Database } from 'bun:sqlite'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Counts, SessionUse } from '../../src/agents/agent.ts'
import { AgentHome, byName, FIXTURES, type Figures, figuresOf, type Row } from '../support/agent-home.ts'
import { layOutCaptures, SERVED } from '../support/captures.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const fixture = (path: string) => readFileSync(join(FIXTURES, path), 'utf8')

/** A database as opencode makes it, still open: a fresh one keeps what it was given in its log. */
function writeOpencode(): Database {
  const rows = (table: string) => JSON.parse(fixture(`cases/opencode/opencode-db-${table}-rows.json`)) as Row[]
  const schema = fixture('cases/opencode/opencode-db-schema.sql')
  const tables = { session: rows('session'), message: rows('message') }
  return home.writeDatabase('.local/share/opencode/opencode.db', tables, schema)
}

test('what all captured agents used is what the model servers sent, side by side in one home', () => {
  layOutCaptures(home)
  const used = Map.groupBy(home.scan().uses, ({ agentHarness }) => agentHarness)
  const sum = (uses: SessionUse[], of: (counts: Counts) => number) =>
    uses.reduce((all, { tokens }) => all + of(tokens), 0)
  const totals = [...used].map(([agent, uses]) => [
    agent,
    {
      input: sum(uses, ({ input }) => input),
      output: sum(uses, ({ output }) => output),
      cacheRead: sum(uses, ({ cache_read }) => cache_read),
      cacheWrite: sum(uses, ({ cache_write, cache_write_1h }) => cache_write + cache_write_1h),
    },
  ])
  expect(Object.fromEntries(totals)).toEqual(SERVED)
})

test('the tokens of every captured session and model are those that the model server sent', () => {
  home.copy('agents/claude-code/transcripts', '.claude/projects')
  home.copy('agents/codex/transcripts', '.codex/sessions')
  home.copy('agents/gemini-cli/transcripts', '.gemini/tmp')
  const expected = JSON.parse(fixture('agents/expected.json')) as (Figures & { reported_cost_otlp?: number })[]
  const { uses, damage, files } = home.scan()
  expect(damage).toEqual([])
  expect(files).toBe(6)
  expect(uses.map(figuresOf).sort(byName)).toEqual(
    expected.map(({ reported_cost_otlp, ...figures }) => figures).sort(byName),
  )
})

test('a session of Claude Code is labelled with the branch that its transcript names', () => {
  home.copy('agents/claude-code/transcripts', '.claude/projects')
  expect(new Set(home.uses('claude-code').map(({ branch }) => branch))).toEqual(new Set(['feature/ACME-42']))
})

test('what a sub-agent of Claude Code used belongs to the session that started it, with and without its file', () => {
  const session = '5471ecff-bc32-4b73-b4ff-d30268a35a61'
  const agent = 'agent-a8b646202984886b8.jsonl'
  home.copy('cases/claude-code-subagent/run3-main-with-subagent.jsonl', `.claude/projects/p/${session}.jsonl`)
  const alone = home.uses('claude-code')
  home.copy(`cases/claude-code-subagent/${agent}`, `.claude/projects/p/${session}/subagents/${agent}`)
  const [use, ...others] = home.uses('claude-code')
  expect(others).toEqual([])
  expect(use!.sessionId).toBe(session)
  expect(use!.requests).toBe(4)
  expect(use!.tokens).toMatchObject({ input: 62, output: 170, cache_read: 110_000, cache_write_1h: 1_600 })
  expect(alone.map(figuresOf)).toEqual([figuresOf(use!)])
})

test('calls that a fork copied count for the original session, even if its file is gone', () => {
  const [original, fork] = ['03972874-e855-4118-acc5-97716d8242aa', '84ccdd11-9477-43e3-939c-15f566b18ba9']
  home.copy('cases/claude-code-fork/run4-fork.jsonl', `.claude/projects/p/${fork}.jsonl`)
  const forkAlone = home.uses('claude-code').map(figuresOf).sort(byName)
  expect(forkAlone.map(({ session_id, model, requests }) => [session_id, model, requests])).toEqual([
    [original, 'claude-opus-4-6', 1],
    [original, 'claude-sonnet-5', 2],
    [fork, 'claude-opus-4-6', 1],
  ])
  home.copy('cases/claude-code-tool/run1-tool.jsonl', `.claude/projects/p/${original}.jsonl`)
  expect(home.uses('claude-code').map(figuresOf).sort(byName)).toEqual(forkAlone)
})

test('what Claude Code used to compact a conversation counts, and once although a fork continues its totals', () => {
  const [original, fork] = ['b62ca140-f796-4ed9-8015-2c05e7b2fc95', '0eb1e74c-07b0-41e6-90ef-f80f30b7f873']
  home.copy('cases/claude-code-compact/compacted.jsonl', `.claude/projects/p/${original}.jsonl`)
  home.copy('cases/claude-code-compact/fork.jsonl', `.claude/projects/p/${fork}.jsonl`)
  const served = { input: 5_015, output: 545, cache_read: 25_105, cache_write: 1_500, cache_write_1h: 350 }
  const servedFork = { input: 1_006, output: 118, cache_read: 5_042, cache_write: 300, cache_write_1h: 70 }
  expect(home.uses('claude-code').map(({ sessionId, tokens }) => [sessionId, tokens])).toEqual([
    [original, served],
    [fork, servedFork],
  ])
})

test('a resumed thread of Codex has the calls of both days, each with its model, repository and branch', () => {
  home.copy(
    'cases/codex-hooks/codex-0.169.0-run2-resumed.jsonl',
    '.codex/sessions/2026/11/20/rollout-2026-11-20T17-54-15-01a1fa18-3e35-7d51-80d0-978a660e9e1f.jsonl',
  )
  expect(
    home
      .uses('codex')
      .map(({ sessionId, model, requests, repository, branch, tokens: { input, output, cache_read } }) => [
        ...[sessionId, model, requests, repository, branch],
        { input, output, cache_read },
      ]),
  ).toEqual([
    [
      ...['01a1fa18-3e35-7d51-80d0-978a660e9e1f', 'gpt-5.3-codex', 2, 'acme/widgets', 'master'],
      { input: 1_030, output: 603, cache_read: 3_000 },
    ],
    [
      ...['01a1fa18-3e35-7d51-80d0-978a660e9e1f', 'gpt-5.4', 1, 'acme/widgets', 'master'],
      { input: 530, output: 303, cache_read: 1_500 },
    ],
  ])
})

test('a message of Gemini CLI that is written again when its tool answered counts once', () => {
  home.copy(
    'cases/gemini-cli-tool/session-2026-11-20T17-55-98d86c96.jsonl',
    '.gemini/tmp/gproj/chats/session-2026-11-20T17-55-98d86c96.jsonl',
  )
  home.write('.gemini/tmp/gproj/.project_root', '/home/dev/gproj')
  const [use, ...others] = home.uses('gemini-cli')
  expect(others).toEqual([])
  expect(use!.folder).toBe('/home/dev/gproj')
  expect(figuresOf(use!)).toEqual({
    agent_harness: 'gemini-cli',
    session_id: '98d86c96-b199-4005-845d-e04841cd8c49',
    model: 'gemini-2.5-pro',
    requests: 2,
    input: 3_001 + 3_002 - 2 * 1_200,
    output: 81 + 40 + 82 + 40,
    cache_read: 2_400,
    cache_write: 0,
    cache_write_1h: 0,
  })
})

test('a session of Qwen Code includes the calls of its sub-agents, and counts once although the ledger contains it too', () => {
  const session = '947158b7-b45d-419a-9d7d-25a1ee1e37f7'
  home.copy(`cases/qwen-code/${session}.jsonl`, `.qwen/projects/-home-dev-qproj/chats/${session}.jsonl`)
  const expected = {
    agent_harness: 'qwen-code',
    session_id: session,
    model: 'qwen3-coder-plus',
    requests: 2,
    input: 3_603 - 2_048,
    output: 183,
    cache_read: 2_048,
    cache_write: 0,
    cache_write_1h: 0,
  }
  expect(home.uses('qwen-code').map(figuresOf)).toEqual([expected])
  home.copy('cases/qwen-code/usage_record.jsonl', '.qwen/usage_record.jsonl')
  expect(home.uses('qwen-code').map(figuresOf)).toEqual([expected])
})

test('a session of Qwen Code without a file is counted from the ledger', () => {
  home.copy('cases/qwen-code/usage_record.jsonl', '.qwen/usage_record.jsonl')
  const [use] = home.uses('qwen-code')
  expect(figuresOf(use!)).toMatchObject({ requests: 2, input: 3_603 - 2_048, output: 183, cache_read: 2_048 })
  expect(use!.requestsAbove).toMatchObject([{ threshold: 32_000, input: 0, output: 0 }])
})

test('a sum of Qwen Code with more tokens than a long request has does not show whether one was long', () => {
  const models = { 'qwen3-coder-plus': { requests: 3, inputTokens: 200_001, outputTokens: 5, cachedTokens: 0 } }
  const session = { sessionId: 's', startTime: 1_764_000_000_000, models }
  home.writeLines('.qwen/usage_record.jsonl', [session])
  expect(home.uses('qwen-code')[0]!.requestsAbove).toMatchObject([{ threshold: 256_000, input: 0 }])
})

const OPENCODE_FIGURES = {
  agent_harness: 'opencode',
  session_id: 'ses_e05e51a42ffe3S940pOzISZ943',
  model: 'gpt-mock',
  requests: 1,
  input: 780,
  output: 94,
  cache_read: 1_024,
  cache_write: 0,
  cache_write_1h: 0,
}

test('what opencode has only in the log of its open database is read, and nothing there changes', () => {
  const database = writeOpencode()
  try {
    const folder = join(home.folder, '.local/share/opencode')
    const bytes = () => readdirSync(folder).map((name) => [name, Bun.hash(readFileSync(join(folder, name)))])
    const before = bytes().filter(([name]) => name !== 'opencode.db-shm')
    const [use, ...others] = home.uses('opencode')
    expect(others).toEqual([])
    expect(figuresOf(use!)).toEqual(OPENCODE_FIGURES)
    expect(use!.reportedCost).toBe('0.0010704')
    expect(bytes().filter(([name]) => name !== 'opencode.db-shm')).toEqual(before)
  } finally {
    database.close()
  }
})

test('a database that opencode has closed is read without leaving a file beside it', () => {
  writeOpencode().close(true)
  expect(home.uses('opencode').map(figuresOf)).toEqual([OPENCODE_FIGURES])
  expect(readdirSync(join(home.folder, '.local/share/opencode'))).toEqual(['opencode.db'])
})
