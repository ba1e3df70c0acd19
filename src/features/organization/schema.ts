/** API schema of the organization's settings, shared by validation, OpenAPI and the command line's `--json`. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { SAME_SESSION, UNKNOWN_PROJECTS, WEEKDAYS } from '../../database/schema/values.ts'
import { LOGO_TYPES } from '../../schema/fields.ts'
import { chosen, emailAddress, givenName, oneOf, orNull, SHOWN, strict } from '../../schema/types.ts'

/** Not empty, and something besides white space. */
const FILLED = { minLength: 1, pattern: '\\S' }

/** The retention periods: everybody can read them, because the data is theirs. */
const RETENTION = {
  retention_texts: months('summaries and labels of entries are removed', 1),
  retention_session_ids: months(
    'ids of sessions are replaced by hashes; a session that continues is still recognized',
    1,
  ),
  retention_history: months('the history of entries is removed', 12),
  retention_audit: months('records of the audit log are removed', 12),
  retention_events: months('events are removed', 1),
}

function months(what: string, least: number) {
  return orNull(
    Type.Integer({ description: `Months after which ${what}, ${least} to 120; null to keep them.`, examples: [24] }),
  )
}

/** Returned only to sessions of `billing` or `admin`. */
const forBilling = <T extends TSchema>(schema: T) => Type.Optional(schema)

const SAME_SESSION_MEANS =
  'How to handle a session that another person has already reported, if its id cannot be guessed: `hold` leaves it out of all sums until someone releases or discards it, `count` counts both.'

const telemetryByEmail = Type.Boolean({
  description:
    'Whether sessions that agents push with an organization token belong to the person whose e-mail address they contain. Because anyone with that token can send any address, such entries have `manager_by: email`.',
})

const leadRules = Type.Boolean({
  description:
    'Whether a rule that a lead proposes for a repository of their project takes effect without an admin, after all rules of admins. Off by default. Turning it off leaves the rules that leads have made in effect.',
})

const sheetRequiredFields = Type.Array(Type.String(), {
  description:
    'Up to three optional fields that entries on token sheets must have: `project`, `ticket`, `summary`, `provider`, `requests`, `reported_cost` or `label:<name>`. Entries that lack one cannot be added, and block submitting their sheet.',
  examples: [['ticket', 'label:team']],
})

const PUBLIC_URL_MEANS =
  'The address at which people and agents reach this server, which links in invitations, e-mails, webhooks and share links begin with, such as `https://tally.example.com`. The option `--public-url` (`TALLY_PUBLIC_URL`) of a server takes precedence.'

export const Settings = Type.Object(
  {
    name: Type.String({ description: 'Name of the organization, as shown on bills.' }),
    time_zone: Type.String({ description: 'IANA time zone for the boundaries of days and months.' }),
    week_start: oneOf(WEEKDAYS, 'First day of the weeks in reports and calendars.'),
    currency: Type.String({ description: 'ISO 4217 code of the default bill currency.' }),
    public_url: orNull(Type.String({ description: `${PUBLIC_URL_MEANS} Null if it is not set.` })),
    public_url_option: orNull(
      Type.String({ description: 'The public URL in effect, if an option of this server overrides `public_url`.' }),
    ),
    unknown_projects: oneOf(
      UNKNOWN_PROJECTS,
      'How to handle a project or ticket that a report names for the first time: `create` adds it, `hold` leaves the entry unattributed and keeps the name.',
    ),
    same_session: oneOf(SAME_SESSION, SAME_SESSION_MEANS),
    approval_required: Type.Boolean({ description: 'Whether only approved entries are billed.' }),
    api_tokens: Type.Boolean({
      description: 'Whether people can create API tokens, and existing ones work. Off by default.',
    }),
    share_links: Type.Boolean({
      description:
        'Whether people can create links that show a report or a bill to those without an account, and existing ones work. Off by default.',
    }),
    lead_rules: leadRules,
    telemetry_by_email: telemetryByEmail,
    ...RETENTION,
    sheet_required_fields: sheetRequiredFields,
    demo: Type.Boolean({ description: 'Whether the database contains demo data from `tally demo`.' }),
    email: forBilling(orNull(emailAddress({ description: 'Sender and reply address of bills.' }))),
    address: forBilling(orNull(Type.String({ description: 'Postal address, with line breaks.' }))),
    tax_id: forBilling(orNull(Type.String({ description: 'VAT number or other tax id.' }))),
    markup: forBilling(
      orNull(
        Type.Number({
          description: 'Default markup in percent, for projects and clients that have none of their own.',
        }),
      ),
    ),
    due_days: forBilling(Type.Integer({ description: 'Default number of days until a bill is due.' })),
    reminder_days: forBilling(
      orNull(
        Type.Integer({
          description:
            'Days after the due date until clients are reminded of an overdue bill by e-mail, and between further reminders; null for no reminders.',
        }),
      ),
    ),
    bill_number_format: forBilling(
      Type.String({
        description:
          'Format of bill numbers. `{sequence:4}` is a four-digit sequence, which restarts every year or month if the format contains `{year}` or `{month}`.',
      }),
    ),
    bill_footer: forBilling(
      orNull(Type.String({ description: 'Text at the bottom of every bill, such as payment instructions.' })),
    ),
    logo: forBilling(orNull(oneOf(LOGO_TYPES, 'Type of the logo on bills; null if there is none.'))),
  },
  {
    ...strict,
    $id: 'Settings',
    description: 'Settings of the organization. Billing details are omitted for members.',
  },
)
export type Settings = Static<typeof Settings>

export const SettingsChange = Type.Partial(
  Type.Object({
    name: givenName('Name of the organization, as shown on bills.', ['Acme']),
    time_zone: Type.String({
      description: 'IANA time zone for the boundaries of days and months.',
      examples: ['Europe/Berlin'],
    }),
    week_start: chosen(WEEKDAYS, 'First day of the weeks in reports and calendars.'),
    currency: Type.String({ description: 'ISO 4217 code of the default bill currency.', examples: ['EUR'] }),
    public_url: orNull(
      Type.String({
        description: `${PUBLIC_URL_MEANS} With \`http://\` or \`https://\`, and nothing after the host and port; null clears it.`,
        [SHOWN]: FILLED,
        examples: ['https://tally.example.com'],
      }),
    ),
    unknown_projects: chosen(
      UNKNOWN_PROJECTS,
      'How to handle projects and tickets that a report names for the first time.',
    ),
    same_session: chosen(SAME_SESSION, SAME_SESSION_MEANS),
    approval_required: Type.Boolean({ description: 'Whether only approved entries are billed.' }),
    api_tokens: Type.Boolean({
      description: 'Whether people can create API tokens, and existing ones work. Off by default.',
    }),
    share_links: Type.Boolean({
      description:
        'Whether people can create links that show a report or a bill to those without an account, and existing ones work. Off by default.',
    }),
    lead_rules: leadRules,
    telemetry_by_email: telemetryByEmail,
    ...RETENTION,
    sheet_required_fields: sheetRequiredFields,
    email: orNull(emailAddress({ description: 'Sender and reply address of bills.' })),
    address: orNull(Type.String({ description: 'Postal address, with line breaks; null clears it.', [SHOWN]: FILLED })),
    tax_id: orNull(Type.String({ description: 'VAT number or other tax id; null clears it.', [SHOWN]: FILLED })),
    markup: orNull(
      Type.Number({
        description: 'Percent from -100 to 10000 with at most 4 decimals; null for none.',
        examples: [10],
      }),
    ),
    due_days: Type.Integer({ description: 'Days until a bill is due, 0 to 365.' }),
    reminder_days: orNull(
      Type.Integer({
        description:
          'Days after the due date until clients are reminded of an overdue bill by e-mail, and between further reminders; 1 to 90, or null for no reminders. Bills that are overdue already are included.',
      }),
    ),
    bill_number_format: Type.String({
      description: 'Must contain `{sequence}` or `{sequence:4}` once; may contain `{year}` and `{month}`.',
      examples: ['{year}-{sequence:4}'],
    }),
    bill_footer: orNull(
      Type.String({
        description: 'Text at the bottom of every bill, such as payment instructions; null clears it.',
        [SHOWN]: FILLED,
      }),
    ),
  }),
  { ...strict, $id: 'SettingsChange', description: 'Changes to the settings. Absent fields stay unchanged.' },
)
export type SettingsChange = Static<typeof SettingsChange>
