import { describe, expect, test } from 'bun:test'
import {
  barAt,
  groupedPaths,
  labelsThatFit,
  layoutOf,
  leftFor,
  linePaths,
  sharesOf,
  stackAt,
  stackedPaths,
} from '../../../src/shared/charts/layout.ts'

describe('a chart of 664 × 136 pixels', () => {
  const layout = layoutOf({ width: 664, height: 136, bars: 3, top: 10 })

  test('stacks the first series on top, as the legend lists it first, without bars of nothing', () => {
    // 10 pixels per unit, in slots of 200 pixels.
    expect(stackedPaths([{ values: [2, 0, 1] }, { values: [3, 4, 0] }], layout)).toEqual([
      'M142 58h44v20h-44zM542 98h44v10h-44z',
      'M142 78h44v30h-44zM342 68h44v40h-44z',
    ])
  })

  test('puts the bars of each series next to each other within their slot', () => {
    expect(groupedPaths([{ values: [2, null, 0] }, { values: [1, 10, 0] }], layout)).toEqual([
      'M120 88h44v20h-44z',
      'M164 98h44v10h-44zM364 8h44v100h-44z',
    ])
  })

  test('draws a line that stops at unknown values, and a dot between two of them', () => {
    expect(linePaths([{ values: [2, 3, null] }, { values: [null, 10, null] }], layout)).toEqual([
      'M164 88L364 78',
      'M364 8h0',
    ])
  })

  test('finds the part of a stacked bar at an amount', () => {
    const series = [{ values: [2] }, { values: [0] }, { values: [3] }]
    expect([0, 2.9, 3, 4.9, 5, -1].map((amount) => stackAt(amount, 0, series))).toEqual([
      2,
      2,
      0,
      0,
      undefined,
      undefined,
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

test('shares of a bar add up to 1, those of nothing are 0, and unknown ones stay unknown', () => {
  expect(sharesOf([{ values: [1, 0, null] }, { values: [3, 0, 5] }]).map(({ values }) => values)).toEqual([
    [0.25, 0, null],
    [0.75, 0, 1],
  ])
})

test('long labels of amounts have room', () => {
  expect([leftFor([]), leftFor(['$0', '$1.5M']), leftFor(['$0.000000001'])]).toEqual([64, 64, 96])
})
