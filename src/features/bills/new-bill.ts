/** What sending a bill and crediting one have in common: the number, the row, and the record in the audit log. */
import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../database/database.ts'
import { newId } from '../../lib/id.ts'
import { decimalNumber } from '../../lib/money.ts'
import { numberOf, sequenceScope } from '../../shared/bill-numbers.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import type { AuditService } from '../audit/service.ts'
import { minorDigitsOf } from './currency.ts'
import type { Composed } from './document.ts'
import type { BillDocument } from './schema.ts'
import { type BillRecord, findBill, takeSequence } from './store/bills.ts'

/**
 * The next number. Skips numbers that an earlier format has already produced: numbers are unique, and skipping one
 * leaves no gap.
 */
export async function takeNumber(tx: Tx, format: string, day: string): Promise<string> {
  for (;;) {
    const sequence = await takeSequence(tx, sequenceScope(format, day))
    const number = numberOf(format, { day, sequence })
    if (!(await findBill(tx, { number }))) return number
  }
}

/** What a bill and a credit note have before they have a number. */
export interface UnnumberedBill extends Pick<Composed, 'subtotalMinor' | 'taxMinor' | 'costNanos' | 'listValueNanos'> {
  heading: Pick<BillDocument, 'kind' | 'period' | 'issued_on' | 'due_on'>
  currency: string
  entries: number
  basis: CostBasis
  isProvisional: boolean
}

/** A sent bill as a row. */
export function recordOf(
  {
    heading,
    currency,
    entries,
    basis,
    isProvisional,
    subtotalMinor,
    taxMinor,
    costNanos,
    listValueNanos,
  }: UnnumberedBill,
  { number, document, now, by }: { number: string; document: string; now: number; by: Actor },
): Omit<BillRecord, 'id'> {
  return {
    uid: newId('bil'),
    number,
    kind: heading.kind,
    state: 'sent',
    clientId: null,
    projectId: null,
    periodFrom: heading.period.from,
    periodTo: heading.period.to,
    issuedOn: heading.issued_on,
    dueOn: heading.due_on,
    currency,
    subtotal: subtotalMinor,
    tax: taxMinor,
    total: subtotalMinor + taxMinor,
    cost: costNanos,
    listValue: listValueNanos,
    entries,
    document,
    replacesId: null,
    correctsId: null,
    basis,
    provisional: isProvisional,
    createdAt: now,
    createdBy: by.userId,
    paidOn: null,
    paidReference: null,
    voidedAt: null,
    voidReason: null,
    paidAmount: 0n,
    releasedById: null,
    remindedOn: null,
  }
}

export async function recordSent(
  tx: Tx,
  { audit, by, billId }: { audit: AuditService; by: Actor; billId: number },
): Promise<void> {
  const { bill } = (await findBill(tx, { id: billId }))!
  await audit.record(tx, by, {
    action: `${bill.kind}.sent`,
    object: { id: bill.uid, name: bill.number },
    after: {
      total: decimalNumber(bill.total, minorDigitsOf(bill.currency)),
      currency: bill.currency,
      entries: bill.entries,
      basis: bill.basis,
      ...(bill.provisional && { provisional: true }),
    },
  })
}
