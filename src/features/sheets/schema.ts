/** Token sheets in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { SHEET_STATUSES } from '../../database/schema/values.ts'
import { conditions, exactlyOne } from '../../schema/conditions.ts'
import { day, listOf, moment, month, orNull, strict } from '../../schema/types.ts'
import { TokenEntry } from '../entries/schema.ts'

const money = (description: string) => Type.Number({ description: `${description} In US dollars, at most 9 decimals.` })

const Person = Type.Object({ id: Type.String(), name: Type.String() }, strict)
const Project = Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)

const days = Type.Object(
  { from: day('The first day.'), to: day('The last day, inclusive.') },
  {
    ...strict,
    description: 'Days in the organization’s time zone. All entries of the sheet must start within the period.',
  },
)

export const NewTokenSheet = Type.Object(
  {
    period: Type.Optional(days),
    month: Type.Optional(month('A calendar month, instead of a period.')),
    note: Type.Optional(
      Type.String({
        description: 'Purpose of the sheet.',
        maxLength: 1000,
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
        errorMessage: 'must be at most 1000 characters long, without control characters',
      }),
    ),
    person: Type.Optional(
      Type.String({ description: 'ID or e-mail address of the owner. Only admins can set it to another person.' }),
    ),
  },
  {
    ...strict,
    ...conditions(
      exactlyOne('period', 'month', (code) => ({
        pointer: '/period',
        code,
        message: 'is required unless month is given. Use one of the two',
      })),
    ),
    $id: 'NewTokenSheet',
  },
)
export type NewSheetBody = Static<typeof NewTokenSheet>

export const TokenSheet = Type.Object(
  {
    id: Type.String({ examples: ['sht_01a1fa172a0277f3983322718874f2ef'] }),
    status: Type.Unsafe<(typeof SHEET_STATUSES)[number]>({
      type: 'string',
      enum: [...SHEET_STATUSES],
      description: 'Entries can be added and changed while the sheet is `open` or `returned`.',
    }),
    agent_manager: { ...Person, description: 'Owner of the sheet.' },
    period: days,
    starting_at: moment('Start of the period, inclusive.'),
    ending_at: moment('End of the period, exclusive.'),
    note: orNull(Type.String()),
    reason: orNull(Type.String({ description: 'Reason for the return.' })),
    entries: Type.Integer({
      description: 'Number of entries. This and the totals cover the entries visible to the caller.',
    }),
    unpriced_entries: Type.Integer({ description: 'Number of unpriced entries, which amounts exclude.' }),
    tokens: Type.Integer(),
    cost: money('Total cost.'),
    list_value: money('Total list value.'),
    projects: Type.Array(Project, { description: 'A person who leads all of these projects can approve the sheet.' }),
    has_unplaced: Type.Boolean({
      description:
        'Whether some entries have no project. If so, only the roles billing and admin can approve the sheet.',
    }),
    created_at: moment('When the sheet was opened.'),
    submitted_at: orNull(moment('When the sheet was last submitted.')),
    decided_at: orNull(moment('When the sheet was approved or returned.')),
    decided_by: orNull({
      ...Person,
      description: 'Person who approved or returned the sheet; null for the command line.',
    }),
    updated_at: orNull(moment('When the sheet or its entries last changed.')),
  },
  { ...strict, $id: 'TokenSheet', description: 'A person’s manually added entries for a period.' },
)
export type TokenSheet = Static<typeof TokenSheet>

export const TokenSheetList = listOf(TokenSheet, 'TokenSheetList')

export const SheetSubmission = Type.Object(
  {
    confirm_overlaps: Type.Optional(
      Type.Boolean({
        description:
          'Confirms that overlaps with reported entries are intended. Required to submit a sheet with overlaps.',
      }),
    ),
  },
  { ...strict, $id: 'TokenSheetSubmission' },
)

const OverlappingEntry = Type.Object(
  {
    id: Type.String(),
    agent_harness: Type.String(),
    started_at: moment('Session start.'),
    ended_at: moment('Session end.'),
  },
  strict,
)

export const SheetOverlaps = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        { entry: { ...OverlappingEntry, description: 'The entry on the sheet.' }, reported: OverlappingEntry },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'TokenSheetOverlaps' },
)
export type SheetOverlaps = Static<typeof SheetOverlaps>

export const ImportedEntries = Type.Object(
  { added: Type.Integer({ description: 'Number of added entries.' }), data: Type.Array(TokenEntry) },
  { ...strict, $id: 'ImportedTokenEntries' },
)
export type ImportedEntries = Static<typeof ImportedEntries>

const sums = {
  unpriced_entries: Type.Integer({ description: 'Number of unpriced entries, which amounts exclude.' }),
  tokens: Type.Integer(),
  cost: money('Total cost.'),
  list_value: money('Total list value.'),
}

export const Approvals = Type.Object(
  {
    sheets: Type.Object(
      {
        sheets: Type.Integer({ description: 'Number of token sheets awaiting approval.' }),
        entries: Type.Integer({ description: 'Number of entries on these sheets.' }),
        ...sums,
        data: Type.Array(TokenSheet, { description: 'The first 100 sheets, longest waiting first.' }),
      },
      strict,
    ),
    entries: Type.Object(
      {
        entries: Type.Integer({ description: 'Number of reported entries awaiting approval.' }),
        ...sums,
        projects: Type.Array(Type.Object({ project: orNull(Project), entries: Type.Integer(), ...sums }, strict), {
          description: 'Totals by project, highest cost first; `null` for entries without a project.',
        }),
      },
      strict,
    ),
  },
  { ...strict, $id: 'Approvals', description: 'Sheets and entries that the caller can approve.' },
)
export type Approvals = Static<typeof Approvals>
