import { expect, test } from 'bun:test'
import { ANY_TIME, periodInAddress, usagePeriodOf } from '../../../src/web/pages/things/usage-period.ts'
import { sumsQuery } from '../../../src/web/parts/entries/sums-query.ts'
import { asBounds } from '../../../src/web/parts/period.ts'

test('usage at any time is that of the list without a period, which it leads to', () => {
  const { period, name } = usagePeriodOf(undefined, ANY_TIME, 'Pacific/Kiritimati')
  const { starting_at, ending_at } = sumsQuery({})
  expect([asBounds(period), name]).toEqual([{ starting_at, ending_at }, undefined])
})

test('the address names a period unless it is the usual one', () => {
  expect(periodInAddress('30d', '30d')).toBeUndefined()
  expect(periodInAddress(undefined, '30d')).toBe(ANY_TIME)
  expect(periodInAddress(undefined, ANY_TIME)).toBeUndefined()
  expect(usagePeriodOf(periodInAddress(undefined, '30d'), '30d', 'UTC').name).toBeUndefined()
  const now = new Date('2026-11-25T12:00:00Z')
  expect(usagePeriodOf(undefined, '30d', 'UTC', now)).toEqual({
    period: { from: '2026-10-27', to: '2026-11-25' },
    name: '30d',
  })
})
