/**
 * The cookie by which a browser stays signed in. No script can read it, no other site's request carries it, and where
 * people reach Tally by https it is never sent without TLS.
 */
import type { SessionCaller } from '../access/caller.ts'
import { SESSION_COOKIE } from './access.ts'

/** Its name without TLS: of a browser in which somebody signed in, also after they signed out. */
const DEVICE_COOKIE = 'tally_device'

/** As long as people come back; browsers keep none for much longer. */
const DEVICE_SECONDS = 365 * 86_400

/** A session and the secrets of its cookies. */
export interface BegunSession {
  secret: string
  device: string
  caller: SessionCaller
}

export interface SessionCookie {
  /** The secret that the request's cookie holds. */
  read(headers: Headers): string | undefined
  /** What the cookie of a browser holds in which somebody signed in before. */
  readDevice(headers: Headers): string | undefined
  /** The `Set-Cookie` headers of a session that has just begun: its own, and that of the browser. */
  begin(signedIn: BegunSession): string[]
  /** The `Set-Cookie` of a browser that is known from now on. */
  know(device: string): string
  /** The `Set-Cookie` that makes the browser forget it. */
  end(): string
}

/** @param publicUrl the address under which people reach Tally: it alone tells whether there is TLS in front */
export function sessionCookie(publicUrl: string | undefined): SessionCookie {
  const secure = publicUrl?.startsWith('https://') ?? false
  // Browsers take a cookie of this name from this very host by TLS only, and from no neighbouring one.
  const nameOf = (name: string) => (secure ? `__Host-${name}` : name)
  const read = (headers: Headers, name: string) => {
    const sent = headers.get('cookie')
    return sent === null ? undefined : (new Bun.CookieMap(sent).get(nameOf(name)) ?? undefined)
  }
  const write = (name: string, value: string, maxAgeSeconds: number) =>
    new Bun.Cookie(nameOf(name), value, {
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure,
      maxAge: maxAgeSeconds,
    }).serialize()
  const know = (device: string) => write(DEVICE_COOKIE, device, DEVICE_SECONDS)
  return {
    read: (headers) => read(headers, SESSION_COOKIE),
    readDevice: (headers) => read(headers, DEVICE_COOKIE),
    begin: ({ secret, device, caller: { session } }) => [
      write(SESSION_COOKIE, secret, (session.expiresAt - session.signedInAt) / 1_000),
      know(device),
    ],
    know,
    end: () => write(SESSION_COOKIE, '', 0),
  }
}
