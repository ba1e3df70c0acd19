import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { reasonsAgainst } from '../../../src/features/prices/plausibility.ts'
import { KINDS, priceText, providerText, sourceText } from '../../../src/web/pages/prices/price.ts'
import { bodyOf, valuesOf } from '../../../src/web/pages/prices/price-values.ts'
import { reasonText } from '../../../src/web/pages/prices/rejected-price.ts'

type Row = Parameters<typeof reasonsAgainst>[0]

const NO_ROW = { cacheRead: null, cacheWrite: null, cacheWrite1h: null, tiers: [] } as unknown as Row
const rejection = (reason: ReturnType<typeof reasonsAgainst>[number]) =>
  reasonText(reason as Parameters<typeof reasonText>[0])

/** A price per million tokens in millionths of a dollar, the finest that a price table has. */
const price = fc.integer({ min: 0, max: 1e9 }).map((micros) => micros / 1e6)
const prices = fc.record(
  Object.fromEntries(KINDS.map(({ kind }) => [kind, price])) as Record<(typeof KINDS)[number]['kind'], typeof price>,
  { requiredKeys: ['input', 'output'] },
)

test('a price that is set again without a change is the same, with its tiers', () => {
  const tiers = fc.array(prices.map((prices) => ({ from_tokens: 200_000, ...prices })))
  fc.assert(
    fc.property(prices, tiers, (prices, tiers) => {
      const start = { model: 'our-coder', provider: 'acme', ...prices, tiers } as Parameters<typeof valuesOf>[0]
      expect<object>(bodyOf(valuesOf(start))).toEqual({
        model: 'our-coder',
        provider: 'acme',
        ...prices,
        ...(tiers.length > 0 && { tiers }),
        only: true,
      })
    }),
  )
})

test('prices that are not set are absent, and 0 is a price', () => {
  const values = { ...valuesOf({ model: ' our-coder ' }), input: '3', output: 0, cache_read: '' }
  expect<object>(bodyOf(values)).toEqual({ model: 'our-coder', input: 3, output: 0 })
})

test('a price is effective from today, always or a date', () => {
  const values = valuesOf({ model: 'our-coder' })
  expect(bodyOf(values)).not.toContainKey('effective_from')
  expect(bodyOf({ ...values, holds: 'always' })).toMatchObject({ effective_from: 'always' })
  expect(bodyOf({ ...values, holds: 'day', day: '2026-11-01' })).toMatchObject({ effective_from: '2026-11-01' })
})

test('a price is shown with all its digits, and an unknown one as a dash', () => {
  fc.assert(fc.property(price, (price) => expect(Number(priceText(price).replaceAll(',', ''))).toBe(price)))
  expect([priceText(null), priceText(undefined), priceText(0)]).toEqual(['–', '–', '0'])
})

test('sources and providers are shown by name', () => {
  expect([sourceText('litellm'), sourceText('other'), providerText('acme'), providerText('')]).toEqual([
    'LiteLLM',
    'other',
    'acme',
    'any provider',
  ])
})

test('a rejected price names the option of the page instead of the flag of the command line', () => {
  const row = { ...NO_ROW, input: 3_000_000n, output: 20_000_000_000_000n, cacheWrite: 15_000_000n }
  const [above, cacheWrite] = reasonsAgainst(row, {}).map(rejection)
  expect(above).toEndWith('; check the unit; if it is correct, select “Allow suspicious prices” to load it')
  expect(cacheWrite).toEndWith('at most twice; select “Allow suspicious prices” to load it')
  expect(reasonsAgainst({ ...NO_ROW, input: 0n, output: 0n }, {}).map(rejection)).toEqual([
    'input and output are both free; select “Allow free models” to load it',
  ])
})

test('any other reason of a rejected price is shown unchanged', () => {
  expect(rejection({ code: 'negative', message: 'is negative' })).toBe('is negative')
})
