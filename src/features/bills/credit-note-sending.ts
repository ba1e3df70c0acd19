/** Sends credit notes, which may release the entries of their bills. */
import type { Actor } from '../../access/actor.ts'
import type { Database, Tx } from '../../database/database.ts'
import { dayAt } from '../../lib/calendar.ts'
import type { Clock } from '../../lib/clock.ts'
import { parseExactJson } from '../../lib/exact-json.ts'
import { type AuditService, requireUnchanged } from '../audit/service.ts'
import { mayBeCredited } from './balance.ts'
import { creditDocument, creditLines, remainingOf } from './credit-note.ts'
import type { Documents } from './documents/documents.ts'
import type { ReleaseEntries } from './entry-release.ts'
import { recordOf, recordSent, takeNumber } from './new-bill.ts'
import { lockWithCorrected, offsetCredits } from './offsets.ts'
import { notWholeRemaining, wrongState } from './refusals.ts'
import type { BillDocument, CreditNoteRequest } from './schema.ts'
import {
  type BillView,
  findBill,
  getDocument,
  insertBill,
  type SentBill,
  sumCredits,
  updateBillState,
} from './store/bills.ts'
import { getIssuer } from './store/issuer.ts'
import type { InTurn } from './turns.ts'
import { getView } from './view.ts'

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  documents: Pick<Documents, 'renderBeforeRelease'>
  releasing: ReleaseEntries
  inTurn: InTurn
}

export function createCreditNotes({ db, clock, audit, documents, releasing, inTurn }: Dependencies) {
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

  /** Returns the key of the credit note. With `release`, the caller releases the entries of the bill. */
  async function send(tx: Tx, bill: SentBill, requested: CreditNoteRequest, by: Actor): Promise<number> {
    if (!(await mayBeCredited(tx, bill))) throw wrongState(bill, 'credited')
    await lockWithCorrected(tx, bill)
    await requireUnchanged(tx, by, bill.uid)
    const { numberFormat, timeZone } = await getIssuer(tx)
    const { composed, isWhole } = await compose(tx, bill, requested, timeZone)
    if (requested.release && !isWhole) throw notWholeRemaining(bill)
    const number = await takeNumber(tx, numberFormat, composed.document.issued_on)
    const id = await insertBill(tx, {
      ...recordOf(
        {
          ...composed,
          heading: composed.document,
          currency: bill.currency,
          entries: 0,
          basis: bill.basis,
          isProvisional: bill.provisional,
        },
        { number, document: JSON.stringify({ ...composed.document, number }), now: clock.now(), by },
      ),
      clientId: bill.clientId,
      projectId: bill.projectId,
      correctsId: bill.id,
    })
    await recordSent(tx, { audit, by, billId: id })
    await offsetCredits(tx, bill.id, { by, now: clock.now() })
    if (requested.release) await recordRelease(tx, bill, { id, number }, by)
    return id
  }

  /**
   * Corrects a bill that was paid, at least in part, with a credit note, a bill with its own number: for the given
   * lines, otherwise for the whole remaining amount. What of the bill is still open is offset against it; `release`
   * returns its entries to their previous status. Throws `wrong_status` for any other bill, `validation_failed` for amounts
   * beyond the remaining amount.
   */
  return (idOrNumber: string, requested: CreditNoteRequest, by: Actor): Promise<BillView> =>
    inTurn(async () => {
      const credit = async (tx: Tx) => send(tx, (await getView(tx, idOrNumber)).bill, requested, by)
      const view = await getView(db.read, idOrNumber)
      if (requested.release) await documents.renderBeforeRelease(view)
      const id = await (requested.release ? releasing(view.bill, by, credit) : db.write(credit))
      return (await findBill(db.read, { id }))!
    })
}
