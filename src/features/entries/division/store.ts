/** The other parts of divided entries. */
import { eq, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import { type EntryView, selectViews } from '../store.ts'

/** For each divided entry, the other parts in the order in which they were made. */
export async function listOtherParts(reader: Reader, ids: readonly number[]): Promise<EntryView[][]> {
  const found = await reader.findEach(
    'entries.other-parts',
    (prepare) => selectViews(prepare).where(eq(prepare.tables.entries.dividedFromId, sql.placeholder('id'))),
    ids.map((id) => ({ id })),
  )
  return found.map(inOrder)
}

/** Locks the other parts until the end of the transaction, so that none is approved meanwhile. */
export async function lockOtherParts(tx: Tx, ids: readonly number[]): Promise<EntryView[][]> {
  const found = await tx.findEach(
    'entries.other-parts-locked',
    (prepare) => {
      const { entries } = prepare.tables
      return prepare.locking(selectViews(prepare).where(eq(entries.dividedFromId, sql.placeholder('id'))), entries)
    },
    ids.map((id) => ({ id })),
  )
  return found.map(inOrder)
}

function inOrder(views: EntryView[]): EntryView[] {
  return views.sort((one, other) => one.entry.id - other.entry.id)
}
