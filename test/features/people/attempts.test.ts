import { beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Database } from '../../../src/database/database.ts'
import {
  type AttemptKey,
  Attempts,
  clearAttempts,
  keysOfStranger,
} from '../../../src/features/people/sign-in/attempts.ts'
import { canOverlap, forEachEngine } from '../../support/databases.ts'
import { runs } from '../../support/tier.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const network = (of: string): AttemptKey => ({ kind: 'network', of })
const account = (of: string): AttemptKey => ({ kind: 'account', of, account: of })
const pair = (of: string, from: string): AttemptKey => keysOfStranger(of, from)[0]!
const device = (of: string, name: string): AttemptKey => ({ kind: 'device', of: `${of} ${name}`, account: of })
const all = keysOfStranger

const tooMany = { code: 'too_many_attempts' }

forEachEngine('attempts', (open, engine) => {
  let db: Database
  beforeEach(async () => {
    db = await open()
  })

  /** A server of the database. */
  function stage(on = db) {
    const clock = { at: 1_000_000_000, now: () => clock.at }
    const slowed: string[] = []
    const attempts = new Attempts(on, clock, (of) => slowed.push(of))
    const answer = (keys: AttemptKey[], check: () => Promise<'in' | undefined>) =>
      attempts.try(keys, async (count) => {
        await count()
        return check()
      })
    const fail = (...keys: AttemptKey[]) => answer(keys, async () => undefined)
    const succeed = (...keys: AttemptKey[]) => answer(keys, async () => 'in')
    return { clock, attempts, slowed, answer, fail, succeed }
  }

  const keptRows = async () => (await db.read.select().from(db.read.tables.failedAttempts)).length

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
      const waitMs = await attempts.waitMs([key])
      pauses.push(waitMs / MINUTE_MS)
      clock.at += waitMs
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
    expect(await attempts.waitMs([key])).toBe(2 * MINUTE_MS)
    clock.at += 2 * MINUTE_MS + HOUR_MS
    for (let times = 0; times < 10; times += 1) await fail(key)
    expect(await attempts.waitMs([key])).toBe(MINUTE_MS)
  })

  test('from many addresses pause the account for a second, then longer; those from one address do not make it longer', async () => {
    const { clock, attempts, slowed, fail } = stage()
    for (let from = 0; from < 20; from += 1) await fail(...all('ada', `203.0.113.${from}`))
    expect(await attempts.waitMs([account('ada')])).toBe(SECOND_MS)
    expect(await attempts.waitMs(all('grace', '203.0.113.1'))).toBe(0)
    clock.at += SECOND_MS
    await fail(...all('ada', '203.0.113.77'))
    expect(await attempts.waitMs([account('ada')])).toBe(2 * SECOND_MS)
    for (let times = 0; times < 50; times += 1) {
      clock.at += await attempts.waitMs([account('ada')])
      await fail(...all('ada', `198.51.100.${times}`))
    }
    expect(await attempts.waitMs([account('ada')])).toBe(5 * MINUTE_MS)
    expect(slowed).toEqual(['ada'])
  })

  test('from one address do not make others wait for the account', async () => {
    const { clock, attempts, slowed, fail } = stage()
    for (let times = 0; times < 30; times += 1) {
      await fail(...all('ada', '203.0.113.1')).catch(() => undefined)
      clock.at += SECOND_MS
    }
    expect(await attempts.waitMs([pair('ada', '203.0.113.1')])).toBeGreaterThan(0)
    expect(await attempts.waitMs(all('ada', '192.0.2.1'))).toBe(0)
    expect(slowed).toEqual(['ada'])
  })

  test('count while they run, and no more once they succeed or break', async () => {
    const { answer, fail, succeed } = stage()
    const key = pair('ada', '192.0.2.1')
    const { promise, resolve } = Promise.withResolvers<'in'>()
    const running: Promise<string | undefined>[] = []
    for (let times = 0; times < 10; times += 1) {
      await new Promise<void>((counted) => {
        const check = () => {
          counted()
          return promise
        }
        running.push(answer([key], check))
      })
    }
    await expect(fail(key)).rejects.toMatchObject(tooMany)
    resolve('in')
    expect(await Promise.all(running)).toEqual(Array(10).fill('in'))
    for (let times = 0; times < 20; times += 1) {
      await expect(answer([key], () => Promise.reject(new Error('busy')))).rejects.toThrow('busy')
    }
    expect(await succeed(key)).toBe('in')
    expect(await keptRows()).toBe(0)
  })

  test('that check no password, because too many are waiting, do not count', async () => {
    const { attempts } = stage()
    const key = network('192.0.2.1')
    for (let times = 0; times < 20; times += 1) {
      await expect(attempts.try([key], () => Promise.reject(new Error('full')))).rejects.toThrow('full')
    }
    expect(await keptRows()).toBe(0)
  })

  test('that succeed forgive the account and not the address', async () => {
    const { attempts, fail, succeed } = stage()
    for (let times = 0; times < 9; times += 1) await fail(...all('ada', '192.0.2.1'))
    expect(await succeed(...all('ada', '192.0.2.1'))).toBe('in')
    for (let times = 0; times < 9; times += 1) await fail(pair('ada', '192.0.2.1'), account('ada'))
    expect(await attempts.waitMs([pair('ada', '192.0.2.1'), account('ada')])).toBe(0)
    await fail(network('192.0.2.1'))
    expect(await attempts.waitMs([network('192.0.2.1')])).toBe(MINUTE_MS)
  })

  test('are cleared for an account from everywhere and in all browsers, and for no other', async () => {
    const { attempts, fail } = stage()
    const keysOf = (of: string) => [pair(of, '192.0.2.1'), account(of), device(of, 'laptop')]
    for (const of of ['ada', 'adam']) for (let times = 0; times < 10; times += 1) await fail(...keysOf(of))
    await db.write((tx) => clearAttempts(tx, 'ada'))
    expect(await attempts.waitMs(keysOf('ada'))).toBe(0)
    expect(await attempts.waitMs([pair('adam', '192.0.2.1')])).toBe(MINUTE_MS)
    expect(await attempts.waitMs([device('adam', 'laptop')])).toBe(MINUTE_MS)
  })

  test('are refused no longer than before after the clock was set back, and forgiven in the same time', async () => {
    const { clock, attempts, fail, succeed } = stage()
    const key = network('192.0.2.1')
    for (let times = 0; times < 10; times += 1) await fail(key)
    clock.at -= 30 * 24 * HOUR_MS
    expect(await attempts.waitMs([key])).toBe(MINUTE_MS)
    clock.at += MINUTE_MS
    expect(await succeed(key)).toBe('in')
    clock.at -= HOUR_MS
    await fail(key)
    expect(await attempts.waitMs([key])).toBeLessThanOrEqual(4 * MINUTE_MS)
  })

  test('are removed with the next one once they say nothing any more, and not before', async () => {
    const { clock, attempts, fail } = stage()
    for (let one = 0; one < 50; one += 1) await fail(...all(`${one}@example.com`, `2001:db8:${one}::`))
    for (let times = 0; times < 20; times += 1) await fail(account('ada'))
    expect(await keptRows()).toBe(3 * 50 + 1)
    clock.at += 5 * MINUTE_MS
    await fail(account('grace'))
    expect(await keptRows()).toBe(2)
    expect(await attempts.waitMs([account('ada')])).toBe(0)
    await fail(account('ada'))
    expect(await attempts.waitMs([account('ada')])).toBe(2 * SECOND_MS)
    clock.at += HOUR_MS + 2 * SECOND_MS
    await fail(account('grace'))
    expect(await keptRows()).toBe(1)
  })

  test('keep neither addresses nor networks', async () => {
    await stage().fail(...all('ada@example.com', '192.0.2.1'))
    const rows = await db.read.select().from(db.read.tables.failedAttempts)
    const texts = rows.flatMap(({ key, account: of }) => [key, of ?? new Uint8Array()].map((one) => Buffer.from(one)))
    for (const text of texts) {
      expect(text.includes('ada')).toBe(false)
      expect(text.includes('192')).toBe(false)
    }
  })

  test('are as many with several servers as with one, after a restart too', async () => {
    /** The moments in seconds at which an attempt was allowed, of one in each second, at one server or another. */
    const allowedAt = async (servers: ReturnType<typeof stage>[], turns: number[], keys: AttemptKey[]) => {
      const allowed: number[] = []
      for (const [second, turn] of turns.entries()) {
        for (const { clock } of servers) clock.at += SECOND_MS
        const { fail } = servers[turn % servers.length]!
        await fail(...keys).then(
          () => allowed.push(second),
          () => undefined,
        )
      }
      return allowed
    }
    let round = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(4), { minLength: 30, maxLength: 100 }),
        fc.integer({ min: 2, max: 5 }),
        async (turns, count) => {
          round += 1
          const one = await allowedAt([stage()], turns, all(`one ${round}`, `192.0.2.${round}`))
          const several = await allowedAt(
            Array.from({ length: count }, () => stage()),
            turns,
            all(`several ${round}`, `198.51.100.${round}`),
          )
          expect(several).toEqual(one)
        },
      ),
      { numRuns: engine === 'sqlite' ? runs(5, 2) : 2 },
    )
  }, 300_000)

  test.skipIf(!canOverlap(engine))('at the same moment at several servers are no more than at one', async () => {
    const servers = [stage(), ...(await Promise.all([1, 2, 3].map(async () => stage(await open({ sharing: db })))))]
    const slowed = () => servers.flatMap((server) => server.slowed)
    const tries = await Promise.allSettled(
      Array.from({ length: 60 }, (_, one) => servers[one % servers.length]!.fail(...all('ada', '192.0.2.1'))),
    )
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    // Once for the account from this address, which more of the concurrent ones may have met.
    expect(slowed()).toEqual(['ada'])
    for (const { clock } of servers) clock.at += MINUTE_MS
    const more = await Promise.allSettled(servers.map(({ fail }) => fail(...all('ada', '192.0.2.1'))))
    expect(more.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
