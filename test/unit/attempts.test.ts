import { describe, expect, test } from 'bun:test'
import { Attempts, networkOf } from '../../src/features/people/attempts.ts'

const MINUTE_MS = 60_000

function stage() {
  const clock = { at: 1_000_000_000, now: () => clock.at }
  const attempts = new Attempts(clock)
  const fail = (...keys: string[]) => attempts.try(keys, async () => undefined)
  const succeed = (...keys: string[]) => attempts.try(keys, async () => 'in')
  return { clock, attempts, fail, succeed }
}

const tooMany = { code: 'too_many_attempts' }

describe('attempts', () => {
  test('are refused after ten failures, for as long as these are less than a minute ago', async () => {
    const { clock, fail, succeed } = stage()
    for (let times = 0; times < 10; times += 1) {
      expect(await fail('ada')).toBeUndefined()
      clock.at += 1_000
    }
    await expect(succeed('ada')).rejects.toMatchObject({ ...tooMany, more: { headers: { 'retry-after': '50' } } })
    expect(await succeed('grace')).toBe('in')
    clock.at += 50_000 - 1
    await expect(succeed('ada')).rejects.toMatchObject({ ...tooMany, more: { headers: { 'retry-after': '1' } } })
    clock.at += 1
    expect(await succeed('ada')).toBe('in')
    // The oldest failure is forgiven, not all of them.
    expect(await fail('ada')).toBeUndefined()
    await expect(fail('ada')).rejects.toMatchObject(tooMany)
  })

  test('count under each of their keys', async () => {
    const { fail, succeed } = stage()
    for (let times = 0; times < 10; times += 1) await fail('account ada', `address ${times}`)
    await expect(succeed('account ada', 'address 10')).rejects.toMatchObject(tooMany)
    expect(await succeed('account grace', 'address 3')).toBe('in')
  })

  test('count while they run, and no more once they succeed or break', async () => {
    const { attempts, fail, succeed } = stage()
    const { promise, resolve } = Promise.withResolvers<string>()
    const running = Array.from({ length: 10 }, () => attempts.try(['ada'], () => promise))
    await expect(fail('ada')).rejects.toMatchObject(tooMany)
    resolve('in')
    expect(await Promise.all(running)).toEqual(Array(10).fill('in'))
    for (let times = 0; times < 20; times += 1) {
      await expect(attempts.try(['ada'], () => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
    }
    expect(await succeed('ada')).toBe('in')
  })

  test('are forgotten, the oldest first, before they fill the memory', async () => {
    const { clock, fail, succeed } = stage()
    for (let times = 0; times < 10; times += 1) await fail('first')
    clock.at += 1
    for (let times = 0; times < 10; times += 1) await fail('second')
    for (let key = 0; key < 9_998; key += 1) await fail(`key ${key}`)
    await expect(succeed('first')).rejects.toMatchObject(tooMany)
    await fail('one more')
    await expect(succeed('second')).rejects.toMatchObject(tooMany)
    expect(await succeed('first')).toBe('in')
    clock.at += MINUTE_MS
    expect(await succeed('second')).toBe('in')
  })
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})
