import { and, asc, desc, eq, gt, gte, inArray, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../database/database.ts'
import type { LinkPurpose, Role, TokenKind, UnknownProjects } from '../../database/tables.ts'
import { type Id, newId } from '../../lib/id.ts'
import type { Person } from './caller.ts'
import type { Token } from './token.ts'

export interface User extends Person {
  createdAt: number
  /** Null for a person who never signed in. */
  lastSignedInAt: number | null
  /** Null for a person who may sign in and whose tokens work. */
  disabledAt: number | null
  /** Without one a person can own tokens but not sign in. */
  hasPassword: boolean
}

export interface Organization {
  name: string
  /** IANA name; the zone of days and months in reports and bills. */
  timeZone: string
  /** ISO 4217 code of bills where nothing else is asked for. */
  currency: string
  unknownProjects: UnknownProjects
}

function userColumns({ tables: { users } }: Reader) {
  return {
    id: users.id,
    uid: users.uid,
    email: users.email,
    name: users.name,
    role: users.role,
    createdAt: users.createdAt,
    lastSignedInAt: users.lastSignedInAt,
    disabledAt: users.disabledAt,
    passwordHash: users.passwordHash,
  }
}

/** The hash itself leaves the store only to be compared. */
function userOf({ passwordHash, ...row }: Omit<User, 'hasPassword'> & { passwordHash: string | null }): User {
  return { ...row, hasPassword: passwordHash !== null }
}

export async function listUsers(reader: Reader): Promise<User[]> {
  const { users } = reader.tables
  const rows = await reader.select(userColumns(reader)).from(users).orderBy(asc(users.name), asc(users.id))
  return rows.map(userOf)
}

/** By an e-mail address that is folded already. */
export async function findUserByEmail(reader: Reader, email: string): Promise<User | undefined> {
  const { users } = reader.tables
  const rows = await reader.select(userColumns(reader)).from(users).where(eq(users.email, email)).limit(1)
  return rows.map(userOf)[0]
}

export async function findUserByUid(reader: Reader, uid: Id<'usr'>): Promise<User | undefined> {
  const { users } = reader.tables
  const rows = await reader.select(userColumns(reader)).from(users).where(eq(users.uid, uid)).limit(1)
  return rows.map(userOf)[0]
}

/** What a password is compared with; null for a person who has none. By an e-mail address that is folded already. */
export async function findPasswordHash(
  reader: Reader,
  email: string,
): Promise<{ id: number; disabledAt: number | null; passwordHash: string | null } | undefined> {
  const { users } = reader.tables
  const [found] = await reader
    .select({ id: users.id, disabledAt: users.disabledAt, passwordHash: users.passwordHash })
    .from(users)
    .where(eq(users.email, email))
    .limit(1)
  return found
}

export async function hasUsers(reader: Reader): Promise<boolean> {
  const rows = await reader.select({ id: reader.tables.users.id }).from(reader.tables.users).limit(1)
  return rows.length > 0
}

export async function hasActiveAdmin(reader: Reader): Promise<boolean> {
  const { users } = reader.tables
  const rows = await reader
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.role, 'admin'), isNull(users.disabledAt)))
    .limit(1)
  return rows.length > 0
}

interface NewUser {
  email: string
  name: string
  role: Role
  passwordHash: string | null
  now: number
}

/** Undefined where another person has the address already. */
export async function insertUser(tx: Tx, { now, ...user }: NewUser): Promise<User | undefined> {
  const rows = await tx
    .insert(tx.tables.users)
    .values({ ...user, uid: newId('usr'), createdAt: now })
    .onConflictDoNothing({ target: tx.tables.users.email })
    .returning(userColumns(tx))
  return rows.map(userOf)[0]
}

type UserChange = Partial<{ role: Role; disabledAt: number | null; passwordHash: string }>

export async function updateUser(tx: Tx, id: number, change: UserChange): Promise<User> {
  const { users } = tx.tables
  const rows = await tx.update(users).set(change).where(eq(users.id, id)).returning(userColumns(tx))
  return rows.map(userOf)[0]!
}

function tokenColumns({ tables: { tokens, users } }: Reader) {
  return {
    id: tokens.id,
    uid: tokens.uid,
    kind: tokens.kind,
    name: tokens.name,
    hint: tokens.hint,
    allowBills: tokens.allowBills,
    createdAt: tokens.createdAt,
    expiresAt: tokens.expiresAt,
    lastUsedAt: tokens.lastUsedAt,
    revokedAt: tokens.revokedAt,
    creator: {
      id: users.id,
      uid: users.uid,
      email: users.email,
      name: users.name,
      role: users.role,
      disabledAt: users.disabledAt,
    },
  }
}

/** Newest first, of one person or of all. */
export async function listTokens(reader: Reader, createdBy?: number): Promise<Token[]> {
  const { tokens, users } = reader.tables
  return reader
    .select(tokenColumns(reader))
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(createdBy === undefined ? undefined : eq(tokens.createdBy, createdBy))
    .orderBy(desc(tokens.id))
}

/** Tokens that work at the moment `now`, those used last first, with the hashes by which they are found. */
export async function listUsableTokens(
  reader: Reader,
  { now, limit }: { now: number; limit: number },
): Promise<(Token & { hash: Uint8Array })[]> {
  const { tokens, users } = reader.tables
  return reader
    .select({ ...tokenColumns(reader), hash: tokens.hash })
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(
      and(
        isNull(tokens.revokedAt),
        or(isNull(tokens.expiresAt), gt(tokens.expiresAt, now)),
        or(isNull(users.disabledAt), eq(tokens.kind, 'org')),
      ),
    )
    .orderBy(desc(sql`coalesce(${tokens.lastUsedAt}, ${tokens.createdAt})`))
    .limit(limit)
}

/** Of one person's tokens that stop with them (all but organization tokens), those in use since a moment. */
export async function listTokensInUse(
  reader: Reader,
  { createdBy, since, now }: { createdBy: number; since: number; now: number },
): Promise<Token[]> {
  const { tokens, users } = reader.tables
  const stopping: TokenKind[] = ['svc', 'read']
  return reader
    .select(tokenColumns(reader))
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(
      and(
        eq(tokens.createdBy, createdBy),
        inArray(tokens.kind, stopping),
        isNull(tokens.revokedAt),
        or(isNull(tokens.expiresAt), gt(tokens.expiresAt, now)),
        gte(tokens.lastUsedAt, since),
      ),
    )
    .orderBy(desc(tokens.lastUsedAt))
}

export async function findTokenByUid(reader: Reader, uid: Id<'tok'>): Promise<Token | undefined> {
  const { tokens, users } = reader.tables
  const [token] = await reader
    .select(tokenColumns(reader))
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(eq(tokens.uid, uid))
    .limit(1)
  return token
}

/** Whatever its state, so that a refusal can say why. */
export async function findTokenByHash(reader: Reader, hash: Uint8Array): Promise<Token | undefined> {
  const [token] = await reader
    .prepared('people.token-by-hash', (prepare) => {
      const { tokens, users } = prepare.tables
      return prepare
        .select(tokenColumns(prepare))
        .from(tokens)
        .innerJoin(users, eq(users.id, tokens.createdBy))
        .where(eq(tokens.hash, sql.placeholder('hash')))
        .limit(1)
    })
    .execute({ hash })
  return token
}

interface NewToken {
  kind: TokenKind
  name: string
  hash: Uint8Array
  hint: string
  createdBy: number
  allowBills: boolean
  expiresAt: number | null
  now: number
}

export async function insertToken(tx: Tx, { now, ...token }: NewToken): Promise<Token> {
  const uid = newId('tok')
  await tx.insert(tx.tables.tokens).values({ ...token, uid, createdAt: now })
  return (await findTokenByUid(tx, uid))!
}

export async function updateTokenRevoked(tx: Tx, id: number, revokedAt: number): Promise<void> {
  const { tokens } = tx.tables
  await tx.update(tokens).set({ revokedAt }).where(eq(tokens.id, id))
}

/** Never moves the moment back: several servers and late flushes may write it. */
export async function updateTokenLastUsed(tx: Tx, id: number, at: number): Promise<void> {
  await tx
    .prepared('people.token-used', (prepare) => {
      const { tokens } = prepare.tables
      const moment = sql.placeholder('at')
      return prepare
        .update(tokens)
        .set({ lastUsedAt: sql`${moment}` })
        .where(and(eq(tokens.id, sql.placeholder('id')), or(isNull(tokens.lastUsedAt), lt(tokens.lastUsedAt, moment))))
        .returning({ id: tokens.id })
    })
    .execute({ id, at })
}

export async function getOrganization(reader: Reader): Promise<Organization> {
  const { organization } = reader.tables
  const [row] = await reader
    .select({
      name: organization.name,
      timeZone: organization.timeZone,
      currency: organization.currency,
      unknownProjects: organization.unknownProjects,
    })
    .from(organization)
  return row!
}

export async function updateOrganization(tx: Tx, change: Partial<Organization> & { setUpAt?: number }): Promise<void> {
  await tx.update(tx.tables.organization).set(change).where(eq(tx.tables.organization.id, 1))
}

interface NewLink {
  purpose: LinkPurpose
  /** Null for the set-up, which is before there are people. */
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

export async function deleteLinksOf(tx: Tx, userId: number): Promise<void> {
  const { oneTimeLinks } = tx.tables
  await tx.delete(oneTimeLinks).where(eq(oneTimeLinks.userId, userId))
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

/** False where it was used before: of two who follow a link at once, one comes in. */
export async function markLinkUsed(tx: Tx, id: number, now: number): Promise<boolean> {
  const { oneTimeLinks } = tx.tables
  const used = await tx
    .update(oneTimeLinks)
    .set({ usedAt: now })
    .where(and(eq(oneTimeLinks.id, id), isNull(oneTimeLinks.usedAt)))
    .returning({ id: oneTimeLinks.id })
  return used.length > 0
}

/** A session of a signed-in person, whatever became of it. */
export interface SignIn {
  id: number
  createdAt: number
  /** To the minute, and written with some delay. */
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

/** Answers its key, and forgets those of the same person that have expired. */
export async function insertSignIn(tx: Tx, { now, ...signIn }: NewSignIn): Promise<number> {
  const { signIns } = tx.tables
  await tx.delete(signIns).where(and(eq(signIns.userId, signIn.userId), lte(signIns.expiresAt, now)))
  const [made] = await tx
    .insert(signIns)
    .values({ ...signIn, createdAt: now, lastSeenAt: now })
    .returning({ id: signIns.id })
  return made!.id
}

/**
 * Notes that a person signed in, if they may and still have the password that was checked: undefined where either
 * changed meanwhile. Writing the person's own row makes PostgreSQL let only one of the two through.
 */
export async function updateLastSignedIn(
  tx: Tx,
  { userId, passwordHash, now }: { userId: number; passwordHash: string; now: number },
): Promise<User | undefined> {
  const { users } = tx.tables
  const rows = await tx
    .update(users)
    .set({ lastSignedInAt: now })
    .where(and(eq(users.id, userId), eq(users.passwordHash, passwordHash), isNull(users.disabledAt)))
    .returning(userColumns(tx))
  return rows.map(userOf)[0]
}

/** Whatever its state, so that a refusal can say why. */
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

export async function endSignIn(tx: Tx, id: number, now: number): Promise<void> {
  const { signIns } = tx.tables
  await tx
    .update(signIns)
    .set({ endedAt: now })
    .where(and(eq(signIns.id, id), isNull(signIns.endedAt)))
}

/** Ends every session of a person, or all but the one that is kept. */
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

/** Never moves the moment back: several servers and late flushes may write it. */
export async function updateSignInLastSeen(tx: Tx, id: number, at: number): Promise<void> {
  const { signIns } = tx.tables
  await tx
    .update(signIns)
    .set({ lastSeenAt: at })
    .where(and(eq(signIns.id, id), lt(signIns.lastSeenAt, at)))
}
