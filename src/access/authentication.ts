import type { SessionCaller, TokenCaller } from './caller.ts'

type Known<Caller> = Caller | Promise<Caller>

/** Finds the caller behind a credential. No promise for one that is held in memory. */
export interface Authentication {
  /** For the value of an Authorization header. Throws `unauthenticated`. */
  authenticate(authorization: string): Known<TokenCaller<'service'> | TokenCaller<'read'> | TokenCaller<'organization'>>
  /** For the secret of a session cookie. Throws `unauthenticated`. */
  authenticateSession(secret: string): Known<SessionCaller>
}
