/** Entries that are put on a bill, which from then on nothing changes. */
import type { Actor } from '../../../access/actor.ts'
import type { Tx } from '../../../database/database.ts'
import { recordEvents } from '../../events/service.ts'
import { freezeRange, getBill } from './store.ts'

interface Frozen {
  /** Entries on the lines of the bill, in the order of their keys. */
  entries: readonly { id: number; statusBefore: 'submitted' | 'approved' }[]
  now: number
  by: Pick<Actor, 'userId' | 'tokenId'>
}

/** Those of a large bill are frozen in portions, and released again if it is not sent. */
export async function freezeEntries(tx: Tx, billId: number, { entries, now, by }: Frozen): Promise<void> {
  await freezeRange(tx, billId, { first: entries[0]!.id, last: entries.at(-1)!.id, now })
  const { uid } = await getBill(tx, billId)
  await recordEvents(
    tx,
    entries.map(({ id, statusBefore }) => ({
      type: 'entry.billed',
      entryId: id,
      by: { userId: by.userId, tokenId: by.tokenId },
      before: { status: statusBefore, bill: null },
      after: { status: 'billed', bill: { id: uid } },
    })),
    now,
  )
}
