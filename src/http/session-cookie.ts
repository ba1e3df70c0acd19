/**
 * The cookie that keeps a browser signed in. It is not readable by scripts, not sent with requests of other sites, and,
 * where it was set over TLS, never sent without.
 */
import type { SessionCaller } from '../access/caller.ts'
import { SESSION_COOKIE } from './access.ts'
import { isForTls, isHttps } from './tls.ts'

/** The cookie's name without TLS. It marks a browser in which someone has signed in, and stays after they sign out. */
const DEVICE_COOKIE = 'tally_device'

/** Long enough for people to come back; browsers keep no cookie much longer. */
const DEVICE_SECONDS = 365 * 86_400

/** A session and the secrets of its cookies. */
export interface StartedSession {
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
  begin(headers: Headers, session: StartedSession): string[]
  /** The `Set-Cookie` that makes the browser a known one. */
  know(headers: Headers, device: string): string
  /** The `Set-Cookie` headers that remove the session's cookie. */
  end(headers: Headers): string[]
}

/** Browsers accept a cookie of this name only over TLS and only from this exact host. */
const secureNameOf = (name: string) => `__Host-${name}`

/** @param publicUrlOption of the server, not the setting: see {@link isForTls} */
export function sessionCookie(publicUrlOption: string | undefined): SessionCookie {
  /** The names under which a cookie may be sent. The first counts: without TLS, browsers send no other. */
  const namesOf = (name: string) => (isHttps(publicUrlOption) ? [secureNameOf(name)] : [secureNameOf(name), name])
  const sentIn = (headers: Headers, name: string) => {
    const sent = headers.get('cookie')
    if (sent === null) return []
    const cookies = new Bun.CookieMap(sent)
    return namesOf(name).flatMap((each) => {
      const value = cookies.get(each)
      return value ? [{ name: each, value }] : []
    })
  }
  const isPlain = ({ name }: { name: string }) => name === SESSION_COOKIE
  const write = (name: string, value: string, { secure, maxAge }: { secure: boolean; maxAge: number }) =>
    new Bun.Cookie(name, value, { path: '/', httpOnly: true, sameSite: 'strict', secure, maxAge }).serialize()
  const set = (headers: Headers, name: string, value: string, maxAge: number) => {
    const secure = isForTls(headers, publicUrlOption)
    return write(secure ? secureNameOf(name) : name, value, { secure, maxAge })
  }
  const remove = (name: string) => write(name, '', { secure: name.startsWith('__Host-'), maxAge: 0 })
  const know = (headers: Headers, device: string) => set(headers, DEVICE_COOKIE, device, DEVICE_SECONDS)
  return {
    read: (headers) => sentIn(headers, SESSION_COOKIE)[0]?.value,
    readDevice: (headers) => sentIn(headers, DEVICE_COOKIE)[0]?.value,
    begin(headers, { secret, device, caller: { session } }) {
      const seconds = (session.expiresAt - session.signedInAt) / 1_000
      const cookies = [set(headers, SESSION_COOKIE, secret, seconds), know(headers, device)]
      // One that was set without TLS would outlive the session that replaces it.
      const outlives = isForTls(headers, publicUrlOption) && sentIn(headers, SESSION_COOKIE).some(isPlain)
      return outlives ? [...cookies, remove(SESSION_COOKIE)] : cookies
    },
    know,
    end: (headers) => sentIn(headers, SESSION_COOKIE).map(({ name }) => remove(name)),
  }
}
