import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import '../../support/page-location.ts'
import { askOverview } from '../../../src/web/pages/overview/first-requests.ts'
import type { Me } from '../../../src/web/server/me.ts'
import { queryClient } from '../../../src/web/server/queries.ts'

const ZONE = 'Europe/Berlin'

const asked: string[] = []
const sent = spyOn(globalThis, 'fetch').mockImplementation((async (url: string) => {
  asked.push(url.replace('http://tally.test', ''))
  return Response.json({ data: [], totals: {}, next_page: null, has_more: false })
}) as unknown as typeof fetch)
const page = {
  document: { querySelector: () => ({ content: 'sent' }), documentElement: { setAttribute() {} } },
  localStorage: { getItem: () => JSON.stringify({ role: 'admin', timeZone: ZONE }) },
  matchMedia: () => ({ matches: false }),
}

beforeAll(() => void Object.assign(globalThis, page))
afterAll(() => {
  sent.mockRestore()
  queryClient.clear()
  for (const name of Object.keys(page)) Reflect.deleteProperty(globalThis, name)
})

test('what the overview waits for is asked before the application is here, and not again', async () => {
  Object.assign(location, { pathname: '/', search: '' })
  await import('../../../src/web/begin.ts')
  const early = asked.splice(0)
  expect(early.map((path) => path.replace(/\?.*/, ''))).toEqual([
    '/api/v1/me',
    '/api/v1/settings',
    '/api/v1/reports/overview',
  ])
  const settings = { time_zone: ZONE, cost_basis: 'cost', leads_see_fees: false }
  askOverview({ person: { role: 'admin' }, leads: false, settings } as Me, '')
  await Promise.all(
    queryClient
      .getQueryCache()
      .getAll()
      .map((query) => query.promise?.catch(() => {})),
  )
  expect(asked).toEqual([])
  expect([...globalThis.firstAnswers!.keys()]).toEqual(['/api/v1/me', '/api/v1/settings'])
})
