/**
 * The settings of the organization, each defined once: its column, what requests and responses have, and what it may be.
 * The schemas, the bodies, the checks and the changes of settings follow (`schema.ts`, `service.ts`).
 */
import { type TSchema, Type } from '@sinclair/typebox'
import { SAME_SESSION, UNKNOWN_PROJECTS, WEEKDAYS } from '../../database/schema/values.ts'
import type { Issue } from '../../errors.ts'
import { numberText } from '../../lib/exact-json.ts'
import { decimalNumber } from '../../lib/money.ts'
import { composeName } from '../../lib/names.ts'
import { readPublicUrl } from '../../lib/public-url.ts'
import {
  ADDRESS_LIMIT,
  issuesOfCurrency,
  issuesOfEmail,
  issuesOfLocale,
  issuesOfName,
  issuesOfText,
  issuesOfTimeZone,
  MARKUP_DIGITS,
  MARKUP_EXPECTED,
  MARKUP_MAX,
  MARKUP_MIN,
  NAME_LIMIT,
  parseMarkup,
} from '../../schema/fields.ts'
import { array, chosen, emailAddress, flag, givenName, integer, orNull, SHOWN } from '../../schema/types.ts'
import { issueOfNumberFormat } from '../../shared/bill-numbers.ts'
import { COST_BASES } from '../../shared/cost-basis.ts'
import { LOCALE, localeOf } from '../../shared/locales.ts'
import { isRequirable, REQUIRABLE, REQUIRABLE_FIELDS, REQUIRED_LIMIT } from '../../shared/sheet-fields.ts'
import type { Organization } from './store.ts'

interface Setting<Column extends keyof Organization, Shape extends TSchema> {
  column: Column
  /** In requests and responses. What it may be beyond that is checked by `issues`, so that all issues come together. */
  schema: Shape
  /** Returned only to sessions of `billing` or `admin`. */
  isForBilling?: true
  /** What is wrong with a value that is stored otherwise. */
  issues?: (value: NonNullable<Organization[Column]>, pointer: string) => Issue[]
  /** A given value as it is stored. */
  stored?: (given: NonNullable<Organization[Column]>) => Organization[Column]
  /** Between the column and the body, where they differ. */
  fromBody?: (body: object) => Organization[Column]
  toBody?: (value: Organization[Column]) => number | null
}

const setting = <Column extends keyof Organization, Shape extends TSchema>(definition: Setting<Column, Shape>) =>
  definition

const billingSetting = <Column extends keyof Organization, Shape extends TSchema>(
  definition: Setting<Column, Shape>,
) => ({ ...definition, isForBilling: true as const })

/** Not empty, and something besides white space. */
const FILLED = { [SHOWN]: { minLength: 1, pattern: '\\S' } }

const text = (description: string, maxLength: number) =>
  orNull(Type.String({ description: `${description}; null for none.`, [SHOWN]: { ...FILLED[SHOWN], maxLength } }))

/** White space alone would print as nothing. */
const filled = (limit: number) => (value: string, pointer: string) =>
  issuesOfText(value.trim() && value, pointer, limit)

function choice<const Value extends string>(values: readonly Value[], description: string) {
  return {
    schema: chosen(values, description),
    issues: (value: Value, pointer: string): Issue[] =>
      values.includes(value) ? [] : [notAllowed(pointer, `must be one of ${values.join(', ')}`)],
  }
}

const notAllowed = (pointer: string, message: string): Issue => ({ pointer, code: 'not_allowed', message })

const wholeFrom =
  (from: number, to: number) =>
  (number: number, pointer: string): Issue[] =>
    Number.isInteger(number) && number >= from && number <= to
      ? []
      : [notAllowed(pointer, `must be a whole number from ${from} to ${to}`)]

/** Ten years. */
const RETENTION_LIMIT = 120

/** Months to keep something. Everyone can read them, because the data is theirs; the least is the database's, too. */
const retention = (what: string, least: number) => ({
  schema: orNull(
    integer(`Months after which ${what}, ${least} to ${RETENTION_LIMIT}; null to keep them.`, {
      [SHOWN]: { minimum: least, maximum: RETENTION_LIMIT },
      examples: [24],
    }),
  ),
  issues: wholeFrom(least, RETENTION_LIMIT),
})

/** No one waits longer to be paid: a due date more than a year ahead is a mistake. */
const DUE_DAYS_LIMIT = 365

/** A quarter: reminders that are further apart are calls. */
const REMINDER_DAYS_LIMIT = 90

/** The space on a page below the lines of a bill. */
const FOOTER_LIMIT = 1_000

export const SETTINGS = {
  name: setting({
    column: 'name',
    schema: givenName('Name of the organization, as shown on bills.', ['Acme']),
    stored: composeName,
    issues: issuesOfName,
  }),
  time_zone: setting({
    column: 'timeZone',
    schema: Type.String({
      description: 'IANA time zone for the boundaries of days and months.',
      examples: ['Europe/Berlin'],
    }),
    issues: issuesOfTimeZone,
  }),
  week_start: setting({ column: 'weekStart', ...choice(WEEKDAYS, 'First day of the weeks in reports and calendars.') }),
  locale: setting({
    column: 'locale',
    schema: orNull(
      Type.String({
        description:
          'BCP 47 tag of the locale that decides how dates and numbers are written, such as `de-CH`: on bills sent from now on, in e-mails and shared reports, and on the pages of people who have not chosen another. Texts stay English. Null for ISO 8601 days and English numbers there, and for the locale of the browser on pages.',
        examples: ['de-CH'],
        [SHOWN]: { pattern: LOCALE },
      }),
    ),
    stored: (given) => localeOf(given) ?? given,
    issues: issuesOfLocale,
  }),
  currency: setting({
    column: 'currency',
    schema: Type.String({ description: 'ISO 4217 code of the default bill currency.', examples: ['EUR'] }),
    issues: issuesOfCurrency,
  }),
  public_url: setting({
    column: 'publicUrl',
    schema: orNull(
      Type.String({
        description:
          'The address at which people and agents reach this server, which links in invitations, e-mails, webhooks and share links begin with, such as `https://tally.example.com`: `http://` or `https://`, a host and perhaps a port. The option `--public-url` (`TALLY_PUBLIC_URL`) of a server takes precedence. Null if it is not set.',
        examples: ['https://tally.example.com'],
        ...FILLED,
      }),
    ),
    stored: storedUrl,
    issues: issuesOfPublicUrl,
  }),
  unknown_projects: setting({
    column: 'unknownProjects',
    ...choice(
      UNKNOWN_PROJECTS,
      'How to handle a project or ticket that a report names for the first time: `create` adds it, `hold` leaves the entry unattributed and keeps the name.',
    ),
  }),
  same_session: setting({
    column: 'sameSession',
    ...choice(
      SAME_SESSION,
      'How to handle a session that another person has already reported, if its id cannot be guessed: `hold` leaves it out of all sums until someone releases or discards it, `count` counts both.',
    ),
  }),
  approval_required: setting({
    column: 'approvalRequired',
    schema: flag('Whether only approved entries are billed.'),
  }),
  api_tokens: setting({
    column: 'apiTokens',
    schema: flag('Whether people can create API tokens, and existing ones work. Off by default.'),
  }),
  share_links: setting({
    column: 'shareLinks',
    schema: flag(
      'Whether people can create links that show a report or a bill to those without an account, and existing ones work. Off by default.',
    ),
  }),
  lead_rules: setting({
    column: 'leadRules',
    schema: flag(
      'Whether a rule that a lead proposes for a repository of their project takes effect without an admin, after all rules of admins. Off by default. Turning it off leaves the rules that leads have made in effect.',
    ),
  }),
  telemetry_by_email: setting({
    column: 'telemetryByEmail',
    schema: flag(
      'Whether sessions that agents push with an organization token belong to the person whose e-mail address they contain. Because anyone with that token can send any address, such entries have `manager_by: email`.',
    ),
  }),
  cost_basis: setting({
    column: 'costBasis',
    ...choice(
      COST_BASES,
      'The basis by which pages, the command line and e-mails count cost unless another is chosen: `cost` (the reported cost, or else the list value), `list`, `marginal` (what was paid in addition to the fees of plans) or `allocated` (with the share of fees, for those who may see fees; others get `cost`). The API counts by `cost` unless a request names another.',
    ),
  }),
  leads_see_fees: setting({
    column: 'leadsSeeFees',
    schema: flag(
      'Whether leads see the allocated cost of the entries that they can see, from which the fees of plans can be inferred. Plans and their terms stay visible to billing and admins only. Off by default.',
    ),
  }),
  retention_texts: setting({
    column: 'retentionTexts',
    ...retention('summaries and labels of entries are removed', 1),
  }),
  retention_session_ids: setting({
    column: 'retentionSessionIds',
    ...retention('ids of sessions are replaced by hashes; a session that continues is still recognized', 1),
  }),
  retention_history: setting({
    column: 'retentionHistory',
    ...retention('the history of entries is removed', 12),
  }),
  retention_audit: setting({
    column: 'retentionAudit',
    ...retention('records of the audit log are removed', 12),
  }),
  retention_events: setting({ column: 'retentionEvents', ...retention('events are removed', 1) }),
  sheet_required_fields: setting({
    column: 'sheetRequiredFields',
    schema: array(
      'Up to three optional fields that entries on token sheets must have: `project`, `ticket`, `summary`, `provider`, `requests`, `reported_cost` or `label:<name>`. Entries that lack one cannot be added, and block submitting their sheet.',
      Type.String({ [SHOWN]: { pattern: REQUIRABLE } }),
      { examples: [['ticket', 'label:team']], [SHOWN]: { maxItems: REQUIRED_LIMIT, uniqueItems: true } },
    ),
    issues: issuesOfRequiredFields,
  }),
  email: billingSetting({
    column: 'email',
    schema: orNull(emailAddress({ description: 'Sender and reply address of bills.' })),
    issues: issuesOfEmail,
  }),
  address: billingSetting({
    column: 'address',
    schema: text('Postal address, with line breaks', ADDRESS_LIMIT),
    issues: filled(ADDRESS_LIMIT),
  }),
  tax_id: billingSetting({
    column: 'taxId',
    schema: text('VAT number or other tax id', NAME_LIMIT),
    issues: issuesOfName,
  }),
  markup: billingSetting({
    column: 'markupPpm',
    schema: orNull(
      Type.Number({
        description:
          'Default markup in percent, for projects and clients that have none of their own: from -100 to 10000 with at most 4 decimals; null for none.',
        [SHOWN]: { minimum: MARKUP_MIN, maximum: MARKUP_MAX },
        examples: [10],
      }),
    ),
    fromBody: (body) => markupOf(body as { markup: number | null }),
    toBody: (ppm) => (ppm === null ? null : decimalNumber(BigInt(ppm), MARKUP_DIGITS)),
    issues: (ppm, pointer) => (Number.isNaN(ppm) ? [notAllowed(pointer, MARKUP_EXPECTED)] : []),
  }),
  due_days: billingSetting({
    column: 'dueDays',
    schema: integer(`Default number of days until a bill is due, 0 to ${DUE_DAYS_LIMIT}.`, {
      [SHOWN]: { minimum: 0, maximum: DUE_DAYS_LIMIT },
    }),
    issues: wholeFrom(0, DUE_DAYS_LIMIT),
  }),
  reminder_days: billingSetting({
    column: 'reminderDays',
    schema: orNull(
      integer(
        `Days after the due date until clients are reminded of an overdue bill by e-mail, and between further reminders: 1 to ${REMINDER_DAYS_LIMIT}, or null for no reminders. Bills that are overdue already are included.`,
        { [SHOWN]: { minimum: 1, maximum: REMINDER_DAYS_LIMIT } },
      ),
    ),
    issues: wholeFrom(1, REMINDER_DAYS_LIMIT),
  }),
  bill_number_format: billingSetting({
    column: 'billNumberFormat',
    schema: Type.String({
      description:
        'Format of bill numbers. Must contain `{sequence}`, or `{sequence:4}` for four digits, once; the sequence restarts every year or month if the format contains `{year}` or `{month}`.',
      examples: ['{year}-{sequence:4}'],
    }),
    issues(format, pointer) {
      const message = issueOfNumberFormat(format)
      return message === undefined ? [] : [{ pointer, code: 'bad_format', message }]
    },
  }),
  bill_footer: billingSetting({
    column: 'billFooter',
    schema: text('Text at the bottom of every bill, such as payment instructions', FOOTER_LIMIT),
    issues: filled(FOOTER_LIMIT),
  }),
}

/** An invalid URL stays as it is given, for its issue. */
export function storedUrl(given: string): string {
  const read = readPublicUrl(given.trim())
  return 'url' in read ? read.url : given
}

export function issuesOfPublicUrl(url: string, pointer: string): Issue[] {
  const read = readPublicUrl(url.trim())
  return 'url' in read ? [] : [{ pointer, code: 'bad_format', message: read.issue }]
}

/** Parts per million, by the digits that were sent; NaN for a number that is not a markup, for its issue. */
function markupOf(body: { markup: number | null }): number | null {
  return body.markup === null ? null : (parseMarkup(numberText(body as { markup: number }, 'markup')) ?? Number.NaN)
}

function issuesOfRequiredFields(fields: readonly string[], pointer: string): Issue[] {
  if (fields.length > REQUIRED_LIMIT) {
    return [{ pointer, code: 'too_many', message: `must name at most ${REQUIRED_LIMIT} fields` }]
  }
  return fields.flatMap((field, index) => {
    const at = `${pointer}/${index}`
    if (fields.indexOf(field) < index) return [notAllowed(at, 'is a duplicate')]
    if (isRequirable(field)) return []
    return [notAllowed(at, `must be one of ${Object.keys(REQUIRABLE_FIELDS).join(', ')} or label:<name>`)]
  })
}

type SettingName = keyof typeof SETTINGS
type SettingColumn = (typeof SETTINGS)[SettingName]['column']

/** Absent fields stay unchanged; null clears a field. */
export type Change = { [Column in SettingColumn]?: Organization[Column] | undefined }

const LIST = Object.entries(SETTINGS) as [SettingName, Setting<SettingColumn, TSchema>][]

/** The settings of a body by their columns; a body's absent fields are absent. */
export function changeOf(body: object): Change {
  const given = LIST.filter(([name]) => Object.hasOwn(body, name))
  return Object.fromEntries(
    given.map(([name, { column, fromBody }]) => [column, fromBody ? fromBody(body) : body[name as never]]),
  )
}

/** The settings under their API names. */
export const bodyOf = (organization: Organization, { forBilling }: { forBilling: boolean }) =>
  Object.fromEntries(
    LIST.filter(([, { isForBilling }]) => forBilling || !isForBilling).map(([name, { column, toBody }]) => [
      name,
      toBody ? toBody(organization[column]) : organization[column],
    ]),
  )

/** A change as it is stored, with its issues. */
export function readChange(given: Change): { change: Change; issues: Issue[] } {
  const present = LIST.filter(([, { column }]) => given[column] !== undefined)
  const change = Object.fromEntries(
    present.map(([, { column, stored }]) => {
      const value = given[column]
      return [column, value != null && stored ? stored(value) : value]
    }),
  ) as Change
  const issues = present.flatMap(([name, { column, issues: issuesOf }]) => {
    const value = change[column]
    return value != null && issuesOf ? issuesOf(value, `/${name}`) : []
  })
  return { change, issues }
}
