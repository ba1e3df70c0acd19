/** Numbers and amounts of money as tables and sentences show them. */
import { counted, countText, grouped } from '../../lib/counted.ts'
import { formatDecimal, parseDecimal } from '../../lib/money.ts'

export { counted, countText }

/** Dollars to the cent, as a sum is read; every digit is in the JSON. */
const CENT_DIGITS = 2

/** Money is JSON's exact number, not one to calculate with: it is read from its text. */
export function dollars(amount: number | null): string {
  if (amount === null) return '–'
  const cents = parseDecimal(JSON.stringify(amount), CENT_DIGITS)!
  if (cents === 0n && JSON.stringify(amount) !== '0') return JSON.stringify(amount).startsWith('-') ? '>-0.01' : '<0.01'
  const [whole = '0', fraction = ''] = formatDecimal(cents, CENT_DIGITS).split('.')
  const sign = whole.startsWith('-') ? '-' : ''
  const digits = grouped(whole.replace('-', ''))
  return `${sign}${digits}.${fraction.padEnd(CENT_DIGITS, '0')}`
}

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
