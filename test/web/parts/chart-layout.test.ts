import { describe, expect, test } from 'bun:test'
import { barAt, labelsThatFit, layoutOf, pathsOf, ticksOf } from '../../../src/web/parts/chart-layout.ts'

describe('the scale of a chart', () => {
  const scales: [number, number[]][] = [
    [0, [0, 1]],
    [0.0007, [0, 0.0002, 0.0004, 0.0006, 0.0008]],
    [1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [9, [0, 2, 4, 6, 8, 10]],
    [16_800, [0, 5_000, 10_000, 15_000, 20_000]],
    [603e9, [0, 200e9, 400e9, 600e9, 800e9]],
  ]
  for (const [highest, ticks] of scales) {
    test(`has round amounts up to ${highest}`, () => {
      expect(ticksOf(highest).map((tick) => Number(tick.toPrecision(9)))).toEqual(ticks)
    })
  }
})

describe('a chart of 664 × 136 pixels', () => {
  const layout = layoutOf({ width: 664, height: 136, bars: 3, top: 10 })

  test('stacks the bars of each series on those of the ones before, without those of nothing', () => {
    // 10 pixels per unit, in slots of 200 pixels.
    expect(pathsOf([{ values: [2, 0, 1] }, { values: [3, 4, 0] }], layout)).toEqual([
      'M142 88h44v20h-44zM542 98h44v10h-44z',
      'M142 58h44v30h-44zM342 68h44v40h-44z',
    ])
  })

  test('knows which bar is at a position', () => {
    expect([10, 64, 263, 264, 663, 664].map((position) => barAt(position, layout))).toEqual([
      undefined,
      0,
      0,
      1,
      2,
      undefined,
    ])
  })

  test('shows no two labels closer than they are wide', () => {
    const many = layoutOf({ width: 664, height: 136, bars: 365, top: 10 })
    const labels = labelsThatFit(
      Array.from({ length: 365 }, () => '24 Nov'),
      many,
    )
    expect(labels.length).toBeGreaterThan(4)
    for (const [at, { x }] of labels.entries()) expect(x - (labels[at - 1]?.x ?? 0)).toBeGreaterThan(42)
    expect(labelsThatFit([], layoutOf({ width: 0, height: 0, bars: 0, top: 1 }))).toEqual([])
  })
})
