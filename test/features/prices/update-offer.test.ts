import { expect, test } from 'bun:test'
import type { PriceRow } from '../../../src/features/prices/rates.ts'
import { offeredRows } from '../../../src/features/prices/update-offer.ts'

const TODAY = Date.UTC(2026, 10, 20)
const day = (text: string | null) => (text === null ? null : Date.parse(`${text}T00:00:00Z`))

function row(from: string | null, input: bigint, more: Partial<PriceRow> = {}): PriceRow {
  return {
    provider: 'openai',
    model: 'gpt-9',
    input,
    output: null,
    cacheRead: null,
    cacheWrite: null,
    cacheWrite1h: null,
    tiers: [],
    effectiveFrom: day(from),
    ...more,
  }
}

test('a model not seen before is taken with the dates it has', () => {
  const offered = [row(null, 1n), row('2026-03-01', 2n)]
  expect(offeredRows([row(null, 9n, { model: 'gpt-8' })], offered, TODAY)).toEqual(offered)
})

test('the same table offers nothing', () => {
  const table = [row(null, 1n), row('2026-03-01', 2n), row('2027-01-01', 3n)]
  expect(offeredRows(table, table, TODAY)).toEqual([])
})

test('a changed price without a day holds from today, once', () => {
  const known = [row(null, 5n)]
  const added = offeredRows(known, [row(null, 4n)], TODAY)
  expect(added).toEqual([row('2026-11-20', 4n)])
  expect(offeredRows([...known, ...added], [row(null, 4n)], TODAY + 86_400_000)).toEqual([])
})

test('a change with a day of its own holds from that day, past or future', () => {
  const offered = [row(null, 5n), row('2026-09-22', 4n), row('2027-01-01', 6n)]
  expect(offeredRows([row(null, 5n)], offered, TODAY)).toEqual([row('2026-09-22', 4n), row('2027-01-01', 6n)])
})

test('a correction of a day that is known holds from today, and of one still to come from that day', () => {
  const known = [row(null, 5n), row('2026-09-22', 4n), row('2027-01-01', 6n)]
  const offered = [row(null, 5n), row('2026-09-22', 3n), row('2027-01-01', 7n)]
  expect(offeredRows(known, offered, TODAY)).toEqual([row('2026-11-20', 3n), row('2027-01-01', 7n)])
})

test('a price that was to come and is not offered any more is taken back', () => {
  expect(offeredRows([row(null, 5n), row('2027-01-01', 6n)], [row(null, 5n)], TODAY)).toEqual([row('2027-01-01', 5n)])
})

test('what held in the past alone is not touched', () => {
  const known = [row(null, 5n), row('2026-09-22', 4n)]
  expect(offeredRows(known, [row(null, 1n), row('2026-09-22', 4n)], TODAY)).toEqual([])
})

test('a changed long-context price is a change', () => {
  const tiers = (input: bigint) => ({ tiers: [{ fromTokens: 200_001, prices: { input } }] })
  expect(offeredRows([row(null, 5n, tiers(10n))], [row(null, 5n, tiers(11n))], TODAY)).toEqual([
    row('2026-11-20', 5n, tiers(11n)),
  ])
  expect(offeredRows([row(null, 5n, tiers(10n))], [row(null, 5n)], TODAY)).toEqual([row('2026-11-20', 5n)])
})

test('a model that is not offered any more keeps its prices', () => {
  expect(offeredRows([row(null, 5n), row(null, 6n, { model: 'gpt-8' })], [row(null, 5n)], TODAY)).toEqual([])
})

test('a model that became another name of one gets the prices of that one', () => {
  const known = [row(null, 5n, { model: 'gpt-9-latest' })]
  const aliases = [
    { provider: 'openai', alias: 'gpt-9-latest', model: 'gpt-9' },
    { provider: 'openai', alias: 'gpt-9-2026-09-01', model: 'gpt-9' },
  ]
  expect(offeredRows(known, [row(null, 4n)], TODAY, aliases)).toEqual([
    row(null, 4n),
    row('2026-11-20', 4n, { model: 'gpt-9-latest' }),
  ])
  expect(offeredRows(known, [row(null, 5n)], TODAY, aliases)).toEqual([row(null, 5n)])
})
