/** Query parameters for people and tokens. Issues are reported under `/query/<name>`. Pure. */

import { ROLES, USER_STATES } from '../../schema/fields.ts'
import { queryReader } from '../../schema/query.ts'
import { TOKEN_SORTS, USER_SORTS } from './sorts.ts'
import { TOKEN_KINDS, TOKEN_STATES } from './tokens/token.ts'

export const readUserList = queryReader((query) => ({
  filter: {
    search: query.text('search'),
    roles: query.someOf('role', ROLES),
    state: query.oneOf('state', USER_STATES),
  },
  ...query.sortedListPage(USER_SORTS),
}))

export const readTokenList = queryReader((query) => ({
  filter: {
    users: query.list('user'),
    kinds: query.someOf('kind', TOKEN_KINDS),
    states: query.someOf('state', TOKEN_STATES),
  },
  ...query.sortedListPage(TOKEN_SORTS),
}))

/** Whether to sign out everywhere. */
export const readSignOut = queryReader((query) => ({
  everywhere: query.flag('everywhere') ?? false,
}))
