/** What follows from the payments of a bill, and what of it is offset against credit notes (docs/design/bills.md#payments). */
import type { Actor } from '../../access/actor.ts'
import type { Reader, Tx } from '../../database/database.ts'
import { balanceOf } from './balance.ts'
import { findBill, type SentBill, updateBillState } from './store/bills.ts'
import { dayOf } from './store/issuer.ts'
import { insertPayment, listOpenCredits, listStanding, lockPayments, type PaymentRecord } from './store/payments.ts'

export const currentBill = async (reader: Reader, id: number): Promise<SentBill> =>
  (await findBill(reader, { id }))!.bill

/** The payments of a bill that were transferred and not reversed. */
export async function listTransfers(reader: Reader, billId: number): Promise<PaymentRecord[]> {
  return (await listStanding(reader, billId)).filter(({ offsetId }) => offsetId === null)
}

/** A credit note together with its bill, in the order of their keys, so that no two transactions wait for each other. */
export async function lockWithCorrected(tx: Tx, { id, correctsId }: SentBill): Promise<void> {
  if (correctsId !== null) await lockPayments(tx, correctsId)
  await lockPayments(tx, id)
}

/** Sets what follows from the payments of a bill: their sum, and whether they cover it. */
export async function updatePaid(tx: Tx, id: number): Promise<void> {
  const { total } = await currentBill(tx, id)
  const standing = await listStanding(tx, id)
  const paidAmount = sumOf(standing)
  const last = standing.at(-1)
  const isPaid = last !== undefined && paidAmount === total
  await updateBillState(tx, id, {
    state: isPaid ? 'paid' : 'sent',
    paidAmount,
    paidOn: isPaid ? last.paidOn : null,
    paidReference: isPaid ? last.reference : null,
  })
}

/**
 * Offsets the open balance of a bill against its credit notes, oldest first: a client who has not paid everything owes
 * the rest only, and is not refunded.
 */
export async function offsetCredits(tx: Tx, billId: number, { by, now }: { by: Actor; now: number }): Promise<void> {
  const bill = await currentBill(tx, billId)
  const transfer = { paidOn: await dayOf(tx, now), reference: null, createdAt: now, createdBy: by.userId }
  let open = balanceOf(bill)
  for (const note of await listOpenCredits(tx, billId)) {
    let amount = note.paidAmount - note.total
    if (amount > open) amount = open
    if (amount <= 0n) continue
    await insertPayment(tx, { ...transfer, billId, amount, offsetId: note.id })
    await insertPayment(tx, { ...transfer, billId: note.id, amount: -amount, offsetId: billId })
    await updatePaid(tx, note.id)
    open -= amount
  }
  if (open !== balanceOf(bill)) await updatePaid(tx, billId)
}

const sumOf = (payments: readonly PaymentRecord[]): bigint => payments.reduce((sum, { amount }) => sum + amount, 0n)
