import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { countTicks, hourTicks, moneyTicks, percentTicks, ticksOf } from '../../../src/shared/charts/scale.ts'

describe('the scale of a chart', () => {
  const scales: [number, number[]][] = [
    [0, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [0.0007, [0, 0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.0006, 0.0007]],
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [9, [0, 2, 4, 6, 8, 10]],
    [16_800, [0, 5_000, 10_000, 15_000, 20_000]],
    [803e9, [0, 200e9, 400e9, 600e9, 800e9, 1e12]],
  ]
  for (const [highest, ticks] of scales) {
    test(`has round amounts up to ${highest}`, () => {
      expect(ticksOf(highest).map((tick) => Number(tick.toPrecision(9)))).toEqual(ticks)
    })
  }

  test('has no fractions of entries', () => {
    expect(ticksOf(1, { isWhole: true })).toEqual([0, 1])
    expect(ticksOf(3, { isWhole: true })).toEqual([0, 1, 2, 3])
    expect(ticksOf(12, { isWhole: true })).toEqual([0, 2, 4, 6, 8, 10, 12])
  })

  test('labels are short and in one unit', () => {
    expect(moneyTicks([0, 0.2, 0.4])).toEqual(['$0', '$0.20', '$0.40'])
    expect(moneyTicks([0, 0.00002, 0.00004])).toEqual(['$0', '$0.00002', '$0.00004'])
    expect(moneyTicks([0, 200, 400])).toEqual(['$0', '$200', '$400'])
    expect(moneyTicks(ticksOf(1e-9)).slice(0, 3)).toEqual(['$0', '$0.0000000002', '$0.0000000004'])
    expect(moneyTicks([0, 500, 1_000, 1_500])).toEqual(['$0', '$0.5K', '$1K', '$1.5K'])
    expect(countTicks([0, 200e9, 400e9])).toEqual(['0', '200B', '400B'])
    expect(hourTicks([0, 0.5, 1])).toEqual(['0 h', '0.5 h', '1.0 h'])
    expect(percentTicks([0, 0.25, 1])).toEqual(['0%', '25%', '100%'])
  })
})

/** From a nano-dollar to more tokens than there are. */
const amounts = fc.tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: -9, max: 12 }))

test('no two labels of a scale are equal, and it reaches the highest amount, whatever that is', () => {
  fc.assert(
    fc.property(amounts, fc.boolean(), ([digits, power], isWhole) => {
      const highest = isWhole ? Math.max(1, Math.round(digits * 10 ** power)) : digits * 10 ** power
      const ticks = ticksOf(highest, { isWhole })
      expect(ticks.at(-1)!).toBeGreaterThanOrEqual(highest * (1 - 1e-9))
      expect(ticks.length).toBeLessThanOrEqual(8)
      expect(ticks.length).toBeGreaterThanOrEqual(2)
      if (isWhole) expect(ticks.every(Number.isInteger)).toBeTrue()
      for (const labels of [moneyTicks(ticks), countTicks(ticks), hourTicks(ticks)]) {
        expect(new Set(labels).size).toBe(ticks.length)
      }
    }),
  )
})
