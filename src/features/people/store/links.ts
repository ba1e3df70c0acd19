/** The table `one_time_links`. */
import { and, eq, gt, isNotNull, isNull } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { LinkPurpose } from '../../../database/schema/values.ts'

interface NewLink {
  purpose: LinkPurpose
  /** Null for the setup link, since there are no people yet. */
  userId: number | null
  hash: Uint8Array
  createdAt: number
  expiresAt: number
}

export async function insertLink(tx: Tx, link: NewLink): Promise<void> {
  await tx.insert(tx.tables.oneTimeLinks).values(link)
}

export async function deleteSetUpLinks(tx: Tx): Promise<void> {
  const { oneTimeLinks } = tx.tables
  await tx.delete(oneTimeLinks).where(eq(oneTimeLinks.purpose, 'set_up'))
}

/** Those for one purpose, or all of them. */
export async function deleteLinksOf(tx: Tx, userId: number, purpose?: LinkPurpose): Promise<void> {
  const { oneTimeLinks } = tx.tables
  const ofPurpose = purpose && eq(oneTimeLinks.purpose, purpose)
  await tx.delete(oneTimeLinks).where(and(eq(oneTimeLinks.userId, userId), ofPurpose))
}

interface UsableLink {
  id: number
  purpose: LinkPurpose
  userId: number | null
}

/** The link with this hash, if it was neither used nor has expired. */
export async function findLink(
  reader: Reader,
  { hash, now }: { hash: Uint8Array; now: number },
): Promise<UsableLink | undefined> {
  const { oneTimeLinks } = reader.tables
  const [link] = await reader
    .select({ id: oneTimeLinks.id, purpose: oneTimeLinks.purpose, userId: oneTimeLinks.userId })
    .from(oneTimeLinks)
    .where(and(eq(oneTimeLinks.hash, hash), isNull(oneTimeLinks.usedAt), gt(oneTimeLinks.expiresAt, now)))
    .limit(1)
  return link
}

/** Whether the link with this hash was used. */
export async function isLinkUsed(reader: Reader, hash: Uint8Array): Promise<boolean> {
  const { oneTimeLinks } = reader.tables
  const rows = await reader
    .select({ id: oneTimeLinks.id })
    .from(oneTimeLinks)
    .where(and(eq(oneTimeLinks.hash, hash), isNotNull(oneTimeLinks.usedAt)))
  return rows.length > 0
}

/** False if it was already used: of two concurrent uses, only one succeeds. */
export async function markLinkUsed(tx: Tx, id: number, now: number): Promise<boolean> {
  const { oneTimeLinks } = tx.tables
  const used = await tx
    .update(oneTimeLinks)
    .set({ usedAt: now })
    .where(and(eq(oneTimeLinks.id, id), isNull(oneTimeLinks.usedAt)))
    .returning({ id: oneTimeLinks.id })
  return used.length > 0
}
