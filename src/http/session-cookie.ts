/**
 * The cookie by which a browser stays signed in. No script can read it, no other site's request carries it, and where
 * people reach Tally by https it is never sent without TLS.
 */
import type { SignedIn } from '../features/people/service.ts'
import { SESSION_COOKIE } from './access.ts'

export interface SessionCookie {
  /** The secret that the request's cookie holds. */
  read(headers: Headers): string | undefined
  /** The `Set-Cookie` of a session that has just begun. */
  begin(signedIn: SignedIn): string
  /** The `Set-Cookie` that makes the browser forget it. */
  end(): string
}

/** @param publicUrl the address under which people reach Tally: it alone tells whether there is TLS in front */
export function sessionCookie(publicUrl: string | undefined): SessionCookie {
  const secure = publicUrl?.startsWith('https://') ?? false
  // Browsers take a cookie of this name from this very host by TLS only, and from no neighbouring one.
  const name = secure ? `__Host-${SESSION_COOKIE}` : SESSION_COOKIE
  const write = (value: string, maxAgeSeconds: number) =>
    new Bun.Cookie(name, value, {
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure,
      maxAge: maxAgeSeconds,
    }).serialize()
  return {
    read(headers) {
      const sent = headers.get('cookie')
      return sent === null ? undefined : (new Bun.CookieMap(sent).get(name) ?? undefined)
    },
    begin: ({ secret, caller: { session } }) => write(secret, (session.expiresAt - session.signedInAt) / 1_000),
    end: () => write('', 0),
  }
}
