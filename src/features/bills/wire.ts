/** Serializes bills. Amounts are stored in minor units and returned as exact JSON numbers. */

import { timestamp } from '../../lib/duration.ts'
import { decimalNumber } from '../../lib/money.ts'
import { balanceOf, isOverdue } from './balance.ts'
import type { Remaining } from './credit-note.ts'
import { minorDigitsOf } from './currency.ts'
import type { Bill, BillHead, BillTotals } from './schema.ts'
import type { BillSums, BillView } from './store/bills.ts'
import type { PaymentView } from './store/payments.ts'

export type References = Map<number, { id: string; number: string }>

export function billHead(
  { bill, client, project, createdBy }: BillView,
  { references, delivery, today }: { references: References; delivery: BillHead['delivery']; today: string },
): BillHead {
  const money = (minor: bigint) => decimalNumber(minor, minorDigitsOf(bill.currency))
  const reference = (id: number | null) => (id === null ? null : references.get(id)!)
  return {
    id: bill.uid,
    number: bill.number,
    kind: bill.kind,
    state: bill.state,
    client: client && { id: client.uid, name: client.name },
    project: project && { id: project.uid, key: project.key, name: project.name },
    period: { from: bill.periodFrom, to: bill.periodTo },
    issued_on: bill.issuedOn,
    due_on: bill.dueOn,
    currency: bill.currency,
    basis: bill.basis,
    provisional: bill.provisional,
    subtotal: money(bill.subtotal),
    tax: money(bill.tax),
    total: money(bill.total),
    amount_paid: money(bill.paidAmount),
    balance: money(balanceOf(bill)),
    overdue: isOverdue(bill, today),
    entries: bill.entries,
    delivery,
    paid: bill.paidOn === null ? null : { on: bill.paidOn, reference: bill.paidReference },
    void: bill.voidedAt === null ? null : { at: timestamp(bill.voidedAt), reason: bill.voidReason! },
    replaces: reference(bill.replacesId),
    corrects: reference(bill.correctsId),
    released_by: reference(bill.releasedById),
    created_at: timestamp(bill.createdAt),
    created_by: createdBy && { id: createdBy.uid, name: createdBy.name },
  }
}

export function paymentBody(
  { payment, offset, createdBy, reversedBy }: PaymentView,
  { currency }: { currency: string },
): Bill['payments'][number] {
  const { number, amount, paidOn, reference, createdAt, reversedAt, reverseReason } = payment
  const person = (who: PaymentView['createdBy']) => who && { id: who.uid, name: who.name }
  return {
    number,
    amount: decimalNumber(amount, minorDigitsOf(currency)),
    on: paidOn,
    reference,
    offset_against: offset && { id: offset.uid, number: offset.number },
    created_at: timestamp(createdAt),
    created_by: person(createdBy),
    reversed:
      reversedAt === null ? null : { at: timestamp(reversedAt), by: person(reversedBy), reason: reverseReason! },
  }
}

export function totalsBody({
  currency,
  bills,
  total,
  paid,
  open,
  credit,
  overdue,
}: BillSums): BillTotals['data'][number] {
  const money = (minor: bigint) => decimalNumber(minor, minorDigitsOf(currency))
  return {
    currency,
    bills,
    total: money(total),
    amount_paid: money(paid),
    balance: money(open),
    credit: money(credit),
    overdue: money(overdue),
  }
}

export function remainingBody({ subtotal, tax }: Remaining, minorDigits: number): NonNullable<Bill['remaining']> {
  return {
    subtotal: decimalNumber(subtotal, minorDigits),
    tax: decimalNumber(tax, minorDigits),
    total: decimalNumber(subtotal + tax, minorDigits),
  }
}

/** The JSON of a bill with its document to the byte as it was sent: parsing it would convert its amounts to doubles. */
export function billText(
  head: BillHead,
  about: Pick<Bill, 'corrected_by' | 'replaced_by' | 'remaining' | 'payments' | 'deliveries'>,
  documentText: string,
): string {
  const around = JSON.stringify({ ...head, ...about })
  return `${around.slice(0, -1)},"document":${documentText}}`
}
