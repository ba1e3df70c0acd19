/** What of a bill is open, and what follows from that. */
import type { Reader } from '../../database/database.ts'
import type { SentBill } from './store/bills.ts'
import { isCredited } from './store/payments.ts'

type Amounts = Pick<SentBill, 'state' | 'total' | 'paidAmount'>

/** What is still to be paid, in minor units; negative for a credit note, which is paid by a refund. */
export const balanceOf = ({ state, total, paidAmount }: Amounts): bigint => (state === 'void' ? 0n : total - paidAmount)

/** From the day after a bill was due until it is paid, credited in full or void. */
export const isOverdue = (bill: Amounts & Pick<SentBill, 'kind' | 'dueOn'>, today: string): boolean =>
  bill.state === 'sent' && bill.kind === 'bill' && bill.dueOn < today && balanceOf(bill) > 0n

/**
 * Whether a credit note may correct a bill: something was paid for it, or another credit note did. One that nobody has
 * paid is voided instead.
 */
export async function mayBeCredited(reader: Reader, bill: SentBill): Promise<boolean> {
  if (bill.kind !== 'bill' || bill.state === 'void') return false
  return bill.state === 'paid' || bill.paidAmount !== 0n || isCredited(reader, bill.id)
}
