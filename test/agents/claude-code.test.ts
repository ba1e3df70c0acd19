import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { reportOf } from '../../src/agents/report.ts'
import { scanSession } from '../../src/agents/scan.ts'
import { readAgentsEnvironment } from '../../src/config.ts'
import { REQUEST_THRESHOLDS } from '../../src/lib/request-thresholds.ts'
import { AgentHome, countsAbove, figuresOf, withCells } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

interface Answer {
  id?: string | undefined
  request?: string | undefined
  session?: string
  at?: string
  model?: string
  usage?: object
  output?: number
  [other: string]: unknown
}

/** A line as Claude Code writes it. */
function answer({ id = 'm1', request = 'r1', session = 's', model = 'claude-sonnet-4-5', ...rest }: Answer = {}) {
  const { at = '2026-11-20T10:00:00Z', output = 10, usage = {}, ...others } = rest
  return {
    type: 'assistant',
    message: { id, model, usage: { input_tokens: 100, output_tokens: output, ...usage } },
    requestId: request,
    sessionId: session,
    timestamp: at,
    cwd: '/nowhere',
    ...others,
  }
}

const project = (name: string) => `.claude/projects/-home-dev-web/${name}.jsonl`

/** Session, calls and output of what is found. */
function found() {
  return home.uses('claude-code').map(({ sessionId, requests, tokens }) => [sessionId, requests, tokens.output])
}

test('a session says through what it was started last', () => {
  const lines = [answer({ entrypoint: 'cli' }), answer({ id: 'm2', entrypoint: 'sdk-ts' }), answer({ id: 'm3' })]
  home.writeLines(project('s'), [...lines, answer({ session: 't', id: 'm4' })])
  expect(home.uses('claude-code').map(({ sessionId, entrypoint }) => [sessionId, entrypoint])).toEqual([
    ['s', 'sdk-ts'],
    ['t', null],
  ])
})

describe('one call', () => {
  test('that is written once for each block of content counts with the line that has the most output', () => {
    home.writeLines(project('s'), [answer({ output: 3 }), answer({ output: 70 }), answer({ output: 9 })])
    expect(found()).toEqual([['s', 1, 70]])
  })

  test('counts with the last of the lines that have as much output', () => {
    home.writeLines(project('s'), [answer(), answer({ usage: { cache_read_input_tokens: 50 } })])
    expect(home.uses('claude-code')[0]!.tokens.cache_read).toBe(50)
  })

  test('is identified by its id together with its request', () => {
    home.writeLines(project('s'), [answer(), answer({ request: 'r2' }), answer({ id: 'm2' })])
    expect(found()).toEqual([['s', 3, 30]])
  })

  test('without an id is still recognized when it is copied', () => {
    const own = { message: { model: 'claude-sonnet-4-5', usage: { input_tokens: 1, output_tokens: 10 } } }
    const line = { ...answer(), ...own, requestId: undefined, uuid: 'u1' }
    home.writeLines(project('s'), [line, { ...line, uuid: 'u2' }])
    home.writeLines(project('t'), [
      { ...line, sessionId: 't' },
      { ...line, sessionId: 't', uuid: 'u3', timestamp: '2026-11-20T12:00:00Z' },
    ])
    expect(found()).toEqual([
      ['s', 2, 20],
      ['t', 1, 10],
    ])
  })

  test('has cache writes by duration, or in old versions only their total', () => {
    home.writeLines(project('s'), [
      answer({ usage: { cache_creation_input_tokens: 30 } }),
      answer({
        id: 'm2',
        usage: {
          cache_creation_input_tokens: 12,
          cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 7 },
        },
      }),
    ])
    expect(home.uses('claude-code')[0]!.tokens).toMatchObject({ cache_write: 35, cache_write_1h: 7 })
  })

  test('has all of its cache writes, even if the duration of some or of all is not recorded', () => {
    const writes = (total: number, split: object) => {
      home.writeLines(project('s'), [
        answer({ usage: { cache_creation_input_tokens: total, cache_creation: split } }),
        answer({ id: 'm2' }),
      ])
      const { cache_write, cache_write_1h } = home.uses('claude-code')[0]!.tokens
      return [cache_write, cache_write_1h]
    }
    const split = (short: number, longer: number) => ({
      ...{ ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: longer },
    })
    expect(writes(70, split(0, 0))).toEqual([70, 0])
    expect(writes(71, split(20, 30))).toEqual([41, 30])
    expect(writes(1_000, { ephemeral_1h_input_tokens: 400 })).toEqual([600, 400])
    expect(writes(0, split(5, 7))).toEqual([5, 7])
    expect(writes(30, split(40, 7))).toEqual([40, 7])
  })

  test('with an invalid count has the others', () => {
    const usage = { input_tokens: -1, output_tokens: 12, cache_read_input_tokens: 33 }
    const iterations = [{ type: 'advisor_message', model: 'claude-opus-4-8', input_tokens: 9, output_tokens: '1' }]
    home.writeLines(project('s'), [
      answer({ usage }),
      answer({ id: 'm2', usage: { ...usage, cache_read_input_tokens: 1e15, iterations } }),
      answer({ id: 'm3', usage: { server_tool_use: { web_search_requests: 0.5 } } }),
    ])
    const { uses, damage } = home.scan()
    expect(
      uses.map(({ model, requests, tokens: { input, output, cache_read } }) => [
        ...[model, requests, input, output, cache_read],
      ]),
    ).toEqual([
      ['claude-sonnet-4-5', 3, 100, 34, 33],
      ['claude-opus-4-8', 1, 9, 0, 0],
    ])
    expect(damage.map(({ line, what }) => [line, what])).toEqual([
      [1, 'has an invalid count of input_tokens, which is left out (2 lines)'],
      [2, 'has an invalid count of cache_read_input_tokens, which is left out'],
      [2, 'has an invalid count of output_tokens, which is left out'],
      [3, 'has an invalid count of web_search_requests, which is left out'],
    ])
  })

  test.each([
    ['seconds', 1_795_168_800],
    ['seconds as text', '1795168800.5'],
    ['milliseconds', 1_795_168_800_000],
    ['microseconds', 1_795_168_800_000_000],
    ['nanoseconds', 1_795_168_800_000_000_000],
  ])('has its time in %s', (_, timestamp) => {
    home.writeLines(project('s'), [{ ...answer(), timestamp }])
    expect(home.uses('claude-code')[0]!.startedAt).toStartWith('2026-11-20T10:00:00.')
  })

  test('with many input tokens is also counted at each length where prices change', () => {
    home.writeLines(project('s'), [
      answer(),
      answer({ id: 'm2', usage: { cache_read_input_tokens: 199_900 } }),
      answer({ id: 'm3', usage: { cache_read_input_tokens: 199_901 } }),
    ])
    const [use] = home.uses('claude-code')
    expect(use!.requestsAbove.map(({ threshold }) => threshold)).toEqual(REQUEST_THRESHOLDS.slice(0, -2))
    expect(countsAbove(use!, 128_000)).toMatchObject({ input: 200, output: 20, cache_read: 399_801 })
    expect(countsAbove(use!, 200_000)).toMatchObject({ input: 100, output: 10, cache_read: 199_901 })
    expect(reportOf(use!).requests_above!.slice(-2)).toEqual([
      { threshold: 200_000, input: 100, output: 10, cache_read: 199_901 },
      { threshold: 256_000 },
    ])
  })

  test('counts separately if its tier, speed or region has a price of its own', () => {
    const usage = { service_tier: 'standard', speed: 'standard', inference_geo: '' }
    home.writeLines(project('s'), [
      answer({ usage }),
      answer({ id: 'm2', usage: { ...usage, speed: 'fast' } }),
      answer({ id: 'm3', usage: { ...usage, inference_geo: 'us', service_tier: 'batch' } }),
      answer({ id: 'm4', usage: { ...usage, inference_geo: 'global', service_tier: null } }),
      answer({ id: 'm5', usage: { ...usage, speed: 'fast' } }),
    ])
    expect(home.uses('claude-code').map(({ service, requests }) => [service, requests])).toEqual([
      [{}, 2],
      [{ speed: 'fast' }, 2],
      [{ service_tier: 'batch', region: 'us' }, 1],
    ])
    expect(reportOf(home.uses('claude-code')[1]!)).toMatchObject({ speed: 'fast', session_id: 's' })
  })

  test('has the number of its web searches, once', () => {
    const usage = { server_tool_use: { web_search_requests: 2, web_fetch_requests: 7 } }
    home.writeLines(project('s'), [answer({ usage }), answer({ usage }), answer({ id: 'm2', usage })])
    const [use] = home.uses('claude-code')
    expect(reportOf(use!).tools).toEqual({ web_search: 4 })
  })

  test('that ran in several iterations is long only if one of them is, and counts once', () => {
    const iteration = { type: 'message', input_tokens: 100, output_tokens: 5, cache_read_input_tokens: 150_000 }
    const iterations = [iteration, { ...iteration, cache_read_input_tokens: 200_000 }]
    const usage = { input_tokens: 200, output_tokens: 10, cache_read_input_tokens: 350_000, iterations }
    home.writeLines(project('s'), [answer({ usage }), answer({ usage })])
    const [use] = home.uses('claude-code')
    expect([use!.requests, use!.tokens.cache_read]).toEqual([1, 350_000])
    expect(countsAbove(use!, 200_000)).toMatchObject({ input: 100, output: 5, cache_read: 200_000 })
  })

  test('in iterations that do not add up to it is judged as one', () => {
    const iteration = { type: 'message', input_tokens: 100, output_tokens: 5, cache_read_input_tokens: 150_000 }
    const usage = { output_tokens: 10, cache_read_input_tokens: 350_000, iterations: [iteration, iteration] }
    home.writeLines(project('s'), [answer({ usage })])
    expect(countsAbove(home.uses('claude-code')[0]!, 200_000)).toMatchObject({ input: 100, cache_read: 350_000 })
  })

  test('in iterations has the cache writes of its message, whose duration the iterations may lack', () => {
    const iteration = { type: 'message', input_tokens: 1, output_tokens: 5, cache_creation_input_tokens: 250_000 }
    const cache_creation = { ephemeral_5m_input_tokens: 100_000, ephemeral_1h_input_tokens: 400_000 }
    const usage = { input_tokens: 2, output_tokens: 10, cache_creation_input_tokens: 500_000, cache_creation }
    home.writeLines(project('s'), [answer({ usage: { ...usage, iterations: [iteration, iteration] } })])
    const writes = { cache_write: 100_000, cache_write_1h: 400_000 }
    const [use] = home.uses('claude-code')
    expect([use!.tokens, countsAbove(use!, 200_000)]).toMatchObject([writes, writes])
  })

  test('includes the summary that the vendor made of a long conversation, which its own counts lack', () => {
    const iterations = [
      { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
      { type: 'message', input_tokens: 100, output_tokens: 10 },
    ]
    home.writeLines(project('s'), [answer({ usage: { iterations } })])
    expect(home.uses('claude-code')[0]!.tokens).toMatchObject({ input: 180_100, output: 3_510 })
  })

  test('of an advisor counts beside that of the model that asked it', () => {
    const iterations = [
      { type: 'message', input_tokens: 100, output_tokens: 10 },
      { type: 'advisor_message', model: 'claude-opus-4-8', input_tokens: 900, output_tokens: 80 },
    ]
    home.writeLines(project('s'), [answer({ usage: { iterations } }), answer({ usage: { iterations } })])
    expect(home.uses('claude-code').map(({ model, tokens: { input, output } }) => [model, input, output])).toEqual([
      ['claude-sonnet-4-5', 100, 10],
      ['claude-opus-4-8', 900, 80],
    ])
  })

  test('of an advisor without a name counts with an unknown model, and so without a price', () => {
    const iterations = [
      { type: 'message', model: null, input_tokens: 100, output_tokens: 10 },
      { type: 'advisor_message', model: null, input_tokens: 900, output_tokens: 80 },
    ]
    home.writeLines(project('s'), [answer({ usage: { iterations } })])
    expect(home.uses('claude-code').map(({ model, tokens: { input } }) => [model, input])).toEqual([
      ['claude-sonnet-4-5', 100],
      ['unknown', 900],
    ])
  })

  test('has the exact cost from old versions if every call has one', () => {
    home.writeLines(project('s'), [
      answer({ costUSD: 0.1 }),
      answer({ id: 'm2', costUSD: 0.2 }),
      answer({ id: 'm3', model: 'claude-opus-4-8', costUSD: 0.2 }),
      answer({ id: 'm4', model: 'claude-opus-4-8' }),
    ])
    expect(home.uses('claude-code').map(({ reportedCost }) => reportedCost)).toEqual(['0.3', null])
  })

  test('made up by the client after a failed request is not counted', () => {
    home.writeLines(project('s'), [answer({ model: '<synthetic>' }), answer({ id: 'm2' })])
    expect(found()).toEqual([['s', 1, 10]])
  })
})

describe('a request', () => {
  const input = (input_tokens: number) => ({ usage: { input_tokens } })
  const NO_REQUEST = { requestId: undefined }
  const minute = (minutes: number) => new Date(Date.parse('2026-11-20T10:00:00Z') + minutes * 60_000).toISOString()

  test('is one if only some of its lines have both ids, in whatever order', () => {
    const both = answer({ output: 9 })
    const noRequest = { ...answer({ output: 5 }), ...NO_REQUEST }
    const noMessage = { ...answer({ output: 7 }), message: { ...answer({ output: 7 }).message, id: undefined } }
    home.writeLines(project('s'), [noRequest, both])
    expect(found()).toEqual([['s', 1, 9]])
    home.writeLines(project('s'), [both, noMessage, noRequest])
    expect(found()).toEqual([['s', 1, 9]])
    home.writeLines(project('s'), [noMessage, both, noRequest, { ...noRequest, timestamp: minute(3) }])
    expect(found()).toEqual([['s', 1, 9]])
  })

  test('is one if a copy in another session lacks an id', () => {
    home.writeLines(project('s'), [{ ...answer({ at: minute(-1) }) }, answer({ id: 'm2', request: 'r2' })])
    home.writeLines(project('t'), [
      { ...answer({ session: 't', at: minute(-1) }), ...NO_REQUEST },
      { ...answer({ session: 't', id: 'm2', at: minute(9) }), ...NO_REQUEST },
      answer({ session: 't', id: 'm3', request: 'r3', at: minute(60), output: 1 }),
    ])
    expect(found()).toEqual([
      ['s', 2, 20],
      ['t', 1, 1],
    ])
  })

  test('has its advisor, also in a copy that lacks an id', () => {
    const iterations = [{ type: 'advisor_message', model: 'claude-opus-4-8', input_tokens: 9, output_tokens: 80 }]
    const line = answer({ usage: { iterations } })
    home.writeLines(project('s'), [{ ...line, ...NO_REQUEST }, line])
    expect(home.uses('claude-code').map(({ requests, tokens }) => [requests, tokens.output])).toEqual([
      [1, 10],
      [1, 80],
    ])
  })

  test('is one of many if a proxy gives all messages the same id', () => {
    const line = (minutes: number, tokens: number, more: object = {}) => ({
      ...answer({ id: 'msg_proxy', at: minute(minutes), ...input(tokens) }),
      ...NO_REQUEST,
      ...more,
    })
    const lines = [line(0, 100), line(0.2, 100), line(5, 300), line(15, 700), line(90, 700)]
    home.writeLines(project('s'), lines)
    home.writeLines(project('s/subagents/agent-a'), [
      line(15, 700, { isSidechain: true }),
      line(16, 900, { isSidechain: true }),
    ])
    home.writeLines(
      project('t'),
      [...lines.slice(0, 3), line(99, 20)].map((each) => ({ ...each, sessionId: 't' })),
    )
    expect(
      home.uses('claude-code').map(({ sessionId, requests, tokens }) => [sessionId, requests, tokens.input]),
    ).toEqual([
      ['s', 5, 100 + 300 + 700 + 700 + 900],
      ['t', 1, 20],
    ])
  })

  test('without any input count is one with the lines that continue each other', () => {
    const line = (uuid: string, parentUuid: string, seconds: number, output: number) => ({
      ...answer({ id: 'msg_proxy', at: minute(seconds / 60), output, ...input(0) }),
      ...{ ...NO_REQUEST, uuid, parentUuid },
    })
    home.writeLines(project('s'), [
      ...[line('a', 'x', 0, 5), line('b', 'a', 1, 5), line('c', 'b', 2, 7)],
      ...[line('d', 'result of c', 4, 9), line('e', 'd', 5, 9)],
    ])
    expect(found()).toEqual([['s', 2, 16]])
  })
})

describe('a session', () => {
  test('has the calls that its sub-agents made, but not what they repeat of the conversation', () => {
    home.writeLines(project('s'), [answer({ id: 'm1', request: 'r1' })])
    home.writeLines(project('s/subagents/agent-a'), [
      answer({ id: 'm1', request: 'r9', isSidechain: true, usage: { cache_read_input_tokens: 5_000 } }),
      answer({ id: 'm2', request: 'r2', isSidechain: true }),
    ])
    expect(found()).toEqual([['s', 2, 20]])
  })

  test('has the calls that it made before it was forked, wherever the fork has gone on', () => {
    const first = answer({ id: 'm1' })
    home.writeLines(project('zz-original'), [
      { type: 'queue-operation', operation: 'enqueue', timestamp: '2026-11-20T09:59:59Z', sessionId: 'zz-original' },
      { ...first, sessionId: 'zz-original' },
      answer({ id: 'm3', session: 'zz-original', at: '2026-11-20T15:00:00Z' }),
    ])
    home.writeLines(project('aa-fork'), [
      { ...first, sessionId: 'aa-fork' },
      answer({ id: 'm2', session: 'aa-fork', at: '2026-11-20T12:00:00Z' }),
    ])
    expect(found()).toEqual([
      ['zz-original', 2, 20],
      ['aa-fork', 1, 10],
    ])
  })

  test('has the calls that a fork attributes to it, although its own file is gone', () => {
    home.writeLines(project('fork'), [
      answer({ session: 'fork', forkedFrom: { sessionId: 'gone', messageUuid: 'u' } }),
      answer({ id: 'm2', session: 'fork', at: '2026-11-20T12:00:00Z' }),
    ])
    expect(found()).toEqual([
      ['gone', 1, 10],
      ['fork', 1, 10],
    ])
  })

  test('that runs on in another folder is one', () => {
    home.writeLines(project('s'), [answer({ id: 'm1' })])
    home.writeLines('.claude/projects/-home-dev-other/s.jsonl', [
      answer({ id: 'm1' }),
      answer({ id: 'm2', at: '2026-11-20T12:00:00Z', gitBranch: 'later' }),
    ])
    const [use, ...others] = home.uses('claude-code')
    expect(others).toEqual([])
    expect(use).toMatchObject({
      startedAt: '2026-11-20T10:00:00.000Z',
      endedAt: '2026-11-20T12:00:00.000Z',
      requests: 2,
      branch: 'later',
    })
  })

  test('is found in all folders that CLAUDE_CONFIG_DIR names', () => {
    const folders = `~/one, ${home.folder}/two/projects`
    Object.assign(home.environment, readAgentsEnvironment({ HOME: home.folder, CLAUDE_CONFIG_DIR: folders }))
    home.writeLines('one/projects/p/a.jsonl', [answer({ id: 'm1', session: 'a' })])
    home.writeLines('two/projects/p/b.jsonl', [answer({ id: 'm2', session: 'b' })])
    home.writeLines(project('c'), [answer({ id: 'm3', session: 'c' })])
    expect(found()).toEqual([
      ['a', 1, 10],
      ['b', 1, 10],
    ])
  })
})

describe('what cannot be read is named, and the rest counts', () => {
  const damageOf = () => home.scan().damage.map(({ file, line, what }) => [file.split('/').pop(), line, what])

  test('a broken line, and how many there are of it', () => {
    const line = JSON.stringify(answer())
    home.write(
      project('s'),
      `${line}\n${line.slice(0, 90)}\n{"input_tokens" broken}\n\n[1]\n${JSON.stringify(answer({ id: 'm2' }))}\n`,
    )
    expect(home.scan().uses[0]!.requests).toBe(2)
    expect(damageOf()).toEqual([['s.jsonl', 2, 'is not a JSON object and was skipped (3 lines)']])
  })

  test('a last line that is not finished, which is read when it is', () => {
    const line = JSON.stringify(answer({ id: 'm2' }))
    const path = home.write(project('s'), `${JSON.stringify(answer())}\n${line.slice(0, 70)}`)
    expect(home.scan().uses[0]!.requests).toBe(1)
    expect(damageOf()).toEqual([['s.jsonl', 2, 'the last line is incomplete and will be read next time']])
    appendFileSync(path, `${line.slice(70)}\n`)
    expect(found()).toEqual([['s', 2, 20]])
  })

  test('but not a last line that only lacks its end', () => {
    home.write(project('s'), `${JSON.stringify(answer())}\r\n${JSON.stringify(answer({ id: 'm2' }))}`)
    expect(found()).toEqual([['s', 2, 20]])
  })

  test('a missing time, a missing model', () => {
    home.writeLines(project('s'), [
      { ...answer(), timestamp: 'soon' },
      { ...answer(), timestamp: undefined },
      { ...answer(), timestamp: 7 },
      answer({ model: '' }),
    ])
    expect(home.scan().uses).toEqual([])
    expect(damageOf()).toEqual([
      ['s.jsonl', 1, 'has token counts without a time, and is not counted (3 lines)'],
      ['s.jsonl', 4, 'has token counts without a model, and is not counted'],
    ])
  })

  test('a file of another kind, beside whole ones', () => {
    home.write(
      project('picture'),
      Uint8Array.from({ length: 5_000 }, (_, at) => (at * 7) % 256),
    )
    home.write('.claude/projects/-home-dev-web/notes.txt', 'not a session')
    home.writeLines(project('s'), [answer()])
    expect(home.scan().uses).toHaveLength(1)
    expect(damageOf().map(([file]) => file)).toEqual(expect.arrayContaining(['picture.jsonl']))
    expect(damageOf().every(([file]) => file === 'picture.jsonl')).toBe(true)
  })

  test('a link that leads to itself', () => {
    home.writeLines(project('s'), [answer()])
    symlinkSync('loop.jsonl', join(home.folder, project('loop')))
    expect(home.scan().uses).toHaveLength(1)
    expect(damageOf()).toEqual([['loop.jsonl', null, expect.stringContaining('cannot be read: ELOOP')]])
  })

  test.skipIf(process.getuid?.() === 0)('a file that may not be read', () => {
    const path = home.writeLines(project('s'), [answer()])
    chmodSync(path, 0)
    expect(damageOf()).toEqual([['s.jsonl', null, expect.stringContaining('cannot be read: EACCES')]])
  })
})

describe('lines are read', () => {
  test('with spaces between their parts, and a byte order mark before them', () => {
    const spaced = JSON.stringify(answer())
      .replaceAll(':', ' : ')
      .replaceAll(',', ' ,\t')
      .replace(/(\d\d) : (\d\d) : (\d\d)/, '$1:$2:$3')
    home.write(project('s'), `\uFEFF${spaced}  \n`)
    expect(found()).toEqual([['s', 1, 10]])
  })

  test('in any script', () => {
    home.writeLines(project('s'), [answer({ gitBranch: 'größe/日本-🎉' })])
    expect(home.uses('claude-code')[0]!.branch).toBe('größe/日本-🎉')
  })

  test('of a hundred megabytes, quotes and backslashes in them', () => {
    // An odd number of quotes, and behind them something long that is no text.
    const content = `\\"${'\\"usage\\":{\\"input_tokens\\":1}\\\\'.repeat(3_400_000)}`
    const numbers = `"numbers":[${'1,'.repeat(5_000)}1]`
    const usage = '"usage":{"input_tokens":7,"output_tokens":5}'
    const message = `{"id":"m1","content":[{"type":"text","text":"${content}"}],${numbers},"model":"claude-sonnet-4-5",${usage}}`
    const line = `{"type":"assistant","message":${message},"sessionId":"s","timestamp":"2026-11-20T10:00:00Z"}`
    expect(line.length).toBeGreaterThan(100_000_000)
    home.write(project('s'), `${line}\n${JSON.stringify(answer({ id: 'm2' }))}\n`)
    expect(found()).toEqual([['s', 2, 15]])
  })

  test('that only talk about usage as what they are: text', () => {
    home.writeLines(project('s'), [
      {
        type: 'user',
        message: { content: JSON.stringify(answer()) },
        sessionId: 's',
        timestamp: '2026-11-20T10:00:00Z',
      },
      { type: 'user', toolUseResult: { usage: { input_tokens: 5, output_tokens: 5 } }, sessionId: 's' },
    ])
    expect(home.scan()).toMatchObject({ uses: [], damage: [] })
  })

  test('up to the size of the file at the start, if it grows meanwhile', () => {
    const path = home.writeLines(project('s'), [answer()])
    const grow = () => appendFileSync(path, `${JSON.stringify(answer({ id: 'm2' }))}\n`)
    const { uses } = home.scan({ onProgress: grow })
    expect(uses[0]!.requests).toBe(1)
    expect(found()).toEqual([['s', 2, 20]])
  })
})

describe('the scan cache', () => {
  test('is not used for a file that has changed, even if its size is the same', () => {
    const path = home.writeLines(project('s'), [answer({ output: 10 })])
    expect(found()).toEqual([['s', 1, 10]])
    writeFileSync(path, `${JSON.stringify(answer({ output: 99 }))}\n`)
    utimesSync(path, new Date(), new Date(Date.now() + 5_000))
    expect(found()).toEqual([['s', 1, 99]])
  })

  test('is used for unchanged files next to a changed one', () => {
    home.writeLines(project('s'), [answer()])
    const path = home.writeLines(project('t'), [answer({ session: 't', id: 'm2', costUSD: 0.25, forkedFrom: null })])
    found()
    appendFileSync(path, `${JSON.stringify(answer({ session: 't', id: 'm3', costUSD: 0.5 }))}\n`)
    const kept = home.scan().uses
    home.environment.cacheHome = join(home.folder, 'another')
    expect(withCells(home.scan().uses)).toEqual(withCells(kept))
    expect(kept.map(({ reportedCost }) => reportedCost)).toEqual([null, '0.75'])
  })

  test('drops files that are gone', () => {
    home.writeLines(project('s'), [answer()])
    const path = home.writeLines(project('t'), [answer({ session: 't', id: 'm2' })])
    found()
    truncateSync(path, 0)
    expect(found()).toEqual([['s', 1, 10]])
  })

  test('includes damage', () => {
    home.write(project('s'), 'broken\n')
    expect(home.scan().damage).toEqual(home.scan().damage)
    expect(home.scan().damage).toHaveLength(1)
  })

  test('is created again if it was damaged or removed', () => {
    home.writeLines(project('s'), [answer()])
    found()
    home.write('.cache/tally/agents/claude-code-scan.json', '{"format":1,"content":{"dig')
    home.write('.cache/tally/agents/claude-code-files.json', 'null')
    expect(found()).toEqual([['s', 1, 10]])
  })

  test('is created again if only the cells in it are damaged, which most scans do not read', () => {
    home.writeLines(project('s'), [answer()])
    const [before] = withCells(home.scan().uses)
    const path = '.cache/tally/agents/claude-code-scan.json'
    const kept = readFileSync(join(home.folder, path), 'utf8')
    home.write(
      path,
      kept.replace(/"cells":"(.{8})./, (_, beginning) => `"cells":"${beginning}%`),
    )
    expect(withCells(home.scan().uses)).toEqual([before!])
    expect(readFileSync(join(home.folder, path), 'utf8')).toBe(kept)
  })

  test('is optional: a scan works without it', () => {
    home.writeLines(project('s'), [answer()])
    home.write('.cache', 'a file where the folder should be')
    expect(found()).toEqual([['s', 1, 10]])
    expect(found()).toEqual([['s', 1, 10]])
  })
})

test('a session file that is reached by two names counts once', () => {
  home.writeLines(project('s'), [
    answer({ id: undefined, request: undefined, uuid: undefined, message: answer().message }),
  ])
  mkdirSync(dirname(join(home.folder, '.config/claude')), { recursive: true })
  symlinkSync(join(home.folder, '.claude'), join(home.folder, '.config/claude'))
  expect(home.scan().files).toBe(1)
})

describe('links are followed', () => {
  const link = (target: string, path: string) => {
    mkdirSync(dirname(join(home.folder, path)), { recursive: true })
    symlinkSync(target, join(home.folder, path))
  }

  test('to a folder of a project, of sub-agents, and to one session', () => {
    home.writeLines('store/p/s.jsonl', [answer()])
    home.writeLines('store/agents/agent-a.jsonl', [answer({ id: 'm2', isSidechain: true })])
    home.writeLines('store/t.jsonl', [answer({ id: 'm3', session: 't' })])
    link(join(home.folder, 'store/p'), '.claude/projects/linked')
    link('../../../../store/agents', '.claude/projects/q/s/subagents')
    link(join(home.folder, 'store/t.jsonl'), '.claude/projects/q/t.jsonl')
    expect(found()).toEqual([
      ['s', 2, 20],
      ['t', 1, 10],
    ])
  })

  test('once, whatever they lead to', () => {
    const line = { ...answer(), message: answer().message, requestId: undefined, uuid: undefined }
    home.writeLines(project('s'), [{ ...line, message: { ...line.message, id: undefined } }])
    home.writeLines('store/a/u.jsonl', [answer({ id: 'm2', session: 'u' })])
    link('..', '.claude/projects/-home-dev-web/parent')
    link('-home-dev-web', '.claude/projects/0-before')
    link(join(home.folder, 'store/a'), '.claude/projects/one')
    link(join(home.folder, 'store/a'), '.claude/projects/two')
    link(join(home.folder, '.claude'), 'store/a/back')
    expect(found()).toEqual([
      ['s', 1, 10],
      ['u', 1, 10],
    ])
    expect(home.scan()).toMatchObject({ files: 2, uses: [{ file: join(home.folder, project('s')) }, {}] })
  })

  test('and named if they lead nowhere', () => {
    link(join(home.folder, 'unmounted'), '.claude/projects/p')
    expect(home.scan().damage).toEqual([
      {
        file: join(home.folder, '.claude/projects/p'),
        line: null,
        what: expect.stringContaining('cannot be read: ENOENT: no such file or directory'),
      },
    ])
  })
})

describe('the session that a hook names', () => {
  test('has its sub-agents, and not what it copied of an earlier one', () => {
    home.copy('cases/claude-code-tool/run1-tool.jsonl', project('03972874-e855-4118-acc5-97716d8242aa'))
    const fork = '84ccdd11-9477-43e3-939c-15f566b18ba9'
    home.copy('cases/claude-code-fork/run4-fork.jsonl', project(fork))
    const { uses, damage } = scanSession('claude-code', { sessionId: fork }, home.environment)
    expect(damage).toEqual([])
    expect(uses.map(figuresOf)).toEqual([
      {
        ...{ agent_harness: 'claude-code', session_id: fork, model: 'claude-opus-4-6', requests: 1 },
        ...{ input: 18, output: 45, cache_read: 40_000, cache_write: 1_400, cache_write_1h: 400 },
      },
    ])
  })

  test('is found at the path from the hook, even outside the usual folders', () => {
    const path = home.writeLines('elsewhere/projects/p/s.jsonl', [answer()])
    home.writeLines('elsewhere/projects/p/s/subagents/agent-a.jsonl', [answer({ id: 'm2', isSidechain: true })])
    const named = { sessionId: 's', transcriptPath: path }
    expect(scanSession('claude-code', named, home.environment).uses.map(({ requests }) => requests)).toEqual([2])
  })

  test('is empty if there is no file yet', () => {
    const named = { sessionId: 's', transcriptPath: join(home.folder, 'none.jsonl') }
    expect(scanSession('claude-code', named, home.environment)).toMatchObject({ uses: [], damage: [] })
  })

  test('has its own damage only', () => {
    home.write(project('other'), 'broken\n')
    home.write(project('s'), `${JSON.stringify(answer())}\nbroken\n`)
    const { damage } = scanSession('claude-code', { sessionId: 's' }, home.environment)
    expect(damage.map(({ file }) => file.split('/').pop())).toEqual(['s.jsonl'])
  })
})
