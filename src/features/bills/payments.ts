/** Payments of bills, refunds of credit notes, and what is offset between the two (docs/design/bills.md#payments). */
import type { Actor } from '../../access/actor.ts'
import type { Reader, Tx } from '../../database/database.ts'
import { notFound, validationFailed } from '../../errors.ts'
import { dayAt, isDay } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { numberText } from '../../lib/exact-json.ts'
import { decimalNumber, formatDecimal, parseExactDecimal } from '../../lib/money.ts'
import type { AuditService } from '../audit/service.ts'
import { minorDigitsOf } from './currency.ts'
import {
  alreadyReversed,
  entriesReleased,
  nameOf,
  nothingToReverse,
  partlyPaid,
  wasCredited,
  wasOffset,
  wrongAmount,
  wrongState,
} from './refusals.ts'
import type { BillPayment } from './schema.ts'
import { findBill, type SentBill, updateBillState } from './store/bills.ts'
import { getIssuer } from './store/issuer.ts'
import {
  findPayment,
  insertPayment,
  isCredited,
  listOpenCredits,
  listStanding,
  lockPayments,
  type PaymentRecord,
  reverseOffsets,
  reversePayment,
} from './store/payments.ts'

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

interface Why {
  reason: string
  by: Actor
}

export function createPayments({ clock, audit }: { clock: Clock; audit: AuditService }) {
  const todayOf = async (tx: Tx) => dayAt(clock.now(), (await getIssuer(tx)).timeZone)
  const current = async (tx: Tx, id: number) => (await findBill(tx, { id }))!.bill

  /** Sets what follows from the payments of a bill: their sum, and whether they cover it. */
  async function follow(tx: Tx, id: number): Promise<void> {
    const { total } = await current(tx, id)
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
  async function offsetCredits(tx: Tx, billId: number, by: Actor): Promise<void> {
    const bill = await current(tx, billId)
    const transfer = { paidOn: await todayOf(tx), reference: null, createdAt: clock.now(), createdBy: by.userId }
    let open = balanceOf(bill)
    for (const note of await listOpenCredits(tx, billId)) {
      let amount = note.paidAmount - note.total
      if (amount > open) amount = open
      if (amount <= 0n) continue
      await insertPayment(tx, { ...transfer, billId, amount, offsetId: note.id })
      await insertPayment(tx, { ...transfer, billId: note.id, amount: -amount, offsetId: billId })
      await follow(tx, note.id)
      open -= amount
    }
    if (open !== balanceOf(bill)) await follow(tx, billId)
  }

  /** A credit note together with its bill, in the order of their keys, so that no two transactions wait for each other. */
  async function lock(tx: Tx, { id, correctsId }: SentBill): Promise<void> {
    if (correctsId !== null) await lockPayments(tx, correctsId)
    await lockPayments(tx, id)
  }

  async function reverseOnly(tx: Tx, bill: SentBill, payment: PaymentRecord, { reason, by }: Why): Promise<void> {
    if (payment.reversedAt !== null) throw alreadyReversed(bill, payment)
    if (payment.offsetId !== null) throw wasOffset(bill, payment, await current(tx, payment.offsetId))
    const reversal = { reversedAt: clock.now(), reversedBy: by.userId, reverseReason: reason }
    await reversePayment(tx, bill.id, payment.number, reversal)
    await audit.record(tx, by, {
      action: `${bill.kind}.payment_reversed`,
      object: { id: bill.uid, name: bill.number },
      before: { payment: payment.number, amount: moneyOf(bill, payment.amount), on: payment.paidOn },
      after: { reason },
    })
  }

  /** Reverses payments, and offsets what is open now. */
  async function reverse(tx: Tx, bill: SentBill, payments: readonly PaymentRecord[], why: Why): Promise<void> {
    for (const payment of payments) await reverseOnly(tx, bill, payment, why)
    await follow(tx, bill.id)
    await offsetCredits(tx, bill.correctsId ?? bill.id, why.by)
  }

  return {
    lock,
    offsetCredits,

    /**
     * Records a payment of `amount`, by default the open balance. Throws `wrong_status` for a bill that is paid or void,
     * `validation_failed` for an amount beyond the balance and for a day that is invalid or in the future.
     */
    async pay(tx: Tx, bill: SentBill, payment: BillPayment, by: Actor): Promise<void> {
      if (bill.state !== 'sent') throw wrongState(bill, 'paid')
      const today = await todayOf(tx)
      const { on = today, reference = null } = payment
      if (!isDay(on) || on > today || on < bill.issuedOn) {
        throw validationFailed([
          { pointer: '/on', code: 'not_allowed', message: `must be a date from ${bill.issuedOn} to ${today}` },
        ])
      }
      const amount = readAmount(bill, payment)
      const recorded = { amount, paidOn: on, reference, offsetId: null, createdAt: clock.now(), createdBy: by.userId }
      const number = await insertPayment(tx, { billId: bill.id, ...recorded })
      await follow(tx, bill.id)
      const { state, paidAmount } = await current(tx, bill.id)
      await audit.record(tx, by, {
        action: `${bill.kind}.${state === 'paid' ? 'paid' : 'payment_recorded'}`,
        object: { id: bill.uid, name: bill.number },
        before: { state: bill.state, amount_paid: moneyOf(bill, bill.paidAmount) },
        after: { state, amount_paid: moneyOf(bill, paidAmount), payment: number, on, reference },
      })
    },

    /** Throws `not_found`, and `wrong_status` for one that is reversed or was offset. */
    async reverseOne(tx: Tx, bill: SentBill, number: number, why: Why): Promise<void> {
      const payment = await findPayment(tx, bill.id, number)
      if (!payment) throw notFound(`Payment ${number} of ${nameOf(bill)}`)
      await reverse(tx, bill, [payment], why)
    },

    /** Throws `wrong_status` if a bill has no payments that can be reversed. */
    async reverseAll(tx: Tx, bill: SentBill, why: Why): Promise<void> {
      const transferred = (await listStanding(tx, bill.id)).filter(({ offsetId }) => offsetId === null)
      if (transferred.length === 0) throw nothingToReverse(bill)
      await reverse(tx, bill, transferred, why)
    },

    /**
     * Before a bill is voided: gives back what a credit note was offset against. Throws `wrong_status` for a bill with
     * payments or credit notes, which say that it was owed.
     */
    async prepareVoid(tx: Tx, bill: SentBill, by: Actor): Promise<void> {
      if (bill.state === 'void') throw wrongState(bill, 'void')
      const transferred = (await listStanding(tx, bill.id)).filter(({ offsetId }) => offsetId === null)
      if (transferred.length > 0) throw bill.state === 'paid' ? wrongState(bill, 'void') : partlyPaid(bill)
      if (await isCredited(tx, bill.id)) throw wasCredited(bill)
      if (bill.correctsId === null) return
      const corrected = await current(tx, bill.correctsId)
      if (corrected.releasedById !== null) {
        throw entriesReleased(bill, { corrected, releasing: await current(tx, corrected.releasedById) })
      }
      if (bill.paidAmount === 0n) return
      const reason = `Credit note ${bill.number} was voided.`
      await reverseOffsets(tx, bill.id, { reversedAt: clock.now(), reversedBy: by.userId, reverseReason: reason })
      await follow(tx, bill.id)
      await follow(tx, bill.correctsId)
    },
  }
}

const sumOf = (payments: readonly PaymentRecord[]): bigint => payments.reduce((sum, { amount }) => sum + amount, 0n)

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
