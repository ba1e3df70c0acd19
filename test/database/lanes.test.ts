import { describe, expect, test } from 'bun:test'
import { Turns } from '../../src/database/engines/postgres/lanes.ts'

const soon = () => new Promise((resolve) => setImmediate(resolve))
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'taken',
    (error) => error.code,
  )

/** Takes turns and tells in which order they began. */
function recorder(turns: Turns<string>) {
  const begun: string[] = []
  const take = (name: string, alone = false) =>
    turns.take(alone).then((lane) => {
      begun.push(name)
      return () => turns.give(lane)
    })
  return { begun, take }
}

describe('turns', () => {
  test('begin at once while there are lanes, and then in the order in which they were asked for', async () => {
    const { begun, take } = recorder(new Turns(['a', 'b']))
    const first = take('first')
    take('second')
    take('third')
    take('fourth')
    await soon()
    expect(begun).toEqual(['first', 'second'])
    ;(await first)()
    await soon()
    expect(begun).toEqual(['first', 'second', 'third'])
  })

  test('taken alone begin when every lane is free, before those that wait, and nothing begins beside them', async () => {
    const { begun, take } = recorder(new Turns(['a', 'b']))
    const first = await take('first')
    const second = await take('second')
    take('third')
    const alone = take('alone', true)
    first()
    await soon()
    expect(begun).toEqual(['first', 'second'])
    second()
    await soon()
    expect(begun).toEqual(['first', 'second', 'alone'])
    ;(await alone)()
    await soon()
    expect(begun).toEqual(['first', 'second', 'alone', 'third'])
  })

  test('taken alone begin beside a long one in the end, rather than stop all the others', async () => {
    const { begun, take } = recorder(new Turns(['a', 'b']))
    await take('long')
    const alone = await take('alone', true)
    take('next')
    alone()
    await soon()
    expect(begun).toEqual(['long', 'alone', 'next'])
  })

  test('are refused beyond ten thousand that wait', async () => {
    const turns = new Turns(['a'])
    await turns.take(false)
    for (let waiting = 0; waiting < 10_000; waiting += 1) void turns.take(false)
    expect(await codeOf(turns.take(false))).toBe('overloaded')
  })
})
