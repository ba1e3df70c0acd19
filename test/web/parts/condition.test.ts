import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { conditionOf, fieldTitle, groupsIn, rowOf } from '../../../src/web/parts/condition.ts'

const field = fc.oneof(
  fc.constantFrom('agent_harness', 'agent_name', 'model', 'provider', 'agent_manager', 'summary'),
  fc.stringMatching(/^labels\.[a-z0-9_.-]{1,20}$/),
)

test('a condition that is edited without a change is sent unchanged', () => {
  fc.assert(
    fc.property(field, fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^\/.+\/i?$/)), (field, matches) => {
      expect(conditionOf(rowOf({ field, matches }))).toEqual({ field, matches })
    }),
  )
})

test('text between slashes is an expression, and a path is a glob', () => {
  expect(rowOf({ field: 'labels.branch', matches: '/ACME-[0-9]+/i' })).toMatchObject({
    field: 'labels',
    label: 'branch',
    kind: 'expression',
    text: 'ACME-[0-9]+',
    ignoresCase: true,
  })
  expect(rowOf({ field: 'labels.cwd', matches: '/srv/data' })).toMatchObject({ kind: 'glob', text: '/srv/data' })
})

test('the ticket can use the named groups of expressions', () => {
  const rows = ['/(?<ticket>[A-Z]+-[0-9]+)/', '/(?P<area>web|app)-(x)/', '(?<glob>)*'].map((matches) =>
    rowOf({ field: 'labels.branch', matches }),
  )
  expect(groupsIn(rows)).toEqual(['ticket', 'area'])
})

test('fields are shown with their titles', () => {
  expect(['agent_harness', 'labels.branch', 'later'].map(fieldTitle)).toEqual(['Harness', 'Branch', 'later'])
})
