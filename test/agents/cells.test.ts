/** A session's use is the sum of cells: a place and a UTC quarter of an hour each. */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { AgentName, Cell, Counts } from '../../src/agents/agent.ts'
import { CALL_DEFAULTS, inputSideOf, type ModelCall } from '../../src/agents/model-calls.ts'
import { sumCalls, sumCells } from '../../src/agents/session-sums.ts'
import { REQUEST_THRESHOLDS } from '../../src/lib/request-thresholds.ts'
import { AgentHome, FIXTURES, withCells } from '../support/agent-home.ts'

const START = Date.parse('2026-11-20T12:00:00Z')
const QUARTER_MS = 15 * 60_000
const KINDS = ['input', 'output', 'cache_read', 'cache_write', 'cache_write_1h'] as const

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const count = fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 0, max: 400_000 }))
const counts = fc.record({
  ...{ input: count, output: count.map((number) => number + 1) },
  ...{ cache_read: count, cache_write: count, cache_write_1h: count },
})
const aCall: fc.Arbitrary<ModelCall> = fc.record({
  ...{ key: fc.constant(''), session: fc.constant('s'), model: fc.constant('claude-sonnet-4-5') },
  ...{ owner: fc.constant(''), provider: fc.constant(''), isSidechain: fc.boolean() },
  activeMs: fc.option(fc.nat()),
  at: fc.integer({ min: 0, max: 4 * 60 * 60_000 }).map((ms) => START + ms),
  counts,
  cost: fc.constantFrom('0.1', '1e-7', '0.123456789012345678', '0.2'),
  folder: fc.constant('/nowhere'),
  branch: fc.constantFrom('main', 'feature/ACME-1', ''),
  isSum: fc.boolean(),
  tools: fc.constantFrom<Record<string, number>>({}, { web_search: 2 }, { constructor: 1 }),
})

const PLACES = new Map(['main', 'feature/ACME-1', ''].map((branch) => [branch, { repository: null, branch }]))
const summed = (calls: ModelCall[]) => sumCalls(calls, ({ branch }) => PLACES.get(branch)!)[0]!.cells()

function plus(all: Counts[]): Counts {
  const sum = { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0 }
  for (const each of all) for (const kind of KINDS) sum[kind] += each[kind]
  return sum
}

/** What a sum of calls must say of a threshold: undefined if a sum of several calls could contain a longer one. */
function above(calls: ModelCall[], threshold: number): Counts | undefined {
  const longer = calls.filter((call) => inputSideOf(call.counts) > threshold)
  return longer.some(({ isSum }) => isSum) ? undefined : plus(longer.map((call) => call.counts))
}

/** What a cell says of a threshold: zero if it is above one that no request exceeds. */
function said({ requestsAbove }: Pick<Cell, 'requestsAbove'>, threshold: number): Counts | undefined {
  const zero = requestsAbove.find((each) => inputSideOf(each) + each.output === 0)
  if (zero && zero.threshold <= threshold) return plus([])
  const found = requestsAbove.find((each) => each.threshold === threshold)
  return found && plus([found])
}

test('each call is in the cell of its quarter and place, and the cells add up to exactly the calls', () => {
  fc.assert(
    fc.property(fc.array(aCall, { minLength: 1, maxLength: 40 }), (calls) => {
      const cells = summed(calls)
      const quarterOf = (at: number) => Math.floor(at / QUARTER_MS)
      for (const cell of cells) {
        const own = calls.filter(
          ({ at, branch }) => quarterOf(at) === quarterOf(cell.firstAt) && branch === cell.place.branch,
        )
        expect([cell.firstAt, cell.lastAt]).toEqual([
          Math.min(...own.map(({ at }) => at)),
          Math.max(...own.map(({ at }) => at)),
        ])
        expect([cell.tokens, cell.requests]).toEqual([plus(own.map((call) => call.counts)), own.length])
        for (const threshold of REQUEST_THRESHOLDS) expect(said(cell, threshold)).toEqual(above(own, threshold))
      }
      const sum = sumCells(cells)
      expect([sum.tokens, sum.requests]).toEqual([plus(calls.map((call) => call.counts)), calls.length])
      const times = calls.flatMap(({ activeMs }) => activeMs ?? [])
      expect(sum.activeMs).toBe(times.length === 0 ? null : times.reduce((all, each) => all + each))
      for (const threshold of REQUEST_THRESHOLDS) expect(said(sum, threshold)).toEqual(above(calls, threshold))
      // As if all calls had been made in one place and quarter.
      const at = Math.min(...calls.map((call) => call.at))
      const [whole] = summed(calls.map((call) => ({ ...call, at, branch: 'main' })))
      expect([sum.tools, sum.reportedCost, sum.requestsAbove]).toEqual([
        whole!.tools,
        whole!.reportedCost,
        whole!.requestsAbove,
      ])
    }),
  )
})

test('a cost that one call lacks is unknown of its cell and of the sum', () => {
  const call = (at: number, cost: string): ModelCall => ({
    ...{ ...CALL_DEFAULTS, key: '', session: 's', model: 'm', at, cost },
    counts: { input: 1, output: 1, cache_read: 0, cache_write: 0, cache_write_1h: 0 },
  })
  const cells = summed([call(START, '0.1'), call(START + QUARTER_MS, '')])
  expect(cells.map(({ reportedCost }) => reportedCost)).toEqual(['0.1', null])
  expect(sumCells(cells).reportedCost).toBeNull()
})

/** A line as Claude Code writes it. */
function line(id: string, at: string, cwd: string, gitBranch?: string, more: object = {}) {
  return {
    ...{ type: 'assistant', requestId: `r-${id}`, sessionId: 's', timestamp: at, cwd, gitBranch, ...more },
    message: { id, model: 'claude-sonnet-4-5', usage: { input_tokens: 100, output_tokens: 10 } },
  }
}

const placesOf = (cells: readonly Cell[]) =>
  cells.map(({ firstAt, place: { repository, branch }, requests }) => [
    ...[new Date(firstAt).toISOString().slice(11, 16), repository, branch, requests],
  ])

/** A repository with its remote, and what was checked out when. */
function repository(name: string, remote: string, checkouts: [at: string, from: string, to: string][] = []): string {
  const folder = join(home.folder, name)
  mkdirSync(join(folder, 'src'), { recursive: true })
  home.write(`${name}/.git/config`, `[remote "origin"]\n\turl = ${remote}\n`)
  home.write(`${name}/.git/HEAD`, `ref: refs/heads/${checkouts.at(-1)?.[2] ?? 'main'}\n`)
  const log = checkouts.map(
    ([at, from, to]) => `0 0 Ada <a@b> ${Date.parse(at) / 1_000} +0000\tcheckout: moving from ${from} to ${to}\n`,
  )
  home.write(`${name}/.git/logs/HEAD`, log.join(''))
  return folder
}

describe('the cells of a session of Claude Code', () => {
  const cells = (lines: object[], subagent: object[] = []) => {
    home.writeLines('.claude/projects/p/s.jsonl', lines)
    if (subagent.length > 0) home.writeLines('.claude/projects/p/s/subagents/agent-1.jsonl', subagent)
    const [use, ...others] = home.uses('claude-code')
    expect(others).toEqual([])
    // The same from the cache.
    expect(withCells(home.uses('claude-code'))).toEqual(withCells([use!]))
    return use!
  }

  test('follow its branches, folders and days, and its totals stay those of the whole', () => {
    const web = repository('web', 'https://example.com/acme/web')
    const api = repository('api', 'https://example.com/acme/api')
    const use = cells([
      line('a', '2026-11-20T12:01:00Z', web, 'main'),
      line('b', '2026-11-20T12:14:59.999Z', join(web, 'src'), 'main'),
      line('c', '2026-11-20T12:15:00Z', web, 'main'),
      line('d', '2026-11-20T12:16:00Z', web, 'feature/ACME-1'),
      line('e', '2026-11-21T12:16:00Z', api, 'main'),
    ])
    expect(placesOf(use.cells())).toEqual([
      ['12:01', 'acme/web', 'main', 2],
      ['12:15', 'acme/web', 'main', 1],
      ['12:16', 'acme/web', 'feature/ACME-1', 1],
      ['12:16', 'acme/api', 'main', 1],
    ])
    expect(use.days.map(({ requests }) => requests)).toEqual([3, 1, 1])
    expect([use.repository, use.branch, use.requests, use.tokens.input]).toEqual(['acme/api', 'main', 5, 500])
    expect(use.summary).toBe('Claude Code in acme/api')
  })

  test('include those of sub-agents in worktrees', () => {
    const web = repository('web', 'https://example.com/acme/web')
    home.write('web/.git/worktrees/fix/commondir', '../..\n')
    home.write('web/.git/worktrees/fix/HEAD', 'ref: refs/heads/fix\n')
    home.write('fix/.git', `gitdir: ${join(web, '.git/worktrees/fix')}\n`)
    const use = cells(
      [line('a', '2026-11-20T12:01:00Z', web, 'main')],
      [line('b', '2026-11-20T12:02:00Z', join(home.folder, 'fix'), undefined, { isSidechain: true })],
    )
    expect(placesOf(use.cells())).toEqual([
      ['12:01', 'acme/web', 'main', 1],
      ['12:02', 'acme/web', 'fix', 1],
    ])
  })

  test('stay where they were when their work tree is removed, also for another version of the cache', () => {
    const fix = repository('web/.claude/worktrees/fix', 'https://example.com/acme/web')
    const other = repository('other', 'https://example.com/acme/other')
    const lines = [line('a', '2026-11-20T12:01:00Z', fix, 'fix'), line('b', '2026-11-20T12:20:00Z', other, 'main')]
    expect(placesOf(cells(lines).cells())[0]).toEqual(['12:01', 'acme/web', 'fix', 1])
    rmSync(join(home.folder, 'web'), { recursive: true })
    rmSync(join(home.folder, '.cache'), { recursive: true })
    expect(placesOf(cells(lines).cells())[0]).toEqual(['12:01', 'acme/web', 'fix', 1])
  })

  test('have no branch where none was checked out, although others have one', () => {
    const use = cells([
      line('a', '2026-11-20T12:01:00Z', '/nowhere', 'main'),
      line('b', '2026-11-20T12:02:00Z', '/nowhere', 'HEAD'),
    ])
    expect(placesOf(use.cells())).toEqual([
      ['12:01', null, 'main', 1],
      ['12:02', null, null, 1],
    ])
    expect(use.branch).toBe('main')
  })
})

describe('the cells of a thread of Codex', () => {
  const record = (type: string, at: string, payload: object) => ({ type, timestamp: at, payload })
  const response = (id: string, at: string) =>
    record('token_usage_record', at, {
      ...{ response_id: id, thread_id: 't' },
      usage: { input_tokens: 100, cached_input_tokens: 0, output_tokens: 10, total_tokens: 110 },
    })
  const turn = (at: string, cwd: string) => record('turn_context', at, { cwd, model: 'gpt-5.4' })
  const git = { branch: 'main', repository_url: 'https://example.com/acme/web' }
  const meta = (cwd: string) => record('session_meta', '2026-11-20T12:00:00Z', { id: 't', cwd, git })
  const cells = (records: object[]) => {
    home.writeLines('.codex/sessions/rollout-1.jsonl', records)
    return placesOf(home.uses('codex')[0]!.cells())
  }

  test('have the branch of the time of each call, although only the first one is recorded', () => {
    const web = repository('web', git.repository_url, [
      ['2026-11-19T12:00:00Z', 'old', 'main'],
      ['2026-11-20T12:03:00Z', 'main', 'feature/ACME-1'],
    ])
    const used = cells([
      meta(web),
      turn('2026-11-20T12:00:00Z', web),
      response('a', '2026-11-20T12:02:00Z'),
      turn('2026-11-20T12:04:00Z', web),
      response('b', '2026-11-20T12:05:00Z'),
    ])
    expect(used).toEqual([
      ['12:02', 'acme/web', 'main', 1],
      ['12:05', 'acme/web', 'feature/ACME-1', 1],
    ])
  })

  test('have the branches that the reflog had of their time, also when it and the folder are gone', () => {
    const web = repository('web', git.repository_url, [
      ['2026-11-20T12:03:00Z', 'main', 'feature/ACME-1'],
      ['2026-11-20T12:30:00Z', 'feature/ACME-1', 'feature/ACME-2'],
    ])
    const records = [
      ...[meta(web), turn('2026-11-20T12:00:00Z', web), response('a', '2026-11-20T12:02:00Z')],
      ...[response('b', '2026-11-20T12:05:00Z'), response('c', '2026-11-20T12:35:00Z')],
    ]
    const before = cells(records)
    expect(before.map(([, , branch]) => branch)).toEqual(['main', 'feature/ACME-1', 'feature/ACME-2'])
    home.write('web/.git/logs/HEAD', '')
    expect(cells([...records, turn('2026-11-20T12:36:00Z', web)])).toEqual(before)
    rmSync(web, { recursive: true })
    expect(cells([...records, turn('2026-11-20T12:37:00Z', web)])).toEqual(before)
  })

  test('have the branch before the checkout that the agent did right after a call', () => {
    const web = repository('web', git.repository_url, [['2026-11-20T12:03:00Z', 'main', 'feature/ACME-1']])
    const used = cells([
      meta(web),
      turn('2026-11-20T12:00:00Z', web),
      response('a', '2026-11-20T12:03:00.400Z'),
      response('b', '2026-11-20T12:03:01.100Z'),
    ])
    expect(used).toEqual([
      ['12:03', 'acme/web', 'main', 1],
      ['12:03', 'acme/web', 'feature/ACME-1', 1],
    ])
  })

  test('have the recorded repository and branch in the first folder only', () => {
    const api = repository('api', 'https://example.com/acme/api')
    const used = cells([
      meta('/gone'),
      turn('2026-11-20T12:00:00Z', '/gone'),
      response('a', '2026-11-20T12:02:00Z'),
      turn('2026-11-20T12:03:00Z', api),
      response('b', '2026-11-20T12:04:00Z'),
      turn('2026-11-20T12:05:00Z', '/gone'),
      response('c', '2026-11-20T12:20:00Z'),
    ])
    expect(used).toEqual([
      ['12:02', 'acme/web', 'main', 1],
      ['12:04', 'acme/api', 'main', 1],
      ['12:20', 'acme/web', 'main', 1],
    ])
  })
})

describe('after a checkout within the same second', () => {
  const CHECKOUT = '2026-11-20T12:03:00Z'
  const checkedOut = () => repository('web', 'https://example.com/acme/web', [[CHECKOUT, 'main', 'feature/ACME-1']])
  const BEFORE = ['12:03', 'acme/web', 'main', 1]
  const AFTER = ['12:03', 'acme/web', 'feature/ACME-1', 1]
  const ms = (later: number) => Date.parse(CHECKOUT) + later
  const places = (agent: AgentName) => placesOf(home.uses(agent)[0]!.cells())

  test('a call of opencode, which records when calls start, has the new branch', () => {
    const web = checkedOut()
    const tokens = { input: 100, output: 10, reasoning: 0, cache: { read: 0, write: 0 } }
    const message = { sessionID: 's', role: 'assistant', modelID: 'gpt-5.4', cost: 0, path: { cwd: web }, tokens }
    for (const [id, created] of [ms(-100), ms(400)].entries()) {
      home.write(
        `.local/share/opencode/storage/message/s/${id}.json`,
        JSON.stringify({ ...message, time: { created } }),
      )
    }
    expect(places('opencode')).toEqual([['12:02', ...BEFORE.slice(1)], AFTER])
  })

  test('a call of Pi has it if it starts after it and ends later, otherwise it may have asked for it', () => {
    const line = (type: string, at: number, more: object) => ({ type, timestamp: new Date(at).toISOString(), ...more })
    const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 110 }
    const of = { model: 'gpt-5.4', provider: 'openai', usage }
    home.writeLines('.pi/agent/sessions/p/s.jsonl', [
      line('session', ms(-9_000), { version: 3, id: 's', cwd: checkedOut() }),
      line('message', ms(900), { message: { role: 'assistant', timestamp: ms(400), ...of } }),
      line('message', ms(1_900), { message: { role: 'assistant', timestamp: ms(-100), ...of } }),
      line('message', ms(1_900), { message: { role: 'assistant', timestamp: ms(500), ...of } }),
      line('usage', ms(900), { kind: 'title', ...of }),
    ])
    expect(places('pi')).toEqual([['12:02', 'acme/web', 'main', 3], AFTER])
  })

  test('a call of Kimi Code, which records when calls end, does not have it', () => {
    const usage = { inputOther: 1, output: 1, inputCacheRead: 0, inputCacheCreation: 0 }
    home.write('.kimi-code/sessions/w/s/state.json', JSON.stringify({ cwd: checkedOut() }))
    home.writeLines('.kimi-code/sessions/w/s/agents/main/wire.jsonl', [
      { type: 'llm.request', modelAlias: 'fast', model: 'gpt-5.4', time: ms(300) },
      { type: 'usage.record', model: 'fast', usage, time: ms(400) },
      { type: 'usage.record', model: 'fast', usage: { ...usage, output: 2 }, time: ms(1_400) },
    ])
    expect(places('kimi-code')).toEqual([BEFORE, AFTER])
  })
})

test('the cells of agents that record the branch of the start have that of a checkout before the first request', () => {
  const cwd = repository('web', 'https://example.com/acme/web', [['2026-11-20T12:03:00Z', 'main', 'feature/ACME-1']])
  const place = { cwd, branch: 'main', repository: 'acme/web', hostType: 'github' }
  const usage = { model: 'm', inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  const [start, later] = ['2026-11-20T12:00:00Z', '2026-11-20T12:04:00Z']
  home.writeLines('.copilot/session-state/s/events.jsonl', [
    { type: 'session.start', data: { sessionId: 's', startTime: start, context: place }, timestamp: start },
    { type: 'session.usage_record', data: { usage }, timestamp: later },
  ])
  const database = new Database(join(home.folder, '.copilot/session-store.db'))
  database.exec(readFileSync(join(FIXTURES, 'cases/github-copilot/session-store.sql'), 'utf8').split('INSERT')[0]!)
  database.run('INSERT INTO schema_version VALUES (8)')
  database.run(`INSERT INTO assistant_usage_events (session_id, model, input_tokens, output_tokens, cache_read_tokens,
    cache_write_tokens, created_at) VALUES ('s', 'm', 1, 1, 0, 0, '${later}')`)
  database.close()
  const [branch] = home.uses('github-copilot').flatMap((use) => use.cells().map((cell) => cell.place.branch))
  expect(branch).toBe('feature/ACME-1')

  home.write(
    '.cline/data/sessions/s/s.json',
    JSON.stringify({ cwd, started_at: start, metadata: { git: { branch: 'main' } } }),
  )
  const message = (id: string, at: string) => {
    const metrics = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
    return { id, ts: Date.parse(at), role: 'assistant', metrics, modelInfo: { id: 'm', provider: 'openai' } }
  }
  const messages = [message('a', '2026-11-20T12:02:00Z'), message('b', later)]
  home.write('.cline/data/sessions/s/s.messages.json', JSON.stringify({ version: 1, messages }))
  expect(placesOf(home.uses('cline')[0]!.cells())).toEqual([
    ['12:02', 'acme/web', 'main', 1],
    ['12:04', 'acme/web', 'feature/ACME-1', 1],
  ])
})
