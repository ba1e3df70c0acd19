/** API schema of clients, projects and tickets, shared by validation and OpenAPI. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  array,
  component,
  emailAddress,
  flag,
  integer,
  listOf,
  moment,
  nameOf,
  number,
  object,
  orNull,
  text,
} from '../../schema/types.ts'
import {
  ADDRESS_LIMIT,
  ALIASES_LIMIT,
  BUDGET_LIMIT,
  LEADS_LIMIT,
  MARKUP_DIGITS,
  MARKUP_MAX,
  MARKUP_MIN,
  REPOSITORIES_LIMIT,
  REPOSITORY_LIMIT,
  TAX_LIMIT,
  TAX_NAME_LIMIT,
  TITLE_LIMIT,
} from './validation.ts'

/** A field that null clears. The errors of its union would be unclear, so it has a message of its own. */
const clearable = <T extends TSchema>(schema: T, errorMessage: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description: schema.description ?? '', errorMessage }))

const percent = (description: string) =>
  number(`${description} Percent on top of costs, with at most ${MARKUP_DIGITS} decimals.`, {
    minimum: MARKUP_MIN,
    maximum: MARKUP_MAX,
  })

const name = (description: string) => text(description)

/** A field that is omitted for viewers who may not see it; null would look like an empty field. */
const seenBy = <T extends TSchema>(who: string, schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description: `${schema.description} Visible only to ${who}.` }))

const MONEY_PEOPLE = 'billing and admin'
const CLIENT_LEADS = 'billing, admin and leads of the client'
const LEADING_PEOPLE = 'billing, admin and leads of the project'

const peopleSeen = (who: string, description: string) =>
  Type.Optional(array(`${description} Visible only to ${who}.`, object({ id: Type.String(), name: Type.String() })))

const peopleGiven = (description: string) =>
  Type.Optional(
    array(`People who ${description}. The complete list.`, nameOf('Id (usr_…) or e-mail address.'), {
      maxItems: LEADS_LIMIT,
    }),
  )

const APPROVE = 'can approve the entries and sheets of the project, and see those that they can decide about'

const ARCHIVED_AT = orNull(moment('When it was archived and hidden from lists; null if it is active.'))

const REMINDERS = 'Whether it gets reminders of overdue bills by e-mail, if the setting `reminder_days` is on.'

const TAX =
  'Tax that new bills suggest, in percent; 0 for no tax, null for that of its last bill. At most 4 decimals. Bills that the API sends have the tax of their request.'
const TAX_NAME = 'Name of the tax, such as VAT.'

export const ClientBody = component('Client', {
  id: text('Id of the client (cli_…).'),
  name: name('Unique, ignoring case.'),
  email: seenBy(MONEY_PEOPLE, emailAddress({ description: 'E-mail address for bills.' })),
  address: seenBy(MONEY_PEOPLE, text('Postal address, as shown on bills, with line breaks.')),
  tax_id: seenBy(MONEY_PEOPLE, text('VAT number or other tax id, as shown on bills.')),
  currency: seenBy(MONEY_PEOPLE, text("Currency of its bills; null for the organization's default.")),
  markup: seenBy(MONEY_PEOPLE, percent("Default markup of its projects; null for the organization's default.")),
  reminders: Type.Optional(flag(`${REMINDERS} Omitted for those who do not see bills.`)),
  tax_percent: seenBy(MONEY_PEOPLE, number(TAX)),
  tax_name: seenBy(MONEY_PEOPLE, text(TAX_NAME)),
  leads: peopleSeen(CLIENT_LEADS, 'People who lead all of its projects, also future ones.'),
  approvers: peopleSeen(CLIENT_LEADS, 'People who can approve the entries of all of its projects.'),
  archived_at: ARCHIVED_AT,
  created_at: moment('When it was added.'),
})
export type ClientBody = Static<typeof ClientBody>

const clientFields = {
  tax_percent: clearable(
    number(TAX, { minimum: 0, maximum: TAX_LIMIT }),
    `must be a percentage from 0 to ${TAX_LIMIT}, or null for that of the last bill`,
  ),
  tax_name: clearable(
    text(TAX_NAME, { minLength: 1, maxLength: TAX_NAME_LIMIT }),
    `must be a string of 1 to ${TAX_NAME_LIMIT} characters, or null`,
  ),
  reminders: Type.Optional(flag(`${REMINDERS} Default: true.`)),
  email: clearable(
    emailAddress({ description: 'E-mail address for bills.', maxLength: 254 }),
    'must be an e-mail address, or null',
  ),
  address: clearable(
    text('Postal address, with line breaks.', { minLength: 1, maxLength: ADDRESS_LIMIT }),
    `must be a string of 1 to ${ADDRESS_LIMIT} characters, or null`,
  ),
  tax_id: clearable(nameOf('VAT number or other tax id.'), 'must be a string of 1 to 200 characters, or null'),
  currency: clearable(
    text("Currency of its bills, such as EUR (ISO 4217); null for the organization's default.", {
      minLength: 3,
      maxLength: 3,
    }),
    "must be an ISO 4217 currency code, such as EUR, or null for the organization's default",
  ),
  markup: clearable(
    percent("Markup of its projects without their own; null for the organization's default."),
    `must be a percentage from ${MARKUP_MIN} to ${MARKUP_MAX}, or null for the organization’s default`,
  ),
  leads: peopleGiven('lead all of its projects, also future ones'),
  approvers: peopleGiven('can approve the entries and sheets of all of its projects'),
}

const CLIENT_NAME = nameOf('Name, unique ignoring case.', ['Acme Ltd'])

export const NewClient = object({ name: CLIENT_NAME, ...clientFields })
export type NewClient = Static<typeof NewClient>

export const ClientChange = object({ name: Type.Optional(CLIENT_NAME), ...clientFields })
export type ClientChange = Static<typeof ClientChange>

const CLIENT_REFERENCE = { id: Type.String(), name: Type.String() }
const PROJECT_REFERENCE = { id: Type.String(), key: Type.String(), name: Type.String() }

const clientOf = (description: string) => orNull(object(description, CLIENT_REFERENCE))
const projectOf = (description: string) => orNull(object(description, PROJECT_REFERENCE))

const REPOSITORIES = 'Values of the label `repository` whose unattributed entries leads of the project see and place.'

export const ProjectBody = component('Project', {
  id: text('Id of the project (prj_…).'),
  key: name('Short, unique key with which reports and tickets name the project.'),
  name: name('Display name.'),
  aliases: array('Additional names with which reports can name the project.', Type.String()),
  client: clientOf('The client that is billed; null if there is none.'),
  billable: seenBy(LEADING_PEOPLE, flag('Whether its entries are billed.')),
  markup: seenBy(MONEY_PEOPLE, percent("Null for the client's markup.")),
  budget: seenBy(LEADING_PEOPLE, number('Budget in US dollars.')),
  leads: peopleSeen(LEADING_PEOPLE, 'People who can see and approve all its entries.'),
  approvers: peopleSeen(LEADING_PEOPLE, `People who ${APPROVE}.`),
  client_leads: peopleSeen(LEADING_PEOPLE, 'Leads of its client, who lead the project, too.'),
  client_approvers: peopleSeen(LEADING_PEOPLE, 'Approvers of its client, who approve the entries of the project, too.'),
  repositories: Type.Optional(array(`${REPOSITORIES} Visible only to ${LEADING_PEOPLE}.`, Type.String())),
  archived_at: ARCHIVED_AT,
  merged_into: projectOf('The project it was merged into; null if it was not merged.'),
  created_at: moment('When it was added, or first named in a report.'),
})
export type ProjectBody = Static<typeof ProjectBody>

const projectFields = {
  aliases: Type.Optional(
    array(
      'Additional names that reports can use for the project. The complete list; a name refers to at most one project.',
      nameOf('A name that reports can use for the project.'),
      { maxItems: ALIASES_LIMIT },
    ),
  ),
  client: clearable(nameOf('Id (cli_…) or name of the client to bill.'), 'must be the id or name of a client, or null'),
  billable: Type.Optional(flag('Whether its entries are billed; true by default.')),
  markup: clearable(
    percent("Markup on costs; null for the client's."),
    `must be a percentage from ${MARKUP_MIN} to ${MARKUP_MAX}, or null for the client’s markup`,
  ),
  budget: clearable(
    number('Budget in US dollars.', { minimum: 0, maximum: BUDGET_LIMIT }),
    `must be a number of US dollars from 0 to ${BUDGET_LIMIT}, or null`,
  ),
  leads: peopleGiven('can see and approve all its entries'),
  approvers: peopleGiven(APPROVE),
  repositories: Type.Optional(
    array(
      `${REPOSITORIES} The complete list.`,
      Type.String({ minLength: 1, maxLength: REPOSITORY_LIMIT, examples: ['acme/web'] }),
      { maxItems: REPOSITORIES_LIMIT },
    ),
  ),
}

const PROJECT_KEY = nameOf('Short key, unique among the keys, names and aliases of all projects, ignoring case.', [
  'ACME',
])
const PROJECT_NAME = nameOf('Display name, also unique. Defaults to the key.', ['Acme web'])

export const NewProject = object({ key: PROJECT_KEY, name: Type.Optional(PROJECT_NAME), ...projectFields })
export type NewProject = Static<typeof NewProject>

export const ProjectChange = object({
  key: Type.Optional(PROJECT_KEY),
  name: Type.Optional(PROJECT_NAME),
  ...projectFields,
})
export type ProjectChange = Static<typeof ProjectChange>

export const Merge = object({
  into: nameOf('Id, key, name or alias of the target project.', ['ACME']),
  dry_run: Type.Optional(flag('Returns what would move, without changing anything.')),
})
export type Merge = Static<typeof Merge>

export const MergeBody = object({
  dry_run: Type.Boolean(),
  project: object('The project that is merged.', PROJECT_REFERENCE),
  into: object('The target project.', PROJECT_REFERENCE),
  aliases: array('Names that now refer to the target project.', Type.String()),
  entries: integer('Number of entries that move, which are all unbilled ones.'),
  unpriced_entries: integer('Number of these entries without a known cost.'),
  cost: number('Total cost of the other entries, in US dollars.'),
  billed_entries: integer('Number of entries that do not move because they are on bills.'),
  tickets: integer('Number of tickets that move.'),
  former_leads: array(
    'Leads of the merged project who do not lead the target project and therefore lose access to the moved entries.',
    object({ id: Type.String(), name: Type.String() }),
  ),
  former_viewers: array(
    'People with the role viewer who see the merged project but not the target project, and therefore no longer see the moved entries: their grants do not move along, because they would show everything else of the target project.',
    object({ id: Type.String(), name: Type.String() }),
  ),
  new_viewers: array(
    'People with the role viewer who see the target project, and from now on the moved entries, too.',
    object({ id: Type.String(), name: Type.String() }),
  ),
  complete: flag('False if the request reached its time limit before everything was moved; repeat it with the id.'),
})
export type MergeBody = Static<typeof MergeBody>

export const TicketBody = component('Ticket', {
  id: text('Id of the ticket (tkt_…).'),
  key: name('Key with which reports name the ticket, such as `ACME-42` or `acme/web#17`.'),
  title: orNull(name('Title of the ticket.')),
  project: projectOf(
    'The decided project, or the project that all reports agree on. Null if reports name no project, or different ones.',
  ),
  project_decided: flag(
    "Whether someone who manages tickets has decided the project, which then applies to everyone's reports. Until then, each person's reports determine the project of that person's entries only.",
  ),
  assumed_projects: Type.Optional(
    array(
      'The projects that reports name for the ticket as long as its project is not decided. Visible to billing, admin and leads of these projects.',
      object({
        project: projectOf('Null if the reports name no project.'),
        agent_managers: integer('Number of people whose reports name this project for the ticket.'),
      }),
    ),
  ),
  archived_at: ARCHIVED_AT,
  created_at: moment('When it was added, or first named in a report.'),
})
export type TicketBody = Static<typeof TicketBody>

const ticketFields = {
  title: clearable(
    text('Title of the ticket.', { minLength: 1, maxLength: TITLE_LIMIT }),
    `must be a string of 1 to ${TITLE_LIMIT} characters, or null`,
  ),
  project: clearable(
    nameOf("Id, key, name or alias of the project, which then applies to everyone's reports. Null means undecided."),
    'must be the id, key, name or alias of a project, or null',
  ),
}

export const NewTicket = object({
  key: nameOf('Key that reports use, such as ACME-42 or acme/web#17; unique, ignoring case.', [
    'ACME-42',
    'acme/web#17',
  ]),
  ...ticketFields,
})
export type NewTicket = Static<typeof NewTicket>

/** Intentionally without the key: reports use it, and the next one with the old key would create another ticket. */
export const TicketChange = object(ticketFields)
export type TicketChange = Static<typeof TicketChange>

export const ClientList = listOf(ClientBody, 'ClientList')
export const ProjectList = listOf(ProjectBody, 'ProjectList')
export const TicketList = listOf(TicketBody, 'TicketList')
