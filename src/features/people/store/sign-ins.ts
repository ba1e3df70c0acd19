/** The table `sign_ins`: sessions of people. */
import { and, desc, eq, gt, isNull, lt, lte, ne } from 'drizzle-orm'
import type { Person } from '../../../access/caller.ts'
import type { Reader, Tx } from '../../../database/database.ts'

/** A session of a person, active or ended. */
export interface SignIn {
  id: number
  createdAt: number
  /** To the minute, and saved with some delay. */
  lastSeenAt: number
  expiresAt: number
  endedAt: number | null
  person: Person & { disabledAt: number | null }
}

interface NewSignIn {
  userId: number
  hash: Uint8Array
  now: number
  expiresAt: number
}

/** Returns its key, and deletes expired ones of the same person. */
export async function insertSignIn(tx: Tx, { now, ...signIn }: NewSignIn): Promise<number> {
  const { signIns } = tx.tables
  await tx.delete(signIns).where(and(eq(signIns.userId, signIn.userId), lte(signIns.expiresAt, now)))
  const [made] = await tx
    .insert(signIns)
    .values({ ...signIn, createdAt: now, lastSeenAt: now })
    .returning({ id: signIns.id })
  return made!.id
}

/** In any state, so that an error can name the reason. */
export async function findSignInByHash(reader: Reader, hash: Uint8Array): Promise<SignIn | undefined> {
  const { signIns, users } = reader.tables
  const [found] = await reader
    .select({
      id: signIns.id,
      createdAt: signIns.createdAt,
      lastSeenAt: signIns.lastSeenAt,
      expiresAt: signIns.expiresAt,
      endedAt: signIns.endedAt,
      person: {
        id: users.id,
        uid: users.uid,
        email: users.email,
        name: users.name,
        role: users.role,
        disabledAt: users.disabledAt,
      },
    })
    .from(signIns)
    .innerJoin(users, eq(users.id, signIns.userId))
    .where(eq(signIns.hash, hash))
    .limit(1)
  return found
}

/** The active sessions of a person, newest first. */
export async function listSignInsOf(
  reader: Reader,
  { userId, now }: { userId: number; now: number },
): Promise<Pick<SignIn, 'id' | 'createdAt' | 'lastSeenAt' | 'expiresAt'>[]> {
  const { signIns } = reader.tables
  return reader
    .select({
      id: signIns.id,
      createdAt: signIns.createdAt,
      lastSeenAt: signIns.lastSeenAt,
      expiresAt: signIns.expiresAt,
    })
    .from(signIns)
    .where(and(eq(signIns.userId, userId), isNull(signIns.endedAt), gt(signIns.expiresAt, now)))
    .orderBy(desc(signIns.id))
}

export async function endSignIn(tx: Tx, id: number, now: number): Promise<void> {
  const { signIns } = tx.tables
  await tx
    .update(signIns)
    .set({ endedAt: now })
    .where(and(eq(signIns.id, id), isNull(signIns.endedAt)))
}

/** Ends all sessions of a person, except the one to keep, if any. */
export async function endSignInsOf(
  tx: Tx,
  { userId, kept, now }: { userId: number; kept?: number | undefined; now: number },
): Promise<void> {
  const { signIns } = tx.tables
  await tx
    .update(signIns)
    .set({ endedAt: now })
    .where(
      and(eq(signIns.userId, userId), isNull(signIns.endedAt), kept === undefined ? undefined : ne(signIns.id, kept)),
    )
}

export async function deleteSignInsOf(tx: Tx, userId: number): Promise<void> {
  const { signIns } = tx.tables
  await tx.delete(signIns).where(eq(signIns.userId, userId))
}

/** Never moves the time back: several servers and late flushes may write it. */
export async function updateSignInLastSeen(tx: Tx, id: number, at: number): Promise<void> {
  const { signIns } = tx.tables
  await tx
    .update(signIns)
    .set({ lastSeenAt: at })
    .where(and(eq(signIns.id, id), lt(signIns.lastSeenAt, at)))
}
