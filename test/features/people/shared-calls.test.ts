/** The common limit of the calls of a token at several servers. */
import { beforeEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TALLY } from '../../../src/access/actor.ts'
import type { Caller } from '../../../src/access/caller.ts'
import type { Database } from '../../../src/database/database.ts'
import { shareCalls } from '../../../src/features/people/tokens/shared-calls.ts'
import { RateLimits, type ShareCalls } from '../../../src/http/rate-limits.ts'
import { canOverlap, forEachEngine } from '../../support/databases.ts'
import { peopleServiceOf } from '../../support/people-service.ts'
import { runs } from '../../support/tier.ts'

const MINUTE_MS = 60_000
const START = Date.parse('2026-11-20T12:00:00Z')

forEachEngine('calls at several servers', (open, engine) => {
  let db: Database
  let clock: { now(): number; at: number }
  beforeEach(async () => {
    clock = { at: START, now: () => clock.at }
    db = await open()
  })

  /** The keys of new tokens. */
  async function tokens(count: number): Promise<number[]> {
    const people = peopleServiceOf({ db, clock })
    const email = `${crypto.randomUUID()}@example.com`
    await people.addUser({ email, name: 'Ada', role: 'member' }, TALLY)
    const made = []
    for (let one = 0; one < count; one += 1) {
      const { token } = await people.createToken({ kind: 'svc', user: email, name: `${one}` }, TALLY)
      made.push(token.id)
    }
    return made
  }

  /** @param share undefined for a server that knows of no others */
  function server(perMinute: number, share?: ShareCalls) {
    const pending: Promise<unknown>[] = []
    const noted: ShareCalls = (calls, now) => {
      const result = share!(calls, now)
      pending.push(result.catch(() => undefined))
      return result
    }
    const limits = new RateLimits(clock, perMinute, share && noted)
    return {
      /** Whether a call of the token was allowed. */
      async call(id: number): Promise<boolean> {
        try {
          limits.count({ kind: 'service', token: { id } } as unknown as Caller)
          return true
        } catch (error) {
          expect(error).toMatchObject({ code: 'rate_limited' })
          return false
        } finally {
          while (pending.length > 0) await pending.pop()
          // For what follows the answer.
          await Bun.sleep(0)
        }
      },
    }
  }

  const inDatabase: ShareCalls = (calls, now) => shareCalls(db, calls, now)

  test('are together as many as one server allows, but for a twentieth of the share of each', async () => {
    const step = fc.record({ turn: fc.nat(9), afterMs: fc.oneof(fc.constant(0), fc.nat(4_000)) })
    const steps = fc.array(step, { minLength: 40, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.integer({ min: 2, max: 4 }),
        fc.constantFrom(3, 20, 60),
        async (turns, count, perMinute) => {
          const [id] = await tokens(1)
          const alone = server(perMinute)
          const several = Array.from({ length: count }, () => server(perMinute, inDatabase))
          const allowed = { alone: 0, several: 0 }
          for (const { turn, afterMs } of turns) {
            clock.at += afterMs
            if (await alone.call(id!)) allowed.alone += 1
            if (await several[turn % count]!.call(id!)) allowed.several += 1
            const beyond = count * (perMinute / 20 + 1)
            expect(allowed.several).toBeLessThanOrEqual(allowed.alone + beyond)
            expect(allowed.several).toBeGreaterThanOrEqual(allowed.alone - count)
          }
        },
      ),
      { numRuns: engine === 'sqlite' ? runs(10, 4) : 3 },
    )
  }, 300_000)

  test('of tokens that call together are shared together, and none is taken for another', async () => {
    const [one, two, idle] = await tokens(3)
    const [here, there] = [server(3, inDatabase), server(3, inDatabase)]
    for (const id of [one!, two!, one!]) expect(await here.call(id)).toBe(true)
    expect(await there.call(one!)).toBe(true)
    expect(await there.call(one!)).toBe(false)
    for (let times = 0; times < 2; times += 1) expect(await there.call(two!)).toBe(true)
    expect(await there.call(two!)).toBe(false)
    expect(await there.call(idle!)).toBe(true)
    clock.at += MINUTE_MS
    for (const id of [one!, two!]) expect(await here.call(id)).toBe(true)
  })

  test('are shared later if the database did not answer', async () => {
    const [id] = await tokens(1)
    let isDown = true
    const share: ShareCalls = async (calls, now) => {
      if (isDown) throw new Error('unreachable')
      return inDatabase(calls, now)
    }
    const [here, there] = [server(3, share), server(3, share)]
    expect(await here.call(id!)).toBe(true)
    isDown = false
    expect(await here.call(id!)).toBe(true)
    expect(await there.call(id!)).toBe(true)
    expect(await there.call(id!)).toBe(false)
  })

  test('do not keep a token out after the clock was set back', async () => {
    const [id] = await tokens(1)
    const [here, there] = [server(3, inDatabase), server(3, inDatabase)]
    for (let times = 0; times < 3; times += 1) await here.call(id!)
    clock.at -= 24 * 60 * MINUTE_MS
    expect(await here.call(id!)).toBe(false)
    clock.at += MINUTE_MS / 3
    expect(await here.call(id!)).toBe(true)
    await there.call(id!)
    clock.at += 3 * MINUTE_MS
    for (const each of [here, there]) expect(await each.call(id!)).toBe(true)
  })

  test.skipIf(!canOverlap(engine))('at the same moment add up', async () => {
    const [id] = await tokens(1)
    const second = await open({ sharing: db })
    const shared = await Promise.all(
      Array.from({ length: 40 }, (_, one) => shareCalls(one % 2 ? db : second, [{ tokenId: id!, busyMs: 100 }], START)),
    )
    expect(Math.max(...shared.flat())).toBe(START + 4_000)
  })
})
