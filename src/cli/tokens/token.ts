/** A token on the command line. */
import type { TokenBody } from '../../features/people/schema.ts'
import type { Token } from '../../features/people/service.ts'
import { note, print, printJson } from '../terminal/print.ts'

export type TokenKind = TokenBody['kind']
export const KINDS: TokenKind[] = ['svc', 'read', 'org', 'api']
export const KIND_NAMES: Record<TokenKind, string> = { svc: 'service', read: 'read', org: 'organization', api: 'API' }

export const TOKEN = 'id of the token (tok_…), see `tally tokens list`'

/** `tally_svc_3f9a…`: its beginning, which does not reveal it. */
export function hintText({ kind, hint }: Pick<TokenBody, 'kind' | 'hint'>): string {
  return `tally_${kind}_${hint}…`
}

/** Prints a new token, with its secret. */
export async function printCreated(made: { token: Token; secret: string }, flags: { json?: boolean }): Promise<void> {
  const { createdTokenBody } = await import('../../features/people/schema.ts')
  const body = createdTokenBody(made)
  if (flags.json) return printJson(body)
  // The token alone goes to standard output, so that a shell's variable can take it.
  print(made.secret)
  const lifetime = body.expires_at === null ? 'does not expire' : `expires on ${body.expires_at}`
  note(
    `Created the ${KIND_NAMES[body.kind]} token '${body.name}' of ${body.user.name}, which ${lifetime}. Store it now: it is not shown again. Id: ${body.id}`,
  )
}
