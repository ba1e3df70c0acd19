import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { SessionUse } from '../../src/agents/agent.ts'
import { AgentHome, FIXTURES } from '../support/agent-home.ts'
import { runs } from '../support/tier.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const SESSIONS = '.cline/data/sessions'
const [TWO_REQUESTS, WITH_SUBAGENT] = ['1795812740663_2gy59', '1795888763116_e6mah']

const figures = ({ sessionId, model, requests, tokens, reportedCost, missing }: SessionUse) => [
  ...[sessionId, model, requests],
  [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
  ...[reportedCost, missing],
]

/** From the ledgers of the model servers. */
const SERVED = [
  [TWO_REQUESTS, 'gpt-4.1', 2, [49_242, 4_935, 32_851, 0], null, null],
  [WITH_SUBAGENT, 'gpt-5.4', 3, [3_006, 318, 15_042, 0], null, null],
]

describe('captured sessions of Cline', () => {
  test('have what the model server sent, with that of sub-agents, at the branch of their start', () => {
    home.copy('cases/cline/sessions', SESSIONS)
    const uses = home.uses('cline')
    expect(uses.map(figures)).toEqual(SERVED)
    expect(uses.map(({ folder, branch }) => [folder, branch])).toEqual([
      ['/home/dev/acme-web', 'feature/ACME-42'],
      ['/home/dev/acme-web', 'feature/ACME-1'],
    ])
  })

  const read = (name: string) => JSON.parse(readFileSync(join(FIXTURES, 'cases/cline', name), 'utf8'))
  const folder = `sessions/${TWO_REQUESTS}`
  const messages = read(`${folder}/${TWO_REQUESTS}.messages.json`)

  test('name requests that their messages do not have any more', () => {
    home.copy(`cases/cline/${folder}`, `${SESSIONS}/${TWO_REQUESTS}`)
    const rest = { ...messages, messages: messages.messages.slice(0, 2) }
    home.write(`${SESSIONS}/${TWO_REQUESTS}/${TWO_REQUESTS}.messages.json`, JSON.stringify(rest))
    expect(home.uses('cline').map(({ requests, missing }) => [requests, missing])).toEqual([
      [1, 'requests that its messages lack may be missing'],
    ])
  })
})

const metrics = (inputTokens: number, fields: object = {}) => ({
  ...{ inputTokens, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 },
  ...fields,
})
const answer = (id: string, ts: number, used: object, provider = 'anthropic') => ({
  ...{ id, ts, role: 'assistant', metrics: used },
  modelInfo: { id: 'claude-sonnet-4-5', provider },
})
const AT = 1_795_812_744_797
const HOUR = 3_600_000
const write = (session: string, messages: object[], fields: object = {}) =>
  home.write(`${SESSIONS}/${session}/${session}.messages.json`, JSON.stringify({ version: 1, messages, ...fields }))

describe('Cline', () => {
  test('has an input without the cache, and no cost, which it calculates itself', () => {
    const used = { cacheReadTokens: 30, cacheWriteTokens: 20, cost: 0.5 }
    write('s', [answer('a', AT, metrics(100, used)), answer('b', AT + 1, metrics(10, used), 'openrouter')])
    expect(home.uses('cline').map(({ provider, tokens, reportedCost }) => [provider, tokens, reportedCost])).toEqual([
      ['openrouter', { input: 50 + 10, output: 10, cache_read: 60, cache_write: 40, cache_write_1h: 0 }, null],
    ])
  })

  test('counts once what another session copied', () => {
    write('s', [answer('a', AT, metrics(1))])
    write('t', [answer('a', AT, metrics(1)), answer('b', AT + 9, metrics(20))])
    expect(home.uses('cline').map(({ sessionId, tokens }) => [sessionId, tokens.input])).toEqual([
      ['s', 1],
      ['t', 20],
    ])
  })

  test('names a newer version, and a file that is none of its own', () => {
    write('s', [answer('a', AT, metrics(1, { audioTokens: 3 }))], { version: 2 })
    home.write(`${SESSIONS}/t/t.messages.json`, '{"messages":')
    const { uses, damage } = home.scan({ agents: ['cline'] })
    expect(uses.map(({ tokens }) => tokens.input)).toEqual([1])
    expect(damage.map(({ what }) => what)).toEqual([
      'has version 2 of the format, which this version of Tally may not read completely',
      'has audioTokens next to its counts, which is left out',
      'has no list of messages that this version of Tally knows',
    ])
  })

  describe('in an editor', () => {
    const TASKS = '.config/Code/User/globalStorage/saoudrizwan.claude-dev'
    const request = (ts: number, text: object, fields: object = {}) => ({
      ...{ ts, type: 'say', say: 'api_req_started', text: JSON.stringify(text), ...fields },
    })
    const usage = (tokensIn: number) => ({ tokensIn, tokensOut: 5, cacheWrites: 2, cacheReads: 3, cost: 0.5 })
    const modelInfo = { providerId: 'openrouter', modelId: 'anthropic/claude-sonnet-4.5' }
    const writeTask = (id: string, messages: object[]) =>
      home.write(`${TASKS}/tasks/${id}/ui_messages.json`, JSON.stringify(messages))

    test('has every request of a task, with the model of the time, in its folder', () => {
      const title = { ts: AT, type: 'say', say: 'task', text: 'Fix it' }
      const deleted = { ...request(AT + 4, usage(300), { modelInfo }), say: 'deleted_api_reqs' }
      writeTask('1', [title, request(AT + 1, usage(1)), request(AT + 3, usage(20), { modelInfo }), deleted])
      const model_usage = [{ ts: AT, model_id: 'claude-opus-4-8', model_provider_id: 'anthropic' }]
      home.write(`${TASKS}/tasks/1/task_metadata.json`, JSON.stringify({ model_usage }))
      const history = [{ id: '1', cwdOnTaskInitialization: '/home/dev/acme-web' }]
      home.write(`${TASKS}/state/taskHistory.json`, JSON.stringify(history))
      const { uses } = home.scan({ withTitles: true })
      expect(
        uses.map(({ model, provider, title: name, folder, tokens }) => [model, provider, name, folder, tokens]),
      ).toEqual([
        [
          ...['claude-opus-4-8', null, 'Fix it', '/home/dev/acme-web'],
          { input: 1, output: 5, cache_read: 3, cache_write: 2, cache_write_1h: 0 },
        ],
        [
          ...['anthropic/claude-sonnet-4.5', 'openrouter', 'Fix it', '/home/dev/acme-web'],
          { input: 320, output: 10, cache_read: 6, cache_write: 4, cache_write_1h: 0 },
        ],
      ])
    })

    test('has the requests of older versions, whose usage is in a message of its own', () => {
      const finished = { ...request(AT + 1, usage(20), { modelInfo }), say: 'api_req_finished' }
      writeTask('1', [request(AT, { request: 'What is new?' }), finished])
      expect(home.uses('cline').map(({ tokens, missing }) => [tokens.input, missing])).toEqual([[20, null]])
    })

    test.each(['tokensIn', 'tokensOut', 'cacheWrites', 'cacheReads'])('names requests without %s', (name) => {
      const { [name as 'tokensIn']: _, ...rest } = usage(20)
      writeTask('1', [
        request(AT, usage(1), { modelInfo }),
        request(AT + 1, { ...rest, [`${name}New`]: 2 }, { modelInfo }),
      ])
      const { uses, damage } = home.scan({ agents: ['cline'] })
      expect(uses[0]!.missing !== null || damage.length > 0).toBe(true)
    })

    describe('of which requests are deleted, because the person goes back', () => {
      const requests = [1, 20, 300].map((tokensIn, index) => request(AT + index * HOUR, usage(tokensIn), { modelInfo }))
      /** What the extension writes in place of requests. */
      const sumOf = (tokensIn: number, count: number, hour: number) => ({
        ...{ ...request(AT + hour * HOUR, {}, { modelInfo }), say: 'deleted_api_reqs' },
        text: JSON.stringify({ tokensIn, tokensOut: 5 * count, cacheWrites: 2 * count, cacheReads: 3 * count }),
      })
      const later = request(AT + 9 * HOUR, usage(4_000), { modelInfo })
      const cells = () =>
        home.uses('cline').flatMap((use) => use.cells().map((cell) => [(cell.firstAt - AT) / HOUR, cell.tokens.input]))
      const ALL = [
        [0, 1],
        [1, 20],
        [2, 300],
      ]

      test('these stay counted, each once, at their time', () => {
        writeTask('1', requests)
        expect(cells()).toEqual(ALL)
        writeTask('1', [...requests.slice(0, 1), sumOf(320, 2, 8), later])
        expect(cells()).toEqual([...ALL, [9, 4_000]])
        // A sum that is deleted itself is part of the next one.
        writeTask('1', [...requests.slice(0, 1), sumOf(4_320, 3, 10)])
        expect(cells()).toEqual([...ALL, [9, 4_000]])
        rmSync(join(home.folder, '.cache'), { recursive: true })
        expect(cells()).toEqual([...ALL, [9, 4_000]])
      })

      test('those that were deleted before the first scan count as their sum, and so do those between two scans', () => {
        writeTask('1', [...requests.slice(0, 1), sumOf(320, 2, 8)])
        const sum = [
          [0, 1],
          [8, 320],
        ]
        expect(cells()).toEqual(sum)
        writeTask('1', [...requests.slice(0, 1), sumOf(320, 2, 8), sumOf(50_000, 1, 10)])
        expect(cells()).toEqual([...sum, [10, 50_000]])
        writeTask('1', [sumOf(1 + 320 + 50_000, 4, 11)])
        expect(cells()).toEqual([...sum, [10, 50_000]])
      })

      const added = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0)
      const aStep = fc.record({
        deletes: fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2 }),
        tokens: fc.integer({ min: 1, max: 1_000 }),
        isScanned: fc.boolean(),
        losesCache: fc.boolean(),
      })
      test('they count once, and what was counted stays, whatever is deleted between scans', () => {
        fc.assert(
          fc.property(fc.array(aStep, { minLength: 1, maxLength: 15 }), (steps) => {
            home.remove()
            home = new AgentHome()
            const left: { tokens: number; count: number; message: object }[] = []
            const counted = new Map<number, number>()
            let total = 0
            for (const [hour, { deletes, tokens, isScanned, losesCache }] of steps.entries()) {
              const deleted = deletes === null ? [] : left.splice(-deletes)
              const sum = added(deleted.map((each) => each.tokens))
              const count = added(deleted.map((each) => each.count))
              if (deletes === null) {
                total += tokens
                left.push({ tokens, count: 1, message: request(AT + hour * HOUR, usage(tokens), { modelInfo }) })
              } else if (count > 0) left.push({ tokens: sum, count, message: sumOf(sum, count, hour) })
              writeTask(
                '1',
                left.map(({ message }) => message),
              )
              if (!isScanned) continue
              if (losesCache) rmSync(join(home.folder, '.cache'), { recursive: true, force: true })
              const now = new Map(cells() as [number, number][])
              expect(added([...now.values()])).toBe(total)
              for (const [at, input] of counted) expect([at, now.get(at)]).toEqual([at, input])
              for (const [at, input] of now) counted.set(at, input)
            }
          }),
          { numRuns: runs(300, 30) },
        )
      })

      test('they count once where a copy of the task still has them', () => {
        writeTask('1', [...requests.slice(0, 1), sumOf(320, 2, 8)])
        home.write(`${TASKS.replace('Code', 'Cursor')}/tasks/1/ui_messages.json`, JSON.stringify(requests))
        expect(cells()).toEqual(ALL)
      })
    })
  })

  test('counts what it deletes from the messages of a session where it was, also of all of them', () => {
    const [one, two] = [answer('a', AT, metrics(1)), answer('b', AT + HOUR, metrics(20))]
    write('s', [one, two])
    const inputs = () => home.uses('cline').map(({ tokens, requests }) => [tokens.input, requests])
    expect(inputs()).toEqual([[21, 2]])
    write('s', [one])
    expect(inputs()).toEqual([[21, 2]])
    write('s', [])
    expect(inputs()).toEqual([[21, 2]])
    write('s', [answer('c', AT + 2 * HOUR, metrics(300))])
    expect(inputs()).toEqual([[321, 3]])
  })

  test('has the counts of a request when it is complete, and the place where it was found first', () => {
    const manifest = (branch: string) => {
      const metadata = { git: { branch, url: 'https://github.com/acme/web' } }
      home.write(`${SESSIONS}/s/s.json`, JSON.stringify({ cwd: '/nowhere', metadata }))
    }
    manifest('one')
    write('s', [answer('a', AT, metrics(1))])
    const found = () => home.uses('cline').map(({ branch, repository, tokens }) => [branch, repository, tokens.input])
    expect(found()).toEqual([['one', 'acme/web', 1]])
    manifest('two')
    write('s', [answer('a', AT, metrics(20))])
    expect(found()).toEqual([['one', 'acme/web', 20]])
  })
})
