/** The table `tokens`. */
import { and, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, ne, or, type SQL, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../database/database.ts'
import type { Tables } from '../../../database/schema/tables.ts'
import type { TokenKind } from '../../../database/schema/values.ts'
import { lowered, pageIn, type SortKeys } from '../../../database/sorting.ts'
import { type Id, isId, newId } from '../../../lib/id.ts'
import { foldName } from '../../../lib/names.ts'
import type { PageRequest } from '../../../schema/query.ts'
import type { TOKEN_SORTS } from '../sorts.ts'
import type { Token, TokenState } from '../tokens/token.ts'

/** Filters, all of which must match. */
export interface TokenFilter {
  /** The key of a person, if the caller may see only their tokens. */
  ownerId?: number | undefined
  /** E-mail addresses and ids of their creators. */
  users?: string[] | undefined
  kinds?: TokenKind[] | undefined
  states?: TokenState[] | undefined
}

function tokenColumns({ tables: { tokens, users } }: Reader) {
  return {
    id: tokens.id,
    uid: tokens.uid,
    kind: tokens.kind,
    name: tokens.name,
    hint: tokens.hint,
    allowBills: tokens.allowBills,
    scopes: tokens.scopes,
    networks: tokens.networks,
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

function conditionOf(reader: Reader, filter: TokenFilter, now: number): SQL | undefined {
  const { tokens, users } = reader.tables
  return and(
    isNull(tokens.trustId),
    filter.ownerId === undefined ? undefined : eq(tokens.createdBy, filter.ownerId),
    filter.users &&
      or(
        inArray(users.email, filter.users.map(foldName)),
        inArray(
          users.uid,
          filter.users.filter((user) => isId('usr', user)),
        ),
      ),
    filter.kinds && inArray(tokens.kind, filter.kinds),
    filter.states && or(...filter.states.map((state) => isInState(reader, state, now))),
  )
}

/** Equivalent to `stateOfToken`. */
function isInState({ tables: { tokens, users } }: Reader, state: TokenState, now: number): SQL | undefined {
  if (state === 'revoked') return isNotNull(tokens.revokedAt)
  if (state === 'expired') return and(isNull(tokens.revokedAt), lte(tokens.expiresAt, now))
  const holds = and(isNull(tokens.revokedAt), or(isNull(tokens.expiresAt), gt(tokens.expiresAt, now)))
  return state === 'stopped'
    ? and(holds, isNotNull(users.disabledAt), ne(tokens.kind, 'org'))
    : and(holds, or(isNull(users.disabledAt), eq(tokens.kind, 'org')))
}

export const TOKEN_KEYS: SortKeys<typeof TOKEN_SORTS, Token> = {
  name: { sql: ({ tokens }) => sql`lower(${tokens.name})`, of: ({ name }) => lowered(name) },
  kind: { sql: ({ tokens }) => tokens.kind, of: ({ kind }) => kind },
  user: { sql: ({ users }) => sql`lower(${users.name})`, of: ({ creator }) => lowered(creator.name) },
  last_used_at: { sql: ({ tokens }) => tokens.lastUsedAt, of: ({ lastUsedAt }) => lastUsedAt },
  created_at: { sql: ({ tokens }) => tokens.createdAt, of: ({ createdAt }) => createdAt },
  expires_at: { sql: ({ tokens }) => tokens.expiresAt, of: ({ expiresAt }) => expiresAt },
}

/** Newest first, unless the page has another order: all, or a page. */
export async function listTokens(
  reader: Reader,
  filter: TokenFilter,
  now: number,
  page?: PageRequest<keyof typeof TOKEN_SORTS>,
): Promise<Token[]> {
  const { tokens, users } = reader.tables
  const { behind, order } = pageIn(reader, tokens.id, page ?? { after: undefined }, TOKEN_KEYS)
  const query = reader
    .select(tokenColumns(reader))
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(and(conditionOf(reader, filter, now), behind))
    .orderBy(...order)
  return page ? query.limit(page.limit) : query
}

/** Tokens that are usable at `now`, the most recently used first, with their hashes. Nobody has the secrets of those of trusts. */
export async function listUsableTokens(
  reader: Reader,
  { now, limit }: { now: number; limit: number },
): Promise<(Token & { hash: Uint8Array })[]> {
  const { tokens, users } = reader.tables
  return reader
    .select({ ...tokenColumns(reader), hash: tokens.hash })
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(and(isInState(reader, 'usable', now), isNull(tokens.trustId)))
    .orderBy(desc(sql`coalesce(${tokens.lastUsedAt}, ${tokens.createdAt})`))
    .limit(limit)
}

/** Those of a person's tokens that stop with them (all but organization tokens) and were used since a moment. */
export async function listTokensInUse(
  reader: Reader,
  { createdBy, since, now }: { createdBy: number; since: number; now: number },
): Promise<Token[]> {
  const { tokens, users } = reader.tables
  const stopping: TokenKind[] = ['svc', 'read', 'api']
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

/** A token that people create and revoke. */
export async function findTokenByUid(reader: Reader, uid: Id<'tok'>): Promise<Token | undefined> {
  const { tokens, users } = reader.tables
  const [token] = await reader
    .select(tokenColumns(reader))
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(and(eq(tokens.uid, uid), isNull(tokens.trustId)))
    .limit(1)
  return token
}

/** In any state. */
export const findTokenById = (reader: Reader, id: number): Promise<Token | undefined> => findTokenWith(reader, 'id', id)

/** In any state, so that an error can name the reason. */
export const findTokenByHash = (reader: Reader, hash: Uint8Array): Promise<Token | undefined> =>
  findTokenWith(reader, 'hash', hash)

/** The tokens of a trust, in any state. */
export async function listTokensOfTrust(reader: Reader, trustId: number): Promise<Token[]> {
  const { tokens, users } = reader.tables
  return reader
    .select(tokenColumns(reader))
    .from(tokens)
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .where(eq(tokens.trustId, trustId))
}

/** The token of a trust for which a secret of minutes was issued. */
export interface TokenOfTrust extends Token {
  project: { id: number; key: string; archivedAt: number | null }
  trust: Id<'tru'>
}

/** By the hash of a secret of minutes; it expires with that, and is in any state. */
export async function findExchangedToken(reader: Reader, hash: Uint8Array): Promise<TokenOfTrust | undefined> {
  const { exchangedTokens: exchanged, tokens, users, trusts, projects } = reader.tables
  const [found] = await reader
    .select({
      ...tokenColumns(reader),
      expiresAt: exchanged.expiresAt,
      project: { id: projects.id, key: projects.key, archivedAt: projects.archivedAt },
      trust: trusts.uid,
    })
    .from(exchanged)
    .innerJoin(tokens, eq(tokens.id, exchanged.tokenId))
    .innerJoin(users, eq(users.id, tokens.createdBy))
    .innerJoin(trusts, eq(trusts.id, tokens.trustId))
    .innerJoin(projects, eq(projects.id, trusts.projectId))
    .where(eq(exchanged.hash, hash))
    .limit(1)
  return found
}

/** Whether it was inserted: an ID token gets one secret of each token. */
export async function insertExchangedToken(tx: Tx, row: Tables['exchangedTokens']['$inferInsert']): Promise<boolean> {
  const { exchangedTokens } = tx.tables
  const inserted = await tx
    .insert(exchangedTokens)
    .values(row)
    .onConflictDoNothing()
    .returning({ tokenId: exchangedTokens.tokenId })
  return inserted.length > 0
}

export async function deleteForgottenSecrets(tx: Tx, now: number): Promise<void> {
  const { exchangedTokens } = tx.tables
  await tx.delete(exchangedTokens).where(lt(exchangedTokens.forgottenAt, now))
}

async function findTokenWith(
  reader: Reader,
  column: 'id' | 'hash',
  value: number | Uint8Array,
): Promise<Token | undefined> {
  const [token] = await reader
    .prepared(`people.token-by-${column}`, (prepare) => {
      const { tokens, users } = prepare.tables
      return prepare
        .select(tokenColumns(prepare))
        .from(tokens)
        .innerJoin(users, eq(users.id, tokens.createdBy))
        .where(eq(tokens[column], sql.placeholder('value')))
        .limit(1)
    })
    .execute({ value })
  return token
}

interface NewToken {
  kind: TokenKind
  name: string
  hash: Uint8Array
  hint: string
  createdBy: number
  allowBills?: boolean
  scopes?: string[] | null
  networks?: string[] | null
  expiresAt?: number | null
  trustId?: number
  now: number
}

export async function insertToken(tx: Tx, { now, ...token }: NewToken): Promise<Token> {
  const { tokens } = tx.tables
  const [added] = await tx
    .insert(tokens)
    .values({ ...token, uid: newId('tok'), createdAt: now })
    .returning({ id: tokens.id })
  return (await findTokenById(tx, added!.id))!
}

export async function updateTokenRevoked(tx: Tx, id: number, revokedAt: number): Promise<void> {
  const { tokens } = tx.tables
  await tx.update(tokens).set({ revokedAt }).where(eq(tokens.id, id))
}

/** Never moves the time back: several servers and late flushes may write it. */
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

export async function updateTokenExpiry(tx: Tx, id: number, expiresAt: number): Promise<void> {
  const { tokens } = tx.tables
  await tx.update(tokens).set({ expiresAt }).where(eq(tokens.id, id))
}

/**
 * Revokes the tokens of a person, and removes what identifies the person or the secrets. Tokens of the organization keep
 * working, as when their creator is disabled.
 */
export async function retireTokensOf(tx: Tx, userId: number, revokedAt: number): Promise<void> {
  const { tokens } = tx.tables
  const own = await tx
    .select({ id: tokens.id })
    .from(tokens)
    .where(and(eq(tokens.createdBy, userId), ne(tokens.kind, 'org')))
  for (const { id } of own) {
    await tx
      .update(tokens)
      .set({
        name: 'erased',
        hint: '',
        networks: null,
        hash: crypto.getRandomValues(new Uint8Array(32)),
        revokedAt: sql`coalesce(${tokens.revokedAt}, ${revokedAt})`,
      })
      .where(eq(tokens.id, id))
  }
}
