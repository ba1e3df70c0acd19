/** Token sheets in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { SHEET_STATUSES } from '../../database/schema/values.ts'
import { conditions, exactlyOne } from '../../schema/conditions.ts'
import {
  array,
  component,
  day,
  flag,
  integer,
  listOf,
  moment,
  money,
  month,
  object,
  orNull,
  strict,
  text,
} from '../../schema/types.ts'
import { TokenEntry } from '../entries/schema.ts'

const Person = object({ id: Type.String(), name: Type.String() })
const Project = object({ id: Type.String(), key: Type.String(), name: Type.String() })

const days = object('Days in the organization’s time zone. All entries of the sheet must start within the period.', {
  from: day('The first day.'),
  to: day('The last day, inclusive.'),
})

export const NewTokenSheet = Type.Object(
  {
    period: Type.Optional(days),
    month: Type.Optional(month('A calendar month, instead of a period.')),
    note: Type.Optional(
      text('Purpose of the sheet.', {
        maxLength: 1000,
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
        errorMessage: 'must be at most 1000 characters long, without control characters',
      }),
    ),
    person: Type.Optional(text('ID or e-mail address of the owner. Only admins can set it to another person.')),
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

export const TokenSheet = component('TokenSheet', 'A person’s manually added entries for a period.', {
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
  reason: orNull(text('Reason for the return.')),
  entries: integer('Number of entries. This and the totals cover the entries visible to the caller.'),
  unpriced_entries: integer('Number of unpriced entries, which amounts exclude.'),
  tokens: Type.Integer(),
  cost: money('Total cost.'),
  list_value: money('Total list value.'),
  projects: array('A person who leads all of these projects can approve the sheet.', Project),
  has_unplaced: flag(
    'Whether some entries have no project. If so, only the roles billing and admin can approve the sheet.',
  ),
  created_at: moment('When the sheet was opened.'),
  submitted_at: orNull(moment('When the sheet was last submitted.')),
  decided_at: orNull(moment('When the sheet was approved or returned.')),
  decided_by: orNull({
    ...Person,
    description: 'Person who approved or returned the sheet; null for the command line.',
  }),
  updated_at: orNull(moment('When the sheet or its entries last changed.')),
})
export type TokenSheet = Static<typeof TokenSheet>

export const TokenSheetList = listOf(TokenSheet, 'TokenSheetList')

export const SheetSubmission = component('TokenSheetSubmission', {
  confirm_overlaps: Type.Optional(
    flag('Confirms that overlaps with reported entries are intended. Required to submit a sheet with overlaps.'),
  ),
})

const OverlappingEntry = object({
  id: Type.String(),
  agent_harness: Type.String(),
  started_at: moment('Session start.'),
  ended_at: moment('Session end.'),
})

export const SheetOverlaps = component('TokenSheetOverlaps', {
  data: Type.Array(
    object({ entry: { ...OverlappingEntry, description: 'The entry on the sheet.' }, reported: OverlappingEntry }),
  ),
})
export type SheetOverlaps = Static<typeof SheetOverlaps>

export const ImportedEntries = component('ImportedTokenEntries', {
  added: integer('Number of added entries.'),
  data: Type.Array(TokenEntry),
})
export type ImportedEntries = Static<typeof ImportedEntries>

const sums = {
  unpriced_entries: integer('Number of unpriced entries, which amounts exclude.'),
  tokens: Type.Integer(),
  cost: money('Total cost.'),
  list_value: money('Total list value.'),
}

const WaitingSheet = component('WaitingTokenSheet', {
  ...TokenSheet.properties,
  version: Type.String({
    description:
      'Version of the sheet. Send it in quotes in `If-Match` with the approval: it is refused with 412 if the sheet was changed since.',
    examples: ['k3Rw0pV1hB7x'],
  }),
})

export const Approvals = component('Approvals', 'Sheets and entries that the caller can approve.', {
  sheets: object({
    sheets: integer('Number of token sheets awaiting approval.'),
    entries: integer('Number of entries on these sheets.'),
    ...sums,
    data: array('A page of the sheets, longest waiting first.', WaitingSheet),
    has_more: flag('Whether there is another page of sheets.'),
    next_page: orNull(Type.String()),
  }),
  entries: object({
    entries: integer('Number of reported entries awaiting approval.'),
    ...sums,
    projects: array(
      'Totals by project, highest cost first; `null` for entries without a project.',
      object({ project: orNull(Project), entries: Type.Integer(), ...sums }),
    ),
  }),
})
export type Approvals = Static<typeof Approvals>
