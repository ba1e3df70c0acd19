import { describe, expect, test } from 'bun:test'
import { type AttemptKey, Attempts, pairOf } from '../../../src/features/people/sign-in/attempts.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const network = (of: string): AttemptKey => ({ kind: 'network', of })
const account = (of: string): AttemptKey => ({ kind: 'account', of })
const pair = (of: string, from: string): AttemptKey => ({ kind: 'pair', of: pairOf(of, from) })
const all = (of: string, from: string) => [pair(of, from), network(from), account(of)]

function stage() {
  const clock = { at: 1_000_000_000, now: () => clock.at }
  const slowed: string[] = []
  const attempts = new Attempts(clock, (of) => slowed.push(of))
  const fail = (...keys: AttemptKey[]) => attempts.try(keys, async () => undefined)
  const succeed = (...keys: AttemptKey[]) => attempts.try(keys, async () => 'in')
  return { clock, attempts, slowed, fail, succeed }
}

const tooMany = { code: 'too_many_attempts' }

describe('attempts', () => {
  test('are refused for a minute after ten failures, then for two after the next one, and so on to a quarter of an hour', async () => {
    const { clock, attempts, fail, succeed } = stage()
    const key = network('192.0.2.1')
    for (let times = 0; times < 10; times += 1) expect(await fail(key)).toBeUndefined()
    await expect(succeed(key)).rejects.toMatchObject({ ...tooMany, more: { headers: { 'retry-after': '60' } } })
    expect(await succeed(network('192.0.2.2'))).toBe('in')
    clock.at += MINUTE_MS - 1
    await expect(succeed(key)).rejects.toMatchObject({ ...tooMany, more: { headers: { 'retry-after': '1' } } })
    clock.at += 1
    const pauses: number[] = []
    for (let times = 0; times < 40; times += 1) {
      await fail(key)
      pauses.push(attempts.waitMs([key]) / MINUTE_MS)
      clock.at += attempts.waitMs([key])
    }
    const grown = pauses.filter((pause) => pause > 0)
    expect(grown.slice(0, 4)).toEqual([2, 4, 8, 15])
    expect(Math.max(...grown)).toBe(15)
  })

  test('begin with short pauses again after an hour without a failure', async () => {
    const { clock, attempts, fail } = stage()
    const key = network('192.0.2.1')
    for (let times = 0; times < 10; times += 1) await fail(key)
    clock.at += MINUTE_MS
    await fail(key)
    expect(attempts.waitMs([key])).toBe(2 * MINUTE_MS)
    clock.at += 2 * MINUTE_MS + HOUR_MS
    for (let times = 0; times < 10; times += 1) await fail(key)
    expect(attempts.waitMs([key])).toBe(MINUTE_MS)
  })

  test('from many addresses pause the account for a second, then longer; those from one address do not make it longer', async () => {
    const { clock, attempts, slowed, fail } = stage()
    for (let from = 0; from < 20; from += 1) await fail(...all('ada', `203.0.113.${from}`))
    expect(attempts.waitMs([account('ada')])).toBe(SECOND_MS)
    expect(attempts.waitMs(all('grace', '203.0.113.1'))).toBe(0)
    clock.at += SECOND_MS
    await fail(...all('ada', '203.0.113.77'))
    expect(attempts.waitMs([account('ada')])).toBe(2 * SECOND_MS)
    for (let times = 0; times < 50; times += 1) {
      clock.at += attempts.waitMs([account('ada')])
      await fail(...all('ada', `198.51.100.${times}`))
    }
    expect(attempts.waitMs([account('ada')])).toBe(5 * MINUTE_MS)
    expect(slowed).toEqual(['ada'])

    const one = stage()
    for (let times = 0; times < 30; times += 1) {
      await one.fail(...all('ada', '203.0.113.1')).catch(() => undefined)
      one.clock.at += SECOND_MS
    }
    expect(one.attempts.waitMs([pair('ada', '203.0.113.1')])).toBeGreaterThan(0)
    expect(one.attempts.waitMs(all('ada', '192.0.2.1'))).toBe(0)
    expect(one.slowed).toEqual(['ada'])
  })

  test('count while they run, and no more once they succeed or break', async () => {
    const { attempts, fail, succeed } = stage()
    const key = pair('ada', '192.0.2.1')
    const { promise, resolve } = Promise.withResolvers<string>()
    const running = Array.from({ length: 10 }, () => attempts.try([key], () => promise))
    await expect(fail(key)).rejects.toMatchObject(tooMany)
    resolve('in')
    expect(await Promise.all(running)).toEqual(Array(10).fill('in'))
    for (let times = 0; times < 20; times += 1) {
      await expect(attempts.try([key], () => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
    }
    expect(await succeed(key)).toBe('in')
  })

  test('that succeed forgive the account and not the address', async () => {
    const { attempts, fail, succeed } = stage()
    for (let times = 0; times < 9; times += 1) await fail(...all('ada', '192.0.2.1'))
    expect(await succeed(...all('ada', '192.0.2.1'))).toBe('in')
    for (let times = 0; times < 9; times += 1) await fail(pair('ada', '192.0.2.1'), account('ada'))
    expect(attempts.waitMs([pair('ada', '192.0.2.1'), account('ada')])).toBe(0)
    await fail(network('192.0.2.1'))
    expect(attempts.waitMs([network('192.0.2.1')])).toBe(MINUTE_MS)
  })

  test('are cleared for an account from everywhere, and for no other', async () => {
    const { attempts, fail } = stage()
    for (const of of ['ada', 'adam']) {
      for (let times = 0; times < 10; times += 1) await fail(pair(of, '192.0.2.1'), account(of))
    }
    attempts.clearAccount('ada')
    expect(attempts.waitMs([pair('ada', '192.0.2.1'), account('ada')])).toBe(0)
    expect(attempts.waitMs([pair('adam', '192.0.2.1')])).toBe(MINUTE_MS)
  })

  test('are refused no longer than before after the clock was set back, and forgiven in the same time', async () => {
    const { clock, attempts, fail, succeed } = stage()
    const key = network('192.0.2.1')
    for (let times = 0; times < 10; times += 1) await fail(key)
    clock.at -= 30 * 24 * HOUR_MS
    expect(attempts.waitMs([key])).toBe(MINUTE_MS)
    clock.at += MINUTE_MS
    expect(await succeed(key)).toBe('in')
    clock.at -= HOUR_MS
    await fail(key)
    expect(attempts.waitMs([key])).toBeLessThanOrEqual(4 * MINUTE_MS)
  })

  test('of a hundred thousand accounts are kept for ten thousand, and do not push out those that count', async () => {
    const { attempts, fail } = stage()
    for (let times = 0; times < 20; times += 1) await fail(account('ada'))
    for (let key = 0; key < 100_000; key += 1) await fail(account(`${key}@example.com`))
    expect(attempts.size).toBeLessThanOrEqual(10_001)
    expect(attempts.waitMs([account('ada')])).toBe(SECOND_MS)
  })
})
