import { afterEach, expect, test } from 'bun:test'
import { Problem, unreachable } from '../../../src/web/server/problem.ts'
import { forget, queryClient } from '../../../src/web/server/queries.ts'

afterEach(() => queryClient.clear())

const refused = (status: number) => Problem.of(new Response(null, { status }), null)

test('a query is repeated twice while the server is unreachable or busy, and never after another error', () => {
  const retry = queryClient.getDefaultOptions().queries!.retry as (failures: number, error: Error) => boolean
  expect(
    [unreachable(), refused(503), refused(500), refused(422), new Error()].map((error) => retry(1, error)),
  ).toEqual([true, true, false, false, false])
  expect(retry(2, unreachable())).toBe(false)
})

test('a session that ends while a page is open shows the sign-in page', async () => {
  queryClient.setQueryData(['me'], { person: { id: 'usr_ada' } })
  const queryFn = () => Promise.reject(refused(422))
  await queryClient.fetchQuery({ queryKey: ['entries'], queryFn }).catch(() => null)
  expect(queryClient.getQueryData(['me'])).not.toBeNull()
  await queryClient.fetchQuery({ queryKey: ['bills'], queryFn: () => Promise.reject(refused(401)) }).catch(() => null)
  expect(queryClient.getQueryData(['me'])).toBeNull()
})

test('a change makes the queries of the parts that it names stale, and no others', async () => {
  for (const part of ['entries', 'bills']) queryClient.setQueryData([part, 'list'], [])
  await forget(['entries'])
  const isStale = (part: string) => queryClient.getQueryState([part, 'list'])!.isInvalidated
  expect([isStale('entries'), isStale('bills')]).toEqual([true, false])
})
