import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Rule } from '../../../src/web/parts/rule.ts'
import { bodyOf, draftOf, emptyDraft, fieldsOf, isComplete, newBodyOf } from '../../../src/web/parts/rule-values.ts'

const PROJECT = { id: 'prj_1', key: 'ACME', name: 'Acme web' }

const rule = (changes: object = {}) =>
  ({
    name: 'Branches',
    conditions: [{ field: 'labels.branch', matches: '/(?<ticket>ACME-[0-9]+)/' }],
    project: PROJECT,
    ticket: '{ticket}',
    ...changes,
  }) as unknown as Rule

const conditions = fc.array(
  fc.record({
    field: fc.constantFrom('labels.branch', 'labels.repository', 'model', 'summary'),
    matches: fc.oneof(fc.string({ minLength: 1 }), fc.stringMatching(/^\/.+\/i?$/)),
  }),
  { minLength: 1, maxLength: 20 },
)

test('a rule that is saved without a change stays as it is', () => {
  fc.assert(
    fc.property(conditions, fc.constantFrom(null, '{ticket}'), (conditions, ticket) => {
      const body = bodyOf(draftOf(rule({ conditions, ticket })))
      expect(body).toEqual({ name: 'Branches', conditions, project: 'prj_1', ticket })
    }),
  )
})

test('a draft can be tested once it has a project and each condition has a pattern and a label', () => {
  const draft = draftOf(rule())
  const [row] = draft.rows
  expect(isComplete(draft)).toBe(true)
  expect(isComplete(emptyDraft())).toBe(false)
  expect(isComplete({ ...draft, project: null })).toBe(false)
  expect(isComplete({ ...draft, rows: [] })).toBe(false)
  expect(isComplete({ ...draft, rows: [{ ...row!, text: '' }] })).toBe(false)
  expect(isComplete({ ...draft, rows: [{ ...row!, label: '' }] })).toBe(false)
  expect(isComplete({ ...draft, rows: [{ ...row!, field: 'model', label: '' }] })).toBe(true)
})

test('a new rule is last unless a position was entered', () => {
  const draft = { ...draftOf(rule()), name: ' Branches ', ticket: ' ' }
  expect(newBodyOf(draft)).toEqual(bodyOf(draft))
  expect(bodyOf(draft)).toMatchObject({ name: 'Branches', ticket: null })
  expect(newBodyOf({ ...draft, position: '2' })).toMatchObject({ position: 2 })
})

test('validation issues of a condition appear at its own fields', () => {
  const draft = draftOf(
    rule({
      conditions: [
        { field: 'labels.branch', matches: 'main' },
        { field: 'model', matches: 'gpt-*' },
      ],
    }),
  )
  expect(fieldsOf(draft, '/rule')).toMatchObject({
    '/rule/name': 'name',
    '/rule/conditions': 'rows',
    '/rule/conditions/0/field': 'rows.0.label',
    '/rule/conditions/0/matches': 'rows.0.text',
    '/rule/conditions/1/field': 'rows.1.field',
    '/rule/conditions/1/matches': 'rows.1.text',
  })
})
