/** Numbers and amounts of money as tables and sentences show them. */
import { counted, countText, grouped } from '../../lib/counted.ts'
import { dollars as dollarsText } from '../../lib/dollars.ts'

export { counted, countText }

/** A dash for an unknown amount. */
export const dollars = (amount: number | null): string => (amount === null ? '–' : dollarsText(amount))

/** The same within a sentence, where no column says the currency. */
export function inDollars(amount: number | null): string {
  return amount === null ? 'unknown cost' : dollars(amount).replace(/^[<>]?-?/, '$&$$')
}

/** A size as folders list it: `640 bytes`, `12.4 kB`, `1,204 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return counted(bytes, 'byte')
  const [size, unit] = bytes < 999_950 ? [bytes / 1_000, 'kB'] : [bytes / 1_000_000, 'MB']
  const [whole = '', fraction] = (size < 100 ? size.toFixed(1).replace('.0', '') : size.toFixed()).split('.')
  return `${grouped(whole)}${fraction === undefined ? '' : `.${fraction}`} ${unit}`
}

const ROUGH_UNITS = ['', 'k', 'M', 'B', 'T']

/** `48.2M`: three digits, which is enough to compare; counts below 10,000 in full. */
export function roughCountText(count: number): string {
  if (count < 10_000) return countText(count)
  const rounded = Number(count.toPrecision(3))
  const power = Math.floor(Math.log10(rounded) / 3)
  return `${(rounded / 1_000 ** power).toPrecision(3)}${ROUGH_UNITS[power]}`
}

/** An exact number of JSON with all its digits, or a dash. */
export function exactText(number: number | null | undefined): string {
  return number === null || number === undefined ? '–' : JSON.stringify(number)
}

export function percentText(percent: number | null | undefined): string {
  return percent === null || percent === undefined ? '–' : `${JSON.stringify(percent)}%`
}

/** A share of 1 as a percentage: 12.5%. */
export const shareText = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)}%`)

/** `1 h 12 min` */
export function durationText(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1_000)
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  if (hours > 0) return `${hours} h ${minutes} min`
  return minutes > 0 ? `${minutes} min` : `${seconds} s`
}
