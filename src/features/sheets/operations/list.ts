/** Sheets and their entries as lists. */

import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { CSV_CONTENT } from '../../../http/documentation.ts'
import { endpoint, operation, result } from '../../../operations/operation.ts'
import { listPage, listParameter, listSort, momentParameter } from '../../../operations/parameters.ts'
import { readListQuery } from '../../entries/contract.ts'
import { EXAMPLE_LISTED, pageOfEntry } from '../../entries/examples.ts'
import { TokenEntryList } from '../../entries/schema.ts'
import type { EntriesService } from '../../entries/service.ts'
import { SHEET_COLUMNS } from '../csv.ts'
import { EXAMPLE_DRAFT_ENTRY, EXAMPLE_SHEET } from '../examples.ts'
import { moments } from '../parameters.ts'
import { SHEET_STATUSES } from '../query.ts'
import { TokenSheetList } from '../schema.ts'
import { SHEET_SORTS } from '../sorts.ts'
import { type Needs, params, READING } from './sheet.ts'

const listTokenSheets = endpoint({
  ...READING,
  id: 'listTokenSheets',
  method: 'GET',
  path: '/token-sheets',
  summary: 'List token sheets',
  description:
    'Returns the sheets visible to the caller, newest first: their own, those with entries of projects they lead, or all sheets.',
  query: {
    status: listParameter('Status.', { type: 'string', enum: [...SHEET_STATUSES] }),
    agent_manager: listParameter('ID or e-mail address of a person.'),
    ...moments,
    ending_after: momentParameter(
      'Sheets whose period ended after this time; together with `ending_at`, those that share days with a period.',
    ),
    ended_before: momentParameter('Periods that ended at or before this time.'),
    ...listSort(SHEET_SORTS),
    ...listPage('Sheets'),
  },
  answer: result(
    'A page of sheets.',
    TokenSheetList,
    { data: [EXAMPLE_SHEET], has_more: false, next_page: null },
    { also: CSV_CONTENT },
  ),
  run: async ({ sheets }: Needs, { asker, query, served }) => {
    const requested = await sheets.readList(query, asker)
    if (!wantsCsv(served.request, requested.format)) return sheets.listSheets(asker.viewer, requested)
    return csvResponse(sheets.exportSheets(asker.viewer, requested.filter), SHEET_COLUMNS, 'token-sheets.csv')
  },
})

const { limit, page } = listPage('Entries')

const listTokenSheetEntries = operation({
  ...READING,
  id: 'listTokenSheetEntries',
  method: 'GET',
  path: '/token-sheets/:id/entries',
  summary: 'List the entries of a sheet',
  description: 'Newest first. Use `GET /token-entries?sheet=…` to combine this with other filters or export CSV.',
  params,
  query: { limit, page },
  answer: result('A page of entries.', TokenEntryList, pageOfEntry({ ...EXAMPLE_LISTED, ...EXAMPLE_DRAFT_ENTRY })),
  run: async ({ sheets, entries }: Needs & { entries: EntriesService }, { params, query, approver: { viewer } }) => {
    const { limit, after } = readListQuery(query, 'UTC')
    const sheet = await sheets.getSheet(params.id, viewer)
    return entries.listing.listEntries(viewer, { filter: { sheet: [sheet.id] }, limit, after })
  },
})

export const sheetListOperations = [listTokenSheets, listTokenSheetEntries] as const
