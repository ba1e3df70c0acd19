import { expect, test } from 'bun:test'
import { atOnce, inPortions, type Steps } from '../../src/lib/portions.ts'

function* busy(steps: number): Steps<number> {
  for (let step = 0; step < steps; step += 1) {
    const end = performance.now() + 8
    while (performance.now() < end);
    yield
  }
  return steps
}

test('long work lets others run in between, unless it is done at once', async () => {
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  expect(atOnce(busy(10))).toBe(10)
  expect(turns).toBe(0)
  expect(await inPortions(busy(20))).toBe(20)
  expect(turns).toBeGreaterThan(2)
  clearInterval(timer)
})

test('an error in a step reaches the caller', async () => {
  // biome-ignore lint/correctness/useYield: it fails before its first step.
  const failing = function* (): Steps<never> {
    throw new RangeError('too many')
  }
  await expect(inPortions(failing())).rejects.toThrow('too many')
})
