import type { Static } from '@sinclair/typebox'
import { Elysia, t } from 'elysia'
import type { Caller } from '../../../access/caller.ts'
import { Problem } from '../../../errors.ts'
import { access, actorOf, requireCaller, viewerOf } from '../../../http/access.ts'
import { csvResponse, fileFormat, fileResponse, wantsCsv } from '../../../http/csv.ts'
import { documented } from '../../../http/documentation.ts'
import { readIdempotencyKey } from '../../../http/idempotency-key.ts'
import { serialized } from '../../../http/responses.ts'
import { listPage, listParameter, listSort, parameter } from '../../../operations/parameters.ts'
import { pageOf } from '../../../schema/lists.ts'
import { DAY } from '../../../schema/types.ts'
import { EXAMPLE_ENTRY } from '../../entries/examples.ts'
import { TokenEntryList } from '../../entries/schema.ts'
import type { EntriesService } from '../../entries/service.ts'
import { entryFormat } from '../../selection/parameters.ts'
import { BILL_COLUMNS } from '../csv.ts'
import {
  EXAMPLE_BILL,
  EXAMPLE_CREDIT_NOTE,
  EXAMPLE_HEAD,
  EXAMPLE_PREVIEW,
  EXAMPLE_REQUEST,
  EXAMPLE_TOTALS,
} from '../examples.ts'
import { readBillEntries, readBillList, readBillTotals } from '../query.ts'
import { BILL_PATH, billAnswer, submittedUnder } from '../responses.ts'
import {
  BILL_STATES,
  Bill,
  BillDelivery,
  BillList,
  BillPreview,
  BillRequest,
  BillSending,
  BillTotals,
  BillVoiding,
  CreditNoteRequest,
} from '../schema.ts'
import type { BillsService, BillView } from '../service.ts'
import { BILL_SORTS } from '../sorts.ts'

const tag = 'Bills'

/** Who reads bills, themselves or by a read token. */
const MAY_READ = { read: ['billing', 'admin'], session: ['billing', 'admin'] } as const
const MAY_CHANGE = { session: ['billing', 'admin'] } as const
/** A scheduled job too, with a service token made for it. */
const MAY_SEND = { service: ['billing', 'admin'], session: ['billing', 'admin'] } as const

const filters = {
  state: listParameter('State.', { type: 'string', enum: [...BILL_STATES] }),
  client: parameter({ type: 'string', description: 'ID or name of a client.' }),
  project: parameter({ type: 'string', description: 'ID, key, name or alias of a project.' }),
  ticket: parameter({
    type: 'string',
    description: 'ID or key of a ticket: bills that contain entries of it. A void bill contains none.',
  }),
  from: parameter({ type: 'string', pattern: DAY, description: 'Issued on or after this date.' }),
  to: parameter({ type: 'string', pattern: DAY, description: 'Issued on or before this date.' }),
  overdue: parameter({ type: 'boolean', description: 'Only bills that are overdue, or only others.' }),
  delivery_failed: parameter({
    type: 'boolean',
    description: 'Only bills with the delivery state `failed`, or only others.',
  }),
}
const BillQuery = t.Object(
  { ...filters, ...listSort(BILL_SORTS), ...listPage('Bills') },
  { additionalProperties: false },
)
const TotalsQuery = t.Object(filters, { additionalProperties: false })

const EntriesQuery = t.Object(
  {
    line: parameter({ type: 'integer', minimum: 1, description: 'Return only the entries of this line.' }),
    ...listPage('Entries'),
    ...entryFormat(),
  },
  { additionalProperties: false },
)

/** Throws 403 for a service token that was not made for bills. */
function requireSender(sent: Caller | null) {
  const caller = requireCaller(sent, ['service', 'session', 'api'])
  if (caller.kind === 'service' && !caller.token.allowBills) {
    throw new Problem(
      'forbidden',
      'This service token is not allowed to send bills. Create one that is: `tally tokens create --kind svc --allow bills`.',
    )
  }
  return caller
}

function draftsArePeoples(): Problem {
  return new Problem('forbidden', 'Only people who are signed in send drafts. Leave out `draft`.')
}

const path = BILL_PATH

export const billsRoutes = ({ bills, entries }: { bills: BillsService; entries: EntriesService }) => {
  // With an entity tag.
  const read = async (view: BillView) =>
    serialized<Static<typeof Bill>>(new TextEncoder().encode(await bills.billText(view)))
  const answer = billAnswer(bills)

  return new Elysia({ name: 'bills', normalize: false })
    .use(access())
    .post(
      '/preview',
      ({ body, caller }) => {
        requireSender(caller)
        return bills.preview(body)
      },
      {
        allow: MAY_SEND,
        scope: 'bills:read',
        parse: 'report',
        body: BillRequest,
        detail: documented({
          id: 'previewBill',
          tag,
          summary: 'Preview a bill',
          description:
            'Returns the document that would be sent now, and the entries that are excluded with the reasons. Nothing is saved. `digest` identifies exactly this bill.',
          body: { example: EXAMPLE_REQUEST },
          responses: {
            200: { description: 'The preview of the bill.', schema: BillPreview, example: EXAMPLE_PREVIEW },
          },
          problems: [
            'not_found',
            'unpriced_entries',
            'earlier_entries',
            'bill_too_large',
            'wrong_status',
            'database_deadline',
          ],
        }),
      },
    )
    .post(
      '',
      async ({ body, caller: sent, address, request, set }) => {
        const caller = requireSender(sent)
        if (body.draft !== undefined && caller.kind !== 'session') throw draftsArePeoples()
        const { bill, replayed } = await bills.send(body, {
          by: actorOf({ caller, address }),
          key: submittedUnder(readIdempotencyKey(request.headers.get('idempotency-key')), caller, body),
        })
        set.status = replayed ? 200 : 201
        set.headers.location = `/api/v1/bills/${bill.bill.uid}`
        if (replayed) set.headers['idempotent-replayed'] = 'true'
        return answer(bill)
      },
      {
        allow: MAY_SEND,
        scope: 'bills:write',
        parse: 'report',
        body: BillSending,
        detail: documented({
          id: 'sendBill',
          tag,
          summary: 'Send a bill',
          description:
            'Freezes every unbilled entry in the scope and period, assigns the bill its number and queues its delivery, in one transaction. A sent bill never changes: you can mark it as paid, void it, or correct it with a credit note.',
          headers: ['Idempotency-Key'],
          body: { example: EXAMPLE_REQUEST },
          responses: {
            201: { description: 'The bill was sent.', schema: Bill, headers: ['Location'], example: EXAMPLE_BILL },
            200: {
              description: 'The bill was already sent with this Idempotency-Key.',
              schema: Bill,
              headers: ['Location', 'Idempotent-Replayed'],
              example: EXAMPLE_BILL,
            },
          },
          problems: [
            'not_found',
            'nothing_to_bill',
            'unpriced_entries',
            'earlier_entries',
            'bill_too_large',
            'preview_changed',
            'draft_gone',
            'wrong_status',
            'idempotency_key_reused',
            'database_deadline',
          ],
        }),
      },
    )
    .get(
      '',
      async ({ query, request }) => {
        const { limit, after, by, format, ...filter } = readBillList(query)
        if (wantsCsv(request, format)) return csvResponse(await bills.everyBill(filter), BILL_COLUMNS, 'bills.csv')
        const views = await bills.listBills(filter, { after, by, limit: limit + 1 })
        const page = pageOf(views, limit, (view) => bills.pageAfter(view, by))
        return { ...page, data: await bills.heads(page.data) }
      },
      {
        allow: MAY_READ,
        scope: 'bills:read',
        query: BillQuery,
        detail: documented({
          id: 'listBills',
          tag,
          summary: 'List bills',
          description: 'Returns bills without their documents, most recently sent first unless sorted otherwise.',
          responses: {
            200: {
              description: 'A page of bills.',
              schema: BillList,
              example: { data: [EXAMPLE_HEAD], has_more: false, next_page: null },
              also: { 'text/csv': { schema: t.String() } },
            },
          },
          problems: ['not_found'],
        }),
      },
    )
    .get('/totals', ({ query }) => bills.sumBills(readBillTotals(query)), {
      allow: MAY_READ,
      scope: 'bills:read',
      query: TotalsQuery,
      detail: documented({
        id: 'getBillTotals',
        tag,
        summary: 'Sum up bills',
        description:
          'Returns the total, paid, open and overdue amounts of the bills that match, by currency, and the open credit of credit notes. Void bills count nothing; credit notes are negative in the total.',
        responses: { 200: { description: 'One item per currency.', schema: BillTotals, example: EXAMPLE_TOTALS } },
        problems: ['not_found'],
      }),
    })
    .get('/:id', async ({ params }) => read(await bills.getBill(params.id)), {
      allow: MAY_READ,
      scope: 'bills:read',
      object: 'bil',
      detail: documented({
        id: 'getBill',
        tag,
        summary: 'Get a bill',
        description: 'Returns the state of the bill and its document, byte for byte as it was sent.',
        path,
        responses: { 200: { description: 'The bill.', schema: Bill, example: EXAMPLE_BILL } },
      }),
    })
    .get(
      '/:id/entries',
      async ({ params, query, caller, request }) => {
        const { line, limit, after, format } = readBillEntries(query)
        const filter = { billedOn: { bill: (await bills.getBill(params.id)).bill.uid, line } }
        const viewer = viewerOf(caller)
        const file = fileFormat(request, format)
        if (!file) return entries.listing.listEntries(viewer, { filter, limit, after })
        return fileResponse(entries.listing.exportFile(viewer, filter, file), `bill-entries.${file}`, file)
      },
      {
        allow: MAY_READ,
        scope: 'bills:read',
        query: EntriesQuery,
        detail: documented({
          id: 'listBillEntries',
          tag,
          summary: 'List the entries of a bill or one of its lines',
          description:
            'Returns the entries in their current state, newest first. The entries of a void bill are included; they may be on another bill by now.\n\nAs CSV or NDJSON (the objects of `data`, one per line), the response contains all of them and is streamed. If the server fails in between, the connection ends without the last chunk, which HTTP clients report as an error.',
          path,
          responses: {
            200: {
              description: 'A page of entries.',
              schema: TokenEntryList,
              example: { data: [EXAMPLE_ENTRY], has_more: false, next_page: null, searched_to: null, deleted: null },
              also: { 'text/csv': { schema: t.String() }, 'application/x-ndjson': { schema: t.String() } },
            },
          },
        }),
      },
    )
    .post(
      '/:id/void',
      async ({ params, body, caller, address }) =>
        answer(await bills.voidBill(params.id, body, actorOf({ caller, address }))),
      {
        allow: MAY_CHANGE,
        scope: 'bills:write',
        object: 'bil',
        parse: 'report',
        body: BillVoiding,
        detail: documented({
          id: 'voidBill',
          tag,
          summary: 'Void a bill',
          description: 'Restores the entries to their earlier states. The bill keeps its number and document.',
          path,
          body: { example: { reason: 'Sent to the wrong address.' } },
          responses: {
            200: {
              description: 'The voided bill.',
              schema: Bill,
              example: {
                ...EXAMPLE_BILL,
                state: 'void',
                void: { at: '2026-12-02T10:00:00.000Z', reason: 'Sent to the wrong address.' },
              },
            },
          },
          problems: ['wrong_status'],
        }),
      },
    )
    .post(
      '/:id/deliver',
      async ({ params, body, caller, address, set }) => {
        set.status = 202
        return answer(await bills.deliverBill(params.id, body, actorOf({ caller, address })))
      },
      {
        allow: MAY_CHANGE,
        scope: 'bills:write',
        object: 'bil',
        parse: 'report',
        body: BillDelivery,
        detail: documented({
          id: 'deliverBill',
          tag,
          summary: 'Resend a bill by e-mail',
          description:
            'Queues an e-mail to the client or to the given addresses. For a void bill, the void notice is sent. `deliveries` shows the state of each e-mail.',
          path,
          body: { example: { to: ['bills@acme.example'], message: 'Here is another copy, as requested.' } },
          responses: {
            202: {
              description: 'The e-mail is queued.',
              schema: Bill,
              example: { ...EXAMPLE_BILL, delivery: 'queued' },
            },
          },
          problems: ['mail_not_set_up'],
        }),
      },
    )
    .post(
      '/:id/credit-note',
      async ({ params, body, caller, address, set }) => {
        const note = await bills.creditBill(params.id, body, actorOf({ caller, address }))
        set.status = 201
        set.headers.location = `/api/v1/bills/${note.bill.uid}`
        return answer(note)
      },
      {
        allow: MAY_CHANGE,
        scope: 'bills:write',
        object: 'bil',
        parse: 'report',
        body: CreditNoteRequest,
        detail: documented({
          id: 'creditBill',
          tag,
          summary: 'Correct a paid bill with a credit note',
          description:
            'Creates a bill with its own number and negative lines: the given lines, or one line for the full remaining amount.',
          path,
          body: { example: { lines: [{ text: 'Sessions on 3 November were billed twice', amount: 12.5 }] } },
          responses: {
            201: {
              description: 'The credit note.',
              schema: Bill,
              headers: ['Location'],
              example: EXAMPLE_CREDIT_NOTE,
            },
          },
          problems: ['wrong_status'],
        }),
      },
    )
}
