import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionUse } from '../../src/agents/agent.ts'
import { AgentHome } from '../support/agent-home.ts'

let home: AgentHome
beforeEach(() => {
  home = new AgentHome()
})
afterEach(() => home.remove())

const PLACE = '.openhands/conversations'

const figures = ({ sessionId, model, provider, requests, tokens }: SessionUse) => [
  ...[sessionId, model, provider, requests],
  [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write],
]

const RESUMED = 'a024af201dcd4a7ba1518a685a36a972'
/** From the ledger of the model server. */
const SERVED = [[RESUMED, 'gpt-5.4', null, 2, [1_027 + 1_028, 181 + 184, 5_189 + 5_196, 0]]]

const DELEGATING = 'd495cafe28324acc8b1de222c88595a1'

describe('captured conversations of OpenHands', () => {
  test('have what the model server sent, at the time of its costs', () => {
    home.copy(`cases/openhands/${RESUMED}`, `${PLACE}/${RESUMED}`)
    const [use, ...others] = home.uses('openhands')
    expect([figures(use!), ...others.map(figures)]).toEqual(SERVED)
    expect(use).toMatchObject({ folder: '/home/dev/acme-web', reportedCost: null })
    expect([use!.startedAt, use!.endedAt]).toEqual(['2026-11-28T21:14:34.284Z', '2026-11-28T21:17:47.177Z'])
  })

  test('have the requests of a sub-agent', () => {
    home.copy(`cases/openhands/${DELEGATING}`, `${PLACE}/${DELEGATING}`)
    const served = [1_001 + 1_002 + 1_003, 103 + 106 + 109, 5_007 + 5_014 + 5_021, 0]
    expect(home.uses('openhands').map(figures)).toEqual([[DELEGATING, 'gpt-5.4', null, 3, served]])
  })
})

describe('OpenHands', () => {
  const usage = (model: string, prompt_tokens: number, response_id = `r${prompt_tokens}`) => ({
    ...{ model, prompt_tokens, completion_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 },
    ...{ reasoning_tokens: 0, context_window: 1_000, per_turn_token: prompt_tokens + 1, response_id },
  })
  const cost = (model: string, at: string) => ({ model, cost: 0.1, timestamp: Date.parse(at) / 1_000 })
  const write = (session: string, metrics: Record<string, object>, state: object = {}) => {
    const usage_to_metrics = Object.fromEntries(
      Object.entries(metrics).map(([name, each]) => [name, { accumulated_token_usage: null, costs: [], ...each }]),
    )
    return home.write(`${PLACE}/${session}/base_state.json`, JSON.stringify({ stats: { usage_to_metrics }, ...state }))
  }
  const uses = () =>
    home.uses('openhands').map(({ model, provider, tokens, startedAt }) => [model, provider, tokens.input, startedAt])

  test('has the usage of sub-agents and summaries in the conversation, by who sells the model', () => {
    const costs = [cost('openai/gpt-5', '2026-11-20T10:00:00Z')]
    write('one', {
      agent: { costs, token_usages: [usage('openai/gpt-5', 1)] },
      'task:t1': {
        costs: [cost('openrouter/z/glm', '2026-11-20T11:00:00Z')],
        token_usages: [usage('openrouter/z/glm', 20)],
      },
    })
    home.write(
      `${PLACE}/one/subagents/two/base_state.json`,
      readFileSync(join(home.folder, PLACE, 'one/base_state.json')),
    )
    expect(uses()).toEqual([
      ['gpt-5', null, 1, '2026-11-20T10:00:00.000Z'],
      ['z/glm', 'openrouter', 20, '2026-11-20T11:00:00.000Z'],
    ])
  })

  test('has the time of its event for a request of a model without costs', () => {
    const costs = [cost('openai/gpt-5', '2026-11-20T10:00:00Z')]
    write('one', { agent: { costs, token_usages: [usage('local/own', 1), usage('openai/gpt-5', 20)] } })
    const event = { timestamp: '2026-11-20T09:00:00.000000', llm_response_id: 'r1' }
    home.write(`${PLACE}/one/events/event-00001-a.json`, JSON.stringify(event))
    expect(uses()).toEqual([
      ['own', 'local', 1, new Date('2026-11-20T09:00:00').toISOString()],
      ['gpt-5', null, 20, '2026-11-20T10:00:00.000Z'],
    ])
  })

  test('counts what a fork copied once, and names requests that cannot be placed', () => {
    const agent = { costs: [cost('openai/gpt-5', '2026-11-20T10:00:00Z')], token_usages: [usage('openai/gpt-5', 1)] }
    write('one', { agent })
    write('two', { agent })
    expect(uses()).toHaveLength(1)
    const file = write('three', {
      agent: { token_usages: [usage('local/own', 1)], accumulated_token_usage: { prompt_tokens: 3 } },
    })
    expect(home.scan().damage).toMatchObject([
      { file, line: null, what: 'has token counts without a time, and is not counted' },
      { file, line: null, what: 'has totals of requests that it does not list, which are not counted' },
    ])
  })

  test.each(['openhandsHome', 'openhandsConversations'] as const)('is read where %s says', (variable) => {
    home.copy(`cases/openhands/${RESUMED}`, `elsewhere/conversations/${RESUMED}`)
    const folder = join(home.folder, 'elsewhere')
    home.environment[variable] = variable === 'openhandsHome' ? folder : join(folder, 'conversations')
    expect(home.uses('openhands').map(figures)).toEqual(SERVED)
  })
})
