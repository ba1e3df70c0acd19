/** Rows of bills for tests that need entries to be on one, without composing it. */
import type { Tables } from '../../src/database/schema/tables.ts'
import { newId } from '../../src/lib/id.ts'

/** A sent bill for November 2026 over nothing; its number is its id. */
export function billRow(more: Partial<Tables['bills']['$inferInsert']> = {}) {
  const uid = newId('bil')
  return {
    uid,
    number: uid,
    kind: 'bill',
    state: 'sent',
    periodFrom: '2026-11-01',
    periodTo: '2026-11-30',
    issuedOn: '2026-12-01',
    dueOn: '2026-12-31',
    currency: 'USD',
    subtotal: 0n,
    tax: 0n,
    total: 0n,
    cost: 0n,
    listValue: 0n,
    entries: 0,
    document: '{}',
    createdAt: Date.UTC(2026, 11, 1),
    ...more,
  } satisfies Tables['bills']['$inferInsert']
}
