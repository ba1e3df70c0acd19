/** The public URL: the address at which people and agents reach the server. Pure. */
import { hasMoreCharacters } from './characters.ts'

/** The longest name of a host has 253 characters (RFC 1035, 2.3.4); a scheme and a port are around it. */
const LIMIT = 300

/**
 * A public URL as it is stored and links begin with it, without a slash at its end; or what it must be, to follow the
 * name of the field. No message repeats the text, which may contain a password.
 */
export function readPublicUrl(text: string): { url: string } | { issue: string } {
  if (hasMoreCharacters(text, LIMIT)) return { issue: `must have at most ${LIMIT} characters` }
  const url = /^https?:\/\/\S+$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url) return { issue: 'must be a URL that starts with http:// or https://, such as https://tally.example.com' }
  if (url.username || url.password) return { issue: 'must not contain a user or password' }
  if (!/^\/*$/.test(url.pathname) || /[?#]/.test(text)) {
    return { issue: 'must not contain anything after the host and port: Tally can’t run below a path' }
  }
  return { url: url.origin }
}
