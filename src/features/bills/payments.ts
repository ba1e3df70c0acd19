/** Payments of bills, and refunds of credit notes (docs/design/bills.md#payments). */
import type { Actor } from '../../access/actor.ts'
import type { Database, Tx } from '../../database/database.ts'
import { notFound, refusal } from '../../errors.ts'
import { isDay } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { numberText } from '../../lib/exact-json.ts'
import { decimalNumber, formatDecimal, parseExactDecimal } from '../../lib/money.ts'
import type { AuditService } from '../audit/service.ts'
import { balanceOf } from './balance.ts'
import { minorDigitsOf } from './currency.ts'
import { currentBill, listTransfers, lockWithCorrected, offsetCredits, updatePaid } from './offsets.ts'
import { alreadyReversed, nameOf, nothingToReverse, wasOffset, wrongAmount, wrongState } from './refusals.ts'
import type { BillPayment, PaymentReversal } from './schema.ts'
import { type BillView, insertBillKey, type SentBill } from './store/bills.ts'
import { dayOf } from './store/issuer.ts'
import { findPayment, insertPayment, type PaymentRecord, reversePayment } from './store/payments.ts'
import { type BillSubmission, findReplayed, type Sent } from './submission.ts'
import { getView } from './view.ts'

interface Why {
  reason: string
  by: Actor
}

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
}

export function createPayments({ db, clock, audit }: Dependencies) {
  async function reverseOnly(tx: Tx, bill: SentBill, payment: PaymentRecord, { reason, by }: Why): Promise<void> {
    if (payment.reversedAt !== null) throw alreadyReversed(bill, payment)
    if (payment.offsetId !== null) throw wasOffset(bill, payment, await currentBill(tx, payment.offsetId))
    const reversal = { reversedAt: clock.now(), reversedBy: by.userId, reverseReason: reason }
    await reversePayment(tx, bill.id, payment.number, reversal)
    await audit.record(tx, by, {
      action: `${bill.kind}.payment_reversed`,
      object: { id: bill.uid, name: bill.number },
      before: { payment: payment.number, amount: moneyOf(bill, payment.amount), on: payment.paidOn },
      after: { reason, currency: bill.currency },
    })
  }

  /** Reverses payments, and offsets what is open now. */
  async function reverse(tx: Tx, bill: SentBill, payments: readonly PaymentRecord[], why: Why): Promise<void> {
    for (const payment of payments) await reverseOnly(tx, bill, payment, why)
    await updatePaid(tx, bill.id)
    await offsetCredits(tx, bill.correctsId ?? bill.id, { by: why.by, now: clock.now() })
  }

  /** Throws `wrong_status` for a bill that is paid or void, and `validation_failed` for a bad amount or day. */
  async function pay(tx: Tx, bill: SentBill, payment: BillPayment, by: Actor): Promise<void> {
    if (bill.state !== 'sent') throw wrongState(bill, 'paid')
    const today = await dayOf(tx, clock.now())
    const { on = today, reference = null } = payment
    if (!isDay(on) || on > today || on < bill.issuedOn) {
      throw refusal('/on', 'not_allowed', `must be a date from ${bill.issuedOn} to ${today}`)
    }
    const amount = readAmount(bill, payment)
    const recorded = { amount, paidOn: on, reference, offsetId: null, createdAt: clock.now(), createdBy: by.userId }
    const number = await insertPayment(tx, { billId: bill.id, ...recorded })
    await updatePaid(tx, bill.id)
    const { state, paidAmount } = await currentBill(tx, bill.id)
    await audit.record(tx, by, {
      action: `${bill.kind}.${state === 'paid' ? 'paid' : 'payment_recorded'}`,
      object: { id: bill.uid, name: bill.number },
      before: { state: bill.state, amount_paid: moneyOf(bill, bill.paidAmount) },
      after: { state, amount_paid: moneyOf(bill, paidAmount), payment: number, on, reference, currency: bill.currency },
    })
  }

  return {
    /**
     * Records a payment, of the open balance unless it has an `amount`; with `key`, the same payment only once. Throws
     * `wrong_status` for a paid or void bill, `idempotency_key_reused`, and `validation_failed` for a day that is invalid
     * or in the future and for an amount beyond the balance.
     */
    payBill: (idOrNumber: string, payment: BillPayment, { by, key }: BillSubmission): Promise<Sent> =>
      db.write(async (tx) => {
        const view = await getView(tx, idOrNumber)
        if ((await findReplayed(tx, key)) !== undefined) return { bill: view, replayed: true }
        await lockWithCorrected(tx, view.bill)
        await pay(tx, view.bill, payment, by)
        if (key) await insertBillKey(tx, { ...key, billId: view.bill.id })
        return { bill: await getView(tx, idOrNumber), replayed: false }
      }),

    /**
     * Reverses a payment that was not received after all, or without `payment` all of them. Throws `not_found`, and
     * `wrong_status` for one that is reversed already or was offset against a credit note, and if there is none.
     */
    unpayBill: (
      idOrNumber: string,
      { payment, reason }: PaymentReversal & { payment?: number },
      by: Actor,
    ): Promise<BillView> =>
      db.write(async (tx) => {
        const { bill } = await getView(tx, idOrNumber)
        await lockWithCorrected(tx, bill)
        const reversed = payment === undefined ? await allTransfers(tx, bill) : [await getPayment(tx, bill, payment)]
        await reverse(tx, bill, reversed, { reason, by })
        return getView(tx, idOrNumber)
      }),
  }
}

async function getPayment(tx: Tx, bill: SentBill, number: number): Promise<PaymentRecord> {
  const payment = await findPayment(tx, bill.id, number)
  if (!payment) throw notFound(`Payment ${number} of ${nameOf(bill)}`)
  return payment
}

async function allTransfers(tx: Tx, bill: SentBill): Promise<PaymentRecord[]> {
  const transfers = await listTransfers(tx, bill.id)
  if (transfers.length === 0) throw nothingToReverse(bill)
  return transfers
}

const moneyOf = ({ currency }: SentBill, minor: bigint) => decimalNumber(minor, minorDigitsOf(currency))

/** In minor units, with the sign of the bill's total. */
function readAmount(bill: SentBill, payment: BillPayment): bigint {
  const balance = balanceOf(bill)
  if (payment.amount === undefined) return balance
  const digits = minorDigitsOf(bill.currency)
  const amount = parseExactDecimal(numberText(payment, 'amount'), digits)
  const [low, high] = balance < 0n ? [balance, -1n] : [1n, balance]
  if (amount !== undefined && amount >= low && amount <= high) return amount
  throw wrongAmount(bill, { open: `${formatDecimal(balance, digits)} ${bill.currency}`, decimals: digits })
}
