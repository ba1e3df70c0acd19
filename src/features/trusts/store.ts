/** The table `trusts`. Removed ones stay, because tokens refer to them, and are found by nothing. */
import { and, asc, desc, eq, isNull, lt, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import type { Tables } from '../../database/schema/tables.ts'
import { type Id, newId } from '../../lib/id.ts'

export type TrustRecord = Tables['trusts']['$inferSelect']

export interface TrustView {
  record: TrustRecord
  /** Whose entries the jobs report. */
  user: { uid: Id<'usr'>; name: string; email: string; disabledAt: number | null }
  project: { uid: Id<'prj'>; key: string; name: string; archivedAt: number | null }
}

function selectTrusts(reader: Reader, condition: SQL | undefined) {
  const { trusts, users, projects } = reader.tables
  return reader
    .select({
      record: trusts,
      user: { uid: users.uid, name: users.name, email: users.email, disabledAt: users.disabledAt },
      project: { uid: projects.uid, key: projects.key, name: projects.name, archivedAt: projects.archivedAt },
    })
    .from(trusts)
    .innerJoin(users, eq(users.id, trusts.userId))
    .innerJoin(projects, eq(projects.id, trusts.projectId))
    .where(and(isNull(trusts.removedAt), condition))
}

/** Newest first. */
export async function listTrusts(
  reader: Reader,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<TrustView[]> {
  const { trusts } = reader.tables
  return selectTrusts(reader, after === undefined ? undefined : lt(trusts.id, after))
    .orderBy(desc(trusts.id))
    .limit(limit)
}

/** Those with this issuer, oldest first. */
export async function listTrustsOfIssuer(reader: Reader, issuer: string): Promise<TrustView[]> {
  const { trusts } = reader.tables
  return selectTrusts(reader, eq(trusts.issuer, issuer)).orderBy(asc(trusts.id))
}

export async function findTrust(reader: Reader, uid: Id<'tru'>): Promise<TrustView | undefined> {
  const [found] = await selectTrusts(reader, eq(reader.tables.trusts.uid, uid)).limit(1)
  return found
}

type NewTrust = Omit<Tables['trusts']['$inferInsert'], 'id' | 'uid'>

export async function insertTrust(tx: Tx, trust: NewTrust): Promise<TrustView> {
  const uid = newId('tru')
  await tx.insert(tx.tables.trusts).values({ ...trust, uid })
  return (await findTrust(tx, uid))!
}

export type TrustUpdate = Partial<
  Pick<TrustRecord, 'repository' | 'branches' | 'pullRequests' | 'environment' | 'projectId' | 'minutes' | 'removedAt'>
>

export async function updateTrust(tx: Tx, id: number, changed: TrustUpdate): Promise<void> {
  const { trusts } = tx.tables
  await tx.update(trusts).set(changed).where(eq(trusts.id, id))
}

export async function updateTrustUsed(tx: Tx, id: number, lastUsedAt: number): Promise<void> {
  const { trusts } = tx.tables
  await tx
    .update(trusts)
    .set({ lastUsedAt, exchanges: sql`${trusts.exchanges} + 1` })
    .where(eq(trusts.id, id))
}
