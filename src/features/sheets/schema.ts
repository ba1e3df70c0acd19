/** Token sheets on the wire. */
import { type Static, Type } from '@sinclair/typebox'
import { SHEET_STATUSES } from '../../database/tables.ts'
import { day, listOf, moment, month, orNull, strict } from '../../wire.ts'
import { TokenEntry } from '../entries/service.ts'

const money = (description: string) => Type.Number({ description: `${description} US dollars, at most 9 decimals.` })

const Person = Type.Object({ id: Type.String(), name: Type.String() }, strict)
const Project = Type.Object({ id: Type.String(), key: Type.String(), name: Type.String() }, strict)

const days = Type.Object(
  { from: day('The first day.'), to: day('The last day, included.') },
  { ...strict, description: 'Days in the organization’s zone. The entries of a sheet start within them.' },
)

export const NewTokenSheet = Type.Object(
  {
    period: Type.Optional(days),
    month: Type.Optional(month('A whole month, instead of a period.')),
    note: Type.Optional(
      Type.String({
        description: 'What the sheet is for.',
        maxLength: 1000,
        pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
        errorMessage: 'must be a text of up to 1000 characters without control characters',
      }),
    ),
    person: Type.Optional(
      Type.String({ description: 'Id or e-mail address of the person whose it is; only for the role admin.' }),
    ),
  },
  { ...strict, $id: 'NewTokenSheet' },
)
export type NewSheetBody = Static<typeof NewTokenSheet>

export const TokenSheet = Type.Object(
  {
    id: Type.String({ examples: ['sht_01a1fa172a0277f3983322718874f2ef'] }),
    status: Type.Unsafe<(typeof SHEET_STATUSES)[number]>({
      type: 'string',
      enum: [...SHEET_STATUSES],
      description: 'Entries can be added and changed while it is `open` or `returned`.',
    }),
    agent_manager: { ...Person, description: 'The person whose it is.' },
    period: days,
    starting_at: moment('The first moment of the period.'),
    ending_at: moment('The first moment after the period.'),
    note: orNull(Type.String()),
    reason: orNull(Type.String({ description: 'Why it was returned.' })),
    entries: Type.Integer({ description: 'Entries on it, like the sums of those that the caller may see.' }),
    unpriced_entries: Type.Integer({ description: 'Those of unknown cost, which the sums of money leave out.' }),
    tokens: Type.Integer(),
    cost: money('The sum of the costs.'),
    list_value: money('The sum of the list values.'),
    projects: Type.Array(Project, { description: 'A lead of all of them may approve the sheet.' }),
    has_unplaced: Type.Boolean({
      description: 'Some entries are on no project: only the roles billing and admin may approve the sheet.',
    }),
    created_at: moment('When it was opened.'),
    submitted_at: orNull(moment('When it was last submitted.')),
    decided_at: orNull(moment('When it was approved or returned.')),
    decided_by: orNull({ ...Person, description: 'By whom; null for the command line.' }),
    updated_at: orNull(moment('When it or its entries last changed.')),
  },
  { ...strict, $id: 'TokenSheet', description: 'Entries that a person made by hand for a period.' },
)
export type TokenSheet = Static<typeof TokenSheet>

export const TokenSheetList = listOf(TokenSheet, 'TokenSheetList')

export const SheetSubmission = Type.Object(
  {
    confirm_overlaps: Type.Optional(
      Type.Boolean({
        description:
          'Says that entries which overlap with reported ones are meant so. Without it such a sheet is not submitted.',
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
      Type.Object({ entry: { ...OverlappingEntry, description: 'On the sheet.' }, reported: OverlappingEntry }, strict),
    ),
  },
  { ...strict, $id: 'TokenSheetOverlaps' },
)
export type SheetOverlaps = Static<typeof SheetOverlaps>

export const ImportedEntries = Type.Object(
  { added: Type.Integer({ description: 'Rows that became entries.' }), data: Type.Array(TokenEntry) },
  { ...strict, $id: 'ImportedTokenEntries' },
)
export type ImportedEntries = Static<typeof ImportedEntries>

const sums = {
  unpriced_entries: Type.Integer({ description: 'Those of unknown cost, which the sums of money leave out.' }),
  tokens: Type.Integer(),
  cost: money('The sum of the costs.'),
  list_value: money('The sum of the list values.'),
}

export const Approvals = Type.Object(
  {
    sheets: Type.Object(
      {
        sheets: Type.Integer({ description: 'Token sheets that wait.' }),
        entries: Type.Integer({ description: 'Entries on them.' }),
        ...sums,
        data: Type.Array(TokenSheet, { description: 'The first hundred, those that wait longest first.' }),
      },
      strict,
    ),
    entries: Type.Object(
      {
        entries: Type.Integer({ description: 'Reported entries that wait.' }),
        ...sums,
        projects: Type.Array(Type.Object({ project: orNull(Project), entries: Type.Integer(), ...sums }, strict), {
          description: 'By project, the dearest first; `null` for those on none.',
        }),
      },
      strict,
    ),
  },
  { ...strict, $id: 'Approvals', description: 'What the caller could approve.' },
)
export type Approvals = Static<typeof Approvals>
