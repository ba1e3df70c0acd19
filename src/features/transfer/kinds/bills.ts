import { NANO_DIGITS } from '../../../lib/money.ts'
import { COST_BASES } from '../../../shared/cost-basis.ts'
import { bytes, choice, day, decimal, flag, integer, json, moment, orNone, ownId, reference, text } from '../columns.ts'
import { kind } from '../kind.ts'

/** In the minor unit of the bill's currency, such as cents. */
const minor = (column: string) => decimal(column, 0)

export const BILL_SEQUENCE = kind({
  type: 'bill_sequence',
  table: 'billSequences',
  order: ['scope'],
  fields: { scope: text('scope'), last: integer('last', 0) },
})

export const BILL = kind({
  type: 'bill',
  table: 'bills',
  order: ['id'],
  isSelfReferring: true,
  fields: {
    id: ownId('bil'),
    number: text('number'),
    kind: choice('kind', ['bill', 'credit_note']),
    // An export waits until no bill is being prepared.
    state: choice('state', ['sent', 'paid', 'void']),
    client: orNone(reference('clientId', 'clients')),
    project: orNone(reference('projectId', 'projects')),
    period_from: day('periodFrom'),
    period_to: day('periodTo'),
    issued_on: day('issuedOn'),
    due_on: day('dueOn'),
    currency: text('currency'),
    subtotal_minor: minor('subtotal'),
    tax_minor: minor('tax'),
    total_minor: minor('total'),
    paid_minor: minor('paidAmount'),
    cost: decimal('cost', NANO_DIGITS),
    list_value: decimal('listValue', NANO_DIGITS),
    basis: choice('basis', COST_BASES),
    provisional: flag('provisional'),
    entries: integer('entries', 0),
    document: text('document'),
    replaces: orNone(reference('replacesId', 'bills', { later: true })),
    corrects: orNone(reference('correctsId', 'bills', { later: true })),
    released_by: orNone(reference('releasedById', 'bills', { later: true })),
    created_at: moment('createdAt'),
    created_by: orNone(reference('createdBy', 'users')),
    paid_on: orNone(day('paidOn')),
    paid_reference: orNone(text('paidReference')),
    voided_at: orNone(moment('voidedAt')),
    void_reason: orNone(text('voidReason')),
    reminded_on: orNone(day('remindedOn')),
  },
})

export const BILL_DRAFT = kind({
  type: 'bill_draft',
  table: 'billDrafts',
  order: ['id'],
  fields: {
    id: ownId('bdr'),
    form: json('form'),
    revision: integer('revision', 1),
    created_at: moment('createdAt'),
    created_by: reference('createdBy', 'users'),
    updated_at: moment('updatedAt'),
    updated_by: reference('updatedBy', 'users'),
  },
})

export const BILL_ENTRY = kind({
  type: 'bill_entry',
  table: 'billEntries',
  order: ['billId', 'entryId'],
  fields: {
    bill: reference('billId', 'bills'),
    entry: reference('entryId', 'entries'),
    line: integer('line', 1),
    status_before: choice('statusBefore', ['submitted', 'approved']),
    fee: orNone(decimal('fee', NANO_DIGITS)),
    charge: orNone(decimal('charge', NANO_DIGITS)),
  },
})

export const BILL_PAYMENT = kind({
  type: 'bill_payment',
  table: 'billPayments',
  order: ['billId', 'number'],
  fields: {
    bill: reference('billId', 'bills'),
    number: integer('number', 1),
    amount_minor: minor('amount'),
    paid_on: day('paidOn'),
    reference: orNone(text('reference')),
    offset: orNone(reference('offsetId', 'bills')),
    created_at: moment('createdAt'),
    created_by: orNone(reference('createdBy', 'users')),
    reversed_at: orNone(moment('reversedAt')),
    reversed_by: orNone(reference('reversedBy', 'users')),
    reverse_reason: orNone(text('reverseReason')),
  },
})

/** A document as it was sent. Large ones are in several lines. */
export const BILL_DOCUMENT = kind({
  type: 'bill_document',
  table: 'billDocuments',
  order: ['billId', 'format'],
  fields: {
    bill: reference('billId', 'bills'),
    format: text('format'),
    piece: integer('piece', 1),
    pieces: integer('pieces', 1),
    bytes: bytes('bytes'),
  },
})

export const BILL_DELIVERY = kind({
  type: 'bill_delivery',
  table: 'billDeliveries',
  order: ['id'],
  fields: {
    bill: reference('billId', 'bills'),
    notice: choice('notice', ['sent', 'void', 'reminder']),
    recipient: text('recipient'),
    message: orNone(text('message')),
    state: choice('state', ['queued', 'sent', 'failed']),
    attempts: integer('attempts', 0),
    next_attempt_at: orNone(moment('nextAttemptAt')),
    answer: orNone(text('answer')),
    created_at: moment('createdAt'),
    created_by: orNone(reference('createdBy', 'users')),
    sent_at: orNone(moment('sentAt')),
  },
})

export const BILL_KEY = kind({
  type: 'bill_key',
  table: 'billKeys',
  order: ['userId', 'key'],
  fields: {
    person: reference('userId', 'users'),
    key: text('key'),
    body_hash: bytes('bodyHash', 32),
    bill: reference('billId', 'bills'),
  },
})
