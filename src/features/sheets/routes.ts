import { Elysia, t } from 'elysia'
import { access, partyOf, viewerOf } from '../../http/access.ts'
import { csvResponse, wantsCsv } from '../../http/csv.ts'
import { documented } from '../../http/documented.ts'
import { listPage, listParameter, parameter } from '../../http/query.ts'
import { readListQuery } from '../entries/listing/filter.ts'
import { Reason, TokenEntry, TokenEntryDraft, TokenEntryDraftChange, TokenEntryList } from '../entries/schema.ts'
import type { EntriesService } from '../entries/service.ts'
import { SHEET_COLUMNS, TEMPLATE } from './csv.ts'
import {
  EXAMPLE_APPROVALS,
  EXAMPLE_APPROVED,
  EXAMPLE_DRAFT,
  EXAMPLE_DRAFT_ENTRY,
  EXAMPLE_OVERLAPS,
  EXAMPLE_RETURNED,
  EXAMPLE_SHEET,
  EXAMPLE_SUBMITTED,
} from './examples.ts'
import { readApprovalsQuery, readSheetList, SHEET_STATUSES } from './query.ts'
import {
  Approvals,
  ImportedEntries,
  NewTokenSheet,
  SheetOverlaps,
  SheetSubmission,
  TokenSheet,
  TokenSheetList,
} from './schema.ts'
import type { SheetsService } from './service.ts'

const tag = 'Token sheets'
const path = { id: 'ID of the sheet (sht_…).' }
const pathOfEntry = { ...path, entry: 'ID of the entry (ent_…).' }

const OWNER = 'Only for the owner of the sheet and admins.'
const APPROVER = 'Requires the role billing or admin, or being a lead of the projects of all its entries.'

const moments = {
  starting_at: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Periods or sessions that started at or after this time.',
  }),
  ending_at: parameter({
    type: 'string',
    format: 'date-time',
    description: 'Periods or sessions that started before this time.',
  }),
}

const SheetQuery = t.Object(
  {
    status: listParameter('Status.', { type: 'string', enum: [...SHEET_STATUSES] }),
    agent_manager: listParameter('ID or e-mail address of a person.'),
    ...moments,
    ...listPage('Sheets'),
  },
  { additionalProperties: false },
)

const sheetNow = (example: TokenSheet) => ({
  200: { description: 'The updated sheet.', schema: TokenSheet, example },
})

export const sheetsRoutes = ({
  sheets,
  entries,
}: {
  sheets: SheetsService
  entries: Pick<EntriesService, 'listing'>
}) =>
  new Elysia({ name: 'sheets', prefix: '/api/v1', normalize: false })
    .use(access())
    .get(
      '/approvals',
      ({ query, caller, address }) => sheets.listApprovals(readApprovalsQuery(query), partyOf({ caller, address })),
      {
        allow: ['read', 'session'],
        query: t.Object(moments, { additionalProperties: false }),
        detail: documented({
          id: 'listApprovals',
          tag: 'Approval',
          summary: 'List pending approvals',
          description: 'Token sheets and reported entries that the caller can approve, with totals.',
          responses: { 200: { description: 'The pending approvals.', schema: Approvals, example: EXAMPLE_APPROVALS } },
          problems: ['database_deadline'],
        }),
      },
    )
    .get(
      '/token-sheets',
      async ({ query, caller, request }) => {
        const viewer = viewerOf(caller)
        const asked = readSheetList(query)
        if (!wantsCsv(request, asked.format)) return sheets.listSheets(viewer, asked)
        return csvResponse(sheets.exportSheets(viewer, asked.filter), SHEET_COLUMNS, 'token-sheets.csv')
      },
      {
        allow: ['read', 'session'],
        query: SheetQuery,
        detail: documented({
          id: 'listTokenSheets',
          tag,
          summary: 'List token sheets',
          description:
            'Returns the sheets visible to the caller, newest first: their own, those with entries of projects they lead, or all sheets.',
          responses: {
            200: {
              description: 'A page of sheets.',
              schema: TokenSheetList,
              example: { data: [EXAMPLE_SHEET], has_more: false, next_page: null },
              also: { 'text/csv': { schema: t.String() } },
            },
          },
        }),
      },
    )
    .post(
      '/token-sheets',
      async ({ body, caller, address, set }) => {
        const sheet = await sheets.openSheet(body, partyOf({ caller, address }))
        set.status = 201
        set.headers.location = `/api/v1/token-sheets/${sheet.id}`
        return sheet
      },
      {
        allow: ['session'],
        parse: 'report',
        body: NewTokenSheet,
        detail: documented({
          id: 'openTokenSheet',
          tag,
          summary: 'Open a token sheet',
          body: {
            examples: {
              month: { summary: 'For a month', value: { month: '2026-11' } },
              period: { summary: 'For a range of days', value: { period: { from: '2026-11-16', to: '2026-11-20' } } },
            },
          },
          responses: {
            201: {
              description: 'The sheet.',
              schema: TokenSheet,
              headers: ['Location'],
              example: {
                ...EXAMPLE_SHEET,
                entries: 0,
                tokens: 0,
                cost: 0,
                list_value: 0,
                projects: [],
                updated_at: null,
              },
            },
          },
          problems: ['not_found'],
        }),
      },
    )
    .get(
      '/token-sheets/template',
      () =>
        new Response(TEMPLATE, {
          headers: {
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': 'attachment; filename="token-sheet.csv"',
          },
        }),
      {
        allow: ['read', 'session'],
        detail: documented({
          id: 'getTokenSheetTemplate',
          tag,
          summary: 'Get the CSV template for sheet entries',
          description:
            'The header line of a CSV file. Each row below it is an entry. Labels have one column each, `label:<name>`. You can omit columns you do not need.',
          responses: {
            200: { description: 'CSV.', also: { 'text/csv': { schema: t.String(), example: TEMPLATE } } },
          },
        }),
      },
    )
    .get('/token-sheets/:id', ({ params, caller }) => sheets.getSheet(params.id, viewerOf(caller)), {
      allow: ['read', 'session'],
      detail: documented({
        id: 'getTokenSheet',
        tag,
        summary: 'Get a token sheet',
        path,
        responses: { 200: { description: 'The sheet.', schema: TokenSheet, example: EXAMPLE_SHEET } },
      }),
    })
    .delete(
      '/token-sheets/:id',
      async ({ params, caller, address, set }) => {
        await sheets.removeSheet(params.id, partyOf({ caller, address }))
        set.status = 204
      },
      {
        allow: ['session'],
        detail: documented({
          id: 'removeTokenSheet',
          tag,
          summary: 'Remove an open or returned sheet',
          description: `Also removes its draft entries. ${OWNER}`,
          path,
          responses: { 204: { description: 'Removed.' } },
          problems: ['wrong_status'],
        }),
      },
    )
    .get(
      '/token-sheets/:id/entries',
      async ({ params, query, caller }) => {
        const viewer = viewerOf(caller)
        const sheet = await sheets.getSheet(params.id, viewer)
        const { limit, after } = readListQuery(query)
        return entries.listing.listEntries(viewer, { filter: { sheets: [sheet.id] }, limit, after })
      },
      {
        allow: ['read', 'session'],
        query: t.Object(
          { limit: listPage('Entries').limit, page: listPage('Entries').page },
          { additionalProperties: false },
        ),
        detail: documented({
          id: 'listTokenSheetEntries',
          tag,
          summary: 'List the entries of a sheet',
          description:
            'Newest first. Use `GET /token-entries?sheet=…` to combine this with other filters or export CSV.',
          path,
          responses: {
            200: {
              description: 'A page of entries.',
              schema: TokenEntryList,
              example: { data: [EXAMPLE_DRAFT_ENTRY], has_more: false, next_page: null },
            },
          },
        }),
      },
    )
    .post(
      '/token-sheets/:id/entries',
      async ({ params, body, caller, address, set }) => {
        const entry = await sheets.addEntry(params.id, body, partyOf({ caller, address }))
        set.status = 201
        set.headers.location = `/api/v1/token-entries/${entry.id}`
        return entry
      },
      {
        allow: ['session'],
        parse: 'report',
        body: TokenEntryDraft,
        detail: documented({
          id: 'addTokenSheetEntry',
          tag,
          summary: 'Add an entry to a sheet',
          description: `Takes the fields of a report, without a session. The entry is valued and placed like a report and must start within the sheet’s period. ${OWNER}`,
          path,
          body: { example: EXAMPLE_DRAFT },
          responses: {
            201: {
              description: 'The draft.',
              schema: TokenEntry,
              headers: ['Location'],
              example: EXAMPLE_DRAFT_ENTRY,
            },
          },
          problems: ['wrong_status'],
        }),
      },
    )
    .post(
      '/token-sheets/:id/import',
      ({ params, body, caller, address }) =>
        sheets.importEntries(params.id, body as string, partyOf({ caller, address })),
      {
        allow: ['session'],
        parse: 'table',
        detail: documented({
          id: 'importTokenSheetEntries',
          tag,
          summary: 'Import entries from CSV',
          description: `A CSV file with up to 1,000 entries. Either all rows are added or none. In case of errors, each issue contains its line, such as \`/lines/7/started_at\`. ${OWNER}`,
          path,
          body: {
            also: {
              'text/csv': {
                schema: t.String(),
                example:
                  'agent_harness,agent_name,model,started_at,ended_at,input,output,project\r\nclaude-code,reviewer,claude-sonnet-4-5,2026-11-20T17:53:04Z,2026-11-20T18:20:41Z,522,228,acme-web\r\n',
              },
            },
          },
          responses: {
            200: {
              description: 'The added entries.',
              schema: ImportedEntries,
              example: { added: 1, data: [EXAMPLE_DRAFT_ENTRY] },
            },
          },
          problems: ['wrong_status'],
        }),
      },
    )
    .patch(
      '/token-sheets/:id/entries/:entry',
      ({ params, body, caller, address }) =>
        sheets.changeEntry(params.id, params.entry, body, partyOf({ caller, address })),
      {
        allow: ['session'],
        parse: 'report',
        body: TokenEntryDraftChange,
        detail: documented({
          id: 'changeTokenSheetEntry',
          tag,
          summary: 'Change a draft',
          description: `Fields that are absent stay unchanged; null clears a field. \`tokens\` and \`labels\` are replaced as a whole. ${OWNER}`,
          path: pathOfEntry,
          body: { example: { tokens: { input: 522, output: 300 }, ticket: 'ACME-43', summary: null } },
          responses: { 200: { description: 'The draft.', schema: TokenEntry, example: EXAMPLE_DRAFT_ENTRY } },
          problems: ['wrong_status'],
        }),
      },
    )
    .delete(
      '/token-sheets/:id/entries/:entry',
      async ({ params, caller, address, set }) => {
        await sheets.removeEntry(params.id, params.entry, partyOf({ caller, address }))
        set.status = 204
      },
      {
        allow: ['session'],
        detail: documented({
          id: 'removeTokenSheetEntry',
          tag,
          summary: 'Remove a draft',
          description: `This cannot be undone. ${OWNER}`,
          path: pathOfEntry,
          responses: { 204: { description: 'Removed.' } },
          problems: ['wrong_status'],
        }),
      },
    )
    .get('/token-sheets/:id/overlaps', ({ params, caller }) => sheets.listOverlaps(params.id, viewerOf(caller)), {
      allow: ['read', 'session'],
      detail: documented({
        id: 'listTokenSheetOverlaps',
        tag,
        summary: 'List overlaps with reported entries',
        description:
          'Pairs of entries of the same person and harness that ran at the same time, so the same usage may be counted twice.',
        path,
        responses: { 200: { description: 'The pairs.', schema: SheetOverlaps, example: EXAMPLE_OVERLAPS } },
        problems: ['database_deadline'],
      }),
    })
    .post(
      '/token-sheets/:id/submit',
      ({ params, body, caller, address }) =>
        sheets.submitSheet(params.id, partyOf({ caller, address }), {
          confirmOverlaps: body.confirm_overlaps ?? false,
        }),
      {
        allow: ['session'],
        parse: 'report',
        body: SheetSubmission,
        detail: documented({
          id: 'submitTokenSheet',
          tag,
          summary: 'Submit a sheet for approval',
          description: `The entries become \`pending\` and can no longer be changed. Overlaps with reported entries must be confirmed. ${OWNER}`,
          path,
          body: { example: { confirm_overlaps: true } },
          responses: sheetNow(EXAMPLE_SUBMITTED),
          problems: ['wrong_status', 'empty_sheet', 'overlapping_entries'],
        }),
      },
    )
    .post(
      '/token-sheets/:id/approve',
      ({ params, caller, address }) => sheets.approveSheet(params.id, partyOf({ caller, address })),
      {
        allow: ['session'],
        detail: documented({
          id: 'approveTokenSheet',
          tag,
          summary: 'Approve a submitted sheet',
          description: `The entries become \`approved\`. ${APPROVER} Only admins can approve their own sheets.`,
          path,
          responses: sheetNow(EXAMPLE_APPROVED),
          problems: ['wrong_status'],
        }),
      },
    )
    .post(
      '/token-sheets/:id/return',
      ({ params, body, caller, address }) => sheets.returnSheet(params.id, body.reason, partyOf({ caller, address })),
      {
        allow: ['session'],
        parse: 'report',
        body: Reason,
        detail: documented({
          id: 'returnTokenSheet',
          tag,
          summary: 'Return a submitted sheet, with a reason',
          description: `The entries become drafts again, so that the owner can correct them. ${APPROVER}`,
          path,
          body: { example: { reason: EXAMPLE_RETURNED.reason } },
          responses: sheetNow(EXAMPLE_RETURNED),
          problems: ['wrong_status'],
        }),
      },
    )
    .post(
      '/token-sheets/:id/withdraw-approval',
      ({ params, caller, address }) => sheets.withdrawApproval(params.id, partyOf({ caller, address })),
      {
        allow: ['session'],
        detail: documented({
          id: 'withdrawApprovalOfTokenSheet',
          tag,
          summary: 'Withdraw the approval of a sheet',
          description: `The entries become \`pending\` again. ${APPROVER} Fails if any entry is on a bill.`,
          path,
          responses: sheetNow(EXAMPLE_SUBMITTED),
          problems: ['wrong_status'],
        }),
      },
    )
