import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { batchesOf } from '../../../src/features/telemetry/batches.ts'
import type { Observation } from '../../../src/features/telemetry/channels/observation.ts'
import { runs } from '../../support/tier.ts'

const observed = (session: number) => ({ harness: 'agent', session: String(session) }) as Observation

test('a request is recorded in its order, in transactions of few sessions and few observations', () => {
  const sessions = fc.array(fc.nat({ max: 60 }), { maxLength: 1_200, size: 'max' })
  fc.assert(
    fc.property(sessions, (all) => {
      const observations = all.map(observed)
      const batches = batchesOf(observations)
      expect(batches.flat()).toEqual(observations)
      for (const batch of batches) {
        expect(batch.length).toBeLessThanOrEqual(512)
        expect(new Set(batch.map(({ session }) => session)).size).toBeLessThanOrEqual(16)
      }
    }),
    { numRuns: runs(50, 10) },
  )
})

test('a request of one session is one transaction while it is no larger than SDKs send', () => {
  expect(batchesOf(Array.from({ length: 513 }, () => observed(1))).map(({ length }) => length)).toEqual([512, 1])
  expect(batchesOf([])).toEqual([[]])
})
