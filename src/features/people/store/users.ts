/** The table `users`. */
import { and, asc, eq, inArray, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { Person } from '../../../access/caller.ts'
import type { Reader, Tx } from '../../../database/database.ts'
import { type NotificationTopic, type Role, USUAL_NOTIFICATIONS } from '../../../database/schema/values.ts'
import { containing } from '../../../database/search-pattern.ts'
import { lowered, pageIn, type SortKeys } from '../../../database/sorting.ts'
import { type Id, isId, newId } from '../../../lib/id.ts'
import { composeName, foldName } from '../../../lib/names.ts'
import type { UserState } from '../../../schema/fields.ts'
import type { PageRequest } from '../../../schema/query.ts'
import type { USER_SORTS } from '../sorts.ts'

/** Filters, all of which must match. */
export interface UserFilter {
  /** A text contained in the name or the e-mail address, ignoring case. */
  search?: string | undefined
  roles?: Role[] | undefined
  state?: UserState | undefined
}

export interface User extends Person {
  createdAt: number
  /** Null for a person who has never signed in. */
  lastSignedInAt: number | null
  /** Null for a person who may sign in and whose tokens work. */
  disabledAt: number | null
  /** Null unless the person is a pseudonym for somebody whose data was erased. */
  erasedAt: number | null
  /** Without one a person can own tokens but not sign in. */
  hasPassword: boolean
  /** What they are sent e-mails about. */
  notifications: readonly NotificationTopic[]
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
    erasedAt: users.erasedAt,
    passwordHash: users.passwordHash,
    notifications: users.notifications,
  }
}

/** The hash itself leaves the store only for verification. */
function userOf({
  passwordHash,
  notifications,
  ...row
}: Omit<User, 'hasPassword' | 'notifications'> & {
  passwordHash: string | null
  notifications: NotificationTopic[] | null
}): User {
  return { ...row, hasPassword: passwordHash !== null, notifications: notifications ?? USUAL_NOTIFICATIONS }
}

function conditionOf({ tables: { users } }: Reader, { search, roles, state }: UserFilter): SQL | undefined {
  return and(
    search === undefined
      ? undefined
      : or(
          // SQLite ignores case only for ASCII letters: in other alphabets, a name is found if it is spelled as stored.
          sql`lower(${users.name}) LIKE ${containing(foldName(search))} ESCAPE '!'`,
          sql`${users.name} LIKE ${containing(composeName(search))} ESCAPE '!'`,
          sql`${users.email} LIKE ${containing(foldName(search))} ESCAPE '!'`,
        ),
    roles && inArray(users.role, roles),
    state && (state === 'active' ? isNull(users.disabledAt) : isNotNull(users.disabledAt)),
  )
}

/** By name. */
export async function listUsersByName(reader: Reader, filter: UserFilter): Promise<User[]> {
  const { users } = reader.tables
  const rows = await reader
    .select(userColumns(reader))
    .from(users)
    .where(conditionOf(reader, filter))
    .orderBy(asc(users.name), asc(users.id))
  return rows.map(userOf)
}

/** The people with these ids or e-mail addresses. */
export async function listKnownPeople(
  reader: Reader,
  values: readonly string[],
): Promise<{ uid: Id<'usr'>; email: string }[]> {
  const { users } = reader.tables
  const ids = values.filter((value) => isId('usr', value))
  const emails = values.filter((value) => !isId('usr', value)).map(foldName)
  return reader
    .select({ uid: users.uid, email: users.email })
    .from(users)
    .where(or(inArray(users.uid, ids), inArray(users.email, emails)))
}

export const USER_KEYS: SortKeys<typeof USER_SORTS, User> = {
  name: { sql: ({ users }) => sql`lower(${users.name})`, of: ({ name }) => lowered(name) },
  email: { sql: ({ users }) => users.email, of: ({ email }) => email },
  role: { sql: ({ users }) => users.role, of: ({ role }) => role },
  last_signed_in_at: { sql: ({ users }) => users.lastSignedInAt, of: ({ lastSignedInAt }) => lastSignedInAt },
  created_at: { sql: ({ users }) => users.createdAt, of: ({ createdAt }) => createdAt },
}

/** Most recently added first, unless the page has another order. */
export async function listUsers(
  reader: Reader,
  filter: UserFilter,
  { limit, ...page }: PageRequest<keyof typeof USER_SORTS>,
): Promise<User[]> {
  const { users } = reader.tables
  const { behind, order } = pageIn(reader, users.id, page, USER_KEYS)
  const rows = await reader
    .select(userColumns(reader))
    .from(users)
    .where(and(conditionOf(reader, filter), behind))
    .orderBy(...order)
    .limit(limit)
  return rows.map(userOf)
}

/** PostgreSQL fails on a text with U+0000, which no address contains but a request may. */
function canBeAsked(text: string): boolean {
  return !text.includes('\0')
}

/** By an e-mail address in canonical form. */
export async function findUserByEmail(reader: Reader, email: string): Promise<User | undefined> {
  if (!canBeAsked(email)) return undefined
  const { users } = reader.tables
  const rows = await reader.select(userColumns(reader)).from(users).where(eq(users.email, email)).limit(1)
  return rows.map(userOf)[0]
}

export async function findUserByUid(reader: Reader, uid: Id<'usr'>): Promise<User | undefined> {
  const { users } = reader.tables
  const rows = await reader.select(userColumns(reader)).from(users).where(eq(users.uid, uid)).limit(1)
  return rows.map(userOf)[0]
}

export async function findUserById(reader: Reader, id: number): Promise<User | undefined> {
  const rows = await reader
    .prepared('people.user-by-id', (prepare) => {
      const { users } = prepare.tables
      return prepare
        .select(userColumns(prepare))
        .from(users)
        .where(eq(users.id, sql.placeholder('id')))
    })
    .execute({ id })
  return rows.map(userOf)[0]
}

/** The hash to verify a password with; null for a person without a password. By an e-mail address in canonical form. */
export async function findPasswordHash(
  reader: Reader,
  email: string,
): Promise<{ id: number; uid: Id<'usr'>; disabledAt: number | null; passwordHash: string | null } | undefined> {
  if (!canBeAsked(email)) return undefined
  const [found] = await reader
    .prepared('people.password-hash', (prepare) => {
      const { users } = prepare.tables
      return prepare
        .select({ id: users.id, uid: users.uid, disabledAt: users.disabledAt, passwordHash: users.passwordHash })
        .from(users)
        .where(eq(users.email, sql.placeholder('email')))
    })
    .execute({ email })
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

/** Undefined if another person already has the address. */
export async function insertUser(tx: Tx, { now, ...user }: NewUser): Promise<User | undefined> {
  const rows = await tx
    .insert(tx.tables.users)
    .values({ ...user, uid: newId('usr'), createdAt: now })
    .onConflictDoNothing({ target: tx.tables.users.email })
    .returning(userColumns(tx))
  return rows.map(userOf)[0]
}

type UserChange = Partial<{
  email: string
  name: string
  role: Role
  disabledAt: number | null
  erasedAt: number
  lastSignedInAt: null
  passwordHash: string | null
  notifications: NotificationTopic[]
}>

export async function updateUser(tx: Tx, id: number, change: UserChange): Promise<User> {
  const { users } = tx.tables
  const rows = await tx.update(users).set(change).where(eq(users.id, id)).returning(userColumns(tx))
  return rows.map(userOf)[0]!
}

/**
 * Records that a person signed in, if they may and still have the verified password: undefined if either changed
 * meanwhile. Writing the person's own row makes PostgreSQL serialize the two.
 */
export async function updateLastSignedIn(
  tx: Tx,
  { userId, passwordHash, now }: { userId: number; passwordHash: string | null; now: number },
): Promise<User | undefined> {
  const { users } = tx.tables
  const rows = await tx
    .update(users)
    .set({ lastSignedInAt: now })
    .where(
      and(
        eq(users.id, userId),
        passwordHash === null ? isNull(users.passwordHash) : eq(users.passwordHash, passwordHash),
        isNull(users.disabledAt),
      ),
    )
    .returning(userColumns(tx))
  return rows.map(userOf)[0]
}
