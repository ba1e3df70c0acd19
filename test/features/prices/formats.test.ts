import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type SourceName, sourceText } from '../../../scripts/price-table/packages.ts'
import type { TableReading } from '../../../src/features/prices/formats/reader.ts'
import { readTable } from '../../../src/features/prices/formats/table-file.ts'
import { planLoad } from '../../../src/features/prices/load-plan.ts'
import { PriceTable } from '../../../src/features/prices/price-table.ts'
import { ratesOf, valueCounts } from '../../../src/features/prices/rates.ts'
import { ZERO_COUNTS } from '../../../src/shared/usage.ts'

const FIXTURES = join(import.meta.dir, '../../fixtures/prices')
/** The real tables are input beside the checkout, not part of it. */
const TABLES = join(import.meta.dir, '../../../../shared/data')

const NOTHING = { prices: [], aliases: [], table: new PriceTable([], []), timeZone: 'UTC' }
const NOW = Date.UTC(2026, 10, 20, 19, 30)

const SERVICE = { kind: 'serviceTier' as const, multiplier: null, prices: {}, tiers: [] }

async function fixture(name: string) {
  return readTable(await Bun.file(join(FIXTURES, name)).text())
}

/** `provider model: input output` in dollars per million, and what else there is. */
function shown(reading: TableReading): Record<string, string> {
  const dollars = (picos: bigint | null | undefined) => (picos == null ? '-' : String(Number(picos) / 1e6))
  return Object.fromEntries(
    reading.rows.map((row) => [
      `${row.provider} ${row.model}${row.effectiveFrom == null ? '' : ` ${new Date(row.effectiveFrom).toISOString()}`}`,
      [
        ...[row.input, row.output, row.cacheRead, row.cacheWrite, row.cacheWrite1h].map(dollars),
        ...row.tiers.map(
          ({ fromTokens, prices }) =>
            `>=${fromTokens}: ${[prices.input, prices.output, prices.cacheRead, prices.cacheWrite].map(dollars).join(' ')}`,
        ),
      ].join(' '),
    ]),
  )
}

/** Model to the codes of what speaks against it, with everything that loading it into an empty table refuses. */
function refusals(reading: TableReading, options = {}): Record<string, string[]> {
  const { refused } = planLoad(reading, NOTHING, NOW, options)
  return Object.fromEntries(refused.map(({ model, reasons }) => [model, reasons.map(({ code }) => code)]))
}

function countReasons(refused: { reasons: { code: string }[] }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { code } of refused.flatMap(({ reasons }) => reasons)) counts[code] = (counts[code] ?? 0) + 1
  return counts
}

describe('LiteLLM’s table', () => {
  test('is told by its shape, and read with its tiers, cache prices and other names', async () => {
    const { format, reading } = await fixture('litellm.json')
    expect(format).toBe('litellm')
    expect(shown(reading)).toEqual({
      'openai gpt-9': '1.25 10 0.125 - - >=272001: 2.5 15 0.25 -',
      'anthropic claude-9': '3 15 0.3 3.75 6 >=200001: 6 - 0.6 7.5',
      'xai xai/grok-9': '2 6 - - - >=200000: 4 - - -',
      'deepseek deepseek/deepseek-9': '0.28 0.42 0.028 - -',
      'deepseek deepseek-9': '0.28 0.42 - - -',
      'dashscope dashscope/qwen9-coder': '0.05 0.4 - - - >=256001: 0.25 2 - -',
      'databricks databricks/noisy': '2.99999 15.00002 - - -',
      'azure azure/gpt-9': '1.375 11 - - -',
      'openai openai/text-9': '1 0 - - -',
      'fireworks_ai class-of-models': '0.2 0.2 - - -',
      'wandb wandb/unit-error': '15000 60000 - - -',
      'edge edge/at-limit': '1000 1000 - - -',
      'edge edge/above-limit': '1000.1 1800 - - -',
      'anthropic claude-9-haiku': '0.25 1.25 - 0.3 6',
      'ollama free-9': '0 0 - - -',
    })
    expect(reading.aliases.map(({ provider, alias, model }) => `${provider} ${alias} = ${model}`)).toEqual([
      'xai grok-9 = xai/grok-9',
      'dashscope qwen9-coder = dashscope/qwen9-coder',
      'databricks noisy = databricks/noisy',
      'azure gpt-9 = azure/gpt-9',
      'openai text-9 = openai/text-9',
      'wandb unit-error = wandb/unit-error',
      'edge at-limit = edge/at-limit',
      'edge above-limit = edge/above-limit',
    ])
  })

  test('has each row refused by name and reason that must not be swallowed', async () => {
    const { reading } = await fixture('litellm.json')
    const always = {
      'unknown-9': ['no_input_price'],
      'negative-9': ['negative'],
      'text-price-9': ['not_a_number'],
      'too-fine-9': ['too_fine'],
      'reasons-apart-9': ['output_in_parts'],
    }
    expect(refusals(reading)).toEqual({
      ...always,
      'wandb/unit-error': ['above_limit', 'above_limit'],
      'edge/above-limit': ['above_limit', 'above_limit'],
      'claude-9-haiku': ['cache_write_out_of_line'],
      'free-9': ['free'],
    })
    // What could make values too large for the database is refused whoever insists.
    expect(refusals(reading, { force: true, allowFree: true })).toEqual({
      ...always,
      'wandb/unit-error': ['above_limit', 'above_limit'],
    })
    const [forced] = planLoad(reading, NOTHING, NOW, { force: true }).refused.filter((row) => row.provider === 'wandb')
    expect(forced?.reasons[0]?.message).toContain('the maximum even with --force')
  })

  test.each([-1, '0.0000015', true, 'NaN', 5.6e-3])('has a price of %p refused', (input_cost_per_token) => {
    const table = { odd: { litellm_provider: 'acme', mode: 'chat', input_cost_per_token, output_cost_per_token: 1e-6 } }
    expect(Object.keys(refusals(readTable(JSON.stringify(table)).reading))).toEqual(['odd'])
  })

  test('has other modes skipped, and prices that are not of text tokens counted', async () => {
    const { reading } = await fixture('litellm.json')
    expect(reading.skipped).toEqual({ 'not a model': 1, 'no mode': 1, embedding: 1, image_generation: 1 })
    expect(reading.unused).toEqual({ search_context_cost_per_query: 1, code_interpreter_cost_per_session: 1 })
  })

  test('has the prices of service tiers, speeds, regions, tools and audio', async () => {
    const { reading } = await fixture('litellm.json')
    const extrasOf = (name: string) => reading.rows.find(({ model }) => model === name)?.extras
    expect(extrasOf('gpt-9')).toEqual({
      media: {},
      tools: {},
      variants: [
        { ...SERVICE, name: 'batch', prices: { input: 625_000n, output: 5_000_000n } },
        { ...SERVICE, name: 'flex', prices: { cacheRead: 60_000n } },
        {
          ...SERVICE,
          name: 'priority',
          prices: { input: 2_500_000n },
          tiers: [{ fromTokens: 272_001, prices: { input: 5_000_000n } }],
        },
      ],
      hours: [],
    })
    expect(extrasOf('claude-9')).toEqual({
      media: { inputAudio: 4_000_000n },
      tools: { web_search: 10_000_000_000n },
      variants: [
        { ...SERVICE, kind: 'speed', name: 'fast', multiplier: 6_000_000n },
        { ...SERVICE, kind: 'region', name: 'us', multiplier: 1_100_000n },
      ],
      hours: [],
    })
    expect(extrasOf('xai/grok-9')).toBeUndefined()
  })

  test('has the tail of floating-point noise rounded to the pico-dollar, and says so', async () => {
    const { reading } = await fixture('litellm.json')
    expect(reading.rounded).toEqual([
      { provider: 'databricks', model: 'databricks/noisy', text: '2.9999900000000002e-06', picos: 2_999_990n },
      { provider: 'databricks', model: 'databricks/noisy', text: '1.5000020000000002e-05', picos: 15_000_020n },
    ])
  })
})

test('the catalogue of models.dev is told by its shape, and read', async () => {
  const { format, reading } = await fixture('models-dev.json')
  expect(format).toBe('models-dev')
  expect(shown(reading)).toEqual({
    'anthropic claude-9': '3 15 0.3 3.75 - >=200001: 6 22.5 0.6 7.5',
    'openrouter anthropic/claude-9': '3 15 - - -',
    'openrouter vendor/long': '1 2 - - - >=200001: 2 4 - -',
    'openrouter vendor/noisy': '0.05 0.1 - - -',
    'openrouter vendor/gift:free': '0 0 - - -',
  })
  expect(refusals(reading)).toEqual({
    'vendor/unknown': ['no_input_price'],
    'vendor/reasoner': ['output_in_parts'],
    'vendor/gift:free': ['free'],
  })
  expect([reading.skipped, reading.unused, reading.rounded.length]).toEqual([{ 'no text output': 1 }, {}, 2])
  expect(reading.rows.find(({ model }) => model === 'anthropic/claude-9')?.extras?.media).toEqual({
    inputAudio: 1_000_000n,
  })
})

test('the data of genai-prices is told by its shape, and read with its dates and names', async () => {
  const { format, reading } = await fixture('genai-prices.json')
  expect(format).toBe('genai-prices')
  expect(shown(reading)).toEqual({
    'openai o9': '10 40 2.5 - -',
    'openai o9 2025-06-10T00:00:00.000Z': '2 8 0.5 - -',
    'openai o9-preview': '3 15 - - - >=200001: 6 22.5 - -',
    'openai night': '1 2 - - -',
  })
  expect(reading.aliases.map(({ alias, model }) => `${alias} = ${model}`)).toEqual(['o9-2025-04-16 = o9'])
  expect(refusals(reading)).toEqual({ 'embed-nothing': ['no_input_price'], parts: ['output_in_parts'] })
  expect(reading.skipped).toEqual({})
  expect(reading.rows.find(({ model }) => model === 'night')?.extras?.hours).toEqual([
    { from: 990, to: 30, days: null, multiplier: null, prices: { input: 500_000n, output: 1_000_000n }, tiers: [] },
  ])
})

test('variants of genai-prices belong to the price of their time, and combinations are left out', () => {
  const batch = (price: number, start?: string) => ({
    when: { processing: 'batch' },
    prices: { input_mtok: price },
    ...(start ? { constraint: { start_date: start } } : {}),
  })
  const model = {
    id: 'gpt-9',
    match: { equals: 'gpt-9' },
    prices: [{ prices: { input_mtok: 4 } }, { constraint: { start_date: '2026-06-01' }, prices: { input_mtok: 2 } }],
    price_variants: [
      batch(2),
      batch(1, '2026-06-01'),
      { when: { service_tier: 'default' }, prices: { input_mtok: 9 } },
      { when: { service_tier: 'flex', speed: 'fast' }, prices: { input_mtok: 9 } },
    ],
  }
  const { rows } = readTable(JSON.stringify([{ id: 'openai', models: [model] }]), 'genai-prices').reading
  expect(rows.map(({ extras }) => extras?.variants)).toMatchObject([
    [{ kind: 'serviceTier', name: 'batch', prices: { input: 2_000_000n } }],
    [{ kind: 'serviceTier', name: 'batch', prices: { input: 1_000_000n } }],
  ])
})

test('what the sources of the embedded table publish is read, but for what they do not price', async () => {
  const refusedOf = async (source: SourceName, format: 'genai-prices' | 'litellm') => {
    const { rows, refused } = readTable(await sourceText(source), format).reading
    expect(rows.length).toBeGreaterThan(1_500)
    return [...new Set(refused.flatMap(({ reasons }) => reasons.map(({ code }) => code)))].sort()
  }
  expect(await refusedOf('genai-prices', 'genai-prices')).toEqual(['no_input_price', 'output_in_parts'])
  expect(await refusedOf('litellm', 'litellm')).toEqual(['no_input_price', 'output_in_parts'])
})

describe('Tally’s own format', () => {
  test('as CSV is read with quotes, a byte order mark, escaped formulas and dates', async () => {
    const { format, reading } = await fixture('tally.csv')
    expect(format).toBe('tally')
    expect(shown(reading)).toEqual({
      'openai gpt-9': '1.25 10 0.125 - - >=200001: 2.5 15 - -',
      ' our-coder 2026-12-01T00:00:00.000Z': '0.5 2 - - -',
      'cloudflare @cf/meta/llama-9': '0.000001 0.1 - - -',
      'quoted, "inc" model with space 2026-11-30T23:00:00.000Z': '1 2 - - -',
      'openai free-9': '0 0 - - -',
    })
    // `always` is said, an empty date is left to the loader.
    expect(reading.rows.map(({ effectiveFrom }) => effectiveFrom)).toEqual([
      undefined,
      Date.UTC(2026, 11, 1),
      null,
      Date.UTC(2026, 10, 30, 23),
      undefined,
    ])
    expect(refusals(reading)).toEqual({
      'unknown-9': ['no_input_price'],
      'bad-9': ['negative', 'not_a_number', 'bad_tier', 'bad_date'],
      'free-9': ['free'],
    })
  })

  test('as JSON is read with its aliases; a mistyped field is refused by name', async () => {
    const { format, reading } = await fixture('tally.json')
    expect(format).toBe('tally')
    expect(Object.keys(shown(reading))).toEqual(['openai gpt-9', ' our-coder 2026-12-01T00:00:00.000Z'])
    expect(refusals(reading)).toEqual({ 'typo-9': ['unknown_field'], 'bad-tier-9': ['bad_tier'] })
    expect(reading.aliases).toEqual([
      { alias: 'gpt-9-latest', provider: 'openai', model: 'gpt-9', source: 'tally' },
      { alias: 'coder', provider: null, model: 'our-coder', source: 'admin' },
    ])
    expect(reading.skipped).toEqual({ 'alias without alias, model and provider': 1 })
  })

  test('is exact to the pico-dollar per token at any size, whatever a double makes of it', () => {
    const { reading } = readTable('provider,model,input,output\nx,y,999.999999,0.000001\n')
    expect(reading.rows[0]).toMatchObject({ input: 999_999_999n, output: 1n })
    const json = readTable('[{"provider":"x","model":"y","input":123.45678900000000001,"output":0.1}]').reading
    expect(json.rows[0]).toMatchObject({ input: 123_456_789n, output: 100_000n })
    expect(json.rounded).toHaveLength(1)
  })
})

describe('a file that is no table', () => {
  const refused = (text: string, format?: 'tally' | 'litellm') => {
    try {
      readTable(text, format)
      return 'read'
    } catch (error) {
      return (error as { code?: string }).code
    }
  }

  test.each([
    ['', undefined],
    ['hello', undefined],
    ['{', undefined],
    ['{}', undefined],
    ['[]x', undefined],
    ['"text"', undefined],
    ['{"a": 1}', undefined],
    ['provider,model\nx,y\n', undefined],
    ['provider,model,input,output,inputs\nx,y,1,2,3\n', undefined],
    ['provider,model,input,output\n"x,y,1,2\n', undefined],
    ['provider,model,input,output\nx,y,1,2\n', 'litellm'],
    ['{"openai": {"models": {}}}', 'litellm'],
    ['{"a": {"litellm_provider": "x"}}', 'tally'],
  ] as const)('is refused as a whole: %j', (text, format) => {
    expect(refused(text, format)).toBe('unreadable_price_table')
  })

  test('is not one whose rows are all wrong: each of them is told', () => {
    const { reading } = readTable(
      JSON.stringify([
        { model: 'a\u0000', input: 1, output: 1 },
        { model: '', input: 1 },
      ]),
    )
    expect(reading.refused.flatMap(({ reasons }) => reasons.map(({ code }) => code))).toEqual(['bad_name', 'bad_name'])
  })

  test('nor one that holds nothing', () => {
    expect(readTable('[]').reading.rows).toEqual([])
  })
})

describe('a table that names thresholds', () => {
  const litellm = (columns: object) =>
    readTable(
      JSON.stringify({
        long: {
          litellm_provider: 'acme',
          mode: 'chat',
          input_cost_per_token: 1e-6,
          output_cost_per_token: 2e-6,
          ...columns,
        },
        plain: { litellm_provider: 'acme', mode: 'chat', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
      }),
    ).reading

  test.each([
    ['64000', 64_001],
    ['64k', 64_001],
    ['200K', 200_001],
    ['1m', 1_000_001],
    ['1.1m', 1_100_001],
    ['1048576', 1_048_577],
  ])('in tokens, thousands or millions, is read: above %s', (length, from) => {
    const { rows, refused, unused } = litellm({
      [`input_cost_per_token_above_${length}_tokens`]: 5e-6,
      [`input_cost_per_token_above_${length}_tokens_flex`]: 4e-6,
    })
    expect([refused, unused]).toEqual([[], {}])
    expect(rows[0]!.tiers).toEqual([{ fromTokens: from, prices: { input: 5_000_000n } }])
    expect(rows[0]!.extras!.variants).toMatchObject([{ tiers: [{ fromTokens: from, prices: { input: 4_000_000n } }] }])
  })

  test.each(['above_many_tokens', 'above_64g_tokens', 'above_200k', 'above_1.2345678_tokens'])(
    'in another way has the row refused, and the rest loaded: %s',
    (column) => {
      const { rows, refused } = litellm({ [`output_cost_per_token_${column}`]: 5e-6 })
      expect(rows.map(({ model }) => model)).toEqual(['plain'])
      expect(refused).toMatchObject([{ model: 'long', reasons: [{ code: 'bad_tier' }] }])
      expect(refused[0]!.reasons[0]!.message).toContain(`output_cost_per_token_${column}`)
    },
  )

  test('is read of models.dev as well', () => {
    const cost = { input: 1, output: 2, context_over_128k: { input: 2 }, context_over_1m: { input: 4 } }
    const tableOf = (changed: object) =>
      readTable(JSON.stringify({ acme: { models: { long: { cost: { ...cost, ...changed } } } } }), 'models-dev').reading
    expect(tableOf({}).rows[0]!.tiers).toEqual([
      { fromTokens: 128_001, prices: { input: 2_000_000n } },
      { fromTokens: 1_000_001, prices: { input: 4_000_000n } },
    ])
    for (const changed of [
      { context_over_lots: { input: 2 } },
      { tiers: [{ tier: { type: 'output', size: 1000 }, input: 2 }] },
    ]) {
      expect(tableOf(changed).refused).toMatchObject([{ reasons: [{ code: 'bad_tier' }] }])
    }
  })
})

describe('a tier without prices of the cache', () => {
  const perMillion = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 }
  const tier = { input: 6, output: 22.5 }
  const raised = { input: 6_000_000n, output: 22_500_000n, cacheRead: 600_000n, cacheWrite: 7_500_000n }

  test('has those of its input, and one-hour writes those of five minutes, in LiteLLM’s table', () => {
    const { rows } = readTable(
      JSON.stringify({
        long: {
          litellm_provider: 'acme',
          mode: 'chat',
          input_cost_per_token: 3e-6,
          output_cost_per_token: 15e-6,
          cache_read_input_token_cost: 0.3e-6,
          cache_creation_input_token_cost: 3.75e-6,
          cache_creation_input_token_cost_above_1hr: 6e-6,
          input_cost_per_token_above_200k_tokens: 6e-6,
          cache_creation_input_token_cost_above_200k_tokens: 7.5e-6,
          input_cost_per_token_flex: 1e-6,
          cache_read_input_token_cost_flex: 0.1e-6,
          input_cost_per_token_above_200k_tokens_flex: 2e-6,
        },
      }),
    ).reading
    const { output: _output, ...prices } = raised
    expect(rows[0]!.tiers).toEqual([{ fromTokens: 200_001, prices: { ...prices, cacheWrite1h: 12_000_000n } }])
    expect(rows[0]!.extras!.variants).toMatchObject([
      { name: 'flex', tiers: [{ fromTokens: 200_001, prices: { input: 2_000_000n, cacheRead: 200_000n } }] },
    ])
    const usage = { counts: { ...ZERO_COUNTS, cacheWrite1h: 250_000 }, requests: 1, startedAt: 0, endedAt: 0 }
    expect(valueCounts(ratesOf(rows[0]!), { ...usage, details: null })?.listValueNanos).toBe(3_000_000_000n)
  })

  test('has them in the other published tables, but not in Tally’s own format, which says what it means', () => {
    const catalog = { acme: { models: { long: { cost: { ...perMillion, context_over_200k: tier } } } } }
    expect(readTable(JSON.stringify(catalog)).reading.rows[0]!.tiers).toEqual([{ fromTokens: 200_001, prices: raised }])
    const own = [{ model: 'long', ...perMillion, tiers: [{ from_tokens: 200_001, ...tier }] }]
    expect(readTable(JSON.stringify(own)).reading.rows[0]!.tiers[0]!.prices).toEqual({
      input: 6_000_000n,
      output: 22_500_000n,
    })
  })

  test('is refused if an hour in the cache would then cost less than five minutes', () => {
    const own = [
      { model: 'long', ...perMillion, cache_write_1h: 6, tiers: [{ from_tokens: 200_001, cache_write: 7.5 }] },
    ]
    const { reading } = readTable(JSON.stringify(own))
    expect(refusals(reading)).toEqual({ long: ['cache_write_out_of_line'] })
    expect(refusals(reading, { force: true })).toEqual({})
  })
})

describe('prices that are not used', () => {
  test('are counted by the name of their column, also within others', () => {
    const row = { litellm_provider: 'acme', mode: 'chat', input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 }
    const { unused, rows } = readTable(
      JSON.stringify({
        one: {
          ...row,
          input_cost_per_request: 0.01,
          regional_processing_uplift_multiplier_eu: 1.1,
          input_cost_per_token_above_200k_tokens_scale: 9e-6,
          cache_creation_input_token_cost_above_12hr: 4e-6,
          input_cost_per_image: 0,
          max_input_tokens: 5,
          supports_pricing: true,
          provider_specific_entry: { us: 1.1, priority_lane: 2 },
          tiered_pricing: [{ range: [0, 1000], input_cost_per_token: 1e-6, input_cost_per_request: 1 }],
        },
        two: { ...row, input_cost_per_request: 0.02, 'cost\u001b[31m': 1 },
      }),
    ).reading
    expect(rows).toHaveLength(2)
    expect(unused).toEqual({
      input_cost_per_request: 2,
      regional_processing_uplift_multiplier_eu: 1,
      input_cost_per_token_above_200k_tokens_scale: 1,
      cache_creation_input_token_cost_above_12hr: 1,
      'provider_specific_entry.priority_lane': 1,
      'tiered_pricing.input_cost_per_request': 1,
      'other columns': 1,
    })
  })

  test('of models.dev and genai-prices are counted too, and never more than a hundred columns', () => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`charge_${index}`, 1]))
    const catalog = { acme: { models: { one: { cost: { input: 1, output: 2, request: 0.1, ...many } } } } }
    const { unused } = readTable(JSON.stringify(catalog)).reading
    expect(unused['cost.request']).toBe(1)
    expect([Object.keys(unused).length, unused['other columns']]).toEqual([101, 51])
    const prices = { input_mtok: 1, output_mtok: 2, requests_kcount: 3, web_searches_kcount: 10 }
    const genai = readTable(JSON.stringify([{ id: 'acme', models: [{ id: 'one', prices }] }]), 'genai-prices')
    expect(genai.reading.unused).toEqual({ 'prices.requests_kcount': 1 })
  })
})

test.each([
  { tiers: [{ from_tokens: 100, inptu: 2 }] },
  { variants: [{ service_tier: 'batch', input: 2, cache_write_1hr: 4 }] },
  { hours: [{ from: '01:00', to: '02:00', multiplier: 2, timezone: 'CET' }] },
])('in Tally’s own format, an unknown field within a price has the row refused: %j', (charges) => {
  const rows = [
    { model: 'bad', input: 1, output: 1, ...charges },
    { model: 'good', input: 1, output: 1 },
  ]
  expect(readTable(JSON.stringify(rows)).reading).toMatchObject({
    rows: [{ model: 'good' }],
    refused: [{ model: 'bad', reasons: [{ code: 'unknown_field' }] }],
  })
})

describe('a row that is listed twice', () => {
  const cells = (input: number) =>
    `{"litellm_provider":"acme","mode":"chat","input_cost_per_token":${input}e-6,"output_cost_per_token":2e-6}`

  test.each([
    ['litellm', (one: number, other: number) => `{"b":${cells(1)},"a":${cells(one)},"a":${cells(other)}}`],
    [
      'models-dev',
      (one: number, other: number) =>
        `{"acme":{"models":{"b":{"cost":{"input":1,"output":2}},"a":{"cost":{"input":${one},"output":2}}}},"acme":{"models":{"a":{"cost":{"input":${other},"output":2}}}}}`,
    ],
    [
      'genai-prices',
      (one: number, other: number) =>
        `[{"id":"acme","models":[${[
          ['b', 1],
          ['a', one],
          ['a', other],
        ]
          .map(([id, input]) => `{"id":"${id}","prices":{"input_mtok":${input},"output_mtok":2}}`)
          .join()}]}]`,
    ],
    [
      'tally',
      (one: number, other: number) => `provider,model,input,output\nacme,b,1,2\nacme,a,${one},2\nacme,a,${other},2\n`,
    ],
  ] as const)('in %s is one if they are equal, and refused by name if not; the rest is loaded', (format, textOf) => {
    const equal = readTable(textOf(3, 3), format).reading
    expect(equal.rows.map(({ model, input }) => [model, input])).toEqual([
      ['b', 1_000_000n],
      ['a', 3_000_000n],
    ])
    expect([equal.refused, equal.skipped]).toEqual([[], { 'listed twice': 1 }])
    const different = readTable(textOf(3, 4), format).reading
    expect(different.rows.map(({ model }) => model)).toEqual(['b'])
    expect(different.refused).toMatchObject([{ provider: 'acme', model: 'a', reasons: [{ code: 'listed_twice' }] }])
  })

  test('is none if its dates differ', () => {
    const text = 'provider,model,input,output,effective_from\nacme,a,1,2,always\nacme,a,3,2,\nacme,a,4,2,2026-12-01\n'
    expect(readTable(text).reading.rows).toHaveLength(3)
  })

  test('in itself has only this row refused', () => {
    const twice = '"input_cost_per_token":1e-6,"input_cost_per_token":9e-6'
    const { rows, refused } = readTable(
      `{"bad":{"litellm_provider":"acme","mode":"chat",${twice}},"good":${cells(1)}}`,
    ).reading
    expect(rows.map(({ model }) => model)).toEqual(['good'])
    expect(refused).toMatchObject([{ provider: 'acme', model: 'bad', reasons: [{ code: 'unreadable' }] }])
    const tally =
      '[{"model":"bad","provider":"acme","input":1,"input":2,"output":1},{"model":"good","input":1,"output":1}]'
    expect(readTable(tally).reading).toMatchObject({
      rows: [{ model: 'good' }],
      refused: [{ provider: 'acme', model: 'bad', reasons: [{ code: 'unreadable' }] }],
    })
  })
})

describe.skipIf(!existsSync(TABLES))('the real tables', () => {
  test('of LiteLLM, 2,984 models: what is bad is refused, and counted as its notes list it', async () => {
    const { format, reading } = readTable(await Bun.file(join(TABLES, 'litellm-prices.json')).text())
    expect(format).toBe('litellm')
    const plan = planLoad(reading, NOTHING, NOW, {})
    expect(countReasons(plan.refused)).toEqual({
      above_limit: 30,
      cache_write_out_of_line: 2,
      // Of the 146 without a price of input, 19 have one by length.
      no_input_price: 146 - 19,
      free: 83,
      output_in_parts: 9,
    })
    const refusedAt = (code: string) =>
      plan.refused.filter(({ reasons }) => reasons.some((reason) => reason.code === code))
    const unitErrors = Object.groupBy(refusedAt('above_limit'), ({ provider }) => provider)
    expect(
      Object.entries(unitErrors).map(([provider, rows]) => [provider, rows!.flatMap(({ reasons }) => reasons).length]),
    ).toEqual([
      ['azure_ai', 2],
      ['wandb', 26],
      ['watsonx', 2],
    ])
    // The one-hour price of Opus is below its five-minute one, by the same slip that makes that of Haiku 24 times the input.
    expect(refusedAt('cache_write_out_of_line').map(({ model }) => model)).toEqual([
      'claude-3-haiku-20240307',
      'claude-3-opus-20240229',
    ])
    const skipped = Object.values(reading.skipped).reduce((sum, count) => sum + count)
    expect(plan.additions.length + plan.refused.length + skipped).toBe(2_986)
    expect([plan.additions.length, plan.refused.length, reading.rounded.length]).toEqual([2_176, 237, 30])
    expect(reading.skipped).toMatchObject({ image_generation: 209, embedding: 124, realtime: 28, 'not a model': 2 })
    expect(reading.unused).toEqual({
      input_cost_per_image: 10,
      input_cost_per_request: 4,
      input_cost_per_video_per_second: 2,
      input_dbu_cost_per_token: 26,
      output_cost_per_image: 5,
      output_cost_per_video_token: 2,
      output_dbu_cost_per_token: 25,
      regional_processing_uplift_multiplier_eu: 16,
      regional_processing_uplift_multiplier_us: 16,
      search_context_cost_per_query: 7,
    })
    const withTiers = reading.rows.filter(({ extras }) => extras?.variants.some(({ kind }) => kind === 'serviceTier'))
    expect(withTiers.length).toBeGreaterThan(150)
  })

  test('of models.dev: what costs nothing or is unknown is refused', async () => {
    const { format, reading } = readTable(await Bun.file(join(TABLES, 'models-dev-prices.json')).text())
    expect(format).toBe('models-dev')
    const plan = planLoad(reading, NOTHING, NOW, {})
    expect(countReasons(plan.refused)).toEqual({ no_input_price: 13, free: 26, output_in_parts: 1 })
    expect([plan.additions.length, reading.skipped, reading.rounded.length]).toEqual([688, { 'no text output': 13 }, 2])
  })
})
