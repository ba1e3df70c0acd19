/** The table `share_links`: what each link shows, for whom it was created, and how often it was used. */
import { and, count, desc, eq, gt, isNull, lt, sql } from 'drizzle-orm'
import type { Person } from '../../access/caller.ts'
import type { Reader, Tx } from '../../database/database.ts'
import type { Tables } from '../../database/schema/tables.ts'
import { type Id, newId } from '../../lib/id.ts'

type ShareLinkRecord = Omit<Tables['shareLinks']['$inferSelect'], 'hash'>

export interface ShareLink {
  record: ShareLinkRecord
  bill: { uid: Id<'bil'>; number: string } | null
  creator: Person & { disabledAt: number | null }
}

/** The key of the person whose links a caller sees; null for everyone's. */
export type ShareLinkScope = number | null

function selectLinks(reader: Reader) {
  const { shareLinks, users, bills } = reader.tables
  return reader
    .select({
      record: {
        id: shareLinks.id,
        uid: shareLinks.uid,
        createdBy: shareLinks.createdBy,
        report: shareLinks.report,
        billId: shareLinks.billId,
        money: shareLinks.money,
        showsPeople: shareLinks.showsPeople,
        note: shareLinks.note,
        createdAt: shareLinks.createdAt,
        expiresAt: shareLinks.expiresAt,
        revokedAt: shareLinks.revokedAt,
        lastUsedAt: shareLinks.lastUsedAt,
        uses: shareLinks.uses,
      },
      bill: { uid: bills.uid, number: bills.number },
      creator: {
        id: users.id,
        uid: users.uid,
        email: users.email,
        name: users.name,
        role: users.role,
        disabledAt: users.disabledAt,
      },
    })
    .from(shareLinks)
    .innerJoin(users, eq(users.id, shareLinks.createdBy))
    .leftJoin(bills, eq(bills.id, shareLinks.billId))
}

const isWithin = ({ tables: { shareLinks } }: Reader, userId: ShareLinkScope) =>
  userId === null ? undefined : eq(shareLinks.createdBy, userId)

/** Newest first. */
export async function listShareLinks(
  reader: Reader,
  scope: ShareLinkScope,
  { after, limit }: { after: number | undefined; limit: number },
): Promise<ShareLink[]> {
  const { shareLinks } = reader.tables
  return selectLinks(reader)
    .where(and(isWithin(reader, scope), after === undefined ? undefined : lt(shareLinks.id, after)))
    .orderBy(desc(shareLinks.id))
    .limit(limit)
}

export async function findShareLink(
  reader: Reader,
  uid: Id<'shr'>,
  scope: ShareLinkScope,
): Promise<ShareLink | undefined> {
  const [found] = await selectLinks(reader)
    .where(and(eq(reader.tables.shareLinks.uid, uid), isWithin(reader, scope)))
    .limit(1)
  return found
}

export async function findShareLinkByHash(reader: Reader, hash: Uint8Array): Promise<ShareLink | undefined> {
  const [found] = await selectLinks(reader).where(eq(reader.tables.shareLinks.hash, hash)).limit(1)
  return found
}

/** The links of a person that are neither revoked nor expired. */
export async function countActive(reader: Reader, createdBy: number, now: number): Promise<number> {
  const { shareLinks } = reader.tables
  const [row] = await reader
    .select({ links: count() })
    .from(shareLinks)
    .where(and(eq(shareLinks.createdBy, createdBy), isNull(shareLinks.revokedAt), gt(shareLinks.expiresAt, now)))
  return row!.links
}

type NewShareLink = Omit<Tables['shareLinks']['$inferInsert'], 'id' | 'uid'>

export async function insertShareLink(tx: Tx, link: NewShareLink): Promise<ShareLink> {
  const uid = newId('shr')
  await tx.insert(tx.tables.shareLinks).values({ ...link, uid })
  return (await findShareLink(tx, uid, null))!
}

export async function updateShareLinkRevoked(tx: Tx, id: number, revokedAt: number): Promise<void> {
  const { shareLinks } = tx.tables
  await tx.update(shareLinks).set({ revokedAt }).where(eq(shareLinks.id, id))
}

export async function updateShareLinkUsed(tx: Tx, id: number, lastUsedAt: number): Promise<void> {
  const { shareLinks } = tx.tables
  await tx
    .update(shareLinks)
    .set({ lastUsedAt, uses: sql`${shareLinks.uses} + 1` })
    .where(eq(shareLinks.id, id))
}
