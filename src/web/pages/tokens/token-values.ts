/** The form values of a new token, and the API request made from them. */
import { addDays } from '../../format/moments.ts'
import type { TokenKind } from '../../server/tokens.ts'

export interface TokenValues {
  kind: TokenKind
  name: string
  /** A number of days, `never`, or `day` for the one that is chosen. */
  expiry: string
  expires_at: string | null
  allow_bills: boolean
}

export const EMPTY_TOKEN: TokenValues = { kind: 'svc', name: '', expiry: 'never', expires_at: null, allow_bills: false }

export function requestOf({ kind, name, expiry, expires_at, allow_bills }: TokenValues, today: string) {
  const day = expiry === 'day' ? expires_at : expiry === 'never' ? null : addDays(today, Number(expiry))
  return {
    kind,
    name: name.trim(),
    ...(day !== null && { expires_at: day }),
    ...(kind === 'svc' && allow_bills && { allow: ['bills' as const] }),
  }
}
