/** Validation of clients, projects and tickets from HTTP and the command line. Pure. */
import type { Issue } from '../../errors.ts'
import {
  ADDRESS_LIMIT,
  issuesOfGiven as given,
  issuesOfCurrency,
  issuesOfEmail,
  issuesOfName,
  issuesOfText,
} from '../../fields.ts'
import { NANO_DIGITS, type Nanos, parseDecimal } from '../../lib/money.ts'
import type { ClientFields, ProjectFields, TicketFields } from './fields.ts'

export { ADDRESS_LIMIT, MARKUP_DIGITS, MARKUP_EXPECTED, MARKUP_MAX, MARKUP_MIN, parseMarkup } from '../../fields.ts'

/** Trackers let titles have 255 (Jira) or 256 (GitHub) characters; these come from there. */
export const TITLE_LIMIT = 300

/** As many as anybody has met, and few enough that a project's page shows them. */
export const ALIASES_LIMIT = 200

/** More people than this lead nothing together. */
export const LEADS_LIMIT = 100

/** Dollars. A thousand million: its nano-dollars stay within 64 bits with room to add up. */
export const BUDGET_LIMIT = 1_000_000_000

const RESERVED = /^(none|(cli|prj|tkt)_[0-9a-f]{32})$/i

/** Whether a text cannot name work: an id would only be found as one, and `none` says in filters that there is nothing. */
export function isReservedName(name: string): boolean {
  return RESERVED.test(name)
}

/** Decimal text of dollars; undefined where it is none, or out of bounds. */
export function parseBudget(dollars: string): Nanos | undefined {
  const nanos = parseDecimal(dollars, NANO_DIGITS)
  const isWithin = nanos !== undefined && nanos >= 0n && nanos <= BigInt(BUDGET_LIMIT) * 1_000_000_000n
  return isWithin ? nanos : undefined
}

export const BUDGET_EXPECTED = `must be an amount in US dollars from 0 to ${BUDGET_LIMIT}`

/** PostgreSQL knows no U+0000 and fails where it is asked for one: nothing is called so. */
export function isPossibleName(text: string): boolean {
  return !text.includes('\0')
}

/**
 * A text by which something is named. What looks like an id would only be found as one, and `none` says in filters and
 * on the command line that there is nothing.
 */
function issuesOfKey(text: string, pointer: string): Issue[] {
  const issues = issuesOfName(text, pointer)
  if (issues.length > 0 || !isReservedName(text)) return issues
  return [{ pointer, code: 'not_allowed', message: 'must not be `none` and must not look like an id' }]
}

/** The part of a ticket's key that may name a project: `ACME-42` → `ACME`, `acme/web#17` → `acme/web`. */
export function ticketPrefix(key: string): string | undefined {
  return /^(.+?)[-#]\d+$/.exec(key.trim())?.[1]
}

/**
 * Whether a name could be the prefix of a ticket's key, or a repository: one word. By such a name, unlike by one that is
 * written out, other people's reports may arrive whose tickets or projects nobody has met yet.
 */
export function isPossiblePrefix(name: string): boolean {
  return !/\s/u.test(name.trim())
}

export function issuesOfClient({ name, email, address, taxId, currency }: ClientFields): Issue[] {
  return [
    ...given(name, (text) => issuesOfKey(text, '/name')),
    ...given(email, (text) => issuesOfEmail(text, '/email')),
    ...given(address, (text) => issuesOfText(text, '/address', ADDRESS_LIMIT)),
    ...given(taxId, (text) => issuesOfName(text, '/tax_id')),
    ...given(currency, (text) => issuesOfCurrency(text, '/currency')),
  ]
}

export function issuesOfProject({ key, name, aliases, addAliases, leads }: ProjectFields): Issue[] {
  return [
    ...given(key, (text) => issuesOfKey(text, '/key')),
    ...given(name, (text) => issuesOfKey(text, '/name')),
    ...given(aliases, (texts) => texts.flatMap((text, index) => issuesOfKey(text, `/aliases/${index}`))),
    ...given(addAliases, (texts) => texts.flatMap((text, index) => issuesOfKey(text, `/add_aliases/${index}`))),
    ...given(aliases ?? addAliases, (texts) => tooMany(texts, '/aliases', ALIASES_LIMIT)),
    ...given(leads, (people) => tooMany(people, '/leads', LEADS_LIMIT)),
  ]
}

export function issuesOfTicket({ key, title }: TicketFields): Issue[] {
  return [
    ...given(key, (text) => issuesOfKey(text, '/key')),
    ...given(title, (text) => issuesOfText(text, '/title', TITLE_LIMIT)),
  ]
}

function tooMany(items: unknown[], pointer: string, limit: number): Issue[] {
  return items.length > limit ? [{ pointer, code: 'too_many', message: `must have at most ${limit}` }] : []
}
