import type { Party } from '../../../access/actor.ts'
import { operation, result, several } from '../../../operations/operation.ts'
import { paging } from '../../../operations/parameters.ts'
import { readListPage } from '../../../schema/query.ts'
import { BillDraftBody, BillDraftChange, BillDraftList, NewBillDraft } from '../drafts/schema.ts'
import type { BillDraftsService } from '../drafts/service.ts'

interface Needs {
  billDrafts: BillDraftsService
}

/** For signed-in people only: drafts are the form of the web application. */
const ofPeople = { tag: 'Bills', allow: { session: ['billing', 'admin'] }, scope: 'people-only' } as const
const params = { id: 'Id of the draft (bdr_…).' }

const asking = ({ person, by }: Party) => ({ person: person!, by })

const person = { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' }
const EXAMPLE: BillDraftBody = {
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
    show_active_time: false,
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

const DRAFT = result('The draft.', BillDraftBody, EXAMPLE)

const listBillDrafts = operation({
  ...ofPeople,
  id: 'listBillDrafts',
  method: 'GET',
  path: '/bill-drafts',
  summary: 'List drafts of bills',
  description: 'Bills that somebody has begun and not sent, newest first.',
  query: paging('Drafts'),
  answer: several('A page of drafts.', BillDraftList, EXAMPLE),
  run: ({ billDrafts }: Needs, { query }) => billDrafts.listDrafts(readListPage(query)),
})

const addBillDraft = operation({
  ...ofPeople,
  id: 'addBillDraft',
  method: 'POST',
  path: '/bill-drafts',
  summary: 'Save a draft of a bill',
  description: 'Everyone who sends bills sees it and can continue it. It reserves neither a number nor entries.',
  body: NewBillDraft,
  example: { form: EXAMPLE.form },
  answer: { ...DRAFT, status: 201, description: 'The draft was saved.' },
  run: ({ billDrafts }: Needs, { party, body }) => billDrafts.addDraft(body.form, asking(party)),
})

const getBillDraft = operation({
  ...ofPeople,
  id: 'getBillDraft',
  method: 'GET',
  path: '/bill-drafts/:id',
  summary: 'Get a draft of a bill',
  params,
  answer: DRAFT,
  run: ({ billDrafts }: Needs, call) => billDrafts.getDraft(call.params.id),
})

const changeBillDraft = operation({
  ...ofPeople,
  id: 'changeBillDraft',
  method: 'PUT',
  path: '/bill-drafts/:id',
  summary: 'Replace a draft of a bill',
  description: 'Fails with `changed_meanwhile` if somebody else has changed it since.',
  params,
  body: BillDraftChange,
  example: { form: EXAMPLE.form, revision: 1 },
  answer: { ...DRAFT, example: { ...EXAMPLE, revision: 2 } },
  problems: ['changed_meanwhile'],
  run: ({ billDrafts }: Needs, call) => billDrafts.changeDraft(call.params.id, call.body, asking(call.party)),
})

const removeBillDraft = operation({
  ...ofPeople,
  id: 'removeBillDraft',
  method: 'DELETE',
  path: '/bill-drafts/:id',
  summary: 'Delete a draft of a bill',
  params,
  answer: { status: 204, description: 'The draft was deleted.' },
  run: ({ billDrafts }: Needs, call) => billDrafts.removeDraft(call.params.id, call.party),
})

export const billDraftOperations = [
  listBillDrafts,
  addBillDraft,
  getBillDraft,
  changeBillDraft,
  removeBillDraft,
] as const
