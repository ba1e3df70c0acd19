/** The list values of divided entries: the whole is valued, and each part gets its share. */
import type { Tx } from '../../../database/database.ts'
import { costNanosOf, isLocked } from '../rows.ts'
import { type EntryRecord, getViews } from '../store.ts'
import { isDivided, rowsOf, wholeOf } from './divided.ts'
import { lockOtherParts } from './store.ts'

type Value = Pick<EntryRecord, 'id' | 'listValue' | 'priceId' | 'priceStep' | 'priceNote' | 'updatedAt'>

/** The keys of divided entries with a part that cannot get another value: it is locked with a cost, or on a bill. */
export async function listFixedDivisions(
  tx: Tx,
  entries: readonly { entry: EntryRecord }[],
): Promise<ReadonlySet<number>> {
  const ids = entries.flatMap(({ entry }) => (isDivided(entry) ? [entry.id] : []))
  const others = ids.length === 0 ? [] : await lockOtherParts(tx, ids)
  const isFixed = ({ entry }: { entry: EntryRecord }) =>
    isLocked(entry) && (entry.billId !== null || costNanosOf(entry) !== null)
  return new Set(ids.filter((_, position) => others[position]!.some(isFixed)))
}

/** Saves the new values of divided entries, and the shares of their parts. */
export async function divideValues(tx: Tx, values: readonly Value[]): Promise<void> {
  if (values.length === 0) return
  const ids = values.map(({ id }) => id)
  const [firsts, others] = [await getViews(tx, ids), await lockOtherParts(tx, ids)]
  for (const [position, value] of values.entries()) {
    const whole = wholeOf(firsts[position]!)
    const rows = rowsOf({ ...whole, entry: { ...whole.entry, ...value } }, others[position]!)
    await tx.updateAll(
      tx.tables.entries,
      rows.map(({ entry: { id, listValue, priceId, priceStep, priceNote, updatedAt, amendment } }) => ({
        id,
        listValue,
        priceId,
        priceStep,
        priceNote,
        updatedAt,
        amendment,
      })),
    )
  }
}
