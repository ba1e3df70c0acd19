import { counted } from './counted.ts'

/** Numbers within English sentences, for e-mails, chats and shared pages. */

const DOLLARS = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' })

/** `$1,234.50`, of US dollars. */
export const dollarsText = (amount: number): string => DOLLARS.format(amount)

/** `$1,234.50` or `1,234 tokens`, of what a budget measures. */
export function measuredText(measure: string, amount: number): string {
  return measure === 'tokens' ? counted(amount, 'token') : dollarsText(amount)
}
