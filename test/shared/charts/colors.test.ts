import { expect, test } from 'bun:test'
import { join } from 'node:path'
import fc from 'fast-check'
import { COLORS, colorsOf, MOST_COLORS, PALETTE, REST_COLOR } from '../../../src/shared/charts/colors.ts'

const ids = (maxLength: number) => fc.uniqueArray(fc.string({ minLength: 1, maxLength: 30 }), { maxLength })

test('up to eight things never share a color, whatever their ids', () => {
  fc.assert(
    fc.property(ids(MOST_COLORS), (ids) => {
      const colors = colorsOf(ids)
      expect(new Set(colors).size).toBe(ids.length)
      expect(COLORS).toEqual(expect.arrayContaining(colors))
    }),
  )
})

test('things have the same colors in any order', () => {
  fc.assert(
    fc.property(ids(20), (ids) => {
      expect(colorsOf(ids.toReversed())).toEqual(colorsOf(ids).toReversed())
    }),
  )
})

test('a thing alone has its own color, and keeps it unless one of another thing is the same', () => {
  fc.assert(
    fc.property(ids(MOST_COLORS), (ids) => {
      const alone = ids.map((id) => colorsOf([id])[0]!)
      const together = colorsOf(ids)
      for (const [at, color] of alone.entries()) {
        const rivals = ids.filter((_, other) => alone[other] === color).toSorted()
        expect(together[at] === color).toBe(rivals[0] === ids[at])
      }
    }),
  )
  expect(colorsOf(['prj_01'])).toEqual([COLORS[0]!])
})

test('more things than colors have one each', () => {
  const colors = colorsOf(Array.from({ length: 20 }, (_, at) => `prj_${at}`))
  expect(new Set(colors).size).toBe(MOST_COLORS)
  expect(COLORS).toEqual(expect.arrayContaining(colors))
})

test('ids that differ in their last character only are spread over all colors', () => {
  const used = new Set(Array.from({ length: 100 }, (_, index) => colorsOf([`prj_01K9ZQ${index}`])[0]))
  expect(used.size).toBe(MOST_COLORS)
})

/** What colors look like with kinds of color blindness (Machado, Oliveira and Fernandes 2009, severity 1). */
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

const times = (matrix: readonly number[], vector: readonly number[]): number[] =>
  [0, 3, 6].map((row) => vector.reduce((sum, part, at) => sum + part * matrix[row + at]!, 0))

const seenAs = (rgb: number[], kind: number[]): number[] =>
  times(kind, rgb).map((part) => Math.min(1, Math.max(0, part)))

/** Lightness, green–red and blue–yellow (Ottosson 2020), in which equal distances look equally different. */
const oklab = (rgb: number[]): number[] =>
  times(
    [
      0.2104542553, 0.793617785, -0.0040720468, 1.9779984951, -2.428592205, 0.4505937099, 0.0259040371, 0.7827717662,
    ].concat(-0.808675766),
    times(
      [
        0.4122214708, 0.5363325363, 0.0514459929, 0.2119034982, 0.6806995451, 0.1073969566, 0.0883024619, 0.2817188376,
      ].concat(0.6299787005),
      rgb,
    ).map(Math.cbrt),
  )

const luminance = (hex: string) => linear(hex).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at]!, 0)

function contrast(one: string, other: string): number {
  const [darker, lighter] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter! + 0.05) / (darker! + 0.05)
}

/** Four times what is just visible side by side. */
const LEAST_DISTANCE = 0.08

/** Of a chart's card, of the bar that is pointed at, and of the list of its values. */
const BACKGROUNDS = {
  light: ['#ffffff', '#f8f9fa'],
  dark: ['#181b1e', '#24282c', '#202428'],
} as const

for (const scheme of ['light', 'dark'] as const) {
  const colors = [...PALETTE[scheme], REST_COLOR]

  for (const [kind, matrix] of Object.entries(SEEN)) {
    test(`no two colors of the ${scheme} scheme look alike to people with ${kind === 'all' ? 'all' : kind} colors`, () => {
      const seen = colors.map((color) => oklab(seenAs(linear(color), matrix)))
      for (const [at, one] of seen.entries()) {
        for (const [after, other] of seen.slice(at + 1).entries()) {
          const distance = Math.hypot(...one.map((part, index) => part - other[index]!))
          expect(distance, `${colors[at]} and ${colors[at + 1 + after]}`).toBeGreaterThan(LEAST_DISTANCE)
        }
      }
    })
  }

  test(`every color stands out from the backgrounds of the ${scheme} scheme with 3:1`, () => {
    for (const color of colors)
      for (const background of BACKGROUNDS[scheme])
        expect(contrast(color, background), `${color} on ${background}`).toBeGreaterThan(3)
  })
}

test('the backgrounds of the dark scheme are those of the application', async () => {
  const styles = await Bun.file(join(import.meta.dir, '../../../src/web/main.css')).text()
  const dark = /:root\[data-mantine-color-scheme="dark"\] \{([^}]*)\}/.exec(styles)![1]!
  const named = (name: string) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(dark)![1]
  expect(['tally-surface', 'mantine-color-default-hover', 'tally-raised'].map(named)).toEqual([...BACKGROUNDS.dark])
})
