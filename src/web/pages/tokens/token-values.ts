/** The form values of a new token, and the API request made from them. */
import type { Scope } from '../../../shared/token-scopes.ts'
import { addDays } from '../../format/moments.ts'
import type { TokenKind } from '../../server/tokens.ts'

export interface TokenValues {
  kind: TokenKind
  name: string
  /** A number of days, `never`, or `day` for the one that is chosen. */
  expiry: string
  expires_at: string | null
  allow_bills: boolean
  /** Of an API token. */
  scopes: Scope[]
  /** Addresses and networks, of which there are none for any. */
  networks: string[]
}

export const EMPTY_TOKEN: TokenValues = {
  kind: 'svc',
  name: '',
  expiry: 'never',
  expires_at: null,
  allow_bills: false,
  scopes: [],
  networks: [],
}

export function requestOf(values: TokenValues, today: string) {
  const { kind, name, expiry, expires_at, allow_bills, scopes, networks } = values
  const day = expiry === 'day' ? expires_at : expiry === 'never' ? null : addDays(today, Number(expiry))
  return {
    kind,
    name: name.trim(),
    ...(day !== null && { expires_at: day }),
    ...(kind === 'svc' && allow_bills && { allow: ['bills' as const] }),
    ...(kind === 'api' && { scopes, ...(networks.length > 0 && { networks }) }),
  }
}
