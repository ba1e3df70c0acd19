/** Payments of bills: added and reversed, never changed or deleted. */
import { aliasedTable, and, asc, desc, eq, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { Id } from '../../../lib/id.ts'

export type PaymentRecord = Tables['billPayments']['$inferSelect']

type Person = { uid: Id<'usr'>; name: string } | null

/** A payment with the names of the objects it refers to. */
export interface PaymentView {
  payment: PaymentRecord
  offset: { uid: Id<'bil'>; number: string } | null
  createdBy: Person
  reversedBy: Person
}

/** In the order in which they were recorded. */
export function listPayments(reader: Reader, billId: number): Promise<PaymentView[]> {
  const { bills, billPayments, users } = reader.tables
  const reversers = aliasedTable(users, 'reversers')
  return reader
    .select({
      payment: billPayments,
      offset: { uid: bills.uid, number: bills.number },
      createdBy: { uid: users.uid, name: users.name },
      reversedBy: { uid: reversers.uid, name: reversers.name },
    })
    .from(billPayments)
    .leftJoin(bills, eq(bills.id, billPayments.offsetId))
    .leftJoin(users, eq(users.id, billPayments.createdBy))
    .leftJoin(reversers, eq(reversers.id, billPayments.reversedBy))
    .where(eq(billPayments.billId, billId))
    .orderBy(asc(billPayments.number))
}

/** Also one that is reversed; undefined if there is none with this number. */
export async function findPayment(reader: Reader, billId: number, number: number): Promise<PaymentRecord | undefined> {
  const { billPayments } = reader.tables
  const [payment] = await reader
    .select()
    .from(billPayments)
    .where(and(eq(billPayments.billId, billId), eq(billPayments.number, number)))
  return payment
}

/** The payments of a bill that are not reversed, the latest day last. */
export async function listStanding(reader: Reader, billId: number): Promise<PaymentRecord[]> {
  const { billPayments } = reader.tables
  return reader
    .select()
    .from(billPayments)
    .where(and(eq(billPayments.billId, billId), isNull(billPayments.reversedAt)))
    .orderBy(asc(billPayments.paidOn), asc(billPayments.number))
}

/** Returns its number. Whoever adds payments has locked the bill, so no one else draws the same. */
export async function insertPayment(
  tx: Tx,
  payment: Pick<PaymentRecord, 'billId' | 'amount' | 'paidOn' | 'reference' | 'offsetId' | 'createdAt' | 'createdBy'>,
): Promise<number> {
  const { billPayments } = tx.tables
  const [last] = await tx
    .select({ number: billPayments.number })
    .from(billPayments)
    .where(eq(billPayments.billId, payment.billId))
    .orderBy(desc(billPayments.number))
    .limit(1)
  const number = (last?.number ?? 0) + 1
  await tx.insert(billPayments).values({ ...payment, number })
  return number
}

export type Reversal = Pick<PaymentRecord, 'reversedAt' | 'reversedBy' | 'reverseReason'>

export async function reversePayment(tx: Tx, billId: number, number: number, reversal: Reversal): Promise<void> {
  const { billPayments } = tx.tables
  await tx
    .update(billPayments)
    .set(reversal)
    .where(and(eq(billPayments.billId, billId), eq(billPayments.number, number)))
}

/** Reverses, on both sides, what a credit note was offset against its bill. */
export async function reverseOffsets(tx: Tx, creditNoteId: number, reversal: Reversal): Promise<void> {
  const { billPayments } = tx.tables
  await tx
    .update(billPayments)
    .set(reversal)
    .where(
      and(
        isNull(billPayments.reversedAt),
        isNotNull(billPayments.offsetId),
        or(eq(billPayments.billId, creditNoteId), eq(billPayments.offsetId, creditNoteId)),
      ),
    )
}

/** The credit notes of a bill that are neither void nor refunded in full, oldest first. */
export async function listOpenCredits(
  reader: Reader,
  billId: number,
): Promise<Pick<Tables['bills']['$inferSelect'], 'id' | 'total' | 'paidAmount'>[]> {
  const { bills } = reader.tables
  return reader
    .select({ id: bills.id, total: bills.total, paidAmount: bills.paidAmount })
    .from(bills)
    .where(and(eq(bills.correctsId, billId), eq(bills.state, 'sent')))
    .orderBy(asc(bills.id))
}

/** Whether a bill has credit notes that are not void. */
export async function isCredited(reader: Reader, billId: number): Promise<boolean> {
  const { bills } = reader.tables
  const rows = await reader
    .select({ id: bills.id })
    .from(bills)
    .where(and(eq(bills.correctsId, billId), ne(bills.state, 'void')))
    .limit(1)
  return rows.length > 0
}

/**
 * Writes the row of a bill as it is: of two transactions that change the payments of one bill, PostgreSQL then retries
 * the later one. Otherwise each would decide by a balance without the other's payment.
 */
export async function lockPayments(tx: Tx, billId: number): Promise<void> {
  const { bills } = tx.tables
  await tx
    .update(bills)
    .set({ paidAmount: sql`${bills.paidAmount}` })
    .where(and(eq(bills.id, billId), ne(bills.state, 'void')))
}
