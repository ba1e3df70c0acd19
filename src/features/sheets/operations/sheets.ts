import { Type } from '@sinclair/typebox'
import { type Answer, operation, result } from '../../../operations/operation.ts'
import { Reason } from '../../entries/schema.ts'
import { TEMPLATE } from '../csv.ts'
import { EXAMPLE_APPROVED, EXAMPLE_OVERLAPS, EXAMPLE_RETURNED, EXAMPLE_SHEET, EXAMPLE_SUBMITTED } from '../examples.ts'
import { NewTokenSheet, SheetOverlaps, SheetSubmission, TokenSheet } from '../schema.ts'
import { CHANGING, type Needs, OWNER, one, params, READING } from './sheet.ts'

const APPROVING = { ...CHANGING, scope: 'entries:approve' } as const
const APPROVER =
  'Requires the role billing or admin, or being a lead or approver of the projects of all its entries, or the deputy of one.'

const sheetNow = (example: TokenSheet): Answer => result('The updated sheet.', TokenSheet, example)

const openTokenSheet = operation({
  ...CHANGING,
  id: 'openTokenSheet',
  method: 'POST',
  path: '/token-sheets',
  summary: 'Open a token sheet',
  body: NewTokenSheet,
  examples: {
    month: { summary: 'For a month', value: { month: '2026-11' } },
    period: { summary: 'For a range of days', value: { period: { from: '2026-11-16', to: '2026-11-20' } } },
  },
  answer: result(
    'The sheet.',
    TokenSheet,
    { ...EXAMPLE_SHEET, entries: 0, tokens: 0, cost: 0, list_value: 0, projects: [], updated_at: null },
    { status: 201 },
  ),
  problems: ['not_found'],
  run: ({ sheets }: Needs, { approver, body }) => sheets.openSheet(body, approver),
})

const getTokenSheetTemplate = operation({
  ...READING,
  id: 'getTokenSheetTemplate',
  method: 'GET',
  path: '/token-sheets/template',
  summary: 'Get the CSV template for sheet entries',
  description:
    'The header line of a CSV file. Each row below it is an entry. Labels have one column each, `label:<name>`. You can omit columns you do not need.',
  answer: {
    status: 200,
    description: 'CSV.',
    also: { 'text/csv': { schema: Type.String(), example: TEMPLATE } },
  },
  run: async () =>
    new Response(TEMPLATE, {
      headers: {
        'content-type': 'text/csv; charset=utf-8',
        'content-disposition': 'attachment; filename="token-sheet.csv"',
      },
    }),
})

export const getTokenSheet = operation({
  ...READING,
  ...one,
  id: 'getTokenSheet',
  method: 'GET',
  path: '/token-sheets/:id',
  summary: 'Get a token sheet',
  answer: result('The sheet.', TokenSheet, EXAMPLE_SHEET),
  run: ({ sheets }: Needs, call) => sheets.getSheet(call.params.id, call.approver.viewer),
})

export const removeTokenSheet = operation({
  ...CHANGING,
  ...one,
  id: 'removeTokenSheet',
  method: 'DELETE',
  path: '/token-sheets/:id',
  summary: 'Remove an open or returned sheet',
  description: `Also removes its draft entries. ${OWNER}`,
  answer: { status: 204, description: 'Removed.' },
  problems: ['wrong_status'],
  run: ({ sheets }: Needs, call) => sheets.removeSheet(call.params.id, call.approver),
})

const listTokenSheetOverlaps = operation({
  ...READING,
  id: 'listTokenSheetOverlaps',
  method: 'GET',
  path: '/token-sheets/:id/overlaps',
  summary: 'List overlaps with reported entries',
  description:
    'Pairs of entries of the same person and harness that ran at the same time, so the same usage may be counted twice.',
  params,
  answer: result('The pairs.', SheetOverlaps, EXAMPLE_OVERLAPS),
  problems: ['database_deadline'],
  run: ({ sheets }: Needs, call) => sheets.listOverlaps(call.params.id, call.approver.viewer),
})

const submitTokenSheet = operation({
  ...CHANGING,
  ...one,
  id: 'submitTokenSheet',
  method: 'POST',
  path: '/token-sheets/:id/submit',
  summary: 'Submit a sheet for approval',
  description: `The entries become \`pending\` and can no longer be changed. Overlaps with reported entries must be confirmed. ${OWNER}`,
  body: SheetSubmission,
  example: { confirm_overlaps: true },
  answer: sheetNow(EXAMPLE_SUBMITTED),
  problems: ['wrong_status', 'empty_sheet', 'incomplete_entries', 'overlapping_entries'],
  run: ({ sheets }: Needs, { params, approver, body: { confirm_overlaps: confirmOverlaps = false } }) =>
    sheets.submitSheet(params.id, approver, { confirmOverlaps }),
})

export const approveTokenSheet = operation({
  ...APPROVING,
  ...one,
  id: 'approveTokenSheet',
  method: 'POST',
  path: '/token-sheets/:id/approve',
  summary: 'Approve a submitted sheet',
  description: `The entries become \`approved\`. ${APPROVER} Only admins can approve their own sheets, and a deputy does not approve those of the person for whom they act.`,
  answer: sheetNow(EXAMPLE_APPROVED),
  problems: ['wrong_status'],
  run: ({ sheets }: Needs, call) => sheets.approveSheet(call.params.id, call.approver),
})

export const returnTokenSheet = operation({
  ...APPROVING,
  ...one,
  id: 'returnTokenSheet',
  method: 'POST',
  path: '/token-sheets/:id/return',
  summary: 'Return a submitted sheet, with a reason',
  description: `The entries become drafts again, so that the owner can correct them. ${APPROVER}`,
  body: Reason,
  example: { reason: EXAMPLE_RETURNED.reason },
  answer: sheetNow(EXAMPLE_RETURNED),
  problems: ['wrong_status'],
  run: ({ sheets }: Needs, call) => sheets.returnSheet(call.params.id, call.body.reason, call.approver),
})

export const withdrawApprovalOfTokenSheet = operation({
  ...APPROVING,
  ...one,
  id: 'withdrawApprovalOfTokenSheet',
  method: 'POST',
  path: '/token-sheets/:id/withdraw-approval',
  summary: 'Withdraw the approval of a sheet',
  description: `The entries become \`pending\` again. ${APPROVER} Fails if any entry is on a bill.`,
  answer: sheetNow(EXAMPLE_SUBMITTED),
  problems: ['wrong_status'],
  run: ({ sheets }: Needs, call) => sheets.withdrawApproval(call.params.id, call.approver),
})

export const sheetOperations = [
  openTokenSheet,
  getTokenSheetTemplate,
  getTokenSheet,
  removeTokenSheet,
  listTokenSheetOverlaps,
  submitTokenSheet,
  approveTokenSheet,
  returnTokenSheet,
  withdrawApprovalOfTokenSheet,
] as const
