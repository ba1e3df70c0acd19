import { describe, expect, test } from 'bun:test'
import { generatePriceTable } from '../../../scripts/price-table.ts'
import { defaultAliases, defaultRows } from '../../../src/features/prices/default-table.ts'
import { PRICE_LIMIT_PICOS, PRICED_KINDS } from '../../../src/features/prices/rates.ts'

const FOLDER = `${import.meta.dir}/../../../src/features/prices`

describe('the embedded price table', () => {
  test('is what scripts/price-table.ts makes of the pinned package, and so is the notice beside it', async () => {
    const { table, notice } = await generatePriceTable()
    expect(await Bun.file(`${FOLDER}/default-prices.json`).text()).toBe(table)
    expect(await Bun.file(`${FOLDER}/default-prices.LICENSE`).text()).toBe(notice)
    expect(notice).toContain('MIT License')
  })

  test('leaves out what it cannot value, and counts it', async () => {
    expect((await generatePriceTable()).leftOut).toEqual({ hoursOfDay: 0, noTextPrice: 181, outputInParts: 2 })
  })

  test('has each model at a price of input or output, within the limit, tiers ascending', () => {
    for (const row of defaultRows()) {
      expect(row.input ?? row.output).not.toBeNull()
      for (const kind of PRICED_KINDS) expect((row[kind] ?? 0n) <= PRICE_LIMIT_PICOS).toBe(true)
      const starts = row.tiers.map((tier) => tier.fromTokens)
      expect(starts).toEqual(starts.toSorted((one, other) => one - other))
    }
  })

  test('has no two rows for the same model and day, and no alias that is a model of the provider or stands for two', () => {
    const rows = defaultRows().map((row) => `${row.provider} ${row.model} ${row.effectiveFrom}`)
    expect(new Set(rows).size).toBe(rows.length)
    const models = new Set(defaultRows().map((row) => `${row.provider} ${row.model}`))
    const names = defaultAliases().map(({ provider, alias }) => `${provider} ${alias}`)
    expect(new Set(names).size).toBe(names.length)
    expect(names.filter((name) => models.has(name))).toEqual([])
    expect(defaultAliases().filter(({ provider, model }) => !models.has(`${provider} ${model}`))).toEqual([])
  })

  test('keeps a price that was written with a tail of floating-point noise as it was meant', () => {
    const noisy = defaultRows().find(
      (row) => row.provider === 'huggingface_together' && row.model === 'Qwen/Qwen3-VL-8B-Instruct',
    )
    expect(noisy?.input).toBe(180_000n)
  })

  test('begins a tier one token above the length that the package still calls base', () => {
    const tiers = defaultRows().find((row) => row.model === 'claude-sonnet-4-5' && row.provider === 'anthropic')?.tiers
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
    const dates = defaultRows()
      .filter((row) => row.model === 'o3' && row.provider === 'openai')
      .map((row) => row.effectiveFrom)
    expect(dates).toEqual([null, Date.UTC(2025, 5, 10)])
  })

  test('has DeepSeek’s prices without those of peak hours', () => {
    const inputs = defaultRows()
      .filter((row) => row.model === 'deepseek-v4-pro' && row.provider === 'deepseek')
      .map((row) => row.input)
    expect(inputs).toEqual([435_000n, 660_000n])
  })
})
