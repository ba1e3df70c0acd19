/** Sends credit notes, and records that one releases the entries of its bill. */
import type { Actor } from '../../access/actor.ts'
import type { Tx } from '../../database/database.ts'
import { dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { type AuditService, requireUnchanged } from '../audit/service.ts'
import { creditDocument, creditLines, remainingOf } from './credit-note.ts'
import { recordOf, recordSent, takeNumber } from './new-bill.ts'
import { type createPayments, mayBeCredited } from './payments.ts'
import { notWholeRemaining, wrongState } from './refusals.ts'
import type { BillDocument, CreditNoteRequest } from './schema.ts'
import { getDocument, insertBill, type SentBill, sumCredits, updateBillState } from './store/bills.ts'
import { getIssuer } from './store/issuer.ts'

interface CreditNoteDependencies {
  clock: Clock
  audit: AuditService
  payments: Pick<ReturnType<typeof createPayments>, 'lock' | 'offsetCredits'>
}

export function createCreditNotes({ clock, audit, payments }: CreditNoteDependencies) {
  /** The credit note, and whether it leaves nothing of the bill. */
  async function compose(tx: Tx, bill: SentBill, requested: CreditNoteRequest, timeZone: string) {
    const original = parseExactJson(await getDocument(tx, bill.id)) as BillDocument
    const remaining = remainingOf(bill, await sumCredits(tx, bill.id))
    const composed = creditDocument(original, bill, {
      lines: creditLines(requested, bill, { remaining, minorDigits: original.minor_digits }),
      remaining,
      note: requested.note ?? null,
      today: dayAt(clock.now(), timeZone),
    })
    const isWhole = composed.subtotalMinor === -remaining.subtotal && composed.taxMinor === -remaining.tax
    return { composed, isWhole }
  }

  async function recordRelease(tx: Tx, bill: SentBill, note: { id: number; number: string }, by: Actor): Promise<void> {
    await updateBillState(tx, bill.id, { releasedById: note.id })
    await audit.record(tx, by, {
      action: 'bill.entries_released',
      object: { id: bill.uid, name: bill.number },
      after: { credit_note: note.number, entries_released: bill.entries },
    })
  }

  return {
    /**
     * Returns the key of the credit note. With `release`, the caller releases the entries of the bill. Throws
     * `wrong_status` for a bill that nobody has paid, `validation_failed` for amounts beyond the remaining one.
     */
    async send(tx: Tx, bill: SentBill, requested: CreditNoteRequest, by: Actor): Promise<number> {
      if (!(await mayBeCredited(tx, bill))) throw wrongState(bill, 'credited')
      await payments.lock(tx, bill)
      await requireUnchanged(tx, by, bill.uid)
      const { numberFormat, timeZone } = await getIssuer(tx)
      const { composed, isWhole } = await compose(tx, bill, requested, timeZone)
      if (requested.release && !isWhole) throw notWholeRemaining(bill)
      const number = await takeNumber(tx, numberFormat, composed.document.issued_on)
      const id = await insertBill(tx, {
        ...recordOf(
          { ...composed, heading: composed.document, currency: bill.currency, entries: 0 },
          { number, document: JSON.stringify({ ...composed.document, number }), now: clock.now(), by },
        ),
        clientId: bill.clientId,
        projectId: bill.projectId,
        correctsId: bill.id,
      })
      await recordSent(tx, { audit, by, billId: id })
      await payments.offsetCredits(tx, bill.id, by)
      if (requested.release) await recordRelease(tx, bill, { id, number }, by)
      return id
    },
  }
}
