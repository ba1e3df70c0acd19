/** A credit note: a bill with negative lines that corrects a paid one. Pure. */
import { type Issue, refusal, validationFailed } from '../../errors.ts'
import { numberText } from '../../lib/exact-json.ts'
import { decimalNumber, formatDecimal, parseDecimal, parseExactDecimal, RATE_DIGITS } from '../../lib/money.ts'
import { PPM_DIGITS, taxOn } from './amounts.ts'
import type { Composed } from './document.ts'
import type { BillDocument, CreditNoteRequest } from './schema.ts'
import type { BillRecord } from './store/bills.ts'

type Corrected = Pick<BillRecord, 'uid' | 'number' | 'subtotal' | 'tax' | 'currency'>

/** What is left of a bill after its credit notes, in minor units. */
export interface Remaining {
  subtotal: bigint
  tax: bigint
}

/** `credited` is the sum of the bill's credit notes that are not void: zero or negative. */
export function remainingOf(bill: Remaining, credited: Remaining): Remaining {
  return { subtotal: bill.subtotal + credited.subtotal, tax: bill.tax + credited.tax }
}

export interface CreditLine {
  text: string
  /** The credited amount in minor units, positive. */
  amountMinor: bigint
}

/**
 * The requested lines, otherwise one for the whole remaining amount of the bill, which may be only tax. Throws
 * `validation_failed` for amounts with too many decimals, that are not positive, or that together exceed the remaining
 * amount.
 */
export function creditLines(
  { lines }: Pick<CreditNoteRequest, 'lines'>,
  { number, currency }: Corrected,
  { remaining, minorDigits }: { remaining: Remaining; minorDigits: number },
): CreditLine[] {
  if (!lines) {
    if (remaining.subtotal <= 0n && remaining.tax <= 0n)
      throw beyond(`bill ${number} has already been credited in full`)
    return [{ text: `Credit for bill ${number}`, amountMinor: remaining.subtotal }]
  }
  const issues: Issue[] = []
  const read = lines.map((line, index) => {
    const amountMinor = parseExactDecimal(numberText(line, 'amount'), minorDigits)
    if (amountMinor === undefined || amountMinor <= 0n) {
      issues.push({
        pointer: `/lines/${index}/amount`,
        code: 'not_allowed',
        message: `must be a positive amount in ${currency} with at most ${minorDigits} decimals`,
      })
    }
    return { text: line.text, amountMinor: amountMinor ?? 0n }
  })
  if (issues.length > 0) throw validationFailed(issues)
  if (sumOf(read) > remaining.subtotal) {
    const left = `${formatDecimal(remaining.subtotal, minorDigits)} ${currency}`
    throw beyond(`must not exceed the remaining amount of bill ${number}, ${left} before tax`)
  }
  return read
}

function beyond(message: string) {
  return refusal('/lines', 'too_large', message)
}

function sumOf(lines: readonly CreditLine[]): bigint {
  return lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}

/**
 * The tax to credit with a part of the subtotal: what brings the credited tax to the tax on all that is credited. Each
 * part is thus within one minor unit of its own tax, and the parts add up to the bill's tax, which taxing them one by one
 * would miss. The last part gets exactly the rest, whatever was voided before.
 */
export function creditedTax(
  creditedMinor: bigint,
  { bill, remaining, taxPpm }: { bill: Remaining; remaining: Remaining; taxPpm: number },
): bigint {
  if (creditedMinor === remaining.subtotal) return remaining.tax
  const taxOnAll = taxOn(bill.subtotal - remaining.subtotal + creditedMinor, taxPpm)
  const tax = taxOnAll - (bill.tax - remaining.tax)
  // Without the voided ones, the others may have credited more tax or less than is due on them.
  if (tax < 0n || remaining.tax < 0n) return 0n
  if (tax > remaining.tax) return remaining.tax
  return tax
}

/** The credit note as a document: the bill's parties, scope and tax, with only the negative lines. */
export function creditDocument(
  original: BillDocument,
  bill: Corrected,
  { lines, remaining, note, today }: { lines: CreditLine[]; remaining: Remaining; note: string | null; today: string },
): Pick<Composed, 'document' | 'subtotalMinor' | 'taxMinor' | 'costNanos' | 'listValueNanos'> {
  const digits = original.minor_digits
  const money = (minor: bigint) => decimalNumber(minor, digits)
  const subtotalMinor = -sumOf(lines)
  const taxPpm = original.tax ? Number(parseDecimal(numberText(original.tax, 'percent'), PPM_DIGITS - 2)) : 0
  const taxMinor = -creditedTax(-subtotalMinor, { bill, remaining, taxPpm })
  const { unused_seats: _, ...kept } = original
  const { corrections: __, ...reasons } = original.left_out
  const nothing = Object.fromEntries(
    Object.keys(reasons).map((reason) => [reason, { entries: 0, unpriced_entries: 0, cost: 0, at_least: false }]),
  ) as BillDocument['left_out']
  const document: BillDocument = {
    ...kept,
    kind: 'credit_note',
    issued_on: today,
    due_on: today,
    note,
    replaces: null,
    corrects: { id: bill.uid, number: bill.number },
    // From text, because parsing the document converted exact numbers to doubles.
    exchange_rate: decimalNumber(parseExactDecimal(numberText(original, 'exchange_rate'), RATE_DIGITS)!, RATE_DIGITS),
    sections: [],
    extra_lines: lines.map(({ text, amountMinor }) => ({ text, amount: money(-amountMinor) })),
    entries: 0,
    cost: 0,
    list_value: 0,
    subtotal: money(subtotalMinor),
    tax: original.tax && {
      name: original.tax.name,
      percent: decimalNumber(BigInt(taxPpm), PPM_DIGITS - 2),
      amount: money(taxMinor),
    },
    total: money(subtotalMinor + taxMinor),
    left_out: nothing,
  }
  return { document, subtotalMinor, taxMinor, costNanos: 0n, listValueNanos: 0n }
}
