/** Parses a request for a token, with every issue that its schema cannot express. Pure. */
import { type Issue, validationFailed } from '../../../errors.ts'
import { parseMoment } from '../../../lib/duration.ts'
import type { NewToken as NewTokenBody } from '../schema.ts'
import type { NewToken } from './tokens.ts'

/**
 * A date is the first moment of that day in the time zone. Throws 422 with every issue that the service does not check: an
 * invalid expiry, an unknown permission.
 */
export function readNewToken(
  { kind, name, expires_at, allow = [], scopes, networks }: NewTokenBody,
  timeZone: string,
): Omit<NewToken, 'user'> {
  const issues: Issue[] = []
  const expiresAt = typeof expires_at === 'string' ? parseMoment(expires_at, timeZone) : undefined
  if (typeof expires_at === 'string' && expiresAt === undefined) {
    const message = 'must be a date, or a timestamp with a UTC offset, such as 2027-01-01T08:00:00Z'
    issues.push({ pointer: '/expires_at', code: 'bad_format', message })
  }
  for (const [index, what] of allow.entries()) {
    if (what !== 'bills') issues.push({ pointer: `/allow/${index}`, code: 'not_allowed', message: 'must be bills' })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return { kind, name, expiresAt, allowBills: allow.includes('bills'), scopes, networks }
}
