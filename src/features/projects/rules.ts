/** What the fields of clients, projects and tickets may be, whether they come over HTTP or from the command line. Pure. */
import type { Fault } from '../../errors.ts'
import { NANO_DIGITS, type Nanos, parseDecimal } from '../../lib/money.ts'
import { faultsOfCurrency, faultsOfEmail, faultsOfName } from '../people/service.ts'
import type { ClientFields, ProjectFields, TicketFields } from './fields.ts'

/** A postal address of several lines, with room for how to pay. */
export const ADDRESS_LIMIT = 1_000

/** Trackers let titles have 255 (Jira) or 256 (GitHub) characters; these come from there. */
export const TITLE_LIMIT = 300

/** As many as anybody has met, and few enough that a project's page shows them. */
export const ALIASES_LIMIT = 200

/** More people than this lead nothing together. */
export const LEADS_LIMIT = 100

/** A percentage has four decimals at most, so that it is whole in parts per million. */
export const MARKUP_DIGITS = 4

/** Percent: free of charge, and a hundredfold. */
export const MARKUP_MIN = -100
export const MARKUP_MAX = 10_000

/** Dollars. A thousand million: its nano-dollars stay within 64 bits with room to add up. */
export const BUDGET_LIMIT = 1_000_000_000

const RESERVED = /^(none|(cli|prj|tkt)_[0-9a-f]{32})$/i

/** Control characters but tabs and line breaks, which addresses have. */
const CONTROL_CHARACTER = /[^\P{Cc}\t\r\n]/u

/** Decimal text of percent in parts per million; undefined where it is none, too fine, or out of bounds. */
export function parseMarkup(percent: string): number | undefined {
  const ppm = parseDecimal(percent, MARKUP_DIGITS)
  // Twice as many digits tell whether the first four said it all.
  const finer = parseDecimal(percent, MARKUP_DIGITS * 2)
  if (ppm === undefined || finer === undefined || ppm * 10n ** BigInt(MARKUP_DIGITS) !== finer) return undefined
  const isWithin = ppm >= BigInt(MARKUP_MIN) * 10_000n && ppm <= BigInt(MARKUP_MAX) * 10_000n
  return isWithin ? Number(ppm) : undefined
}

/** Decimal text of dollars; undefined where it is none, or out of bounds. */
export function parseBudget(dollars: string): Nanos | undefined {
  const nanos = parseDecimal(dollars, NANO_DIGITS)
  const isWithin = nanos !== undefined && nanos >= 0n && nanos <= BigInt(BUDGET_LIMIT) * 1_000_000_000n
  return isWithin ? nanos : undefined
}

export const MARKUP_EXPECTED = `must be a percentage from ${MARKUP_MIN} to ${MARKUP_MAX} with at most ${MARKUP_DIGITS} decimals`
export const BUDGET_EXPECTED = `must be an amount in US dollars from 0 to ${BUDGET_LIMIT}`

function faultsOfText(text: string, pointer: string, limit: number): Fault[] {
  if (text === '') return [{ pointer, code: 'too_short', message: 'must not be empty; null clears it' }]
  if (text.length > limit) return [{ pointer, code: 'too_long', message: `must have at most ${limit} characters` }]
  if (CONTROL_CHARACTER.test(text) || !text.isWellFormed()) {
    return [{ pointer, code: 'bad_format', message: 'must not contain control characters' }]
  }
  return []
}

/** The faults of a field that was given and not cleared. */
function given<Value>(value: Value | null | undefined, faultsOf: (value: Value) => Fault[]): Fault[] {
  return value === undefined || value === null ? [] : faultsOf(value)
}

/** PostgreSQL knows no U+0000 and fails where it is asked for one: nothing is called so. */
export function isPossibleName(text: string): boolean {
  return !text.includes('\0')
}

/**
 * A text by which something is named. What looks like an id would only be found as one, and `none` says in filters and
 * on the command line that there is nothing.
 */
function faultsOfKey(text: string, pointer: string): Fault[] {
  const faults = faultsOfName(text, pointer)
  if (faults.length > 0 || !RESERVED.test(text)) return faults
  return [{ pointer, code: 'not_allowed', message: 'must be neither `none` nor look like an id' }]
}

export function faultsOfClient({ name, email, address, taxId, currency }: ClientFields): Fault[] {
  return [
    ...given(name, (text) => faultsOfKey(text, '/name')),
    ...given(email, (text) => faultsOfEmail(text, '/email')),
    ...given(address, (text) => faultsOfText(text, '/address', ADDRESS_LIMIT)),
    ...given(taxId, (text) => faultsOfName(text, '/tax_id')),
    ...given(currency, (text) => faultsOfCurrency(text, '/currency')),
  ]
}

export function faultsOfProject({ key, name, aliases, addAliases, leads }: ProjectFields): Fault[] {
  return [
    ...given(key, (text) => faultsOfKey(text, '/key')),
    ...given(name, (text) => faultsOfKey(text, '/name')),
    ...given(aliases, (texts) => texts.flatMap((text, index) => faultsOfKey(text, `/aliases/${index}`))),
    ...given(addAliases, (texts) => texts.flatMap((text, index) => faultsOfKey(text, `/add_aliases/${index}`))),
    ...given(aliases ?? addAliases, (texts) => tooMany(texts, '/aliases', ALIASES_LIMIT)),
    ...given(leads, (people) => tooMany(people, '/leads', LEADS_LIMIT)),
  ]
}

export function faultsOfTicket({ key, title }: TicketFields): Fault[] {
  return [
    ...given(key, (text) => faultsOfKey(text, '/key')),
    ...given(title, (text) => faultsOfText(text, '/title', TITLE_LIMIT)),
  ]
}

function tooMany(items: unknown[], pointer: string, limit: number): Fault[] {
  return items.length > limit ? [{ pointer, code: 'too_many', message: `may have at most ${limit}` }] : []
}
