import { expect, test } from 'bun:test'
import { type Question, SlowQueue } from '../../src/database/engines/sqlite/slow-queue.ts'

const { signal } = new AbortController()

function question(key: number | undefined, name: string): Question & { name: string } {
  const caller = key === undefined ? undefined : { key, signal }
  return { caller, name, isRepeated: false } as Question & { name: string }
}

test('a full queue makes room for others with the last question of the caller who has most', () => {
  const queue = new SlowQueue()
  const waiting = [question(1, 'first'), question(2, 'other'), question(1, 'second'), question(1, 'third')]
  for (const each of waiting) queue.add(each)
  expect(queue.displaceFor({ key: 1, signal })).toBeUndefined()
  expect(queue.displaceFor({ key: 3, signal })).toBe(waiting[3]!)
  // Nobody has more than the job would have then.
  queue.add(question(undefined, 'of a job'))
  expect(queue.displaceFor(undefined)).toBeUndefined()
  expect(queue.displaceFor({ key: 3, signal })).toBe(waiting[2]!)
  expect(queue.displaceFor({ key: 3, signal })).toBeUndefined()
  expect(queue.length).toBe(3)
})
