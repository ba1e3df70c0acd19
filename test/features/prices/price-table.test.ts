import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { defaultTable } from '../../../src/features/prices/default-table.ts'
import { explainSteps } from '../../../src/features/prices/explain.ts'
import { type PriceAlias, PriceTable, type StoredPrice } from '../../../src/features/prices/price-table.ts'
import { newId } from '../../../src/lib/id.ts'
import { normalizeModelName } from '../../../src/shared/model-name.ts'

const AT = Date.UTC(2026, 10, 1)

interface Listed extends Partial<Omit<StoredPrice, 'provider' | 'model'>> {
  from?: string
}

/** Prices as `provider model` with what else matters; loaded in this order, by the embedded table unless said. */
function tableOf(listed: [name: string, rest?: Listed][], aliases: PriceAlias[] = []): PriceTable {
  const prices = listed.map(([name, { from, ...rest } = {}], index): StoredPrice => {
    const [provider, model] = name.split(' ') as [string, string]
    return {
      id: index + 1,
      uid: newId('prc'),
      provider,
      model,
      input: BigInt(index + 1),
      output: 1n,
      cacheRead: null,
      cacheWrite: null,
      cacheWrite1h: null,
      tiers: [],
      effectiveFrom: from === undefined ? null : Date.parse(`${from}T00:00:00Z`),
      source: 'default',
      ...rest,
    }
  })
  return new PriceTable(prices, aliases)
}

/** `step provider model`, or `unpriced`, which is step 8. */
function found(table: PriceTable, model: string, provider: string | null = null, at = AT): string {
  const hit = table.find(model, provider, at)
  return hit ? `${hit.step} ${hit.price.provider} ${hit.price.model}` : 'unpriced'
}

const DEFAULT = new PriceTable(
  defaultTable().rows.map((row, index) => ({ ...row, id: index + 1, uid: newId('prc'), source: 'default' })),
  defaultTable().aliases.map((alias) => ({ ...alias, source: 'default' })),
)

describe('step 1, an admin’s own price', () => {
  test('is taken under exactly its name, whoever makes the model or nobody', () => {
    const table = tableOf([
      ['anthropic claude-opus-4-8'],
      ['anthropic claude-opus-4-8', { source: 'admin' }],
      ['basement llm-of-ours', { source: 'tally' }],
      [' house-blend', { source: 'admin' }],
      [' claude-of-ours', { source: 'admin' }],
    ])
    expect(table.find('claude-opus-4-8', null, AT)).toMatchObject({ step: 1, price: { id: 2 } })
    expect(found(table, 'llm-of-ours')).toBe('1 basement llm-of-ours')
    expect(found(table, 'house-blend', 'anybody')).toBe('1  house-blend')
    expect(found(table, 'claude-of-ours', 'anybody')).toBe('1  claude-of-ours')
    expect(found(table, 'house-blend-2')).toBe('unpriced')
  })

  test('prefers the entry’s provider, and never values others’ use at a reseller’s price', () => {
    const table = tableOf([
      ['openai gpt-9'],
      ['azure gpt-9', { source: 'admin' }],
      ['one auto', { source: 'admin' }],
      ['other auto', { source: 'admin' }],
    ])
    expect(found(table, 'gpt-9', 'azure')).toBe('1 azure gpt-9')
    expect(found(table, 'gpt-9')).toBe('4 openai gpt-9')
    expect(found(table, 'auto', 'other')).toBe('1 other auto')
    expect(found(table, 'auto')).toBe('unpriced')
  })

  test('is not what a published table lists, which holds for its own provider', () => {
    const table = tableOf([['openrouter auto', { source: 'litellm' }]])
    expect(found(table, 'auto')).toBe('unpriced')
    expect(found(table, 'auto', 'openrouter')).toBe('3 openrouter auto')
  })
})

describe('step 2, an admin’s alias', () => {
  const alias = (name: string, model: string, provider: string | null = null): PriceAlias => ({
    alias: name,
    provider,
    model,
    source: 'admin',
  })

  test('leads to the model it names, by that model’s own steps or at the provider it names', () => {
    const table = tableOf(
      [['anthropic claude-opus-4-8'], ['google claude-opus-4-8']],
      [
        alias('opus', 'claude-opus-4-8'),
        alias('opus-on-vertex', 'claude-opus-4-8', 'google'),
        alias('dated-opus', 'claude-opus-4-8-20260101'),
      ],
    )
    expect(found(table, 'opus')).toBe('2 anthropic claude-opus-4-8')
    expect(found(table, 'opus-on-vertex')).toBe('2 google claude-opus-4-8')
    expect(found(table, 'dated-opus')).toBe('2 anthropic claude-opus-4-8')
    expect(found(table, 'opus-2')).toBe('unpriced')
  })

  test('comes before the name’s own row, and the one made last counts', () => {
    const table = tableOf(
      [['openai gpt-9'], ['openai gpt-9-mini'], ['openai gpt-9-nano']],
      [alias('gpt-9', 'gpt-9-mini'), alias('gpt-9', 'gpt-9-nano')],
    )
    expect(found(table, 'gpt-9')).toBe('2 openai gpt-9-nano')
  })

  test('that leads nowhere leaves the name to the other steps', () => {
    const table = tableOf([['openai gpt-9']], [alias('gpt-9', 'gone')])
    expect(found(table, 'gpt-9')).toBe('4 openai gpt-9')
  })
})

describe('step 3, the provider of the entry', () => {
  test('takes the provider’s own row, or the row of which the name is an alias there', () => {
    expect(found(DEFAULT, 'claude-opus-4-8', 'google')).toBe('3 google claude-opus-4-8')
    expect(found(DEFAULT, 'global.anthropic.claude-opus-4-8-v1:0', 'aws')).toBe(
      '3 aws global.anthropic.claude-opus-4-8-v1:0',
    )
    expect(found(DEFAULT, 'gpt-4o-2024-08-06', 'openai')).toBe('3 openai gpt-4o')
    expect(found(DEFAULT, 'llama-3.3-70b-versatile', 'groq')).toBe('3 groq llama-3.3-70b-versatile')
  })

  test('is taken from the name where that says it, and the provider lists exactly this name', () => {
    const table = tableOf([
      ['openai gpt-9'],
      ['azure azure/gpt-9', { source: 'litellm' }],
      ['vertex_ai-anthropic_models vertex_ai/claude-9', { source: 'litellm' }],
      ['openrouter anthropic/claude-9', { source: 'models-dev' }],
      ['azure_ai azure/grok-9', { source: 'litellm' }],
      ['azures azure/o9', { source: 'litellm' }],
    ])
    expect(found(table, 'azure/gpt-9')).toBe('3 azure azure/gpt-9')
    expect(found(table, 'azure/gpt-9', 'litellm')).toBe('3 azure azure/gpt-9')
    expect(found(table, 'vertex_ai/claude-9')).toBe('3 vertex_ai-anthropic_models vertex_ai/claude-9')
    expect(found(table, 'azure/grok-9')).toBe('3 azure_ai azure/grok-9')
    // Another provider's row of this name, other names of that provider, and no provider at all.
    for (const name of ['anthropic/claude-9', 'azure/gpt-9-mini', 'azure/gpt-8', 'azure/o9', '/gpt-9', 'azure/'])
      expect(found(table, name)).toBe('unpriced')
  })

  test('takes what an admin loaded before the embedded table, also where one of them is another name', () => {
    const table = tableOf(
      [['deepseek deepseek-9'], ['deepseek deepseek/deepseek-9', { source: 'litellm' }]],
      [{ alias: 'deepseek-9', provider: 'deepseek', model: 'deepseek/deepseek-9', source: 'litellm' }],
    )
    expect(found(table, 'deepseek-9', 'deepseek')).toBe('3 deepseek deepseek/deepseek-9')
    expect(found(table, 'deepseek-9')).toBe('4 deepseek deepseek/deepseek-9')
  })

  test('takes nothing of a provider that only begins alike', () => {
    expect(found(DEFAULT, 'llama-3.3-70b-versatile', 'groq-eu')).toBe('unpriced')
  })
})

describe('step 4, the model’s own maker', () => {
  test.each([
    ['claude-opus-4-8', 'anthropic claude-opus-4-8'],
    ['claude-opus-4.8', 'anthropic claude-opus-4-8'],
    ['gpt-5-codex', 'openai gpt-5'],
    ['o4-mini', 'openai o4-mini'],
    ['codex-mini-latest', 'openai codex-mini'],
    ['gemini-2.5-pro', 'google gemini-2.5-pro'],
    ['gemini-2.5-flash', 'google gemini-2.5-flash'],
    ['gemma-2-27b-it', 'google gemma-2-27b-it'],
    ['mistral-large-latest', 'mistral mistral-large-latest'],
    ['devstral-2512', 'mistral devstral-2512'],
    ['open-mixtral-8x7b', 'mistral mixtral-8x7b'],
    ['deepseek-chat', 'deepseek deepseek-chat'],
    ['grok-4', 'x-ai grok-4-0709'],
    ['command-r-plus', 'cohere command-r-plus'],
    ['kimi-k2-thinking', 'moonshotai kimi-k2-thinking'],
    ['GLM-5.3', 'zai GLM-5.3'],
    ['glm-4.7', 'zai GLM-4.7'],
    ['MiniMax-M2', 'minimax MiniMax-M2'],
    ['sonar-pro', 'perplexity sonar-pro'],
    ['composer-2.5', 'cursor composer-2.5'],
    ['voyage-4', 'voyageai voyage-4'],
    ['amazon.nova-pro-v1:0', 'aws amazon.nova-pro-v1:0'],
    ['trinity-large-thinking', 'arcee trinity-large-thinking'],
    ['jev-latest', 'typesafe jev-1.14.0'],
  ])('takes the bare name %s at %s', (name, row) => {
    expect(found(DEFAULT, name)).toBe(`4 ${row}`)
  })

  test('never takes a reseller’s row for a bare name', () => {
    const table = tableOf([['google claude-9'], ['github-copilot claude-9'], ['quicksilverpro gpt-9']])
    expect(found(table, 'claude-9')).toBe('unpriced')
    expect(found(table, 'gpt-9')).toBe('unpriced')
  })

  test('takes nothing for a name that no maker owns', () => {
    const table = tableOf([['openrouter auto'], ['cursor default'], ['groq mixed-bag'], ['anthropic eu.claude-9']])
    for (const name of ['auto', 'default', 'mixed-bag', 'eu.claude-9', '', 'unknown'])
      expect(found(table, name)).toBe('unpriced')
  })

  test.each([
    'claude',
    'claude-opus',
    'claude-opus-4-8-fast',
    'claude-sonnet-9-9-20270101',
    'gpt-5-codex-ultra',
    'my-gpt-5',
    'gemini-2.5',
    'o4',
  ])('takes nothing for %s, which only resembles names it knows', (name) => {
    expect(found(DEFAULT, name)).toBe('unpriced')
  })
})

describe('step 5, spelling', () => {
  test.each([
    ['Claude-Opus-4-8', 'anthropic claude-opus-4-8'],
    ['claude-opus-4-8[1m]', 'anthropic claude-opus-4-8'],
    ['models/gemini-2.5-pro', 'google gemini-2.5-pro'],
    ['claude-opus-4@20250514', 'anthropic claude-opus-4-0'],
    ['minimax-m2.7-Highspeed', 'minimax MiniMax-M2.7-highspeed'],
  ])('takes %s at %s', (name, row) => {
    expect(found(DEFAULT, name)).toBe(`5 ${row}`)
  })

  test('is also ignored at the entry’s provider, which comes before the maker', () => {
    expect(found(DEFAULT, 'Claude-Opus-4-8', 'Google')).toBe('5 google claude-opus-4-8')
  })

  test('does not drop the same marks in the middle of a name', () => {
    expect(found(DEFAULT, 'claude[1m]-opus-4-8')).toBe('unpriced')
    expect(found(DEFAULT, 'my-models/gemini-2.5-pro')).toBe('unpriced')
  })

  test('keeps apart two rows whose names differ in nothing else', () => {
    const table = tableOf([['openai GPT-9'], ['openai gpt-9']])
    expect(found(table, 'GPT-9')).toBe('4 openai GPT-9')
    expect(found(table, 'Gpt-9')).toBe('5 openai gpt-9')
  })

  test('of names is the same after normalizing twice, and no name becomes empty', () => {
    const mark = fc.constantFrom('models/', '[1m]', '@', 'a', 'Ä', '-')
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ minLength: 1 }),
          fc.array(mark, { minLength: 1 }).map((all) => all.join('')),
        ),
        (name) => {
          const once = normalizeModelName(name)
          expect(normalizeModelName(once)).toBe(once)
          expect(once).not.toBe('')
        },
      ),
    )
  })
})

describe('step 6, a trailing date or version', () => {
  test.each([
    ['claude-opus-4-8-20260520', 'anthropic claude-opus-4-8'],
    ['claude-sonnet-4-5@20250930', 'anthropic claude-sonnet-4-5'],
    ['claude-3-7-sonnet-20250220', 'anthropic claude-3-7-sonnet-latest'],
    ['gpt-5-mini-2026-01-31', 'openai gpt-5-mini'],
    ['claude-opus-4-8-v1:0', 'anthropic claude-opus-4-8'],
    ['claude-opus-4-8-20260520-v1:0', 'anthropic claude-opus-4-8'],
  ])('takes %s at %s', (name, row) => {
    expect(found(DEFAULT, name)).toBe(`6 ${row}`)
  })

  test('is kept where the dated name has a row of its own', () => {
    expect(found(DEFAULT, 'gpt-4o-2024-05-13')).toBe('4 openai gpt-4o-2024-05-13')
  })

  test.each([
    'claude-sonnet-9-9-20270101',
    'claude-opus-4-8-20261301',
    'claude-opus-4-8-20261232',
    'claude-opus-4-8-12345678',
    'claude-opus-4-8-2026',
    'claude-opus-4-8-v1',
    'claude-opus-4-8-20260520-beta',
    'eu.anthropic.claude-opus-9-9-20260520-v1:0',
  ])('is not found in %s', (name) => {
    expect(found(DEFAULT, name)).toBe('unpriced')
  })
})

describe('step 7, a leading vendor', () => {
  test.each([
    ['anthropic/claude-opus-4.8', 'anthropic claude-opus-4-8'],
    ['openai/gpt-5-codex', 'openai gpt-5'],
    ['google/gemini-2.5-pro', 'google gemini-2.5-pro'],
    ['gemini/gemini-2.5-pro', 'google gemini-2.5-pro'],
    ['vertex_ai/claude-opus-4-8@20260520', 'google claude-opus-4-8'],
    ['openrouter/anthropic/claude-opus-4.8', 'anthropic claude-opus-4-8'],
    ['openrouter/x-ai/grok-4', 'x-ai grok-4-0709'],
    ['OpenAI/GPT-5-Codex', 'openai gpt-5'],
  ])('takes %s at %s', (name, row) => {
    expect(found(DEFAULT, name)).toBe(`7 ${row}`)
  })

  test.each([
    'azure/my-deployment',
    'azure/',
    'bedrock/anthropic.claude-opus-9-9-v1:0',
    'eu.anthropic.claude-opus-9-9',
    'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/x1y2z3',
    'us/anthropic/claude-opus-4-8',
    'openrouter/auto',
    'openrouter/somebody/claude-opus-4-8',
    'anthropic/',
    'anthropic/auto',
    'openai/azure/gpt-4o',
  ])('is not dropped, or leads to nothing, in %s', (name) => {
    expect(found(DEFAULT, name)).toBe('unpriced')
  })
})

describe('a seller', () => {
  test.each([
    ['azure/gpt-5.5', '7 azure gpt-5.5'],
    ['azure/eu/gpt-5.5', '7 azure eu/gpt-5.5'],
    ['bedrock/us.anthropic.claude-opus-4-8', '7 aws regional.anthropic.claude-opus-4-8-v1:0'],
    ['bedrock/converse/global.anthropic.claude-opus-4-8-v1:0', '7 aws global.anthropic.claude-opus-4-8-v1:0'],
    ['us.anthropic.claude-opus-4-8', '4 aws regional.anthropic.claude-opus-4-8-v1:0'],
    ['global.anthropic.claude-opus-4-8', '4 aws global.anthropic.claude-opus-4-8-v1:0'],
    [
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-opus-4-8',
      '7 aws regional.anthropic.claude-opus-4-8-v1:0',
    ],
    ['deepseek/deepseek-chat', '7 deepseek deepseek-chat'],
    ['xai/grok-4', '7 x-ai grok-4-0709'],
    ['moonshot/kimi-k2.5', '7 moonshotai kimi-k2.5'],
    ['mistral/mistral-large-latest', '7 mistral mistral-large-latest'],
    ['groq/llama-3.3-70b-versatile', '7 groq llama-3.3-70b-versatile'],
  ])('that %s begins with is the one of %s', (name, row) => {
    expect(found(DEFAULT, name)).toBe(row)
  })

  test('of Bedrock’s are all found without a provider, also those that begin like a maker’s own', () => {
    const names = [
      ...defaultTable().rows,
      ...defaultTable().aliases.map(({ provider, alias: model }) => ({ provider, model })),
    ]
      .filter(({ provider, model }) => provider === 'aws' && /^[a-z-]+\.(?:[a-z0-9]+\.)?[a-z]/.test(model))
      .map(({ model }) => model)
      .filter((model) => !model.startsWith('regional.'))
    expect(names.length).toBeGreaterThan(200)
    expect(names.filter((name) => !found(DEFAULT, name).includes(' aws '))).toEqual([])
  })

  test.each([
    ['deepseek.v3.2', '4 aws deepseek.v3.2'],
    ['mistral.magistral-small-2509', '4 aws mistral.magistral-small-2509'],
    ['us-gov.xai.grok-4.6', '4 aws us-gov.xai.grok-4.6'],
    // No source has its price.
    ['us-gov.xai.grok-4.7', 'unpriced'],
    ['in.moonshotai.kimi-k3.1', '4 aws regional.moonshotai.kimi-k3.1'],
    // A name without a region is run in the region of the request.
    ['moonshotai.kimi-k3.1', '4 aws regional.moonshotai.kimi-k3.1'],
    ['anthropic.claude-opus-5-5', '4 aws regional.anthropic.claude-opus-5-5'],
    ['openai.gpt-6-sol', '4 aws regional.openai.gpt-6-sol'],
  ])('of Bedrock: %s is %s', (name, price) => {
    expect(found(DEFAULT, name)).toBe(price)
  })

  test('has several names, of which the given one comes first', () => {
    expect(found(DEFAULT, 'us.anthropic.claude-opus-4-8', 'bedrock')).toBe(
      '3 aws regional.anthropic.claude-opus-4-8-v1:0',
    )
    expect(found(DEFAULT, 'grok-4', 'xai')).toBe('3 x-ai grok-4-0709')
    const table = tableOf([['aws nova-9'], ['bedrock nova-9']])
    expect(found(table, 'nova-9', 'bedrock')).toBe('3 bedrock nova-9')
    expect(found(table, 'nova-9', 'aws')).toBe('3 aws nova-9')
    expect(found(table, 'Nova-9', 'bedrock')).toBe('5 bedrock nova-9')
  })

  test('of a name never leads to the price of another one', () => {
    const table = tableOf([['openai gpt-9'], ['anthropic claude-9']])
    expect(found(table, 'azure/gpt-9')).toBe('unpriced')
    expect(found(table, 'bedrock/claude-9')).toBe('unpriced')
    expect(found(table, 'groq/gpt-9')).toBe('unpriced')
  })
})

describe('the effort of reasoning', () => {
  test.each([
    ['gpt-5-high', '6 openai gpt-5'],
    ['gpt-5.2-codex-xhigh', '6 openai gpt-5.2'],
    ['gpt-5-mini-2025-08-07-low', '6 openai gpt-5-mini'],
    ['o4-mini-low', '6 openai o4-mini'],
    ['claude-4.5-sonnet-thinking', '6 anthropic claude-sonnet-4-5'],
    ['mistral-medium', '4 mistral mistral-medium'],
    ['kimi-k9-high', 'unpriced'],
  ])('in %s is no part of the name: %s', (name, row) => {
    expect(found(DEFAULT, name)).toBe(row)
  })
})

describe('of several rows for a name', () => {
  const day = (text: string) => Date.parse(`${text}T00:00:00Z`)

  test('the newest that is not after the start holds, from midnight UTC on', () => {
    const table = tableOf([
      ['openai gpt-9', { from: '2026-06-01' }],
      ['openai gpt-9'],
      ['openai gpt-9', { from: '2026-03-01' }],
    ])
    const idAt = (at: number) => table.find('gpt-9', null, at)?.price.id
    expect(idAt(0)).toBe(2)
    expect(idAt(day('2026-03-01') - 1)).toBe(2)
    expect(idAt(day('2026-03-01'))).toBe(3)
    expect(idAt(day('2026-06-01'))).toBe(1)
  })

  test('the last loaded of the same date holds', () => {
    const table = tableOf([
      ['openai gpt-9', { from: '2026-06-01' }],
      ['openai gpt-9', { from: '2026-06-01' }],
    ])
    expect(table.find('gpt-9', null, AT)?.price.id).toBe(2)
  })

  test('what an admin loaded comes before the embedded table, however old', () => {
    const table = tableOf([
      ['openai gpt-9', { from: '2026-01-01', source: 'litellm' }],
      ['openai gpt-9', { from: '2026-06-01' }],
      ['x-ai grok-9'],
      ['xai grok-9', { source: 'litellm' }],
    ])
    expect(table.find('gpt-9', null, AT)?.price.id).toBe(1)
    expect(table.find('gpt-9', 'openai', AT)?.price.id).toBe(1)
    expect(table.find('gpt-9', null, day('2025-12-31'))).toBeUndefined()
    expect(table.find('grok-9', null, AT)?.price.id).toBe(4)
  })

  test('a row that does not hold yet leaves the name to the next step', () => {
    const table = tableOf(
      [
        ['google gemini-9', { from: '2027-01-01', source: 'admin' }],
        ['google gemini-9'],
        ['google gemini-9-exp', { from: '2027-01-01' }],
      ],
      [{ alias: 'gemini-9-exp', provider: 'google', model: 'gemini-9', source: 'default' }],
    )
    expect(found(table, 'gemini-9')).toBe('4 google gemini-9')
    expect(found(table, 'gemini-9', null, day('2027-01-01'))).toBe('1 google gemini-9')
    expect(found(table, 'gemini-9-exp')).toBe('4 google gemini-9')
  })

  test('the embedded table’s dates are kept', () => {
    const perMillion = (at: string) => DEFAULT.find('o3', null, day(at))?.price.rates.levels[0]?.prices.input
    expect(perMillion('2025-06-09')).toBe(10_000_000n)
    expect(perMillion('2025-06-10')).toBe(2_000_000n)
  })
})

describe('explaining', () => {
  const explained = (table: PriceTable, model: string, provider: string | null = null) => {
    const { hit, lookups } = table.explain(model, provider, AT)
    return explainSteps({ timeZone: 'UTC', model, at: AT, hit, lookups }).map(
      ({ step, outcome, detail }) => `${step} ${outcome}: ${detail}`,
    )
  }
  const table = tableOf(
    [
      ['anthropic claude-9'],
      ['aws claude-9', { from: '2027-01-01' }],
      [' house-blend', { source: 'admin', from: '2026-10-31' }],
    ],
    [{ alias: 'ours', provider: null, model: 'claude-9', source: 'admin' }],
  )

  test('tells which step found the row, and why those before did not', () => {
    expect(explained(table, 'models/Claude-9-20260101', 'aws')).toEqual([
      '1 not_listed: no price set by hand has this name',
      '2 does_not_apply: no alias has this name',
      "3 not_listed: 'models/Claude-9-20260101' is not listed by aws",
      "4 not_listed: the vendor of 'models/Claude-9-20260101' is unknown",
      "5 not_listed: 'claude-9-20260101' is not listed by aws, anthropic",
      "6 found: 'claude-9' at anthropic, always in effect, source default",
    ])
    expect(explained(table, 'house-blend')).toEqual([
      "1 found: 'house-blend' at any provider, in effect from 2026-10-31, source admin",
    ])
    expect(explained(table, 'ours').at(-1)).toBe("2 found: 'claude-9' at anthropic, always in effect, source default")
  })

  test('tells of a row that does not hold yet', () => {
    expect(explained(table, 'claude-9', 'aws').slice(2)).toEqual([
      "3 not_yet: 'claude-9' at aws in effect from 2027-01-01",
      "4 found: 'claude-9' at anthropic, always in effect, source default",
    ])
  })

  test.each(['claude-sonnet-9-9-20270101', 'auto', 'eu.anthropic.claude-9', 'azure/gpt-9', 'openrouter/auto', ''])(
    'tells of every step that %j is unpriced, and finds what finding finds',
    (name) => {
      const steps = explained(table, name)
      expect(steps.map((step) => step[0])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8'])
      expect(steps.at(-1)).toBe('8 not_listed: unpriced on 2026-11-01')
      expect(found(table, name)).toBe('unpriced')
    },
  )

  test('finds the same as finding does, for every name of the embedded table', () => {
    for (const { model, provider } of defaultTable().rows) {
      for (const name of [model, `anthropic/${model}`, `${model}-20260101`]) {
        for (const seller of [null, provider]) {
          expect(DEFAULT.explain(name, seller, AT).hit).toEqual(DEFAULT.find(name, seller, AT) as never)
        }
      }
    }
  })
})

test('more names than are remembered are all answered, and again after they were forgotten', () => {
  const table = tableOf([['openai gpt-9']])
  for (let number = 0; number < 10_000; number += 1) expect(found(table, `gpt-9-of-${number}`)).toBe('unpriced')
  expect(found(table, 'gpt-9')).toBe('4 openai gpt-9')
})
