import { afterEach, expect, test } from 'bun:test'
import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query'
import { listOf, listQuery } from '../../../src/web/server/list.ts'

const client = new QueryClient({ defaultOptions: { queries: { retry: false, networkMode: 'always' } } })
afterEach(() => client.clear())

/** Answers pages of two of five rows, and records the requests. */
function server(rows: readonly string[] = ['a', 'b', 'c', 'd', 'e']) {
  const asked: (string | undefined)[] = []
  const ask = async (page: string | undefined) => {
    asked.push(page)
    const from = Number(page ?? 0)
    const next_page = from + 2 < rows.length ? String(from + 2) : null
    return { data: rows.slice(from, from + 2), has_more: next_page !== null, next_page, total: rows.length }
  }
  return { asked, ask }
}

/** A page that shows the list, as far as the query cache is concerned. */
function shown(key: string, ask: ReturnType<typeof server>['ask']) {
  const options = (key: string) => client.defaultQueryOptions(listQuery(['entries', key], ask)) as never
  const observer = new InfiniteQueryObserver(client, options(key))
  const leave = observer.subscribe(() => undefined)
  return {
    list: () => listOf(observer.getCurrentResult() as unknown as Parameters<typeof listOf>[0]),
    change: (key: string) => observer.setOptions(options(key)),
    leave,
  }
}

const settled = async () => {
  while (client.isFetching() > 0) await Bun.sleep(1)
  // Observers are notified in the next turn.
  await Bun.sleep(1)
}

test('a list has the rows of all pages loaded so far, in order, and each page is requested once', async () => {
  const { asked, ask } = server()
  const { list, leave } = shown('all', ask)
  expect(list().rows).toBeUndefined()
  await settled()
  expect(list()).toMatchObject({ rows: ['a', 'b'], hasMore: true, first: { total: 5 } })
  for (let page = 0; page < 3; page += 1) {
    list().fetchMore()
    // A second call while the page is loading, as when a table scrolls on.
    list().fetchMore()
    await settled()
  }
  expect(list()).toMatchObject({ rows: ['a', 'b', 'c', 'd', 'e'], hasMore: false })
  expect(asked).toEqual([undefined, '2', '4'])
  leave()
})

test('a list keeps its rows while it loads with other filters', async () => {
  const { list, change, leave } = shown('first', server().ask)
  await settled()
  change('second')
  expect(list()).toMatchObject({ rows: ['a', 'b'], isStale: true })
  await settled()
  expect(list().isStale).toBe(false)
  leave()
})

test('a list without rows has none, and an error leaves it unknown', async () => {
  const empty = shown('empty', server([]).ask)
  const failed = shown('failed', () => Promise.reject(new Error('no answer')))
  await settled()
  expect(empty.list()).toMatchObject({ rows: [], hasMore: false, error: null })
  expect(failed.list()).toMatchObject({ rows: undefined, error: new Error('no answer') })
  empty.leave()
  failed.leave()
})
