import { expect, test } from 'bun:test'
import { CallerQueue } from '../../src/database/engines/caller-queue.ts'

const { signal } = new AbortController()

const query = (key: number | undefined) => ({ caller: key === undefined ? undefined : { key, signal } })

test('a full queue makes room for others with the last query of the caller who has most', () => {
  const queue = new CallerQueue()
  const waiting = [query(1), query(2), query(1), query(1)]
  for (const each of waiting) queue.add(each)
  expect(queue.displaceFor({ key: 1, signal })).toBeUndefined()
  expect(queue.displaceFor({ key: 3, signal })).toBe(waiting[3]!)
  // Nobody has more than the job would have then.
  queue.add(query(undefined))
  expect(queue.displaceFor(undefined)).toBeUndefined()
  expect(queue.displaceFor({ key: 3, signal })).toBe(waiting[2]!)
  expect(queue.displaceFor({ key: 3, signal })).toBeUndefined()
  expect(queue.length).toBe(3)
})
