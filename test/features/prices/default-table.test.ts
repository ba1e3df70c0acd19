import { describe, expect, test } from 'bun:test'
import { DECISIONS } from '../../../scripts/price-table/decisions.ts'
import { GENERATED, generatePriceTable } from '../../../scripts/price-table/generate.ts'
import { currentOf } from '../../../scripts/price-table/merge.ts'
import { PACKAGES, sourceText } from '../../../scripts/price-table/packages.ts'
import { litellmSeller } from '../../../scripts/price-table/sellers.ts'
import { defaultSources, defaultTable } from '../../../src/features/prices/default-table.ts'
import { readTable } from '../../../src/features/prices/formats/table-file.ts'
import { PriceTable } from '../../../src/features/prices/price-table.ts'
import { COUNT_KINDS, PRICE_LIMIT_PICOS } from '../../../src/features/prices/rates.ts'
import { offeredRows } from '../../../src/features/prices/update-offer.ts'
import { newId } from '../../../src/lib/id.ts'
import { REQUEST_THRESHOLDS } from '../../../src/lib/request-thresholds.ts'

const generated = await generatePriceTable()

test('each row names the published tables that it is from, the newest of which dates it', () => {
  for (const row of defaultTable().rows.filter((_, index) => index % 20 === 0)) {
    const dates = defaultSources(row).map(({ as_of }) => Date.parse(as_of))
    expect(Math.max(...dates)).toBe(row.asOf)
  }
  expect(defaultSources({ ...defaultTable().rows[0]!, input: 1n })).toEqual([])
})

function embeddedTable(): PriceTable {
  return new PriceTable(
    defaultTable().rows.map((row, index) => ({ ...row, id: index + 1, uid: newId('prc'), source: 'default' })),
    defaultTable().aliases.map((alias) => ({ ...alias, source: 'default' })),
  )
}

describe('the embedded price table', () => {
  test('is what scripts/price-table makes of its sources, and so are the notice and the list of disagreements', async () => {
    for (const name of ['table', 'notice', 'review'] as const) {
      expect(await Bun.file(GENERATED[name]).text()).toBe(generated[name])
    }
    expect(generated.notice.match(/MIT License/g)!.length).toBeGreaterThanOrEqual(PACKAGES.length)
  })

  test('leaves out what it cannot value, and counts it', () => {
    expect(generated.leftOut).toMatchInlineSnapshot(`
      {
        "genai-prices: no_input_price": 209,
        "genai-prices: output_in_parts": 2,
        "litellm-earlier: no_input_price": 82,
        "litellm-earlier: output_in_parts": 12,
        "litellm: no_input_price": 123,
        "litellm: output_in_parts": 25,
        "merged: above_limit": 1,
        "merged: cache_write_out_of_line": 2,
      }
    `)
  })

  test('needs each of its decisions', async () => {
    const linesOf = (table: string, provider: string) =>
      table.split('\n').filter((line) => line.includes(`"provider":"${provider}"`))
    const byProvider = [...Map.groupBy(DECISIONS, ({ provider }) => provider).values()]
    // What is decided about a provider is nothing to the others, so one decision of each is left out at a time.
    for (let at = 0; byProvider.some((decisions) => decisions[at]); at += 1) {
      const left = byProvider.flatMap((decisions) => decisions[at] ?? [])
      const { table } = await generatePriceTable(DECISIONS.filter((decision) => !left.includes(decision)))
      for (const { provider, reason } of left) {
        const isSame = Bun.deepEquals(linesOf(table, provider), linesOf(generated.table, provider))
        expect([reason, isSame]).toEqual([reason, false])
      }
    }
  })

  test('has every name that a source lists, at the price that was decided', () => {
    const table = embeddedTable()
    for (const { provider, name, prices } of generated.verdicts) {
      const { input, output } = currentOf({ prices })
      const found = table.find(name, provider, Date.UTC(2026, 10, 20))?.price.rates.levels[0]?.prices
      expect([provider, name, found?.input, found?.output]).toEqual([provider, name, input, output])
    }
  })

  test('finds LiteLLM’s whole names, with the seller in them, at the price that was decided for the seller, or none', async () => {
    const table = embeddedTable()
    const decided = new Map(generated.verdicts.map((one) => [`${one.provider} ${one.name}`, currentOf(one)]))
    const wrong: string[] = []
    let priced = 0
    for (const { provider, model } of readTable(await sourceText('litellm'), 'litellm').reading.rows) {
      const seller = litellmSeller(provider, model)
      const price = seller && decided.get(`${seller.provider} ${seller.name}`)
      const hit = table.find(model, null, Date.UTC(2026, 10, 20))
      if (!price || !hit) continue
      priced += 1
      const { input, output } = hit.price.rates.levels[0]!.prices
      if (input !== price.input || output !== price.output) wrong.push(`${model}: ${input}/${output}`)
    }
    // The name of Perplexity's newer interface, where LiteLLM repeats the seller before it.
    expect(wrong).toEqual(['perplexity/sonar: 250000/2500000'])
    expect(priced).toBeGreaterThan(1_500)
  })

  test('has tiers at the lengths that requests are summed at', () => {
    const rare = defaultTable().rows.filter(({ tiers }) =>
      tiers.some(
        ({ fromTokens }) => ![fromTokens, fromTokens - 1].some((length) => REQUEST_THRESHOLDS.includes(length)),
      ),
    )
    expect(rare.map(({ provider, model }) => `${provider} ${model}`)).toEqual(['novita minimax/minimax-m3'])
  })

  test('has the multipliers of services, where all prices are multiplied alike', () => {
    const servicesOf = (provider: string, model: string) => {
      const variants = defaultTable().rows.findLast((row) => row.provider === provider && row.model === model)?.extras
        ?.variants
      return variants?.map(({ kind, name, multiplier }) => `${kind} ${name} ${multiplier}`).sort()
    }
    expect(servicesOf('anthropic', 'claude-opus-4-8')).toEqual([
      'region us 1100000',
      'serviceTier batch 500000',
      'speed fast 2000000',
    ])
    expect(servicesOf('anthropic', 'claude-opus-4-6')).toContain('speed fast 6000000')
    expect(servicesOf('openai', 'gpt-5.5')).toContain('serviceTier flex 500000')
  })

  test('has prices of searches and of DeepSeek’s peak hours on workdays', () => {
    const rowOf = (provider: string, model: string) =>
      defaultTable().rows.findLast((row) => row.provider === provider && row.model === model)?.extras
    expect(rowOf('anthropic', 'claude-opus-4-8')?.tools).toEqual({ web_search: 10_000_000_000n })
    expect(rowOf('deepseek', 'deepseek-v4-pro')?.hours).toMatchObject([
      { from: 60, to: 240, days: [1, 2, 3, 4, 5], multiplier: 2_000_000n },
      { from: 360, to: 600, days: [1, 2, 3, 4, 5], multiplier: 2_000_000n },
    ])
  })

  test('has as many prices as the manual says', async () => {
    const rows = defaultTable().rows
    const models = new Set(rows.map(({ provider, model }) => `${provider} ${model}`)).size
    const providers = new Set(rows.map(({ provider }) => provider)).size
    const counts = `${rows.length.toLocaleString('en')} dated prices of ${models.toLocaleString('en')} models at ${providers} providers`
    expect(await Bun.file(`${import.meta.dir}/../../../docs/model-prices.md`).text()).toContain(counts)
  })

  test('has no changes for a database that has it', () => {
    expect(offeredRows(defaultTable().rows, defaultTable().rows, Date.UTC(2027, 0, 1), defaultTable().aliases)).toEqual(
      [],
    )
  })

  test('has each model at a price of input or output, within the limit, tiers ascending', () => {
    for (const row of defaultTable().rows) {
      expect(row.input ?? row.output).not.toBeNull()
      for (const kind of COUNT_KINDS) expect((row[kind] ?? 0n) <= PRICE_LIMIT_PICOS).toBe(true)
      const starts = row.tiers.map((tier) => tier.fromTokens)
      expect(starts).toEqual(starts.toSorted((one, other) => one - other))
    }
  })

  test('has no two rows for the same model and day, and no alias that is a model of the provider or stands for two', () => {
    const rows = defaultTable().rows.map((row) => `${row.provider} ${row.model} ${row.effectiveFrom}`)
    expect(new Set(rows).size).toBe(rows.length)
    const models = new Set(defaultTable().rows.map((row) => `${row.provider} ${row.model}`))
    const names = defaultTable().aliases.map(({ provider, alias }) => `${provider} ${alias}`)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => models.has(name))).toEqual([])
    expect(defaultTable().aliases.filter(({ provider, model }) => !models.has(`${provider} ${model}`))).toEqual([])
  })

  test('keeps a price that was written with a tail of floating-point noise as it was meant', () => {
    const noisy = defaultTable().rows.find(
      (row) => row.provider === 'huggingface_together' && row.model === 'Qwen/Qwen3-VL-8B-Instruct',
    )
    expect(noisy?.input).toBe(180_000n)
  })

  test('begins a tier one token above the length that the package still calls base', () => {
    const rows = defaultTable().rows.filter((row) => row.model === 'claude-sonnet-4-5' && row.provider === 'anthropic')
    const [tiers, none] = rows.map((row) => row.tiers)
    expect(none).toEqual([])
    expect(rows[1]!.effectiveFrom).toBe(Date.UTC(2026, 3, 30))
    expect(tiers).toEqual([
      {
        fromTokens: 200_001,
        prices: {
          input: 6_000_000n,
          output: 22_500_000n,
          cacheRead: 600_000n,
          cacheWrite: 7_500_000n,
          cacheWrite1h: 12_000_000n,
        },
      },
    ])
  })

  test('has a dated price from midnight UTC on', () => {
    const dates = defaultTable()
      .rows.filter((row) => row.model === 'o3' && row.provider === 'openai')
      .map((row) => row.effectiveFrom)
    expect(dates).toEqual([null, Date.UTC(2025, 5, 10)])
  })

  test('has DeepSeek’s prices without those of peak hours', () => {
    const inputs = defaultTable()
      .rows.filter((row) => row.model === 'deepseek-v4-pro' && row.provider === 'deepseek')
      .map((row) => row.input)
    expect(inputs).toEqual([1_740_000n, 435_000n, 660_000n])
  })
})
