import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
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
