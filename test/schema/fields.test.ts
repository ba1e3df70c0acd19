import { expect, test } from 'bun:test'
import { issuesOfName, NAME_LIMIT } from '../../src/schema/fields.ts'

test('a name of white space alone is empty: without it, nothing would be left', () => {
  for (const name of ['', ' ', '\u00a0\u2003']) {
    expect(issuesOfName(name, '/name').map(({ code }) => code)).toEqual(['too_short'])
  }
  expect(issuesOfName(' Acme ', '/name')).toEqual([])
  expect(issuesOfName('a'.repeat(NAME_LIMIT + 1), '/name').map(({ code }) => code)).toEqual(['too_long'])
})
