import { Type } from '@sinclair/typebox'
import { endpoint, operation, result } from '../../../operations/operation.ts'
import { flagParameter } from '../../../operations/parameters.ts'
import { queryReader } from '../../../schema/query.ts'
import { TokenEntry, TokenEntryDraft, TokenEntryDraftChange } from '../../entries/schema.ts'
import { EXAMPLE_DRAFT, EXAMPLE_DRAFT_ENTRY } from '../examples.ts'
import { ImportedEntries } from '../schema.ts'
import { CHANGING, type Needs, OWNER, one, params } from './sheet.ts'

const oneEntry = { object: 'sht', params: { ...params, entry: 'ID of the entry (ent_…).' } } as const

const dryRun = {
  dry_run: flagParameter('Returns what would be saved, with its list value and `cost_mismatch`, without saving it.'),
}

const readDryRun = queryReader((query) => ({ dryRun: query.flag('dry_run') ?? false }))

const addTokenSheetEntry = endpoint({
  ...CHANGING,
  ...one,
  id: 'addTokenSheetEntry',
  method: 'POST',
  path: '/token-sheets/:id/entries',
  summary: 'Add an entry to a sheet',
  description: `Takes the fields of a report, without a session. The entry is valued and placed like a report and must start within the sheet’s period. ${OWNER}`,
  query: dryRun,
  body: TokenEntryDraft,
  example: EXAMPLE_DRAFT,
  answer: [
    result('With `dry_run`: the draft as it would be.', TokenEntry, EXAMPLE_DRAFT_ENTRY),
    { status: 201, description: 'The draft.', schema: TokenEntry, example: EXAMPLE_DRAFT_ENTRY },
  ],
  problems: ['wrong_status'],
  run: async ({ sheets }: Needs, { params, query, body, approver, served: { set } }) => {
    const how = readDryRun(query)
    const entry = await sheets.addEntry(params.id, body, approver, how)
    if (how.dryRun) return entry
    set.status = 201
    set.headers.location = `/api/v1/token-entries/${entry.id}`
    return entry
  },
})

const importTokenSheetEntries = operation({
  ...CHANGING,
  ...one,
  id: 'importTokenSheetEntries',
  method: 'POST',
  path: '/token-sheets/:id/import',
  summary: 'Import entries from CSV',
  description: `A CSV file with up to 1,000 entries. Either all rows are added or none. In case of errors, each issue contains its line, such as \`/lines/7/started_at\`. ${OWNER}`,
  query: dryRun,
  parse: 'table',
  also: {
    'text/csv': {
      schema: Type.String(),
      example:
        'agent_harness,agent_name,model,started_at,ended_at,input,output,project\r\nclaude-code,reviewer,claude-sonnet-4-5,2026-11-20T17:53:04Z,2026-11-20T18:20:41Z,522,228,acme-web\r\n',
    },
  },
  answer: result('The added entries, or with `dry_run` those that would be added.', ImportedEntries, {
    added: 1,
    data: [EXAMPLE_DRAFT_ENTRY],
  }),
  problems: ['wrong_status'],
  run: ({ sheets }: Needs, { params, query, body, approver }) =>
    sheets.importEntries(params.id, body, approver, readDryRun(query)),
})

const changeTokenSheetEntry = operation({
  ...CHANGING,
  ...oneEntry,
  id: 'changeTokenSheetEntry',
  method: 'PATCH',
  path: '/token-sheets/:id/entries/:entry',
  summary: 'Change a draft',
  description: `Fields that are absent stay unchanged; null clears a field. \`tokens\` and \`labels\` are replaced as a whole. ${OWNER}`,
  query: dryRun,
  body: TokenEntryDraftChange,
  example: { tokens: { input: 522, output: 300 }, ticket: 'ACME-43', summary: null },
  answer: result('The draft.', TokenEntry, EXAMPLE_DRAFT_ENTRY),
  problems: ['wrong_status'],
  run: ({ sheets }: Needs, { params: { id, entry }, query, body, approver }) =>
    sheets.changeEntry(id, entry, body, approver, readDryRun(query)),
})

export const removeTokenSheetEntry = operation({
  ...CHANGING,
  ...oneEntry,
  id: 'removeTokenSheetEntry',
  method: 'DELETE',
  path: '/token-sheets/:id/entries/:entry',
  summary: 'Remove a draft',
  description: `This cannot be undone. ${OWNER}`,
  answer: { status: 204, description: 'Removed.' },
  problems: ['wrong_status'],
  run: ({ sheets }: Needs, { params: { id, entry }, approver }) => sheets.removeEntry(id, entry, approver),
})

export const sheetEntryOperations = [
  addTokenSheetEntry,
  importTokenSheetEntries,
  changeTokenSheetEntry,
  removeTokenSheetEntry,
] as const
