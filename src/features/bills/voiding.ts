/** Voids bills and credit notes. */
import type { Actor } from '../../access/actor.ts'
import type { Database, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import type { createDeliveries } from './delivery.ts'
import type { Documents } from './documents/documents.ts'
import type { ReleaseEntries } from './entry-release.ts'
import { currentBill, listTransfers, lockWithCorrected, offsetCredits, updatePaid } from './offsets.ts'
import { entriesReleased, partlyPaid, wasCredited, wrongState } from './refusals.ts'
import type { BillVoiding } from './schema.ts'
import { type BillView, type SentBill, updateBillState } from './store/bills.ts'
import { isCredited, reverseOffsets } from './store/payments.ts'
import { getView } from './view.ts'

interface Dependencies {
  db: Database
  clock: Clock
  audit: AuditService
  documents: Pick<Documents, 'renderBeforeRelease'>
  deliveries: Pick<ReturnType<typeof createDeliveries>, 'followVoid'>
  releasing: ReleaseEntries
}

export function createVoiding({ db, clock, audit, documents, deliveries, releasing }: Dependencies) {
  /**
   * Returns the entries of a bill to their previous status. Throws `wrong_status` for one that is void, that has
   * payments or that credit notes correct.
   */
  return async function voidBill(
    idOrNumber: string,
    { reason, deliver = true }: BillVoiding,
    by: Actor,
  ): Promise<BillView> {
    const view = await getView(db.read, idOrNumber)
    if (view.bill.state !== 'void') await documents.renderBeforeRelease(view)
    await releasing(view.bill, by, async (tx) => {
      const { bill } = await getView(tx, idOrNumber)
      await lockWithCorrected(tx, bill)
      const now = clock.now()
      await requireNotOwed(tx, bill)
      await restoreBalance(tx, bill, { by, now })
      await updateBillState(tx, bill.id, { state: 'void', voidedAt: now, voidReason: reason })
      if (bill.correctsId !== null) await offsetCredits(tx, bill.correctsId, { by, now })
      await deliveries.followVoid(tx, bill.id, { notify: deliver, by })
      await audit.record(tx, by, {
        action: `${bill.kind}.voided`,
        object: { id: bill.uid, name: bill.number },
        before: { state: bill.state },
        after: { state: 'void', reason, entries_released: bill.entries },
      })
    })
    return getView(db.read, idOrNumber)
  }
}

/** Throws `wrong_status` for a bill with payments or credit notes, which say that it was owed. */
async function requireNotOwed(tx: Tx, bill: SentBill): Promise<void> {
  if (bill.state === 'void') throw wrongState(bill, 'void')
  const isPaid = (await listTransfers(tx, bill.id)).length > 0
  if (isPaid) throw bill.state === 'paid' ? wrongState(bill, 'void') : partlyPaid(bill)
  if (await isCredited(tx, bill.id)) throw wasCredited(bill)
  if (bill.correctsId === null) return
  const corrected = await currentBill(tx, bill.correctsId)
  if (corrected.releasedById !== null) {
    throw entriesReleased(bill, { corrected, releasing: await currentBill(tx, corrected.releasedById) })
  }
}

/** Gives back to the bill what a credit note was offset against. */
async function restoreBalance(tx: Tx, note: SentBill, { by, now }: { by: Actor; now: number }): Promise<void> {
  if (note.correctsId === null || note.paidAmount === 0n) return
  const reason = `Credit note ${note.number} was voided.`
  await reverseOffsets(tx, note.id, { reversedAt: now, reversedBy: by.userId, reverseReason: reason })
  await updatePaid(tx, note.id)
  await updatePaid(tx, note.correctsId)
}
