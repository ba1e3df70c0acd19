import { grouped } from './counted.ts'
import { formatDecimal, parseDecimal } from './money.ts'

/** Dollars to the cent, as a sum is read; every digit is in the JSON. */
const CENT_DIGITS = 2

/** `1,552.78`; `<0.01` for less. Money is JSON's exact number, not one to calculate with: it is read from its text. */
export function dollars(amount: number): string {
  const cents = parseDecimal(JSON.stringify(amount), CENT_DIGITS)!
  if (cents === 0n && JSON.stringify(amount) !== '0') return JSON.stringify(amount).startsWith('-') ? '>-0.01' : '<0.01'
  const [whole = '0', fraction = ''] = formatDecimal(cents, CENT_DIGITS).split('.')
  const sign = whole.startsWith('-') ? '-' : ''
  const digits = grouped(whole.replace('-', ''))
  return `${sign}${digits}.${fraction.padEnd(CENT_DIGITS, '0')}`
}
