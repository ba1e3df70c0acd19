/**
 * Writes bills that are sent: a small one in one transaction, the entries of a large one in portions before it, so that reports are
 * recorded in between (docs/design/bills.md#large-bills).
 */
import type { Actor } from '../../access/actor.ts'
import type { Database, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { CostBasis } from '../../shared/cost-basis.ts'
import type { AuditService } from '../audit/service.ts'
import type { EntriesService } from '../entries/service.ts'
import type { BillDraft } from './composition.ts'
import type { createDeliveries } from './delivery.ts'
import type { BillDraftsService } from './drafts/service.ts'
import { recordOf, recordSent, takeNumber } from './new-bill.ts'
import { isSameFingerprint, type Portion } from './portions.ts'
import {
  type BillRecord,
  completeBill,
  fingerprintOf,
  insertBill,
  insertBilledEntries,
  insertBillKey,
} from './store/bills.ts'
import { type BillSubmission, findReplayed } from './submission.ts'

export interface BillWriting extends BillSubmission {
  /** The id of the form's draft that the bill was composed from, which is removed with it. */
  formDraft: string | undefined
  recipients: readonly string[]
  message: string | undefined
}

export interface WritingDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  billing: EntriesService['billing']
  deliveries: Pick<ReturnType<typeof createDeliveries>, 'queue'>
  drafts: Pick<BillDraftsService, 'takeDraft'>
}

/** An entry changed while its bill was written, or another bill was in the way. */
class StartOver extends Error {}

export function createWriting({ db, clock, audit, billing, deliveries, drafts }: WritingDependencies) {
  /** Inserts the lines of a portion and freezes its entries. Throws {@link StartOver} if one of them has changed. */
  async function claim(
    tx: Tx,
    billId: number,
    portion: Portion,
    { basis, by }: { basis: CostBasis; by: Actor },
  ): Promise<void> {
    const { ids, lines, approved, charges, fees, fingerprint } = portion
    const entries = Array.from(ids, (id, index) => ({
      id,
      line: lines[index]!,
      statusBefore: approved[index] ? ('approved' as const) : ('submitted' as const),
    }))
    await insertBilledEntries(
      tx,
      entries.map(({ id, ...billed }, index) => ({
        billId,
        entryId: id,
        ...billed,
        fee: fees?.[index] ?? null,
        charge: charges?.[index] ?? null,
      })),
    )
    const range = { first: ids[0]!, last: ids.at(-1)! }
    if (!isSameFingerprint(await fingerprintOf(tx, billId, range, basis), fingerprint)) throw new StartOver()
    await billing.freezeEntries(tx, billId, { entries, now: clock.now(), by })
  }

  /** What a bill has from the moment it is sent, apart from its entries. */
  async function accompany(tx: Tx, billId: number, writing: BillWriting): Promise<void> {
    const { by, key, recipients, message, formDraft } = writing
    if (formDraft !== undefined) await drafts.takeDraft(tx, formDraft, by)
    if (key) await insertBillKey(tx, { ...key, billId })
    await deliveries.queue(tx, { billId, notice: 'sent', recipients, message, by })
    await recordSent(tx, { audit, by, billId })
  }

  /** Everything in one transaction: an error also releases the number. */
  function writeAtOnce(draft: BillDraft, writing: BillWriting): Promise<number> {
    return db.write(async (tx) => {
      // Another process may have sent it while this one composed.
      const known = await findReplayed(tx, writing.key)
      if (known !== undefined) return known
      const number = await takeNumber(tx, draft.numberFormat, draft.heading.issued_on)
      const sent = { number, document: numbered(draft.documentText, number), now: clock.now(), by: writing.by }
      const billId = await insertBill(tx, { ...recordOf(draft, sent), ...keysOf(draft) })
      for (const portion of draft.portions) await claim(tx, billId, portion, { ...draft, by: writing.by })
      await accompany(tx, billId, writing)
      return billId
    })
  }

  /** Claims the entries for a bill that nobody sees, then numbers and sends it. An error releases them. */
  async function writeInPortions(draft: BillDraft, writing: BillWriting): Promise<number> {
    const { by } = writing
    const lease = await db.write(async (tx) => {
      const record = recordOf(draft, { number: '', document: '', now: clock.now(), by })
      const billId = await insertBill(tx, { ...record, ...keysOf(draft), state: 'preparing', number: record.uid })
      const taken = await billing.take(tx, billId)
      if (!taken) throw new StartOver()
      return taken
    })
    try {
      for (const portion of draft.portions) {
        await db.write(async (tx) => {
          await billing.renew(tx, lease)
          await claim(tx, lease.billId, portion, { ...draft, by })
        })
      }
      return await db.write(async (tx) => {
        if ((await findReplayed(tx, writing.key)) !== undefined) throw new StartOver()
        await billing.end(tx, lease)
        const number = await takeNumber(tx, draft.numberFormat, draft.heading.issued_on)
        const document = numbered(draft.documentText, number)
        await completeBill(tx, lease.billId, { state: 'sent', number, document, createdAt: clock.now() })
        await accompany(tx, lease.billId, writing)
        return lease.billId
      })
    } catch (error) {
      await billing.release(lease, by)
      throw billing.isLost(error) ? new StartOver() : error
    }
  }

  /** Writes the bill, or returns undefined if an entry differs from what it was composed from. */
  return async function write(draft: BillDraft, writing: BillWriting): Promise<number | undefined> {
    try {
      return await (draft.portions.length > 1 ? writeInPortions(draft, writing) : writeAtOnce(draft, writing))
    } catch (error) {
      if (error instanceof StartOver) return undefined
      throw error
    }
  }
}

/** The keys of the client or project of a bill, and of the bill that it replaces. */
function keysOf({
  clientId,
  projectId,
  replacesId,
}: BillDraft): Pick<BillRecord, 'clientId' | 'projectId' | 'replacesId'> {
  return { clientId: projectId === null ? clientId : null, projectId, replacesId }
}

/** The document with its number: the first property that is called so (composition.ts). */
function numbered(documentText: string, number: string): string {
  return documentText.replace('"number":null', () => `"number":${JSON.stringify(number)}`)
}
