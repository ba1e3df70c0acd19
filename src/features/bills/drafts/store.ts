/** The table `bill_drafts`. */
import { aliasedTable, and, count, desc, eq, lt } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { type Id, newId } from '../../../lib/id.ts'

export type DraftRecord = Tables['billDrafts']['$inferSelect']

export interface DraftView {
  draft: DraftRecord
  createdBy: { uid: Id<'usr'>; name: string }
  updatedBy: { uid: Id<'usr'>; name: string }
}

function selectDrafts(reader: Reader) {
  const { billDrafts, users } = reader.tables
  const updaters = aliasedTable(users, 'updater')
  return reader
    .select({
      draft: billDrafts,
      createdBy: { uid: users.uid, name: users.name },
      updatedBy: { uid: updaters.uid, name: updaters.name },
    })
    .from(billDrafts)
    .innerJoin(users, eq(users.id, billDrafts.createdBy))
    .innerJoin(updaters, eq(updaters.id, billDrafts.updatedBy))
}

/** Newest first. */
export async function listDrafts(
  reader: Reader,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<DraftView[]> {
  const { id } = reader.tables.billDrafts
  return selectDrafts(reader)
    .where(after === undefined ? undefined : lt(id, after))
    .orderBy(desc(id))
    .limit(limit)
}

export async function findDraft(reader: Reader, uid: Id<'bdr'>): Promise<DraftView | undefined> {
  const [found] = await selectDrafts(reader).where(eq(reader.tables.billDrafts.uid, uid)).limit(1)
  return found
}

export async function countDrafts(reader: Reader): Promise<number> {
  const [row] = await reader.select({ drafts: count() }).from(reader.tables.billDrafts)
  return row!.drafts
}

export async function insertDraft(
  tx: Tx,
  { form, by, now }: { form: DraftRecord['form']; by: number; now: number },
): Promise<Id<'bdr'>> {
  const uid = newId('bdr')
  const made = { createdAt: now, createdBy: by, updatedAt: now, updatedBy: by }
  await tx.insert(tx.tables.billDrafts).values({ uid, form, revision: 1, ...made })
  return uid
}

/** False if the draft no longer has this revision. */
export async function updateDraft(
  tx: Tx,
  { id, revision }: Pick<DraftRecord, 'id' | 'revision'>,
  { form, by, now }: { form: DraftRecord['form']; by: number; now: number },
): Promise<boolean> {
  const { billDrafts } = tx.tables
  const rows = await tx
    .update(billDrafts)
    .set({ form, revision: revision + 1, updatedAt: now, updatedBy: by })
    .where(and(eq(billDrafts.id, id), eq(billDrafts.revision, revision)))
    .returning({ id: billDrafts.id })
  return rows.length > 0
}

export async function deleteDraft(tx: Tx, id: number): Promise<void> {
  const { billDrafts } = tx.tables
  await tx.delete(billDrafts).where(eq(billDrafts.id, id))
}
