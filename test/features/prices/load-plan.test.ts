import { describe, expect, test } from 'bun:test'
import type { ListedPrice } from '../../../src/features/prices/formats/reader.ts'
import { type LoadOptions, type LoadPlan, planLoad } from '../../../src/features/prices/load-plan.ts'
import { type PriceAlias, PriceTable, type StoredPrice } from '../../../src/features/prices/price-table.ts'
import type { PriceSource } from '../../../src/features/prices/sources.ts'
import { newId } from '../../../src/lib/id.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const TODAY = '2026-11-20'

/** Undefined: the file does not date it. */
type Day = string | 'always' | undefined

function momentOf(day: Day): number | null | undefined {
  return day === undefined ? undefined : day === 'always' ? null : Date.parse(`${day}T00:00:00Z`)
}

/** `provider model` at a price of input. */
function listed(name: string, input: bigint, day?: Day, source: PriceSource = 'litellm', more = {}): ListedPrice {
  const [provider, model] = name.split(' ') as [string, string]
  const unknown = { cacheRead: null, cacheWrite: null, cacheWrite1h: null }
  return { provider, model, input, output: 5n, ...unknown, tiers: [], source, effectiveFrom: momentOf(day), ...more }
}

/** What a database holds, in the order of loading. */
function loadedOf(rows: ListedPrice[], aliases: PriceAlias[] = []) {
  const prices = rows.map(
    (row, index): StoredPrice => ({
      ...row,
      id: index + 1,
      uid: newId('prc'),
      effectiveFrom: row.effectiveFrom ?? null,
    }),
  )
  return { prices, aliases, table: new PriceTable(prices, aliases), timeZone: 'UTC' }
}

function plan(
  known: ListedPrice[],
  rows: ListedPrice[],
  options: LoadOptions = {},
  aliases: PriceAlias[] = [],
): LoadPlan {
  return planLoad({ rows, aliases, refused: [] }, loadedOf(known), NOW, options)
}

/** `source provider model input day`, and what held before. */
function added({ additions }: LoadPlan): string[] {
  return additions.map(({ row, source, replaced, isSame }) => {
    const before = isSame ? undefined : replaced
    const day = row.effectiveFrom === null ? 'always' : new Date(row.effectiveFrom).toISOString().slice(0, 10)
    return `${source} ${row.provider} ${row.model} ${row.input} ${day}${before ? ` before ${before.input}` : ''}`
  })
}

/** `outcome model before`, of each added row. */
function outcomes({ additions }: LoadPlan): string[] {
  return additions.map(({ row, outcome, inForce }) => `${outcome} ${row.model} ${inForce?.input ?? '–'}`)
}

test('the one-hour price that a row of models.dev keeps has its proportion in tiers, too', () => {
  const cached = { cacheWrite: 10n, cacheWrite1h: 16n }
  const tiers = [{ fromTokens: 200_001, prices: { input: 16n, cacheWrite: 20n } }]
  const { additions, refused } = plan(
    [listed('anthropic claude-9', 8n, 'always', 'default', cached)],
    [listed('anthropic claude-9', 8n, undefined, 'models-dev', { cacheWrite: 10n, tiers })],
  )
  expect(refused).toEqual([])
  expect(additions[0]!.row.tiers[0]!.prices).toEqual({ input: 16n, cacheWrite: 20n, cacheWrite1h: 32n })
})

describe('what a row changes', () => {
  const known = [listed('openai gpt-9', 1n, 'always', 'default')]

  test('is new only without a price in force, by whichever name or provider it is found', () => {
    const rows = [
      listed('openai gpt-10', 2n),
      listed('openai gpt-9', 2n),
      listed('openai gpt-9-2026-01-01', 3n),
      listed('azure gpt-9', 4n),
      listed('aws gpt-9', 1n),
    ]
    expect(outcomes(plan(known, rows))).toEqual([
      'new gpt-10 –',
      'changed gpt-9 1',
      'changed gpt-9-2026-01-01 1',
      'changed gpt-9 1',
      'same gpt-9 1',
    ])
  })

  test('is decided on the date of the row', () => {
    const later = [...known, listed('openai gpt-9', 5n, '2027-01-01', 'default')]
    const at = (day: Day) => outcomes(plan(later, [listed('openai gpt-9', 5n, day)]))
    expect(at('2026-12-01')).toEqual(['changed gpt-9 1'])
    expect(at('2027-02-01')).toEqual(['same gpt-9 5'])
  })

  test('is nothing while a custom price applies', () => {
    const custom = [...known, listed('openai gpt-9', 7n, 'always', 'admin')]
    expect(outcomes(plan(custom, [listed('openai gpt-9', 2n)]))).toEqual(['overridden gpt-9 7'])
    expect(outcomes(plan(custom, [listed('openai gpt-9', 2n, undefined, 'admin')]))).toEqual(['changed gpt-9 7'])
  })

  test('leaves prices in force that the table no longer contains', () => {
    const former = [
      listed('openai gpt-8', 1n, 'always'),
      listed('openai gpt-8', 2n, '2026-01-01'),
      listed('openai gpt-7', 1n, 'always', 'models-dev'),
      listed('acme own', 1n, 'always', 'tally'),
    ]
    const { removed } = plan(former, [listed('openai gpt-9', 1n)])
    expect(removed.map(({ model, input }) => `${model} ${input}`)).toEqual(['gpt-8 2'])
    expect(plan(former, [listed('other own', 1n, undefined, 'tally')]).removed).toEqual([])
    expect(plan(former, [listed('acme new', 1n, undefined, 'tally')]).removed).toMatchObject([{ model: 'own' }])
  })
})

describe('a row that the file does not date', () => {
  test('always in effect where the name had no price', () => {
    expect(added(plan([], [listed('openai gpt-9', 1n)]))).toEqual(['litellm openai gpt-9 1 always'])
  })

  test('holds from today where the table had another price for it, and is not added where it had the same', () => {
    const known = [listed('openai gpt-9', 1n, 'always'), listed('openai gpt-8', 1n, 'always')]
    const loaded = plan(known, [listed('openai gpt-9', 2n), listed('openai gpt-8', 1n)])
    expect(added(loaded)).toEqual([`litellm openai gpt-9 2 ${TODAY} before 1`])
    expect(loaded.unchanged).toBe(1)
  })

  test('holds from today where another table had a price for the name, so that late reports are valued as before', () => {
    const known = [listed('openai gpt-9', 1n, 'always', 'default')]
    for (const [input, before] of [
      [1n, ''],
      [2n, ' before 1'],
    ] as const) {
      const loaded = plan(known, [listed('openai gpt-9', input)])
      expect(added(loaded)).toEqual([`litellm openai gpt-9 ${input} ${TODAY}${before}`])
    }
    // Found at the maker by another spelling: that is a price of the name, too.
    const dated = [listed('openai gpt-9-2026-01-01', 3n)]
    expect(added(plan(known, dated))).toEqual([`litellm openai gpt-9-2026-01-01 3 ${TODAY}`])
  })

  test('is compared with its own table, so that tables loaded in turn do not take turns in the prices', () => {
    const known = [
      listed('openai gpt-9', 1n, 'always', 'litellm'),
      listed('openai gpt-9', 2n, TODAY, 'models-dev'),
      listed('openai gpt-9', 3n, TODAY, 'admin'),
    ]
    expect(added(plan(known, [listed('openai gpt-9', 1n)]))).toEqual([])
    expect(added(plan(known, [listed('openai gpt-9', 2n, undefined, 'models-dev')]))).toEqual([])
  })

  test('does not take back a price that was announced for later', () => {
    const known = [listed('openai gpt-9', 1n, 'always'), listed('openai gpt-9', 9n, '2027-01-01')]
    expect(added(plan(known, [listed('openai gpt-9', 1n)]))).toEqual([])
    expect(added(plan(known, [listed('openai gpt-9', 2n)]))).toEqual([`litellm openai gpt-9 2 ${TODAY} before 1`])
  })

  test('is dated by the flag, also in the past, the future and from always', () => {
    const known = [listed('openai gpt-9', 1n, 'always')]
    const at = (day: Day) => added(plan(known, [listed('openai gpt-9', 2n)], { effectiveFrom: momentOf(day) }))
    expect(at('2026-01-01')).toEqual(['litellm openai gpt-9 2 2026-01-01 before 1'])
    expect(at('2027-01-01')).toEqual(['litellm openai gpt-9 2 2027-01-01 before 1'])
    expect(at('always')).toEqual(['litellm openai gpt-9 2 always before 1'])
    const again = [...known, listed('openai gpt-9', 2n, '2027-01-01')]
    expect(added(plan(again, [listed('openai gpt-9', 2n)], { effectiveFrom: momentOf('2027-01-01') }))).toEqual([])
  })
})

describe('a row that the file dates', () => {
  test('keeps its date, whatever the flag says; what stands before without a date held until then', () => {
    const rows = [listed('openai o9', 10n), listed('openai o9', 2n, '2025-06-10')]
    const loaded = plan([], rows, { effectiveFrom: momentOf('2026-12-01') })
    expect(added(loaded)).toEqual(['litellm openai o9 10 always', 'litellm openai o9 2 2025-06-10'])
    const known = [listed('openai o9', 10n, 'always'), listed('openai o9', 2n, '2025-06-10')]
    expect(added(plan(known, rows))).toEqual([])
  })

  test('is added where another price holds at that moment, also in the place of one of the same date', () => {
    const known = [listed('openai gpt-9', 1n, 'always'), listed('openai gpt-9', 2n, '2026-12-01')]
    expect(added(plan(known, [listed('openai gpt-9', 3n, '2026-12-01')]))).toEqual([
      'litellm openai gpt-9 3 2026-12-01 before 2',
    ])
  })

  test('is added at the price that holds then, too, but once', () => {
    const known = [listed('openai gpt-9', 2n, 'always')]
    const later = listed('openai gpt-9', 2n, '2027-01-01')
    expect(added(plan(known, [later]))).toEqual(['litellm openai gpt-9 2 2027-01-01'])
    expect(added(plan([...known, later], [later]))).toEqual([])
  })

  test('that a later one of the same date in the file replaces is not added', () => {
    const rows = [listed('x y', 1n, 'always'), listed('x y', 2n, 'always')]
    expect(added(plan([], rows))).toEqual(['litellm x y 2 always'])
  })
})

test('rows of several models and sources are added in the order of the file', () => {
  const rows = [
    listed('a one', 1n, 'always', 'litellm'),
    listed('b two', 1n, 'always', 'models-dev'),
    listed('a one', 2n, TODAY, 'litellm'),
  ]
  expect(added(plan([], rows))).toEqual([
    'litellm a one 1 always',
    'models-dev b two 1 always',
    `litellm a one 2 ${TODAY}`,
  ])
})

test('rows of the embedded table in an export are known; those that were edited there become one’s own', () => {
  const known = [listed('openai gpt-9', 1n, 'always', 'default')]
  const same = plan(known, [listed('openai gpt-9', 1n, 'always', 'default')])
  expect([added(same), same.unchanged]).toEqual([[], 1])
  const edited = listed('openai gpt-9', 2n, 'always', 'default')
  expect(added(plan(known, [edited]))).toEqual(['tally openai gpt-9 2 always before 1'])
  const own = listed('openai gpt-9', 2n, 'always', 'tally')
  expect(added(plan([...known, own], [edited]))).toEqual([])
})

describe('a price that looks like a mistake', () => {
  test('is refused with everything that speaks against it, and not where it is loaded already', () => {
    const dear = listed('x dear', 1_000_000_001n, 'always')
    const loaded = plan([], [dear, listed('x ok', 1n)])
    expect(loaded.refused).toMatchObject([{ model: 'dear', reasons: [{ code: 'above_limit' }] }])
    expect(added(loaded)).toEqual(['litellm x ok 1 always'])
    expect(plan([dear], [dear]).refused).toEqual([])
    expect(added(plan([], [dear], { force: true }))).toEqual(['litellm x dear 1000000001 always'])
  })

  test.each([
    ['writing to the cache at four times the input', { cacheWrite: 4n, cacheWrite1h: 4n }, []],
    ['writing to the cache above it', { cacheWrite: 5n }, ['cache_write_out_of_line']],
    ['writing for an hour above it', { cacheWrite1h: 5n }, ['cache_write_out_of_line']],
    [
      'a tier that writes above its own input',
      { tiers: [{ fromTokens: 200_001, prices: { input: 2n, cacheWrite1h: 9n } }] },
      ['cache_write_out_of_line'],
    ],
    ['a tier above the limit', { tiers: [{ fromTokens: 9, prices: { output: 1_000_000_001n } }] }, ['above_limit']],
    ['an hour below five minutes', { cacheWrite: 3n, cacheWrite1h: 2n }, ['cache_write_out_of_line']],
    ['nothing for input and output', { input: 0n, output: 0n }, ['free']],
    ['nothing but for writing to the cache', { input: 0n, output: 0n, cacheWrite: 9n }, ['free']],
    ['free input alone', { input: 0n }, []],
    ['free output alone', { output: 0n }, []],
  ])('%s', (_name, more, codes) => {
    const { refused } = plan([], [listed('x y', 1n, 'always', 'litellm', more)])
    expect(refused.flatMap(({ reasons }) => reasons.map(({ code }) => code as string))).toEqual(codes)
  })
})

describe('a table that cannot say what an hour of the cache costs', () => {
  const known = listed('anthropic claude-9', 3n, 'always', 'default', { cacheWrite: 4n, cacheWrite1h: 6n })
  const hourOf = (row: ListedPrice, before: ListedPrice[] = [known]) =>
    plan(before, [row]).additions.map((addition) => addition.row.cacheWrite1h)

  test('keeps the price of the row that holds, where both agree on the others', () => {
    const row = listed('anthropic claude-9', 3n, undefined, 'models-dev', { cacheWrite: 4n })
    expect(hourOf(row)).toEqual([6n])
    const loaded = listed('anthropic claude-9', 3n, TODAY, 'models-dev', { cacheWrite: 4n, cacheWrite1h: 6n })
    expect(hourOf(row, [known, loaded])).toEqual([])
  })

  test('has none where they do not agree, or nothing is known', () => {
    expect(hourOf(listed('anthropic claude-9', 2n, undefined, 'models-dev', { cacheWrite: 4n }))).toEqual([null])
    expect(hourOf(listed('anthropic claude-9', 3n, undefined, 'models-dev', { cacheWrite: 5n }))).toEqual([null])
    expect(hourOf(listed('anthropic claude-9', 3n, undefined, 'models-dev'))).toEqual([null])
    expect(hourOf(listed('openai gpt-9', 3n, undefined, 'models-dev', { cacheWrite: 4n }))).toEqual([null])
    expect(hourOf(listed('anthropic claude-9', 3n, undefined, 'litellm', { cacheWrite: 4n }))).toEqual([null])
  })
})

test('other names are added once, where their model is priced', () => {
  const alias = (name: string, model: string): PriceAlias => ({ alias: name, provider: 'x', model, source: 'litellm' })
  const rows = [listed('x y', 1n), listed('x dear', 2_000_000_000n)]
  const aliases = [alias('why', 'y'), alias('expensive', 'dear'), alias('gone', 'z')]
  const loaded = planLoad({ rows, aliases, refused: [] }, loadedOf([]), NOW, {})
  expect(loaded.aliases).toEqual([alias('why', 'y')])
  const again = planLoad(
    { rows, aliases, refused: [] },
    loadedOf([listed('x y', 1n, 'always')], loaded.aliases),
    NOW,
    {},
  )
  expect([again.aliases, again.additions]).toEqual([[], []])
})
