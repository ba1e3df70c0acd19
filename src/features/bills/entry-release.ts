/** Releases the entries of a bill that is voided or credited (docs/design/bills.md#large-bills). */
import type { Actor } from '../../access/actor.ts'
import type { Database, Tx } from '../../database/database.ts'
import type { Clock } from '../../lib/clock.ts'
import type { EntriesService } from '../entries/service.ts'
import type { SentBill } from './store/bills.ts'

export type ReleaseEntries = ReturnType<typeof createEntryRelease>

export function createEntryRelease({
  db,
  clock,
  billing,
}: {
  db: Database
  clock: Clock
  billing: EntriesService['billing']
}) {
  /**
   * Runs `change`, which makes the bill void or credited, and releases its entries: in the same transaction, or after
   * it in portions if there are many.
   */
  return async function releasing<Result>(
    { id, entries }: SentBill,
    by: Actor,
    change: (tx: Tx) => Promise<Result>,
  ): Promise<Result> {
    const isLarge = entries > billing.portion
    for (;;) {
      if (isLarge) await billing.whenFree()
      const done = await db.write(async (tx) => {
        const lease = isLarge ? await billing.take(tx, id) : undefined
        if (isLarge && !lease) return undefined
        const result = await change(tx)
        if (!lease) await billing.releaseEntries(tx, id, { limit: entries, now: clock.now(), by })
        return { result, lease }
      })
      if (done?.lease) await billing.release(done.lease, by)
      if (done) return done.result
    }
  }
}
