import { expect, test } from 'bun:test'
import { asProblem, Problem, sentence, unreachable } from '../../../src/web/server/problem.ts'

const problemOf = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  Problem.of(new Response(null, { status, headers }), body)

test('an error of the API keeps its title, detail, issues and request', () => {
  const errors = [{ pointer: '/name', code: 'required', message: 'is required' }]
  const body = { code: 'validation_failed', title: 'Invalid', detail: 'Fix the name.', errors }
  expect(problemOf(422, body, { 'x-request-id': 'req-1' })).toMatchObject({
    status: 422,
    code: 'validation_failed',
    title: 'Invalid',
    message: 'Fix the name.',
    issues: errors,
    requestId: 'req-1',
  })
})

test('an error of something else, such as a proxy, still says what to do', () => {
  for (const body of [null, '<html>', { title: 42, errors: 'none' }]) {
    expect(problemOf(502, body)).toMatchObject({ code: 'unknown', title: 'The server answered 502', issues: [] })
    expect(problemOf(502, body).message).toContain('Try again')
  }
})

test('an ended session asks to sign in, not for the token that the API asks for', () => {
  const problem = problemOf(401, { code: 'unauthenticated', title: 'Unauthenticated', detail: 'Send a token.' })
  expect(problem.title).toBe('Your session has ended')
  expect(problem.message).not.toContain('token')
})

test('only problems are shown; a bug is thrown on', () => {
  expect(asProblem(unreachable())).toMatchObject({ code: 'unreachable', status: 0 })
  expect(() => asProblem(new TypeError('a bug'))).toThrow('a bug')
})

test('a message of the API is shown as a sentence', () => {
  expect(['must be a number', 'Is too long.'].map(sentence)).toEqual(['Must be a number.', 'Is too long.'])
})
