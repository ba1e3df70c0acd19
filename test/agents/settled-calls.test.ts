/** Calls stay with the session that they belonged to first, whichever files are removed. */
import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CALL_DEFAULTS, type ModelCall } from '../../src/agents/model-calls.ts'
import { SettledCalls } from '../../src/agents/settled-calls.ts'
import { AgentHome } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const MEMORY = '.local/state/tally/settled-calls/claude-code.jsonl'
const remove = (path: string) => rmSync(join(home.folder, path), { recursive: true, force: true })

/** A line of Claude Code, in versions whose forks do not name the session that they copy. */
const claudeLine = (session: string, id: string, minute: number) => ({
  ...{ type: 'assistant', requestId: `r-${id}`, sessionId: session, cwd: '/nowhere' },
  timestamp: new Date(Date.parse('2026-11-20T10:00:00Z') + minute * 60_000).toISOString(),
  message: { id, model: 'claude-sonnet-4-5', usage: { input_tokens: 100, output_tokens: 10 } },
})
const project = (session: string) => `.claude/projects/p/${session}.jsonl`
const requests = () => home.uses('claude-code').map(({ sessionId, requests }) => [sessionId, requests])

/** The calls a and b of the original, which the fork copied before its own. */
function writeFork(): void {
  home.writeLines(project('original'), [claudeLine('original', 'a', 1), claudeLine('original', 'b', 2)])
  home.writeLines(project('fork'), [
    ...[
      claudeLine('fork', 'a', 1),
      claudeLine('fork', 'b', 2),
      claudeLine('fork', 'c', 30),
      claudeLine('fork', 'd', 31),
    ],
  ])
}

const SETTLED = [
  ['original', 2],
  ['fork', 2],
]

describe('a fork that copied calls without naming their session', () => {
  test('does not count them when the file of that session is gone, also without the cache', () => {
    writeFork()
    expect(requests()).toEqual(SETTLED)
    remove(project('original'))
    expect(requests()).toEqual(SETTLED)
    remove('.cache')
    expect(requests()).toEqual(SETTLED)
  })

  test('does not count them if it was made and that session removed between two scans', () => {
    writeFork()
    remove(project('fork'))
    expect(requests()).toEqual([['original', 2]])
    writeFork()
    remove(project('original'))
    expect(requests()).toEqual(SETTLED)
  })

  test('counts them if it was read first, since they have been reported then, and nobody counts them twice', () => {
    writeFork()
    remove(project('original'))
    expect(requests()).toEqual([['fork', 4]])
    writeFork()
    expect(requests()).toEqual([['fork', 4]])
  })

  test('does not count them in opencode when the original is deleted', () => {
    const path = join(home.folder, '.local/share/opencode/opencode.db')
    mkdirSync(dirname(path), { recursive: true })
    using database = new Database(path)
    database.run('CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT)')
    database.run('CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT)')
    const add = (id: string, session: string, minute: number) => {
      const created = Date.parse('2026-11-20T10:00:00Z') + minute * 60_000
      const tokens = { input: 10, output: 5, reasoning: 2, cache: { read: 3, write: 4 } }
      const data = {
        role: 'assistant',
        ...{ modelID: 'm', cost: 0 },
        providerID: 'p',
        tokens,
        time: { created, completed: created + 9 },
      }
      database.query('INSERT INTO message VALUES (?, ?, ?, ?)').run(id, session, created, JSON.stringify(data))
    }
    add('1', 'original', 1)
    add('2', 'original', 2)
    for (const [id, minute] of Object.entries({ 3: 1, 4: 2, 5: 30 })) add(id, 'zfork', minute)
    const uses = () => home.uses('opencode').map(({ sessionId, requests }) => [sessionId, requests])
    const settled = [
      ['original', 2],
      ['zfork', 1],
    ]
    expect(uses()).toEqual(settled)
    database.run("DELETE FROM message WHERE session_id = 'original'")
    expect(uses()).toEqual(settled)
  })
})

describe('a fork of Codex with running totals whose parent is gone', () => {
  const [ONE, TWO] = ['11111111-0000-4000-8000-000000000000', '22222222-0000-4000-8000-000000000000'] as const
  const rollout = (id: string) => `.codex/sessions/rollout-${id}.jsonl`
  const line = (type: string, seconds: number, payload: object) => ({
    ...{ type, timestamp: new Date(Date.parse('2026-11-20T10:00:00Z') + seconds * 1_000).toISOString(), payload },
  })
  const total = (seconds: number, input: number, last: number) => {
    const usage = (tokens: number) => ({
      ...{ input_tokens: tokens, cached_input_tokens: 0, output_tokens: 1, total_tokens: tokens + 1 },
    })
    const info = { total_token_usage: usage(input), last_token_usage: usage(last) }
    return line('event_msg', seconds, { type: 'token_count', info })
  }
  const original = () => [
    ...[line('session_meta', 0, { id: ONE }), line('turn_context', 1, { model: 'm' })],
    ...[total(60, 100, 100), total(120, 250, 150)],
  ]
  // What it inherits takes it longer than its own first answer, so that the times show nothing.
  const fork = () => [
    ...[line('session_meta', 300, { id: TWO, forked_from_id: ONE }), line('turn_context', 300, { model: 'm' })],
    ...[total(310, 100, 100), total(320, 250, 150), total(330, 300, 50), total(340, 370, 70)],
  ]
  const used = () => {
    const { uses, damage } = home.scan({ agents: ['codex'] })
    return [uses.map(({ sessionId, requests, tokens }) => [sessionId, requests, tokens.input]), damage]
  }

  test('has the calls that it had while the parent was there', () => {
    home.writeLines(rollout(ONE), original())
    home.writeLines(rollout(TWO), fork())
    const settled = used()
    expect(settled[0]).toContainEqual([TWO, 2, 120])
    remove(rollout(ONE))
    expect(used()).toEqual([[[TWO, 2, 120]], []])
  })

  test('has its own calls, if the parent was read before it was forked and removed', () => {
    home.writeLines(rollout(ONE), original())
    used()
    remove(rollout(ONE))
    home.writeLines(rollout(TWO), fork())
    expect(used()).toEqual([[[TWO, 2, 120]], []])
  })
})

describe('the memory of settled calls', () => {
  const calls = (session: string, count: number): ModelCall[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ ...CALL_DEFAULTS, key: `msg_${session}_${index} req_${index}`, session, at: 1, model: 'm' },
      counts: { input: 1, output: 1, cache_read: 0, cache_write: 0, cache_write_1h: 0 },
    }))
  const settle = (...own: ModelCall[][]) => {
    const settled = new SettledCalls(home.environment, 'claude-code')
    const sessions = settled.settle(own.flat()).map(({ session }) => session)
    settled.save()
    return sessions
  }
  const path = () => join(home.folder, MEMORY)

  test('has less than a megabyte for 100,000 calls, and nothing that can be read of them', () => {
    settle(...Array.from({ length: 500 }, (_, index) => calls(`session-${index}`, 200)))
    expect(statSync(path()).size).toBeLessThan(900_000)
    expect(statSync(path()).mode & 0o777).toBe(0o600)
    expect(readFileSync(path(), 'utf8')).not.toContain('msg_')
  })

  test('forgets the sessions first that have not changed for longest', () => {
    settle(calls('old', 300_000))
    settle(calls('recent', 150_000))
    settle(calls('new', 100_000))
    const sessions = readFileSync(path(), 'utf8').match(/(?<=^\[")\w+/gm)
    expect(sessions).toEqual(['recent', 'new'])
  })

  test('keeps calls whole, and forgets those first that were used longest ago, whatever the order of sessions', () => {
    const sessions = ['recent', 'new', 'old'].map((session, index) => {
      const at = [2, 3, 1][index]!
      return { session, calls: calls(session, 12_000).map((call) => ({ ...call, at })) }
    })
    for (let scan = 0; scan < 2; scan += 1) {
      const settled = new SettledCalls(home.environment, 'claude-code')
      settled.keep(sessions)
      settled.save()
      const kept = new SettledCalls(home.environment, 'claude-code')
      expect(sessions.map(({ session }) => kept.kept(session).length)).toEqual([12_000, 12_000, 0])
      expect(kept.kept('new')).toEqual(sessions[1]!.calls)
    }
  })

  test('keeps what another scan remembered meanwhile', () => {
    const first = new SettledCalls(home.environment, 'claude-code')
    first.settle(calls('one', 2))
    settle(calls('two', 2))
    first.save()
    const copies = [...calls('one', 2), ...calls('two', 2)].map((call) => ({ ...call, session: 'fork' }))
    expect(settle(copies)).toEqual(['one', 'one', 'two', 'two'])
  })

  test('loses no more than the damaged lines, and settles no call to a session that never was', () => {
    settle(calls('one', 2))
    settle(calls('two', 2))
    const copies = ['one', 'two'].flatMap((session) => calls(session, 2)).map((call) => ({ ...call, session: 'fork' }))
    const whole = readFileSync(path())
    for (let at = 0; at < whole.length; at += 1) {
      for (const byte of [whole[at]! ^ 1, 0x22, 0x0a]) {
        writeFileSync(path(), whole.with(at, byte))
        const sessions = new SettledCalls(home.environment, 'claude-code').settle(copies).map(({ session }) => session)
        expect([...new Set(sessions)].filter((session) => !['one', 'two', 'fork'].includes(session))).toEqual([])
        expect(sessions.filter((session) => session === 'fork').length).toBeLessThanOrEqual(whole[at] === 0x0a ? 4 : 2)
      }
    }
  })

  test('is optional: without it, calls are settled from the files that there are', () => {
    writeFork()
    requests()
    remove(MEMORY)
    expect(requests()).toEqual(SETTLED)
    remove('.local')
    home.write('.local', 'a file where the folder should be')
    remove('.cache')
    expect(requests()).toEqual(SETTLED)
  })
})
