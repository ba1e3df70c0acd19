import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { importIssue } from '../../../src/web/pages/sheets/import-issue.ts'
import { rightsTo, type Sheet } from '../../../src/web/pages/sheets/sheet-body.ts'
import type { Me } from '../../../src/web/server/me.ts'

const sheet = (status: string, changes: object = {}) =>
  ({
    status,
    agent_manager: { id: 'usr_ada' },
    projects: [{ id: 'prj_1' }],
    has_unplaced: false,
    ...changes,
  }) as unknown as Sheet

/** The names of what a person may do with a sheet. */
const allowed = (sheet: Sheet, id: string, role: string, approvedIds: string[] = []) =>
  Object.entries(rightsTo(sheet, { person: { id, role }, approvedIds } as unknown as Me)).flatMap(
    ([name, isAllowed]) => (isAllowed ? [name] : []),
  )

test('the owner and admins edit a sheet until it is submitted', () => {
  for (const status of ['open', 'returned']) {
    expect(allowed(sheet(status), 'usr_ada', 'member')).toEqual(['edits'])
    expect(allowed(sheet(status), 'usr_bob', 'admin')).toEqual(['edits'])
    expect(allowed(sheet(status), 'usr_bob', 'billing')).toEqual([])
  }
  expect(allowed(sheet('submitted'), 'usr_ada', 'member')).toEqual([])
})

test('billing, admins and leads of all its projects approve or return a submitted sheet', () => {
  expect(allowed(sheet('submitted'), 'usr_bob', 'billing')).toEqual(['approves', 'returns'])
  expect(allowed(sheet('submitted'), 'usr_bob', 'member', ['prj_1'])).toEqual(['approves', 'returns'])
  expect(allowed(sheet('submitted'), 'usr_bob', 'member')).toEqual([])
  const further = { projects: [{ id: 'prj_1' }, { id: 'prj_2' }] }
  expect(allowed(sheet('submitted', further), 'usr_bob', 'member', ['prj_1'])).toEqual([])
  expect(allowed(sheet('submitted', { has_unplaced: true }), 'usr_bob', 'member', ['prj_1'])).toEqual([])
  expect(allowed(sheet('submitted', { projects: [] }), 'usr_bob', 'member', ['prj_1'])).toEqual([])
})

test('only admins approve their own sheets', () => {
  expect(allowed(sheet('submitted'), 'usr_ada', 'billing')).toEqual(['returns'])
  expect(allowed(sheet('submitted'), 'usr_ada', 'admin')).toEqual(['approves', 'returns'])
})

test('approvers withdraw the approval of a sheet', () => {
  expect(allowed(sheet('approved'), 'usr_bob', 'billing')).toEqual(['withdraws'])
  expect(allowed(sheet('approved'), 'usr_ada', 'member')).toEqual([])
})

test('issues of an imported file are shown with their line and column', () => {
  const issue = (pointer: string) => importIssue({ pointer, message: 'must be a number' })
  expect(['/lines/7/tokens/input', '/lines/7', ''].map(issue)).toEqual([
    'Line 7, tokens.input: must be a number.',
    'Line 7: must be a number.',
    'Must be a number.',
  ])
})
