import { expect, test } from 'bun:test'
import { Problem } from '../../../src/web/server/problem.ts'
import { showIssues } from '../../../src/web/server/send.ts'

/** A form with these values, and the errors that are shown at its fields. */
function form(values: object) {
  const shown: Record<string, string> = {}
  return { shown, getValues: () => values, setErrors: (errors: object) => void Object.assign(shown, errors) }
}

const invalid = (issues: Record<string, string>) => {
  const errors = Object.entries(issues).map(([pointer, message]) => ({ pointer, code: 'invalid', message }))
  return Problem.of(new Response(null, { status: 422 }), { detail: 'Some values are invalid.', errors })
}

test('validation issues are shown as sentences at their fields, also of nested ones', () => {
  const { shown, ...values } = form({ name: '', rows: [], input: '' })
  const problem = invalid({ '/name': 'is required', '/rows/0/text': 'is too long', '/tokens/input': 'is negative' })
  expect(showIssues(values, problem, { '/tokens/input': 'input' })).toBe('')
  expect(shown).toEqual({ name: 'Is required.', 'rows.0.text': 'Is too long.', input: 'Is negative.' })
})

test('issues without a field of the form are shown above it', () => {
  const { shown, ...values } = form({ name: '' })
  const problem = invalid({ '': 'must be an object', '/constructor': 'is unknown', '/name': 'is required' })
  expect(showIssues(values, problem)).toBe('Must be an object. /constructor is unknown.')
  expect(shown).toEqual({ name: 'Is required.' })
})

test('an error without issues is shown above the form, and clears those at the fields', () => {
  const { shown, ...values } = form({ name: '' })
  expect(showIssues(values, invalid({}))).toBe('Some values are invalid.')
  expect(shown).toEqual({})
})
