import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Tx } from '../../src/database/database.ts'
import { WorkingSet } from '../../src/database/working-set.ts'

const TX = {} as Tx

/** A working set over the numbers of a map, which records what it loads. */
function stage(stored: Record<string, number>) {
  const loads: string[][] = []
  const set = new WorkingSet()
  const numbers = set.rows<string, number>(
    (name) => name,
    async (_tx, names) => {
      loads.push([...names])
      return names.map((name) => stored[name] ?? 0)
    },
  )
  const reserved: number[] = []
  const ids = set.ids((_tx, count) => {
    reserved.push(count)
    return Array.from({ length: count }, (_, position) => 100 + position)
  })
  const changes = set.changes<string, number>()
  const add = (name: string, by: number) => {
    const sum = numbers.get(name) + by
    numbers.change(name, sum)
    changes.put(name, sum)
    return sum
  }
  return { set, numbers, ids, changes, add, loads, reserved }
}

test('loads the rows that all steps miss together, and makes the plan again', async () => {
  const { set, add, loads } = stage({ a: 1, b: 2 })
  const sums = await set.plan(TX, () => ['a', 'b', 'a'].map((name) => set.step(() => add(name, 10))))
  expect(sums).toEqual([11, 12, 21])
  expect(loads).toEqual([['a', 'b']])
})

test('loads what is wanted before the plan is first made', async () => {
  const { set, numbers, add, loads } = stage({ a: 1 })
  let made = 0
  numbers.want('a')
  await set.plan(TX, () => {
    made += 1
    return add('a', 1)
  })
  expect([made, loads]).toEqual([1, [['a']]])
})

test('loads rows that are found only through other rows', async () => {
  const { set, numbers, loads } = stage({ a: 1, '1': 7 })
  expect(await set.plan(TX, () => numbers.get(String(numbers.get('a'))))).toBe(7)
  expect(loads).toEqual([['a'], ['1']])
})

test('a step that fails leaves everything as it was', async () => {
  const { set, numbers, changes, add } = stage({ a: 1, b: 2 })
  const results = await set.plan(TX, () =>
    [5, -1, 7].map((by) => {
      try {
        return set.step(() => {
          const sum = add('a', by)
          if (by < 0) throw new Error('refused')
          add('b', by)
          return sum
        })
      } catch (error) {
        return (error as Error).message
      }
    }),
  )
  expect(results).toEqual([6, 'refused', 13])
  expect([numbers.get('a'), numbers.get('b'), changes.values()]).toEqual([13, 14, [13, 14]])
})

test('takes ids in ascending order, and reserves more if they do not suffice', async () => {
  const { set, ids, reserved } = stage({})
  ids.want(2)
  const taken = await set.plan(TX, () => [1, 2, 3].map(() => set.step(() => ids.next())))
  expect(taken).toEqual([100, 101, 102])
  expect(reserved).toEqual([2, 3])
})

test('any plan gives the same as on the rows themselves', async () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const step = fc.record({ from: name, to: name, by: fc.integer({ min: -5, max: 9 }), fails: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, fc.integer({ min: 0, max: 9 })), fc.array(step), async (stored, steps) => {
      const model = new Map(Object.entries(stored))
      for (const { from, to, by, fails } of steps) {
        if (!fails) model.set(to, (model.get(to) ?? 0) + (model.get(from) ?? 0) + by)
      }
      const { set, numbers, add } = stage(stored)
      await set.plan(TX, () =>
        steps.map(({ from, to, by, fails }) => {
          try {
            return set.step(() => {
              add(to, numbers.get(from) + by)
              if (fails) throw new Error('refused')
            })
          } catch {
            return 'refused'
          }
        }),
      )
      for (const [name, value] of model) if (numbers.peek(name) !== undefined) expect(numbers.peek(name)).toBe(value)
    }),
  )
})
