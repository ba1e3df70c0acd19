/**
 * Sends bills: a small one in one transaction, the entries of a large one in portions before it, so that reports are
 * recorded in between (docs/design/bills.md#large-bills).
 */
import type { Actor } from '../../access/actor.ts'
import type { Database, Reader, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { AuditService } from '../audit/service.ts'
import type { EntriesService } from '../entries/service.ts'
import type { BillDraft } from './composition.ts'
import type { createDeliveries } from './delivery.ts'
import { recordOf, recordSent, takeNumber } from './new-bill.ts'
import { keyReused } from './refusals.ts'
import {
  type BillRecord,
  completeBill,
  findBillKey,
  fingerprintOf,
  insertBill,
  insertBilledEntries,
  insertBillKey,
} from './store/bills.ts'

export interface BillSubmission {
  by: Actor
  /** The Idempotency-Key of a person's or a token's call, with the hash of the body. */
  key?: { userId: number; key: string; bodyHash: Uint8Array } | undefined
}

export interface BillWriting extends BillSubmission {
  recipients: readonly string[]
  message: string | undefined
}

export interface SendingDependencies {
  db: Database
  clock: Clock
  audit: AuditService
  billing: EntriesService['billing']
  deliveries: Pick<ReturnType<typeof createDeliveries>, 'queue'>
}

/** An entry changed while its bill was written, or another bill was in the way. */
class StartOver extends Error {}

export function createSending({ db, clock, audit, billing, deliveries }: SendingDependencies) {
  /** Inserts the lines of some of the entries and freezes these. Throws {@link StartOver} if one of them has changed. */
  async function claim(tx: Tx, billId: number, draft: BillDraft, entries: BillDraft['entries']): Promise<void> {
    if (entries.length === 0) return
    await insertBilledEntries(
      tx,
      entries.map(({ id, status }) => ({ billId, entryId: id, line: draft.lineOf.get(id)!, statusBefore: status })),
    )
    const range = { first: entries[0]!.id, last: entries.at(-1)!.id }
    if (!isSame(await fingerprintOf(tx, billId, range), entries)) throw new StartOver()
    await billing.freezeEntries(tx, billId, range)
  }

  /** What a bill has from the moment it is sent, apart from its entries. */
  async function accompany(tx: Tx, billId: number, { by, key, recipients, message }: BillWriting): Promise<void> {
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
      const now = clock.now()
      const number = await takeNumber(tx, draft.numberFormat, draft.document.issued_on)
      const billId = await insertBill(tx, { ...recordOf(draft, { number, now, by: writing.by }), ...keysOf(draft) })
      await claim(tx, billId, draft, draft.entries)
      await accompany(tx, billId, writing)
      return billId
    })
  }

  /** Claims the entries for a bill that nobody sees, then numbers and sends it. An error releases them. */
  async function writeInPortions(draft: BillDraft, writing: BillWriting): Promise<number> {
    const { by } = writing
    const lease = await db.write(async (tx) => {
      const record = { ...recordOf(draft, { number: '', now: clock.now(), by }), ...keysOf(draft) }
      const billId = await insertBill(tx, { ...record, state: 'preparing', number: record.uid, document: '' })
      const taken = await billing.take(tx, billId)
      if (!taken) throw new StartOver()
      return taken
    })
    try {
      for (let start = 0; start < draft.entries.length; start += billing.portion) {
        await db.write(async (tx) => {
          await billing.renew(tx, lease)
          await claim(tx, lease.billId, draft, draft.entries.slice(start, start + billing.portion))
        })
      }
      return await db.write(async (tx) => {
        if ((await findReplayed(tx, writing.key)) !== undefined) throw new StartOver()
        await billing.end(tx, lease)
        const number = await takeNumber(tx, draft.numberFormat, draft.document.issued_on)
        const { document, createdAt } = recordOf(draft, { number, now: clock.now(), by })
        await completeBill(tx, lease.billId, { state: 'sent', number, document, createdAt })
        await accompany(tx, lease.billId, writing)
        return lease.billId
      })
    } catch (error) {
      await billing.release(lease, by)
      throw billing.isLost(error) ? new StartOver() : error
    }
  }

  return {
    /** Writes the bill, or returns undefined if an entry differs from what it was composed from. */
    async write(draft: BillDraft, writing: BillWriting): Promise<number | undefined> {
      try {
        return await (draft.entries.length > billing.portion
          ? writeInPortions(draft, writing)
          : writeAtOnce(draft, writing))
      } catch (error) {
        if (error instanceof StartOver) return undefined
        throw error
      }
    },
  }
}

/** The bill that was sent with an Idempotency-Key. Throws `idempotency_key_reused` for another body. */
export async function findReplayed(reader: Reader, submitted: BillSubmission['key']): Promise<number | undefined> {
  if (!submitted) return undefined
  const { userId, key, bodyHash } = submitted
  const known = await findBillKey(reader, userId, key)
  if (known && !Buffer.from(known.bodyHash).equals(bodyHash)) throw keyReused(key)
  return known?.billId
}

/** The keys of the client or project of a bill, and of the bill that it replaces. */
function keysOf({
  clientId,
  projectId,
  replacesId,
}: BillDraft): Pick<BillRecord, 'clientId' | 'projectId' | 'replacesId'> {
  return { clientId: projectId === null ? clientId : null, projectId, replacesId }
}

/** Whether entries of a bill, as of the transaction, match what it was composed from. */
function isSame(now: Awaited<ReturnType<typeof fingerprintOf>>, entries: BillDraft['entries']): boolean {
  const sum = (of: (entry: BillDraft['entries'][number]) => number | bigint | null) =>
    entries.reduce((total, entry) => total + BigInt(of(entry) ?? 0), 0n)
  const ofEach = (of: (entry: BillDraft['entries'][number]) => number | null) =>
    sum((entry) => BigInt(of(entry) ?? 0) * BigInt(entry.id))
  return (
    now.entries === entries.length &&
    now.cost === sum(({ costNanos }) => costNanos) &&
    now.listValue === sum(({ listValueNanos }) => listValueNanos) &&
    now.tokens === sum((entry) => totalTokens(entry)) &&
    now.projects === ofEach(({ projectId }) => projectId) &&
    now.tickets === ofEach(({ ticketId }) => ticketId) &&
    now.labels === ofEach(({ labelSetId }) => labelSetId) &&
    now.approved === sum(({ id, status }) => (status === 'approved' ? id : 0))
  )
}

function totalTokens({ input, output, cacheRead, cacheWrite, cacheWrite1h }: BillDraft['entries'][number]): number {
  return input + output + cacheRead + cacheWrite + cacheWrite1h
}
