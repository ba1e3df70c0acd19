import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { COLORS, colorOf, looksOf, PATTERNS, REST_COLOR } from '../../../../src/web/parts/charts/colors.ts'

const ids = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 30 }), { maxLength: 6 })

test('a thing keeps its color whatever else is in the chart and in whatever order', () => {
  fc.assert(
    fc.property(ids, (ids) => {
      const looks = looksOf(ids)
      expect(looks.map(({ color }) => color)).toEqual(ids.map(colorOf))
      expect(looksOf(ids.toReversed())).toEqual(looks.toReversed())
    }),
  )
  expect(colorOf('prj_01')).toBe('#0072b2')
  expect(colorOf(null)).toBe(REST_COLOR)
})

test('things of one chart differ in color or pattern', () => {
  const few = fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: PATTERNS.length })
  fc.assert(
    fc.property(few, (ids) => {
      const looks = looksOf(ids).map(({ color, pattern }) => `${color} ${pattern}`)
      expect(new Set(looks).size).toBe(ids.length)
    }),
  )
})

test('ids that differ in their last character only are spread over all colors', () => {
  const used = new Set(Array.from({ length: 100 }, (_, index) => colorOf(`prj_01K9ZQ${index}`)))
  expect(used.size).toBe(COLORS.length)
})

/** How a color looks with the kinds of color blindness (Machado, Oliveira and Fernandes 2009, severity 1). */
const SEEN = {
  all: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
}

/** Linear red, green and blue. */
const linear = (hex: string): number[] =>
  [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })

const seenAs = (rgb: number[], kind: number[]): number[] =>
  [0, 3, 6].map((row) =>
    Math.min(
      1,
      Math.max(
        0,
        rgb.reduce((sum, part, at) => sum + part * kind[row + at]!, 0),
      ),
    ),
  )

/** CIE L*a*b*, in which a distance of about 2 is just visible. */
function lab([r, g, b]: number[]): number[] {
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)
  const x = f((0.4124 * r! + 0.3576 * g! + 0.1805 * b!) / 0.9505)
  const y = f(0.2126 * r! + 0.7152 * g! + 0.0722 * b!)
  const z = f((0.0193 * r! + 0.1192 * g! + 0.9505 * b!) / 1.089)
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
}

test('no two colors look alike, with any kind of color blindness', () => {
  for (const kind of Object.values(SEEN)) {
    const colors = [...COLORS].map((color) => lab(seenAs(linear(color), kind)))
    for (const [at, one] of colors.entries()) {
      for (const other of colors.slice(at + 1)) {
        expect(Math.hypot(...one.map((part, index) => part - other[index]!))).toBeGreaterThan(15)
      }
    }
  }
})

test('every color stands out from the background of both schemes', () => {
  const luminance = (hex: string) => {
    const [r, g, b] = linear(hex)
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!
  }
  for (const color of [...COLORS, REST_COLOR]) {
    const it = luminance(color)
    expect((1 + 0.05) / (it + 0.05)).toBeGreaterThan(2)
    expect((it + 0.05) / (luminance('#242424') + 0.05)).toBeGreaterThan(2)
  }
})
