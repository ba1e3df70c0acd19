import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { actionOf, actorOf, detailsOf } from '../../../src/web/pages/entries/history-step.ts'
import { rightsTo } from '../../../src/web/pages/entries/rights.ts'

type Entry = Parameters<typeof rightsTo>[0]
type Me = Parameters<typeof rightsTo>[1]

const entry = (status: string, changes: object = {}) =>
  ({
    status,
    agent_manager: { id: 'usr_ada' },
    project: { id: 'prj_1' },
    sheet: null,
    division: null,
    ...changes,
  }) as unknown as Entry
const person = (id: string, role: string, ledIds: string[] = [], approvedIds = ledIds) =>
  ({ person: { id, role }, ledIds, approvedIds }) as unknown as Me

/** The names of the rights, in the order in which they are offered. */
const allowed = (entry: Entry, me: Me) =>
  Object.entries(rightsTo(entry, me)).flatMap(([name, isAllowed]) => (isAllowed ? [name] : []))

test('members edit and assign their own entries', () => {
  expect(allowed(entry('submitted'), person('usr_ada', 'member'))).toEqual(['place', 'divide', 'correct'])
  expect(allowed(entry('submitted'), person('usr_bob', 'member'))).toEqual([])
})

test('approvers and deputies approve and reject, but do not assign', () => {
  expect(allowed(entry('submitted'), person('usr_bob', 'member', [], ['prj_1']))).toEqual(['approve', 'reject', 'void'])
})

test('leads approve, reject and void the entries of others in their projects only', () => {
  const bob = person('usr_bob', 'member', ['prj_1'])
  expect(allowed(entry('submitted'), bob)).toEqual(['approve', 'reject', 'void', 'place', 'divide'])
  expect(allowed(entry('submitted', { project: { id: 'prj_2' } }), bob)).toEqual([])
  expect(allowed(entry('submitted', { project: null }), bob)).toEqual([])
})

test('people with a role reject and void their own entries, but only admins approve theirs', () => {
  expect(allowed(entry('submitted'), person('usr_ada', 'billing'))).toEqual([
    'reject',
    'void',
    'place',
    'divide',
    'correct',
    'correctFigures',
  ])
  expect(allowed(entry('submitted'), person('usr_ada', 'admin'))).toEqual([
    'approve',
    'reject',
    'void',
    'place',
    'divide',
    'correct',
    'correctFigures',
  ])
})

test('pending, approved, billed and voided entries are locked', () => {
  const admin = person('usr_bob', 'admin')
  expect(['pending', 'approved', 'billed', 'voided'].map((status) => allowed(entry(status), admin))).toEqual([
    [],
    ['withdraw', 'void'],
    [],
    ['restore'],
  ])
})

test('rejected entries can be reopened or voided', () => {
  expect(allowed(entry('rejected'), person('usr_bob', 'billing'))).toEqual([
    'reopen',
    'void',
    'place',
    'correct',
    'correctFigures',
  ])
})

test('entries of a token sheet are approved with the sheet', () => {
  const onSheet = entry('submitted', { sheet: { id: 'sht_1' } })
  expect(allowed(onSheet, person('usr_bob', 'admin'))).toEqual(['place', 'correct'])
})

const details = (details: object) => detailsOf({ details } as Parameters<typeof detailsOf>[0])
const place = (project: string | null, ticket: string | null = null) => ({
  project: project && { key: project },
  ticket: ticket && { key: ticket },
})

test('a history shows assignments by key, with the reason', () => {
  expect(details({ from: place(null), to: place('ACME', 'ACME-42'), because: 'rules_applied' })).toEqual([
    'unattributed → ACME-42',
    'because the rules were applied to existing entries',
  ])
  expect(details({ from: place('ACME'), to: place(null), because: 'by_hand' })).toEqual(['ACME → unattributed'])
})

test('a history shows costs exactly and counts with separators', () => {
  expect(
    details({ list_value: { from: null, to: 0.000000123 }, tokens: { input: { from: 1_000, to: 2_500 } } }),
  ).toEqual(['List value: none → $0.000000123', 'Tokens: input: 1,000 → 2,500'])
})

test('a history says which day of its session an entry was cut down to', () => {
  expect(actionOf({ action: 'sliced' } as Parameters<typeof actionOf>[0])).toBe('Split by day')
  expect(details({ day: '2026-10-30' })).toEqual(['Day: 30 Oct 2026'])
})

test('a history shows details and actions that the page does not know as they are stored', () => {
  expect(details({ from: 'a', to: 'b', because: 'new_reason', reason: 'Twice', source: 'log' })).toEqual([
    'a → b',
    'Reason: Twice',
    'new_reason',
    'from log',
  ])
  expect(['placed', 'something_new'].map((action) => actionOf({ action } as Parameters<typeof actionOf>[0]))).toEqual([
    'Assigned',
    'Something new',
  ])
})

test('a history names the person, their token, or Tally', () => {
  const user = { id: 'usr_ada', name: 'Ada' }
  const shown = (actor: object | null, details = {}) => actorOf({ actor, details } as Parameters<typeof actorOf>[0])
  expect([shown({ user, token: null }), shown({ user, token: { name: 'ci' } }), shown(null)]).toEqual([
    'Ada',
    'Ada via token ci',
    'Tally',
  ])
  const details = { for: { id: 'usr_grace', name: 'Grace' } }
  expect(shown({ user, token: null }, details)).toBe('Ada for Grace')
  expect(detailsOf({ details } as unknown as Parameters<typeof detailsOf>[0])).toEqual([])
})
