/** The table `report_views`. */
import { and, count, desc, eq, isNull, lt, or } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import { type Id, newId } from '../../../lib/id.ts'

export interface StoredView {
  record: Tables['reportViews']['$inferSelect']
  owner: { uid: Id<'usr'>; name: string }
}

/** A person sees their own views, and those that people share who are not disabled. */
function selectVisible(reader: Reader, personId: number) {
  const { reportViews: views, users } = reader.tables
  const isVisible = or(eq(views.ownerId, personId), and(eq(views.shared, true), isNull(users.disabledAt)))
  const query = reader
    .select({ record: views, owner: { uid: users.uid, name: users.name } })
    .from(views)
    .innerJoin(users, eq(users.id, views.ownerId))
  return { query, isVisible, views }
}

/** Newest first. */
export async function listViews(
  reader: Reader,
  personId: number,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<StoredView[]> {
  const { query, isVisible, views } = selectVisible(reader, personId)
  return query
    .where(and(isVisible, after === undefined ? undefined : lt(views.id, after)))
    .orderBy(desc(views.id))
    .limit(limit)
}

export async function findView(reader: Reader, personId: number, uid: Id<'rvw'>): Promise<StoredView | undefined> {
  const { query, isVisible, views } = selectVisible(reader, personId)
  const [found] = await query.where(and(isVisible, eq(views.uid, uid))).limit(1)
  return found
}

export async function countViews(reader: Reader, ownerId: number): Promise<number> {
  const { reportViews: views } = reader.tables
  const [row] = await reader.select({ views: count() }).from(views).where(eq(views.ownerId, ownerId))
  return row!.views
}

type NewView = Omit<Tables['reportViews']['$inferInsert'], 'id' | 'uid'>

export async function insertView(tx: Tx, view: NewView): Promise<StoredView> {
  const uid = newId('rvw')
  await tx.insert(tx.tables.reportViews).values({ ...view, uid })
  return (await findView(tx, view.ownerId, uid))!
}

export async function updateView(tx: Tx, id: number, change: Partial<NewView>): Promise<void> {
  const { reportViews } = tx.tables
  await tx.update(reportViews).set(change).where(eq(reportViews.id, id))
}

export async function deleteView(tx: Tx, id: number): Promise<void> {
  const { reportViews } = tx.tables
  await tx.delete(reportViews).where(eq(reportViews.id, id))
}
