/** A token on the command line. */
import type { TokenBody } from '../../features/people/schema.ts'

export type TokenKind = TokenBody['kind']
export const KINDS: TokenKind[] = ['svc', 'read', 'org']
export const KIND_NAMES: Record<TokenKind, string> = { svc: 'service', read: 'read', org: 'organization' }

export const TOKEN = 'id of the token (tok_…), see `tally tokens list`'

/** `tally_svc_3f9a…`: its beginning, which does not reveal it. */
export function hintText({ kind, hint }: Pick<TokenBody, 'kind' | 'hint'>): string {
  return `tally_${kind}_${hint}…`
}
