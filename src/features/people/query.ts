/** What calls about people and tokens send beyond what a schema expresses; every fault is told. Pure. */
import { ROLES, TOKEN_KINDS } from '../../database/tables.ts'
import { type Fault, validationFailed } from '../../errors.ts'
import { parseMoment } from '../../lib/duration.ts'
import { type ListFormat, Query, type QueryTexts, readKeyPage } from '../../query.ts'
import type { NewToken } from './schema.ts'
import type { TokenFilter } from './store/tokens.ts'
import { USER_STATES, type UserFilter } from './store/users.ts'
import { TOKEN_STATES } from './token.ts'
import type { NewToken as TokenToMake } from './tokens.ts'

interface ListPage {
  limit: number
  /** The key behind which the page begins. */
  after: number | undefined
  format: ListFormat | undefined
}

export interface UserListQuery extends ListPage {
  filter: UserFilter
}

export interface TokenListQuery extends ListPage {
  filter: Omit<TokenFilter, 'ownerId'>
}

/** Throws 422 with every fault. */
export function readUserList(texts: QueryTexts): UserListQuery {
  const query = new Query(texts)
  const read: UserListQuery = {
    filter: {
      search: query.text('search'),
      roles: query.someOf('role', ROLES),
      state: query.oneOf('state', USER_STATES),
    },
    ...readListPage(query),
  }
  query.finish()
  return read
}

/** Throws 422 with every fault. */
export function readTokenList(texts: QueryTexts): TokenListQuery {
  const query = new Query(texts)
  const read: TokenListQuery = {
    filter: {
      users: query.list('user'),
      kinds: query.someOf('kind', TOKEN_KINDS),
      states: query.someOf('state', TOKEN_STATES),
    },
    ...readListPage(query),
  }
  query.finish()
  return read
}

function readListPage(query: Query): ListPage {
  return { limit: query.limit(), after: query.page(readKeyPage), format: query.format() }
}

/** Whether to sign out everywhere. Throws 422 for what is neither true nor false. */
export function readSignOut(texts: QueryTexts): { everywhere: boolean } {
  const query = new Query(texts)
  const everywhere = query.flag('everywhere') ?? false
  query.finish()
  return { everywhere }
}

/** Throws 422 with every fault of what the service is not told. */
export function readNewToken({ kind, name, expires_at, allow = [] }: NewToken): Omit<TokenToMake, 'user'> {
  const faults: Fault[] = []
  const expiresAt = typeof expires_at === 'string' ? parseMoment(expires_at) : undefined
  if (typeof expires_at === 'string' && expiresAt === undefined) {
    const message = 'must be a timestamp with its offset, such as 2027-01-01T08:00:00Z, or a date'
    faults.push({ pointer: '/expires_at', code: 'bad_format', message })
  }
  for (const [index, what] of allow.entries()) {
    if (what !== 'bills') faults.push({ pointer: `/allow/${index}`, code: 'not_allowed', message: 'must be bills' })
  }
  if (faults.length > 0) throw validationFailed(faults)
  return { kind, name, expiresAt, allowBills: allow.includes('bills') }
}
