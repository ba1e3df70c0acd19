import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { amountOf, type BillHead, scopeOf } from '../../../src/web/pages/bills/bill-body.ts'

const bill = (changes: object) =>
  ({
    state: 'sent',
    kind: 'bill',
    due_on: '2026-11-21',
    client: null,
    project: null,
    ...changes,
  }) as unknown as BillHead

test('a bill is for a project, a client or everything', () => {
  const client = { name: 'Acme' }
  expect(scopeOf(bill({ client, project: { key: 'ACME', name: 'Acme web' } }))).toBe('ACME · Acme web')
  expect(scopeOf(bill({ client, project: { key: 'ACME', name: 'ACME' } }))).toBe('ACME')
  expect([scopeOf(bill({ client })), scopeOf(bill({}))]).toEqual(['Acme', 'Everything'])
})

test('amounts of a bill have the decimals of its currency', () => {
  expect([amountOf(1234.5, 2), amountOf(1234.5, 0), amountOf(-0.125, 3)]).toEqual(['1,234.50', '1,235', '-0.125'])
})
