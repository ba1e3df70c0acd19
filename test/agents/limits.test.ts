/** The limits of plans, as agents say them: what is read, what is sent and for how long, and what is not understood. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Limit } from '../../src/agents/agent.ts'
import { claudeLimits, codexLimits, limitOf, sentLimits } from '../../src/agents/limits.ts'
import { lastStatusLine, runStatusLine } from '../../src/agents/status-line.ts'
import { AgentHome, FIXTURES } from '../support/agent-home.ts'

const MINUTE = 60_000
const at = Date.parse('2026-11-20T10:01:00.000Z')
const five = Date.parse('2026-11-20T14:30:00Z')
const week = Date.parse('2026-11-24T09:00:00Z')
const STATUS_LINE = readFileSync(join(FIXTURES, 'synthetic/claude-code-status-line.json'), 'utf8')

const unknownIn = (read: (onUnknown: Parameters<typeof codexLimits>[2]) => Limit[]) => {
  const names: unknown[] = []
  const limits = read((_, kind) => names.push((kind as { name?: string }).name))
  return { limits, names }
}

describe('of Codex', () => {
  let home: AgentHome
  beforeEach(() => {
    home = new AgentHome()
  })
  afterEach(() => home.remove())

  const ROLLOUT = '.codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-01a22850-0000-7c51-9b91-000000000001.jsonl'
  const limits = () => home.scan().readings.find(({ agent }) => agent === 'codex')!.limits

  test('are the latest of each limit and window in all rollouts, also from the cache', () => {
    home.copy('synthetic/codex-rate-limits.jsonl', ROLLOUT)
    const expected = [
      {
        ...{ name: 'codex', windowMinutes: 300, usedPercent: 14.25, resetsAt: five },
        ...{ plan: 'codex:pro', creditsLeft: 11.75, at },
      },
      {
        ...{ name: 'codex', windowMinutes: 10_080, usedPercent: 40.5, resetsAt: week },
        ...{ plan: 'codex:pro', creditsLeft: 11.75, at },
      },
      {
        ...{ name: 'codex_other', windowMinutes: 300, usedPercent: 3, resetsAt: five },
        ...{ plan: 'codex:pro', creditsLeft: null, at: at + 1_000 },
      },
    ]
    expect(limits()).toEqual(expected)
    expect(limits()).toEqual(expected)
    const earlier = readFileSync(join(FIXTURES, 'synthetic/codex-rate-limits.jsonl'), 'utf8')
      .replaceAll('2026-11-20T10', '2026-11-20T09')
      .replaceAll('000000000001', '000000000003')
    home.write(ROLLOUT.replace('000000000001', '000000000003'), earlier.replaceAll('14.25', '99'))
    expect(limits()).toEqual(expected)
    expect(home.scan().damage).toEqual([])
    expect(home.uses('codex')).toHaveLength(2)
  })

  test('are absent with an API key, and what is not understood is named with its sessions', () => {
    home.copy('agents/codex/transcripts', '.codex/sessions')
    expect(limits()).toBeUndefined()
    home.copy('synthetic/codex-rate-limits.jsonl', ROLLOUT)
    const text = readFileSync(join(home.folder, ROLLOUT), 'utf8')
    home.write(
      ROLLOUT,
      text
        .replaceAll('"window_minutes":300', '"window_minutes":"5h"')
        .replaceAll('"individual_limit":null', '"individual_limit":{"used_percent":1}'),
    )
    const { readings } = home.scan()
    expect(readings.find(({ agent }) => agent === 'codex')).toMatchObject({
      limits: [{ windowMinutes: 10_080 }],
      notRead: [
        { reason: 'unknown_count', name: 'rate_limits.primary', count: 1 },
        { reason: 'unknown_count', name: 'rate_limits.individual_limit', count: 1 },
      ],
    })
    expect(home.scan().uses.filter(({ sessionId }) => sessionId.endsWith('0001'))).toMatchObject([{ requests: 1 }])
  })

  test('have credits only where the account has some, as a text or a number', () => {
    const creditsOf = (credits: object | null) =>
      codexLimits({ credits, primary: { used_percent: 1, window_minutes: 300 } }, at, () => {})[0]!.creditsLeft
    expect(creditsOf({ has_credits: true, unlimited: false, balance: '0' })).toBe(0)
    expect(creditsOf({ has_credits: true, unlimited: false, balance: 7.5 })).toBe(7.5)
    expect(creditsOf({ has_credits: true, unlimited: true, balance: '7' })).toBeNull()
    expect(creditsOf({ has_credits: true, unlimited: false, balance: 'many' })).toBeNull()
    expect(creditsOf({ has_credits: true, unlimited: false, balance: null })).toBeNull()
    expect(creditsOf({ has_credits: false, unlimited: false, balance: '3' })).toBeNull()
    expect(creditsOf(null)).toBeNull()
  })
})

test('Claude Code names the window in the limit, and a limit that it names otherwise is not understood', () => {
  const { limits, names } = unknownIn((onUnknown) => claudeLimits(JSON.parse(STATUS_LINE), at, onUnknown))
  expect(names).toEqual([])
  expect(limits).toMatchObject([
    { name: 'five_hour', windowMinutes: 300, usedPercent: 23.5, resetsAt: five },
    { name: 'seven_day', windowMinutes: 10_080, usedPercent: 41.2, resetsAt: week },
  ])
  const passed = {
    rate_limits: {
      five_hour: null,
      seven_day_opus: { used_percentage: 5, resets_at: '2026-11-24T09:00:00Z' },
      seven_day: { used_percentage: '5' },
      monthly: { used_percentage: 5, resets_at: 0 },
    },
  }
  const odd = unknownIn((onUnknown) => claudeLimits(passed, at, onUnknown))
  expect(odd.limits).toMatchObject([{ name: 'seven_day_opus', windowMinutes: 10_080, resetsAt: week }])
  expect(odd.names).toEqual(['rate_limits.seven_day', 'rate_limits.monthly'])
  for (const nothing of [{}, { rate_limits: null }, { rate_limits: {} }, [], null, 'x']) {
    expect(unknownIn((onUnknown) => claudeLimits(nothing, at, onUnknown))).toEqual({ limits: [], names: [] })
  }
})

test('a reading is sent within the hour and before its window ends, in at most 20', () => {
  const limit = (more: Partial<Limit>): Limit => ({
    ...{ name: 'codex', windowMinutes: 300, usedPercent: 10, resetsAt: at + 120 * MINUTE },
    ...{ plan: null, creditsLeft: null, at },
    ...more,
  })
  const sent = (limits: Limit[], now: number) => sentLimits(limits, now).map(({ used_percent }) => used_percent)
  expect(sent([limit({})], at + 59 * MINUTE)).toEqual([10])
  expect(sent([limit({})], at + 60 * MINUTE)).toEqual([])
  expect(sent([limit({ resetsAt: at + MINUTE })], at + MINUTE)).toEqual([])
  expect(sent([limit({ resetsAt: null })], at + MINUTE)).toEqual([10])
  // A clock that was set back.
  expect(sent([limit({})], at - 5 * MINUTE)).toEqual([])
  const many = Array.from({ length: 25 }, (_, index) =>
    limit({ name: `l${index}`, usedPercent: index, at: at + index }),
  )
  expect(sent(many, at + 100)).toEqual(Array.from({ length: 20 }, (_, index) => 24 - index))
  expect(limitOf({ ...limit({}), plan: 'a plan with spaces' })?.plan).toBeNull()
})

describe('the status line', () => {
  let home: AgentHome
  let sent: number
  beforeEach(() => {
    home = new AgentHome()
    sent = 0
  })
  afterEach(() => home.remove())
  const run = (input: string, now: number) =>
    runStatusLine({
      ...{ environment: home.environment, input, now },
      send: () => {
        sent += 1
      },
    })

  test('shows what is used and until when, and starts a sender once in five minutes', () => {
    expect(run(STATUS_LINE, at)).toMatch(/^5h 24% until \d\d:\d\d · 7d 41% until \w{3} \d\d:\d\d$/)
    for (const minutes of [0, 1, 4.9]) run(STATUS_LINE, at + minutes * MINUTE)
    expect(sent).toBe(1)
    run(STATUS_LINE.replace('23.5', '30'), at + 5 * MINUTE)
    expect(sent).toBe(2)
    expect(lastStatusLine(home.environment, at + 6 * MINUTE)).toMatchObject({
      version: '2.1.197',
      limits: [{ usedPercent: 30, at: at + 5 * MINUTE }, { usedPercent: 41.2 }],
      notRead: [],
    })
    expect(lastStatusLine(home.environment, at + 66 * MINUTE)).toBeUndefined()
    // A clock that was set back does not stop it.
    run(STATUS_LINE, at - 60 * MINUTE)
    expect(sent).toBe(3)
    expect(run(STATUS_LINE, five)).toMatch(/^5h 24% · 7d/)
  })

  test('shows nothing without limits, and never fails', () => {
    for (const input of ['', 'no JSON', '[]', 'null', '5', '{}', '{"rate_limits":[]}', '{"rate_limits":{}}']) {
      expect([input, run(input, at)]).toEqual([input, ''])
    }
    expect(sent).toBe(0)
    expect(run('{"rate_limits":{"monthly":{"used_percentage":5}}}', at)).toBe('')
    expect(lastStatusLine(home.environment, at)).toMatchObject({
      notRead: [{ reason: 'unknown_count', name: 'rate_limits.monthly', count: 1 }],
    })
    const state = join(home.folder, '.local/state/tally/limits.json')
    for (const text of ['', '[]', 'null', '{"at":"x"}', `{"at":${at},"limits":5}`]) {
      writeFileSync(state, text)
      expect(run(STATUS_LINE, at)).toContain('5h 24%')
    }
    expect(sent).toBe(6)
    home.remove()
    mkdirSync(home.folder)
    writeFileSync(join(home.folder, '.local'), 'not a folder')
    expect(run(STATUS_LINE, at)).toBe('')
  })
})
