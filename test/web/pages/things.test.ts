import { expect, spyOn, test } from 'bun:test'
import '../../support/page-location.ts'
import { askThingAt } from '../../../src/web/pages/things/first-requests.ts'
import { ANY_TIME, periodInAddress, usagePeriodOf } from '../../../src/web/pages/things/usage-period.ts'
import { sumsQuery } from '../../../src/web/parts/entries/sums-query.ts'
import { asBounds } from '../../../src/web/parts/period.ts'
import type { Me } from '../../../src/web/server/me.ts'
import { queryClient } from '../../../src/web/server/queries.ts'

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

test('usage counts cost by the basis of the organization, as far as the person may see it', async () => {
  const asked: URL[] = []
  const sent = spyOn(globalThis, 'fetch').mockImplementation((async (url: string) => {
    asked.push(new URL(url, 'http://tally.test'))
    return Response.json({ data: [], totals: {}, next_page: null, has_more: false })
  }) as unknown as typeof fetch)
  const settings = { time_zone: 'UTC', cost_basis: 'allocated', leads_see_fees: false }
  const basesFor = async (role: string) => {
    askThingAt(
      { person: { role }, leads: false, settings } as Me,
      '',
      '/usage/people/usr_01a1fa172a0277f3983322718874f2e0',
    )
    const queries = queryClient.getQueryCache().getAll()
    await Promise.all(queries.map((query) => query.promise?.catch(() => {})))
    queryClient.clear()
    const reports = asked.splice(0).filter(({ pathname }) => pathname.endsWith('/reports/usage'))
    return reports.map(({ searchParams }) => searchParams.get('basis'))
  }
  try {
    expect(await basesFor('admin')).toEqual(['allocated', 'allocated'])
    expect(await basesFor('member')).toEqual([null, null])
  } finally {
    sent.mockRestore()
  }
})
