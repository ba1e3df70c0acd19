/** Query parameters for people and tokens. Issues are reported under `/query/<name>`. Pure. */

import { ROLES, USER_STATES } from '../../schema/fields.ts'
import { Query, type QueryTexts, type SortedListPage } from '../../schema/query.ts'
import { TOKEN_SORTS, USER_SORTS } from './sorts.ts'
import type { TokenFilter } from './store/tokens.ts'
import type { UserFilter } from './store/users.ts'
import { TOKEN_KINDS, TOKEN_STATES } from './tokens/token.ts'

export interface UserListQuery extends SortedListPage<keyof typeof USER_SORTS> {
  filter: UserFilter
}

export interface TokenListQuery extends SortedListPage<keyof typeof TOKEN_SORTS> {
  filter: Omit<TokenFilter, 'ownerId'>
}

/** Throws 422 with every issue. */
export function readUserList(texts: QueryTexts): UserListQuery {
  const query = new Query(texts)
  const read: UserListQuery = {
    filter: {
      search: query.text('search'),
      roles: query.someOf('role', ROLES),
      state: query.oneOf('state', USER_STATES),
    },
    ...query.sortedListPage(USER_SORTS),
  }
  query.finish()
  return read
}

/** Throws 422 with every issue. */
export function readTokenList(texts: QueryTexts): TokenListQuery {
  const query = new Query(texts)
  const read: TokenListQuery = {
    filter: {
      users: query.list('user'),
      kinds: query.someOf('kind', TOKEN_KINDS),
      states: query.someOf('state', TOKEN_STATES),
    },
    ...query.sortedListPage(TOKEN_SORTS),
  }
  query.finish()
  return read
}

/** Whether to sign out everywhere. Throws 422 for anything but true or false. */
export function readSignOut(texts: QueryTexts): { everywhere: boolean } {
  const query = new Query(texts)
  const everywhere = query.flag('everywhere') ?? false
  query.finish()
  return { everywhere }
}
