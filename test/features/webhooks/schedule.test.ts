import { expect, test } from 'bun:test'
import { GIVE_UP_MS, nextAttemptAt } from '../../../src/features/webhooks/schedule.ts'

/** The moments of all attempts after a first failure at 0. */
function attemptsAt(random: number): number[] {
  const moments = [0]
  for (;;) {
    const now = moments.at(-1)!
    const next = nextAttemptAt({ attempts: moments.length, failingSince: 0, now }, random)
    if (next === undefined) return moments
    moments.push(next)
  }
}

test('attempts are repeated with growing pauses, the last time after exactly three days', () => {
  const hours = attemptsAt(0).map((moment) => moment / 3_600_000)
  expect(hours.map((hour) => Math.round(hour * 10) / 10)).toEqual([0, 0, 0.1, 0.6, 2.6, 7.6, 17.6, 31.6, 51.6, 72])
  expect(attemptsAt(0)[1]).toBe(5_000)
  expect(attemptsAt(0.999).at(-1)).toBe(GIVE_UP_MS)
})

test('pauses are up to a fifth longer, at random', () => {
  const pauseMs = (random: number) => nextAttemptAt({ attempts: 2, failingSince: 0, now: 0 }, random)
  expect(pauseMs(0)).toBe(300_000)
  expect(pauseMs(1)).toBe(360_000)
})

test('an endpoint that has been failing for three days is given up', () => {
  const failing = { attempts: 3, failingSince: 0 }
  expect(nextAttemptAt({ ...failing, now: GIVE_UP_MS - 1 })).toBe(GIVE_UP_MS)
  expect(nextAttemptAt({ ...failing, now: GIVE_UP_MS })).toBeUndefined()
})
