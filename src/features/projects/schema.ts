/** Clients, projects and tickets on the wire. One source for validation and OpenAPI. */
import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { listOf, moment, nameOf, orNull, strict } from '../../wire.ts'
import {
  ADDRESS_LIMIT,
  ALIASES_LIMIT,
  BUDGET_LIMIT,
  LEADS_LIMIT,
  MARKUP_DIGITS,
  MARKUP_MAX,
  MARKUP_MIN,
  TITLE_LIMIT,
} from './rules.ts'

/** What is sent and may be cleared. Its union would hide what is wrong with a value, so it says it itself. */
const clearable = <T extends TSchema>(schema: T, errorMessage: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description: schema.description ?? '', errorMessage }))

const percent = (description: string) =>
  Type.Number({
    description: `${description} Percent on top of costs, with at most ${MARKUP_DIGITS} decimals.`,
    minimum: MARKUP_MIN,
    maximum: MARKUP_MAX,
  })

const name = (description: string) => Type.String({ description })

/** A field that is left out for those who may not see it, which null would not tell from there being none. */
const seenBy = <T extends TSchema>(who: string, schema: T) =>
  Type.Optional(
    Type.Union([schema, Type.Null()], { description: `${schema.description} Left out for all but ${who}.` }),
  )

const MONEY_PEOPLE = 'billing and admin'
const LEADING_PEOPLE = 'billing, admin and who leads the project'

const ARCHIVED_AT = orNull(moment('Since when it is archived, and left out of lists; null where it is not.'))

export const ClientBody = Type.Object(
  {
    id: Type.String({ description: 'Id of the client (cli_…).' }),
    name: name('Unique, whatever the case.'),
    email: seenBy(MONEY_PEOPLE, Type.String({ description: 'Where bills go.' })),
    address: seenBy(MONEY_PEOPLE, Type.String({ description: 'Postal address, as bills show it; lines as sent.' })),
    tax_id: seenBy(MONEY_PEOPLE, Type.String({ description: 'VAT number or the like, as bills show it.' })),
    currency: seenBy(MONEY_PEOPLE, Type.String({ description: "Of its bills; null for the organization's." })),
    markup: seenBy(MONEY_PEOPLE, percent("Where a project has none of its own; null for the organization's.")),
    archived_at: ARCHIVED_AT,
    created_at: moment('When it was added.'),
  },
  { ...strict, $id: 'Client' },
)
export type ClientBody = Static<typeof ClientBody>

const clientFields = {
  email: clearable(
    Type.String({ description: 'Where bills go.', maxLength: 254 }),
    'must be an e-mail address, or null for none',
  ),
  address: clearable(
    Type.String({ description: 'Postal address, in lines.', minLength: 1, maxLength: ADDRESS_LIMIT }),
    `must be a text of 1 to ${ADDRESS_LIMIT} characters, or null for none`,
  ),
  tax_id: clearable(nameOf('VAT number or the like.'), 'must be a text of 1 to 200 characters, or null for none'),
  currency: clearable(
    Type.String({
      description: "ISO 4217 code of its bills; null for the organization's.",
      minLength: 3,
      maxLength: 3,
    }),
    "must be an ISO 4217 currency code, such as EUR, or null for the organization's",
  ),
  markup: clearable(
    percent("Where a project has none of its own; null for the organization's."),
    `must be a percentage from ${MARKUP_MIN} to ${MARKUP_MAX}, or null for the organization’s`,
  ),
}

const CLIENT_NAME = nameOf('Unique, whatever the case.', ['Acme Ltd'])

export const NewClient = Type.Object({ name: CLIENT_NAME, ...clientFields }, strict)
export type NewClient = Static<typeof NewClient>

export const ClientChange = Type.Object({ name: Type.Optional(CLIENT_NAME), ...clientFields }, strict)
export type ClientChange = Static<typeof ClientChange>

const CLIENT_REFERENCE = { id: Type.String(), name: Type.String() }
const PROJECT_REFERENCE = { id: Type.String(), key: Type.String(), name: Type.String() }

const clientOf = (description: string) => orNull(Type.Object(CLIENT_REFERENCE, { ...strict, description }))
const projectOf = (description: string) => orNull(Type.Object(PROJECT_REFERENCE, { ...strict, description }))

export const ProjectBody = Type.Object(
  {
    id: Type.String({ description: 'Id of the project (prj_…).' }),
    key: name('Short and unique, by which reports and tickets name it.'),
    name: name('As people read it.'),
    aliases: Type.Array(Type.String(), { description: 'Further names by which reports find it.' }),
    client: clientOf('Who gets its bills; null where it has no client.'),
    billable: seenBy(LEADING_PEOPLE, Type.Boolean({ description: 'Whether its entries go on bills.' })),
    markup: seenBy(MONEY_PEOPLE, percent("Null for the client's.")),
    budget: seenBy(LEADING_PEOPLE, Type.Number({ description: 'What its work may cost, in US dollars.' })),
    leads: Type.Optional(
      Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, strict), {
        description: `Who sees and approves all its entries. Left out for all but ${LEADING_PEOPLE}.`,
      }),
    ),
    archived_at: ARCHIVED_AT,
    merged_into: projectOf('Where its names and entries went; null where it stands.'),
    created_at: moment('When it was added, or first mentioned in a report.'),
  },
  { ...strict, $id: 'Project' },
)
export type ProjectBody = Static<typeof ProjectBody>

const projectFields = {
  aliases: Type.Optional(
    Type.Array(nameOf('A text by which reports may name it.'), {
      description: 'Further names by which reports find it: all of them. A text names at most one project.',
      maxItems: ALIASES_LIMIT,
    }),
  ),
  client: clearable(
    nameOf('Id (cli_…) or name of the client.'),
    'must be the id or name of a client, or null for none',
  ),
  billable: Type.Optional(
    Type.Boolean({ description: 'Whether its entries go on bills; true where nothing is said.' }),
  ),
  markup: clearable(
    percent("Null for the client's."),
    `must be a percentage from ${MARKUP_MIN} to ${MARKUP_MAX}, or null for the client’s`,
  ),
  budget: clearable(
    Type.Number({ description: 'What its work may cost, in US dollars.', minimum: 0, maximum: BUDGET_LIMIT }),
    `must be a number of US dollars from 0 to ${BUDGET_LIMIT}, or null for none`,
  ),
  leads: Type.Optional(
    Type.Array(nameOf('Id (usr_…) or e-mail address.'), {
      description: 'Who sees and approves all its entries: all of them.',
      maxItems: LEADS_LIMIT,
    }),
  ),
}

const PROJECT_KEY = nameOf('Short and unique among keys, names and aliases of all projects, whatever the case.', [
  'ACME',
])
const PROJECT_NAME = nameOf('As people read it; unique likewise. The key where absent.', ['Acme web'])

export const NewProject = Type.Object({ key: PROJECT_KEY, name: Type.Optional(PROJECT_NAME), ...projectFields }, strict)
export type NewProject = Static<typeof NewProject>

export const ProjectChange = Type.Object(
  { key: Type.Optional(PROJECT_KEY), name: Type.Optional(PROJECT_NAME), ...projectFields },
  strict,
)
export type ProjectChange = Static<typeof ProjectChange>

export const Merge = Type.Object(
  {
    into: nameOf('Id, key, name or alias of the project that stays.', ['ACME']),
    dry_run: Type.Optional(Type.Boolean({ description: 'Answers what would move and changes nothing.' })),
  },
  strict,
)
export type Merge = Static<typeof Merge>

export const MergeBody = Type.Object(
  {
    dry_run: Type.Boolean(),
    project: Type.Object(PROJECT_REFERENCE, { ...strict, description: 'The one that is merged.' }),
    into: Type.Object(PROJECT_REFERENCE, { ...strict, description: 'The one that stays.' }),
    aliases: Type.Array(Type.String(), { description: 'Names that lead to the one that stays.' }),
    entries: Type.Integer({ description: 'Entries that move: all that are on no bill.' }),
    unpriced_entries: Type.Integer({ description: 'How many of them have no known cost.' }),
    cost: Type.Number({ description: 'The cost of the others, in US dollars.' }),
    billed_entries: Type.Integer({ description: 'Entries that stay where they are, because they are on bills.' }),
    tickets: Type.Integer({ description: 'Tickets that move.' }),
    former_leads: Type.Array(Type.Object({ id: Type.String(), name: Type.String() }, strict), {
      description: 'Who leads the merged project and not the one that stays: they see the moved entries no more.',
    }),
    complete: Type.Boolean({
      description: 'False where the time of a call was over before everything had moved: call again, with the id.',
    }),
  },
  strict,
)
export type MergeBody = Static<typeof MergeBody>

export const TicketBody = Type.Object(
  {
    id: Type.String({ description: 'Id of the ticket (tkt_…).' }),
    key: name('By which reports name it, such as `ACME-42` or `acme/web#17`.'),
    title: orNull(name('What it is about.')),
    project: projectOf(
      "Where its entries belong: decided, or where everybody's reports put it. Null where they found no project, or different ones.",
    ),
    project_decided: Type.Boolean({
      description:
        "Whether somebody who manages tickets decided on the project, which then binds everybody's reports. Until then each person's reports place that person's entries only.",
    }),
    assumed_projects: Type.Optional(
      Type.Array(
        Type.Object(
          {
            project: projectOf('Null where the reports found no project.'),
            agent_managers: Type.Integer({ description: "How many people's reports put the ticket there." }),
          },
          strict,
        ),
        {
          description:
            'Where reports put the ticket as long as its project is not decided. For the roles billing and admin, and for who leads these projects.',
        },
      ),
    ),
    archived_at: ARCHIVED_AT,
    created_at: moment('When it was added, or first mentioned in a report.'),
  },
  { ...strict, $id: 'Ticket' },
)
export type TicketBody = Static<typeof TicketBody>

const ticketFields = {
  title: clearable(
    Type.String({ description: 'What it is about.', minLength: 1, maxLength: TITLE_LIMIT }),
    `must be a text of 1 to ${TITLE_LIMIT} characters, or null for none`,
  ),
  project: clearable(
    nameOf(
      "Id, key, name or alias of its project, which from then on binds everybody's reports. Null where none is decided.",
    ),
    'must be the id, key, name or alias of a project, or null for none',
  ),
}

export const NewTicket = Type.Object(
  { key: nameOf('Unique, whatever the case.', ['ACME-42', 'acme/web#17']), ...ticketFields },
  strict,
)
export type NewTicket = Static<typeof NewTicket>

/** Intentionally without the key: reports go by it, and the next one with the old key would make another ticket. */
export const TicketChange = Type.Object(ticketFields, strict)
export type TicketChange = Static<typeof TicketChange>

export const ClientList = listOf(ClientBody, 'ClientList')
export const ProjectList = listOf(ProjectBody, 'ProjectList')
export const TicketList = listOf(TicketBody, 'TicketList')
