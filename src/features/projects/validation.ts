/** Validation of clients, projects and tickets from HTTP and the command line. Pure. */
import type { Issue } from '../../errors.ts'
import { NANO_DIGITS, type Nanos, parseDecimal } from '../../lib/money.ts'
import {
  ADDRESS_LIMIT,
  issuesOfGiven as given,
  issuesOfCurrency,
  issuesOfEmail,
  issuesOfName,
  issuesOfText,
  MARKUP_DIGITS,
  parseMarkup,
} from '../../schema/fields.ts'
import type { ClientFields, ProjectFields, ResponsibleFields, TicketFields } from './fields.ts'

export {
  ADDRESS_LIMIT,
  MARKUP_DIGITS,
  MARKUP_EXPECTED,
  MARKUP_MAX,
  MARKUP_MIN,
  parseMarkup,
} from '../../schema/fields.ts'

/** Titles come from trackers, which allow 255 (Jira) or 256 (GitHub) characters. */
export const TITLE_LIMIT = 300

/** More than in any known use, and few enough to display on a project's page. */
export const ALIASES_LIMIT = 200

/** No project or client has more leads, or more approvers, than this. */
export const LEADS_LIMIT = 100

/** A project has a repository for each of its parts; a client of many small ones has many. */
export const REPOSITORIES_LIMIT = 200

/** The maximum length of a label's value. */
export const REPOSITORY_LIMIT = 256

/** In dollars. A billion: in nano-dollars this fits into 64 bits, with room for sums. */
export const BUDGET_LIMIT = 1_000_000_000

const RESERVED = /^(none|(cli|prj|tkt)_[0-9a-f]{32})$/i

/**
 * Whether a text can't be used as a name: an id is always looked up as an id, and `none` in filters matches objects
 * without a value.
 */
export function isReservedName(name: string): boolean {
  return RESERVED.test(name)
}

/** Parses dollars; undefined if the text is invalid or out of range. */
export function parseBudget(dollars: string): Nanos | undefined {
  const nanos = parseDecimal(dollars, NANO_DIGITS)
  const isWithin = nanos !== undefined && nanos >= 0n && nanos <= BigInt(BUDGET_LIMIT) * 1_000_000_000n
  return isWithin ? nanos : undefined
}

/** As on bills. */
export const TAX_NAME_LIMIT = 50

/** In percent of the subtotal. */
export const TAX_LIMIT = 100

/** Parses a percentage to parts per million; undefined if the text is invalid or out of range. */
export function parseTax(percent: string): number | undefined {
  const ppm = parseMarkup(percent)
  return ppm !== undefined && ppm >= 0 && ppm <= TAX_LIMIT * 10_000 ? ppm : undefined
}

export const TAX_EXPECTED = `must be a percentage from 0 to ${TAX_LIMIT} with at most ${MARKUP_DIGITS} decimals`

export const BUDGET_EXPECTED = `must be an amount in US dollars from 0 to ${BUDGET_LIMIT}`

/** PostgreSQL fails on U+0000, which no name contains. */
export function isPossibleName(text: string): boolean {
  return !text.includes('\0')
}

/**
 * Checks a name or key. An id would always be looked up as an id, and `none` in filters and on the command line matches
 * objects without a value.
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
 * Whether a name could be the prefix of a ticket's key, or a repository: a single word. By such a name, unlike by one
 * of several words, other people's reports may arrive with tickets or projects that do not exist yet.
 */
export function isPossiblePrefix(name: string): boolean {
  return !/\s/u.test(name.trim())
}

export function issuesOfClient({
  name,
  email,
  address,
  taxId,
  taxName,
  currency,
  leads,
  approvers,
}: ClientFields): Issue[] {
  return [
    ...given(name, (text) => issuesOfKey(text, '/name')),
    ...given(email, (text) => issuesOfEmail(text, '/email')),
    ...given(address, (text) => issuesOfText(text, '/address', ADDRESS_LIMIT)),
    ...given(taxId, (text) => issuesOfName(text, '/tax_id')),
    ...given(taxName, (text) => issuesOfText(text, '/tax_name', TAX_NAME_LIMIT)),
    ...given(currency, (text) => issuesOfCurrency(text, '/currency')),
    ...issuesOfPeople({ leads, approvers }),
  ]
}

export function issuesOfProject(fields: ProjectFields): Issue[] {
  const { key, name, aliases, addAliases, leads, approvers, repositories, addRepositories } = fields
  return [
    ...given(repositories, (texts) => issuesOfRepositories(texts, '/repositories')),
    ...given(addRepositories, (texts) => issuesOfRepositories(texts, '/add_repositories')),
    ...given(key, (text) => issuesOfKey(text, '/key')),
    ...given(name, (text) => issuesOfKey(text, '/name')),
    ...given(aliases, (texts) => texts.flatMap((text, index) => issuesOfKey(text, `/aliases/${index}`))),
    ...given(addAliases, (texts) => texts.flatMap((text, index) => issuesOfKey(text, `/add_aliases/${index}`))),
    ...given(aliases ?? addAliases, (texts) => tooMany(texts, '/aliases', ALIASES_LIMIT)),
    ...issuesOfPeople({ leads, approvers }),
  ]
}

function issuesOfRepositories(texts: string[], pointer: string): Issue[] {
  const each = texts.flatMap((text, index) => issuesOfText(text, `${pointer}/${index}`, REPOSITORY_LIMIT))
  return [...tooMany(texts, pointer, REPOSITORIES_LIMIT), ...each]
}

function issuesOfPeople({ leads, approvers }: ResponsibleFields): Issue[] {
  return [
    ...given(leads, (people) => tooMany(people, '/leads', LEADS_LIMIT)),
    ...given(approvers, (people) => tooMany(people, '/approvers', LEADS_LIMIT)),
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
