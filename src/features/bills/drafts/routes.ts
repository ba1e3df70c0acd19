import { Elysia, t } from 'elysia'
import { access, actorOf, requireCaller } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { listPage } from '../../../operations/parameters.ts'
import { BillDraftBody, BillDraftChange, BillDraftList, type BillDraftBody as Body, NewBillDraft } from './schema.ts'
import { type BillDraftsService, readDraftList } from './service.ts'

const tag = 'Bills'
const { format: _, ...page } = listPage('Drafts')
const DraftsQuery = t.Object(page, { additionalProperties: false })
const path = { id: 'Id of the draft (bdr_…).' }

/** For signed-in people only: drafts are the form of the web application. */
const guarded = { allow: { session: ['billing', 'admin'] }, scope: 'people-only' } as const

const person = { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' }
const EXAMPLE: Body = {
  id: 'bdr_01a1fa172a0277f3983322718874f2ec',
  form: {
    scope: 'client',
    client: { value: 'cli_01a1fa172a0277f3983322718874f2ef', label: 'Acme Ltd' },
    project: null,
    span: 'month',
    month: '2026-11-01',
    days: [null, null],
    currency: 'EUR',
    exchange_rate: 0.92,
    group_by: ['project', 'ticket'],
    markup: '',
    tax_name: 'VAT',
    tax_percent: 20,
    extra_lines: [{ text: 'Setup', amount: 200 }],
    note: '',
    purchase_order: '',
    due_days: 14,
    show_cost: false,
    replaces: '',
    leave_unpriced: false,
    deliver: 'client',
    deliver_to: [],
    message: '',
  },
  revision: 1,
  created_at: '2026-12-01T08:00:00.000Z',
  created_by: person,
  updated_at: '2026-12-01T08:00:00.000Z',
  updated_by: person,
}

export const billDraftsRoutes = ({ billDrafts }: { billDrafts: BillDraftsService }) => {
  const askingOf = ({ caller, address }: Parameters<typeof actorOf>[0]) => ({
    person: requireCaller(caller).person,
    by: actorOf({ caller, address }),
  })
  return new Elysia({ name: 'bill-drafts', normalize: false })
    .use(access())
    .get('', ({ query }) => billDrafts.listDrafts(readDraftList(query)), {
      ...guarded,
      query: DraftsQuery,
      detail: documented({
        id: 'listBillDrafts',
        tag,
        summary: 'List drafts of bills',
        description: 'Bills that somebody has begun and not sent, newest first.',
        responses: {
          200: {
            description: 'A page of drafts.',
            schema: BillDraftList,
            example: { data: [EXAMPLE], has_more: false, next_page: null },
          },
        },
      }),
    })
    .post(
      '',
      async ({ caller, address, body, set }) => {
        const draft = await billDrafts.addDraft(body.form, askingOf({ caller, address }))
        set.status = 201
        set.headers.location = `/api/v1/bill-drafts/${draft.id}`
        return draft
      },
      {
        ...guarded,
        parse: 'report',
        body: NewBillDraft,
        detail: documented({
          id: 'addBillDraft',
          tag,
          summary: 'Save a draft of a bill',
          description:
            'Everybody who sends bills sees it and can continue it. It reserves neither a number nor entries.',
          body: { example: { form: EXAMPLE.form } },
          responses: {
            201: {
              description: 'The draft was saved.',
              schema: BillDraftBody,
              headers: ['Location'],
              example: EXAMPLE,
            },
          },
        }),
      },
    )
    .get('/:id', ({ params }) => billDrafts.getDraft(params.id), {
      ...guarded,
      detail: documented({
        id: 'getBillDraft',
        tag,
        summary: 'Get a draft of a bill',
        path,
        responses: { 200: { description: 'The draft.', schema: BillDraftBody, example: EXAMPLE } },
      }),
    })
    .put(
      '/:id',
      ({ params, caller, address, body }) => billDrafts.changeDraft(params.id, body, askingOf({ caller, address })),
      {
        ...guarded,
        parse: 'report',
        body: BillDraftChange,
        detail: documented({
          id: 'changeBillDraft',
          tag,
          summary: 'Replace a draft of a bill',
          description: 'Fails with `changed_meanwhile` if somebody else has changed it since.',
          path,
          body: { example: { form: EXAMPLE.form, revision: 1 } },
          responses: {
            200: { description: 'The draft.', schema: BillDraftBody, example: { ...EXAMPLE, revision: 2 } },
          },
          problems: ['changed_meanwhile'],
        }),
      },
    )
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await billDrafts.removeDraft(params.id, askingOf({ caller, address }))
        set.status = 204
      },
      {
        ...guarded,
        detail: documented({
          id: 'removeBillDraft',
          tag,
          summary: 'Delete a draft of a bill',
          path,
          responses: { 204: { description: 'The draft was deleted.' } },
        }),
      },
    )
}
