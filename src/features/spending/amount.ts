/**
 * Exact amounts that are added up in 64-bit columns: nano-dollars or tokens, in billions, units and millionths. Sums of
 * each part fit into a column for billions of entries, while a dozen of the highest costs in nano-dollars would not.
 * Millionths are of amounts with a markup. Pure.
 */
import { formatDecimal, NANO_DIGITS } from '../../lib/money.ts'
import type { BudgetRecord, PeriodRecord } from './records.ts'

export interface Amount {
  billions: number
  units: number
  millionths: number
}

/** What entries add to a period. */
export interface Spending extends Amount {
  entries: number
  unpricedEntries: number
}

const BILLION = 1_000_000_000n
const MILLION = 1_000_000n
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** The amount of a number of units, and of millionths more. */
export function amountOf(units: bigint, millionths = 0n): Amount {
  if (units <= MAX_SAFE && units >= -MAX_SAFE) {
    // Every report comes here, and numbers cost a tenth of bigints.
    const number = Number(units)
    return { billions: Math.trunc(number / 1e9), units: number % 1e9, millionths: Number(millionths) }
  }
  return { billions: Number(units / BILLION), units: Number(units % BILLION), millionths: Number(millionths) }
}

/** A number of units with a markup in millionths: `cost * (1 + markup)`. */
export function markedUp(units: bigint, markupPpm: number): Amount {
  const inMillionths = units * (MILLION + BigInt(markupPpm))
  return amountOf(inMillionths / MILLION, inMillionths % MILLION)
}

/** In millionths of a unit, exactly. */
export function millionthsOf({ billions, units, millionths }: Amount): bigint {
  return (BigInt(billions) * BILLION + BigInt(units)) * MILLION + BigInt(millionths)
}

/** In whole units, rounded down, as an amount is never shown as reached before it is. */
export function unitsOf(amount: Amount): bigint {
  const inMillionths = millionthsOf(amount)
  const units = inMillionths / MILLION
  return inMillionths < 0n && inMillionths % MILLION !== 0n ? units - 1n : units
}

/** Whether a percentage of what is available is reached. Nothing is reached while nothing is spent. */
export function reaches(spent: Amount, percent: number, available: bigint): boolean {
  const inMillionths = millionthsOf(spent)
  return inMillionths > 0n && inMillionths * 100n >= available * MILLION * BigInt(percent)
}

/** What is left of a period; nothing if more than it was spent. */
export function leftOf(period: PeriodRecord): bigint {
  const left = period.available - unitsOf(period)
  return left > 0n ? left : 0n
}

/** Dollars, or tokens. */
export function decimalOf({ measure }: Pick<BudgetRecord, 'measure'>, units: bigint): string {
  return measure === 'tokens' ? units.toString() : formatDecimal(units, NANO_DIGITS)
}
