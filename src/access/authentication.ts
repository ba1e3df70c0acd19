import type { SessionCaller, TokenCaller } from './caller.ts'

type AnyTokenCaller = TokenCaller<'service'> | TokenCaller<'read'> | TokenCaller<'organization'> | TokenCaller<'api'>

type Known<Caller> = Caller | Promise<Caller>

/** Finds the caller for a credential. Returns no promise if the caller is cached in memory. */
export interface Authentication {
  /** Accepts the value of an Authorization header. Throws `unauthenticated`. */
  authenticate(authorization: string): Known<AnyTokenCaller>
  /** Accepts the secret of a session cookie. Throws `unauthenticated`. */
  authenticateSession(secret: string): Known<SessionCaller>
}
