import { Elysia, t } from 'elysia'
import { access, approvalViewerOf, approverOf, askerOf } from '../../../http/access.ts'
import { csvResponse, wantsCsv } from '../../../http/csv.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage, listParameter, listSort, momentParameter } from '../../../operations/parameters.ts'
import { Reason } from '../../entries/schema.ts'
import { SHEET_COLUMNS, TEMPLATE } from '../csv.ts'
import { EXAMPLE_APPROVED, EXAMPLE_OVERLAPS, EXAMPLE_RETURNED, EXAMPLE_SHEET, EXAMPLE_SUBMITTED } from '../examples.ts'
import { moments, sheetPath } from '../parameters.ts'
import { SHEET_STATUSES } from '../query.ts'
import { NewTokenSheet, SheetOverlaps, SheetSubmission, TokenSheet, TokenSheetList } from '../schema.ts'
import type { SheetsService } from '../service.ts'
import { SHEET_SORTS } from '../sorts.ts'

const tag = 'Token sheets'
const path = sheetPath

const OWNER = 'Only for the owner of the sheet and admins.'
const APPROVER =
  'Requires the role billing or admin, or being a lead or approver of the projects of all its entries, or the deputy of one.'

const SheetQuery = t.Object(
  {
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
  { additionalProperties: false },
)

const sheetNow = (example: TokenSheet) => ({
  200: { description: 'The updated sheet.', schema: TokenSheet, example },
})

export const sheetsRoutes = ({ sheets }: { sheets: SheetsService }) =>
  new Elysia({ name: 'sheets', normalize: false })
    .use(access())
    .get(
      '',
      async ({ query, caller, request }) => {
        const viewer = approvalViewerOf(caller)
        const asked = await sheets.readList(query, askerOf(caller))
        if (!wantsCsv(request, asked.format)) return sheets.listSheets(viewer, asked)
        return csvResponse(sheets.exportSheets(viewer, asked.filter), SHEET_COLUMNS, 'token-sheets.csv')
      },
      {
        allow: ['read', 'session'],
        scope: 'sheets:read',
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
      '',
      async ({ body, caller, address, set }) => {
        const sheet = await sheets.openSheet(body, approverOf({ caller, address }))
        set.status = 201
        set.headers.location = `/api/v1/token-sheets/${sheet.id}`
        return sheet
      },
      {
        allow: ['session'],
        scope: 'sheets:write',
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
      '/template',
      () =>
        new Response(TEMPLATE, {
          headers: {
            'content-type': 'text/csv; charset=utf-8',
            'content-disposition': 'attachment; filename="token-sheet.csv"',
          },
        }),
      {
        allow: ['read', 'session'],
        scope: 'sheets:read',
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
    .get('/:id', ({ params, caller }) => sheets.getSheet(params.id, approvalViewerOf(caller)), {
      allow: ['read', 'session'],
      scope: 'sheets:read',
      object: 'sht',
      detail: documented({
        id: 'getTokenSheet',
        tag,
        summary: 'Get a token sheet',
        path,
        responses: { 200: { description: 'The sheet.', schema: TokenSheet, example: EXAMPLE_SHEET } },
      }),
    })
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await sheets.removeSheet(params.id, approverOf({ caller, address }))
        set.status = 204
      },
      {
        allow: ['session'],
        scope: 'sheets:write',
        object: 'sht',
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
    .get('/:id/overlaps', ({ params, caller }) => sheets.listOverlaps(params.id, approvalViewerOf(caller)), {
      allow: ['read', 'session'],
      scope: 'sheets:read',
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
      '/:id/submit',
      ({ params, body, caller, address }) =>
        sheets.submitSheet(params.id, approverOf({ caller, address }), {
          confirmOverlaps: body.confirm_overlaps ?? false,
        }),
      {
        allow: ['session'],
        scope: 'sheets:write',
        object: 'sht',
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
          problems: ['wrong_status', 'empty_sheet', 'incomplete_entries', 'overlapping_entries'],
        }),
      },
    )
    .post(
      '/:id/approve',
      ({ params, caller, address }) => sheets.approveSheet(params.id, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'sht',
        detail: documented({
          id: 'approveTokenSheet',
          tag,
          summary: 'Approve a submitted sheet',
          description: `The entries become \`approved\`. ${APPROVER} Only admins can approve their own sheets, and a deputy does not approve those of the person for whom they act.`,
          path,
          responses: sheetNow(EXAMPLE_APPROVED),
          problems: ['wrong_status'],
        }),
      },
    )
    .post(
      '/:id/return',
      ({ params, body, caller, address }) =>
        sheets.returnSheet(params.id, body.reason, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'sht',
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
      '/:id/withdraw-approval',
      ({ params, caller, address }) => sheets.withdrawApproval(params.id, approverOf({ caller, address })),
      {
        allow: ['session'],
        scope: 'entries:approve',
        object: 'sht',
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
