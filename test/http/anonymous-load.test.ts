import { expect, test } from 'bun:test'
import { AnonymousLoad } from '../../src/http/anonymous-load.ts'

function stage() {
  const clock = { at: 0, now: () => clock.at }
  const load = new AnonymousLoad(clock)
  /** How many of so many requests at this moment are answered at once; the others are left waiting. */
  const atOnce = (requests: number, address: (index: number) => string) => {
    let count = 0
    for (let index = 0; index < requests; index += 1) {
      try {
        const turn = load.turn(address(index))
        if (turn === undefined) count += 1
        else turn.catch(() => undefined)
      } catch {
        // Refused, because too many wait.
      }
    }
    return count
  }
  return { clock, load, atOnce }
}

test('an address has four hundred requests at once, then a hundred a second', () => {
  const { clock, load, atOnce } = stage()
  expect(atOnce(1_000, () => '192.0.2.1')).toBe(400)
  expect(load.isPressed('192.0.2.1')).toBe(true)
  expect(load.isPressed('192.0.2.2')).toBe(false)
  clock.at += 60_000
  expect(atOnce(1_000, () => '192.0.2.1')).toBe(400)
})

test('all addresses of an IPv6 network count as one', () => {
  const { atOnce } = stage()
  expect(atOnce(1_000, (index) => `2001:db8::${index.toString(16)}`)).toBe(400)
})

test('many addresses have five hundred at once, and each a few beside, so that a probe does not wait for them', () => {
  const { load, atOnce } = stage()
  const many = atOnce(10_000, (index) => `10.0.0.${index % 200}`)
  expect(many).toBe(500 + 200 * 5)
  expect(load.isPressed('10.0.0.7')).toBe(true)
  expect(load.isPressed('192.0.2.1')).toBe(false)
  expect(atOnce(20, () => '192.0.2.1')).toBe(5)
})

test('what waits is answered in its turn', async () => {
  const load = new AnonymousLoad()
  const turns = Array.from({ length: 420 }, () => load.turn('192.0.2.1'))
  expect(turns.filter((turn) => turn !== undefined)).not.toHaveLength(0)
  await Promise.all(turns)
})

test('a request that would wait too long is refused after a while, and immediately if a thousand are waiting', async () => {
  const { load } = stage()
  const ofOne = Array.from({ length: 700 }, () => load.turn('192.0.2.1'))
  const outcomes = await Promise.allSettled(ofOne)
  const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(refused).toHaveLength(700 - 400 - 200)
  expect(refused[0]!.reason).toMatchObject({ code: 'rate_limited', more: { headers: { 'retry-after': '5' } } })

  const ofMany = Array.from({ length: 4_000 }, (_, index) => load.turn(`10.0.${index % 200}.1`))
  let isRefused = false
  void Promise.resolve(ofMany.at(-1)).catch(() => {
    isRefused = true
  })
  const all = Promise.allSettled(ofMany)
  await Promise.resolve().then(() => undefined)
  expect(isRefused).toBe(true)
  await all
})

test('ten thousand networks are remembered at most', () => {
  const { load, atOnce } = stage()
  atOnce(100_000, (index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`)
  expect(load.networks).toBeLessThanOrEqual(10_000)
})
