/** Validation rules for names, e-mail addresses, roles, passwords, time zones, currencies and markups. */

import { ROLES, type Role, STAFF_ROLES, seesEverything } from '../database/schema/values.ts'
import type { Issue } from '../errors.ts'
import { hasMoreCharacters } from '../lib/characters.ts'
import { counted } from '../lib/counted.ts'
import { parseExactDecimal } from '../lib/money.ts'
import { composeName, foldName } from '../lib/names.ts'
import { localeOf } from '../shared/locales.ts'

export { ROLES, STAFF_ROLES, seesEverything }

/** `active` people may sign in, and their tokens work. */
export const USER_STATES = ['active', 'disabled'] as const
export type UserState = (typeof USER_STATES)[number]

/** Maximum length of names. */
export const NAME_LIMIT = 200

/** RFC 5321, 4.5.3.1.3: a path of 256 octets less its angle brackets. */
const EMAIL_LIMIT = 254

/** Length is what makes a password hard to guess; composition rules only make it hard to remember (NIST SP 800-63B). */
export const PASSWORD_MIN = 10

/** Maximum length in characters, well above any passphrase; avoids hashing megabytes. */
export const PASSWORD_LIMIT = 1_000

/** Of what is chosen, before it is hashed. */
export const PASSWORD_LIMIT_BYTES = 1_024

/** Good enough to catch a slip. Only a delivered message proves an address. */
const EMAIL = /^[^\s@"(),:;<>[\]\\\p{Cc}]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u

const CONTROL_CHARACTER = /\p{Cc}/u

/** Control characters but tabs and line breaks, which addresses have. */
const CONTROL_CHARACTER_IN_LINES = /[^\P{Cc}\t\r\n]/u

/** Maximum length of multi-line text: postal addresses and payment instructions. */
export const ADDRESS_LIMIT = 1_000

/** What browsers and PDFs both show as it is. */
export const LOGO_TYPES = ['image/png', 'image/jpeg'] as const
export type LogoType = (typeof LOGO_TYPES)[number]

/** A percentage has four decimals at most, so that it is whole in parts per million. */
export const MARKUP_DIGITS = 4

/** Percent: free of charge, and a hundredfold. */
export const MARKUP_MIN = -100
export const MARKUP_MAX = 10_000

/** Addresses are compared without regard to case and outer space: nobody has two that differ in nothing else. */
export function foldEmail(email: string): string {
  return foldName(email)
}

export function issuesOfEmail(email: string, pointer: string): Issue[] {
  if (!hasMoreCharacters(email, EMAIL_LIMIT) && email.isWellFormed() && EMAIL.test(email)) return []
  return [{ pointer, code: 'bad_format', message: 'must be an e-mail address, such as ada@example.com' }]
}

/** For a name as it is given, or after `composeName`. */
export function issuesOfName(name: string, pointer: string): Issue[] {
  if (composeName(name) === '') return [{ pointer, code: 'too_short', message: 'must not be empty' }]
  if (hasMoreCharacters(name, NAME_LIMIT)) return [tooLong(pointer, NAME_LIMIT)]
  if (CONTROL_CHARACTER.test(name) || !name.isWellFormed()) {
    return [{ pointer, code: 'bad_format', message: 'must not contain control characters' }]
  }
  return []
}

export function issuesOfRole(role: Role, pointer: string): Issue[] {
  return ROLES.includes(role) ? [] : [{ pointer, code: 'not_allowed', message: `must be one of ${ROLES.join(', ')}` }]
}

/**
 * Aliases such as `US/Pacific` are taken too: they are in no list of `Intl`, but people have them in their settings.
 * Offsets such as `+01:00` are not: a zone knows when its clocks change.
 */
export function issuesOfTimeZone(timeZone: string, pointer: string): Issue[] {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    if (!/^[+-]/.test(timeZone)) return []
  } catch {
    // RangeError: said below, in our own words.
  }
  return [{ pointer, code: 'not_allowed', message: 'must be an IANA time zone, such as Europe/Berlin or UTC' }]
}

export const issuesOfLocale = (locale: string, pointer: string): Issue[] =>
  localeOf(locale) === undefined
    ? [{ pointer, code: 'not_allowed', message: 'must be the BCP 47 tag of a locale, such as de-CH or en-GB' }]
    : []

/** Listing them takes a tenth of a millisecond, and a billing run checks those of hundreds of bills. */
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

export function issuesOfCurrency(currency: string, pointer: string): Issue[] {
  if (CURRENCIES.has(currency)) return []
  return [{ pointer, code: 'not_allowed', message: 'must be an ISO 4217 currency code, such as EUR or USD' }]
}

/** Decimal text of percent in parts per million; undefined where it is none, too fine, or out of bounds. */
export function parseMarkup(percent: string): number | undefined {
  const ppm = parseExactDecimal(percent, MARKUP_DIGITS)
  if (ppm === undefined) return undefined
  const isWithin = ppm >= BigInt(MARKUP_MIN) * 10_000n && ppm <= BigInt(MARKUP_MAX) * 10_000n
  return isWithin ? Number(ppm) : undefined
}

export const MARKUP_EXPECTED = `must be a percentage from ${MARKUP_MIN} to ${MARKUP_MAX} with at most ${MARKUP_DIGITS} decimals`

/** For a text of several lines. */
export function issuesOfText(text: string, pointer: string, limit: number): Issue[] {
  if (text === '') return [{ pointer, code: 'too_short', message: 'must not be empty; use null to clear it' }]
  if (hasMoreCharacters(text, limit)) return [tooLong(pointer, limit)]
  if (CONTROL_CHARACTER_IN_LINES.test(text) || !text.isWellFormed()) {
    return [{ pointer, code: 'bad_format', message: 'must not contain control characters' }]
  }
  return []
}

function tooLong(pointer: string, limit: number): Issue {
  return { pointer, code: 'too_long', message: `must have at most ${counted(limit, 'character')}` }
}

/** The issues of a field that is present and not null. */
export function issuesOfGiven<Value>(value: Value | null | undefined, issuesOf: (value: Value) => Issue[]): Issue[] {
  return value === undefined || value === null ? [] : issuesOf(value)
}
