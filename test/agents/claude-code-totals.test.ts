/** What Claude Code used according to its own totals, and does not list request by request. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { AgentHome } from '../support/agent-home.ts'
import { runs } from '../support/tier.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const SONNET = 'claude-sonnet-4-5'
const START = Date.parse('2026-11-20T10:00:00Z')

const at = (minute: number) => new Date(START + minute * 60_000).toISOString()
const project = (name: string) => `.claude/projects/p/${name}.jsonl`

/** A call with this many tokens of each kind, at this minute. */
function call(id: string, minute: number, tokens: number, { session = 's', model = SONNET, from = '' } = {}) {
  const cache_creation = { ephemeral_5m_input_tokens: 2 * tokens, ephemeral_1h_input_tokens: tokens }
  const usage = {
    ...{ input_tokens: tokens, output_tokens: tokens, cache_read_input_tokens: tokens },
    ...{ cache_creation_input_tokens: 3 * tokens, cache_creation },
  }
  const line = { type: 'assistant', message: { id, model, usage }, requestId: id, sessionId: session }
  return { ...line, timestamp: at(minute), cwd: '/nowhere', ...(from === '' ? {} : { requestSessionId: from }) }
}

/** The totals of calls with this many tokens together. */
function totals(models: Record<string, number>, { session = 's', since = 0, running = 1, ...others } = {}) {
  const modelUsage = Object.fromEntries(
    Object.entries(models).map(([model, tokens]) => [
      model,
      {
        ...{ inputTokens: tokens, outputTokens: tokens, cacheReadInputTokens: tokens },
        ...{ cacheCreationInputTokens: 3 * tokens, cacheCreationEphemeral1hInputTokens: tokens, webSearchRequests: 0 },
      },
    ]),
  )
  const [startTime, totalDuration] = [START + since * 60_000, running * 60_000]
  return { type: 'cost-state', sessionId: session, startTime, totalDuration, modelUsage, ...others }
}

/** Session, model, requests and input of what is found; the other counts must have the same proportions. */
function found() {
  return home.uses('claude-code').map(({ sessionId, model, requests, tokens }) => {
    const { input } = tokens
    expect(tokens).toMatchObject({ output: input, cache_read: input, cache_write: 2 * input, cache_write_1h: input })
    return [sessionId, model, requests, input]
  })
}

test('A request that no line has, as of /compact, counts with the totals', () => {
  home.writeLines(project('s'), [call('a', 1, 10), { type: 'system', subtype: 'compact_boundary', timestamp: at(9) }])
  expect(found()).toEqual([['s', SONNET, 1, 10]])
  home.writeLines(project('s'), [
    call('a', 1, 10),
    { type: 'system', subtype: 'compact_boundary', timestamp: at(9) },
    totals({ [SONNET]: 17 }),
  ])
  expect(found()).toEqual([['s', SONNET, 2, 17]])
  expect(home.uses('claude-code')[0]).toMatchObject({ endedAt: at(9), folder: '/nowhere' })
})

test('Totals of listed calls add nothing, whatever processes wrote them', () => {
  home.writeLines(project('s'), [
    call('a', 1, 10),
    totals({ [SONNET]: 10 }),
    call('b', 20, 5),
    totals({ [SONNET]: 15 }, { running: 2 }),
  ])
  home.writeLines('.claude/projects/p/s/subagents/agent-a.jsonl', [{ ...call('c', 21, 4), isSidechain: true }])
  home.writeLines(project('t'), [call('d', 5, 8, { session: 't' }), totals({ [SONNET]: 8 }, { session: 't' })])
  expect(found()).toEqual([
    ['s', SONNET, 3, 19],
    ['t', SONNET, 1, 8],
  ])
})

test('A model that only the totals have counts, without the size of its context window', () => {
  home.writeLines(project('s'), [
    call('a', 1, 10, { model: 'claude-sonnet-4-5-20250929' }),
    totals({ 'us.anthropic.claude-sonnet-4-5-20250929-v1:0': 11, 'claude-haiku-4-5[1m]': 3 }),
  ])
  expect(found()).toEqual([
    ['s', 'claude-sonnet-4-5-20250929', 2, 11],
    ['s', 'claude-haiku-4-5', 1, 3],
  ])
})

test('What totals have more than the ones before belongs to their time, and is never taken from there again', () => {
  const day = 24 * 60
  home.writeLines(project('s'), [
    ...[call('a', 1, 10), totals({ [SONNET]: 17 })],
    ...[call('b', day, 5), totals({ [SONNET]: 24 }, { running: 2 })],
    // Without the calls of a process that was killed, which the totals lack.
    ...[call('c', 2 * day, 40), call('d', 2 * day + 1, 1), totals({ [SONNET]: 25 }, { running: 3 })],
    ...[call('e', 3 * day, 2), totals({ [SONNET]: 77 }, { running: 4 })],
  ])
  const [use] = home.uses('claude-code')
  expect(
    use!.days.map(({ firstAt, tokens, requests }) => [(firstAt - START) / 60_000, tokens.input, requests]),
  ).toEqual([
    [1, 17, 2],
    [day, 7, 2],
    [2 * day, 41, 2],
    [3 * day, 12, 2],
  ])
})

test('Each count belongs to the totals that had it first, whatever the others do', () => {
  const both = (input: number, output: number, running: number) => ({
    ...totals({}, { running }),
    modelUsage: {
      [SONNET]: {
        ...{ inputTokens: 10 + input, outputTokens: 10 + output },
        ...{ cacheReadInputTokens: 10, cacheCreationInputTokens: 0 },
      },
    },
  })
  const a = { ...call('a', 1, 10) }
  a.message.usage = { input_tokens: 10, output_tokens: 10, cache_read_input_tokens: 10 } as never
  const b = { ...call('b', 1_440, 10) }
  b.message.usage = { input_tokens: 3, output_tokens: 0 } as never
  home.writeLines(project('s'), [a, both(5, 0, 1), b, both(5, 9, 2)])
  expect(home.uses('claude-code')[0]!.days.map(({ tokens }) => [tokens.input, tokens.output])).toEqual([
    [15, 10],
    [3, 9],
  ])
})

test('A model that is listed only later, by another name, does not count twice', () => {
  home.writeLines(project('s'), [
    totals({ 'us.anthropic.claude-sonnet-4-5-20250929-v1:0': 7 }),
    call('a', 20, 5),
    totals({ 'us.anthropic.claude-sonnet-4-5-20250929-v1:0': 12 }, { running: 2 }),
  ])
  expect(found()).toEqual([
    ['s', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', 1, 7],
    ['s', SONNET, 1, 5],
  ])
})

test('A model whose name in the totals is none of the lines does not count twice', () => {
  home.writeLines(project('s'), [call('a', 1, 10), totals({ 'arn:aws:bedrock:eu:1:inference-profile/x': 10 })])
  expect(found()).toEqual([['s', SONNET, 1, 10]])
})

test('A fork does not count what its totals have from the session that it copied', () => {
  home.writeLines(project('s'), [
    call('a', 1, 10),
    totals({ [SONNET]: 17 }),
    call('b', 60, 2),
    totals({ [SONNET]: 19 }, { running: 3 }),
  ])
  home.writeLines(project('f'), [
    call('a', 1, 10, { session: 'f', from: 's' }),
    call('c', 30, 5, { session: 'f' }),
    totals({ [SONNET]: 25 }, { session: 'f', running: 2 }),
  ])
  const expected = [
    ['s', SONNET, 3, 19],
    ['f', SONNET, 2, 8],
  ]
  expect(found()).toEqual(expected)
})

test('A fork counts the same when the file of the session that it copied is removed', () => {
  const fork = (...more: object[]) =>
    home.writeLines(project('f'), [
      call('a', 1, 10, { session: 'f', from: 's' }),
      call('c', 30, 5, { session: 'f' }),
      totals({ [SONNET]: 25 }, { session: 'f', running: 2 }),
      ...more,
    ])
  home.writeLines(project('s'), [call('a', 1, 10), totals({ [SONNET]: 17 })])
  fork()
  expect(found()).toContainEqual(['f', SONNET, 2, 8])
  rmSync(join(home.folder, project('s')))
  rmSync(join(home.folder, '.cache'), { recursive: true })
  expect(found()).toContainEqual(['f', SONNET, 2, 8])
  fork(call('d', 90, 2, { session: 'f' }), totals({ [SONNET]: 28 }, { session: 'f', running: 3 }))
  expect(found()).toContainEqual(['f', SONNET, 4, 11])
})

test('A fork of a session without a file counts only what its lines have', () => {
  home.writeLines(project('f'), [
    call('a', 1, 10, { session: 'f', from: 's' }),
    call('c', 30, 5, { session: 'f' }),
    totals({ [SONNET]: 25 }, { session: 'f', running: 2 }),
  ])
  expect(found()).toEqual([
    ['s', SONNET, 1, 10],
    ['f', SONNET, 1, 5],
  ])
})

test('A session that was killed and continued counts everything that its lines have', () => {
  home.writeLines(project('s'), [
    ...[call('a', 1, 10), totals({ [SONNET]: 17 })],
    // This process was killed: the next one continues the totals before it.
    ...[call('b', 20, 100), call('c', 30, 5), totals({ [SONNET]: 22 }, { running: 2 })],
  ])
  expect(found()).toEqual([['s', SONNET, 4, 122]])
})

test('A killed session without totals hides nothing of its continuation', () => {
  home.writeLines(project('s'), [call('a', 1, 100), call('b', 20, 5), totals({ [SONNET]: 9 }, { since: 19 })])
  expect(found()).toEqual([['s', SONNET, 3, 109]])
})

test('Two processes of one session at the same time count nothing twice', () => {
  home.writeLines(project('s'), [
    ...[call('a', 1, 50), totals({ [SONNET]: 50 })],
    ...[call('b', 10, 20), call('c', 11, 10), totals({ [SONNET]: 60 }, { running: 3 })],
    ...[call('d', 15, 60), totals({ [SONNET]: 130 }, { running: 9 })],
  ])
  expect(found()).toEqual([['s', SONNET, 4, 140]])
})

test('Whether an unlisted request was long is known only if it is short', () => {
  home.writeLines(project('s'), [call('a', 1, 10), totals({ [SONNET]: 1_000 })])
  expect(home.uses('claude-code')[0]!.requestsAbove).toMatchObject([{ threshold: 32_000, input: 0 }])
  home.writeLines(project('s'), [call('a', 1, 10), totals({ [SONNET]: 30_000 })])
  expect(home.uses('claude-code')[0]!.requestsAbove).toMatchObject([{ threshold: 200_000, input: 0 }])
})

test('An unlisted request has the settings of the conversation, and web searches of its own', () => {
  const fast = call('b', 2, 10)
  Object.assign(fast.message.usage, { speed: 'fast', server_tool_use: { web_search_requests: 1 } })
  const counted = totals({ [SONNET]: 27 })
  counted.modelUsage[SONNET]!.webSearchRequests = 4
  home.writeLines(project('s'), [call('a', 1, 10), fast, counted])
  const uses = home
    .uses('claude-code')
    .map(({ service, requests, tokens, tools }) => [...[service, requests, tokens.input, tools]])
  expect(uses).toEqual([
    [{}, 1, 10, {}],
    [{ speed: 'fast' }, 2, 17, { web_search: 4 }],
  ])
})

test('Totals that are not whole numbers are reported, and everything else counts', () => {
  home.writeLines(project('s'), [call('a', 1, 10), totals({ [SONNET]: 10.5 })])
  const { uses, damage } = home.scan()
  expect(uses[0]!.tokens.input).toBe(10)
  expect(damage).toMatchObject([{ line: 2, what: expect.stringContaining('are not whole numbers') }])
})

const aProcess = fc.record({
  /** Tokens of each listed call. */
  listed: fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 4 }),
  unlisted: fc.integer({ min: 0, max: 100 }),
  isKilled: fc.boolean(),
})

test('Processes that ended or were killed in any order never count more than was used, and all of it if none was', () => {
  fc.assert(
    fc.property(fc.array(aProcess, { minLength: 1, maxLength: 6 }), (processes) => {
      const lines: object[] = []
      let [minute, counted, used, listed, since] = [0, 0, 0, 0, -1]
      for (const [index, { listed: calls, unlisted, isKilled }] of processes.entries()) {
        if (since === -1) since = minute
        const own = calls.reduce((sum, tokens) => sum + tokens, 0)
        for (const tokens of calls) {
          minute += 1
          lines.push(call(`m${minute}`, minute, tokens))
        }
        used += own + unlisted
        listed += own
        if (isKilled) {
          if (counted === 0) since = -1
        } else {
          counted += own + unlisted
          lines.push(totals({ [SONNET]: counted }, { since, running: index + 1 }))
        }
        minute += 1
      }
      home.writeLines(project('s'), lines)
      const input = home.uses('claude-code').reduce((sum, { tokens }) => sum + tokens.input, 0)
      expect(input).toBeLessThanOrEqual(used)
      expect(input).toBeGreaterThanOrEqual(listed)
      if (!processes.some(({ isKilled }) => isKilled)) expect(input).toBe(used)
    }),
    { numRuns: runs(300, 100) },
  )
})
