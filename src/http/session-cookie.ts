/**
 * The cookie that keeps a browser signed in. It is not readable by scripts, not sent with requests of other sites, and,
 * if people use Tally over https, never sent without TLS.
 */
import type { SessionCaller } from '../access/caller.ts'
import { SESSION_COOKIE } from './access.ts'

/** The cookie's name without TLS. It marks a browser in which someone has signed in, and stays after they sign out. */
const DEVICE_COOKIE = 'tally_device'

/** Long enough for people to come back; browsers keep no cookie much longer. */
const DEVICE_SECONDS = 365 * 86_400

/** A session and the secrets of its cookies. */
export interface BegunSession {
  secret: string
  device: string
  caller: SessionCaller
}

export interface SessionCookie {
  /** The secret in the request's cookie. */
  read(headers: Headers): string | undefined
  /** The secret of a browser in which someone has signed in before. */
  readDevice(headers: Headers): string | undefined
  /** The `Set-Cookie` headers for a new session: its own, and that of the browser. */
  begin(signedIn: BegunSession): string[]
  /** The `Set-Cookie` that makes the browser a known one. */
  know(device: string): string
  /** The `Set-Cookie` that removes the session's cookie. */
  end(): string
}

/** @param publicUrl the address that people use for Tally; only this shows whether TLS is used */
export function sessionCookie(publicUrl: string | undefined): SessionCookie {
  const secure = publicUrl?.startsWith('https://') ?? false
  // Browsers accept a cookie of this name only over TLS and only from this exact host.
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
