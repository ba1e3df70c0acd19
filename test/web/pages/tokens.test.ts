import { expect, test } from 'bun:test'
import { EMPTY_TOKEN, requestOf } from '../../../src/web/pages/tokens/token-values.ts'

const request = (changes: object) => requestOf({ ...EMPTY_TOKEN, name: ' ci ', ...changes }, '2026-11-21')

test('a token expires never, after some days or on a date', () => {
  expect<object>(request({})).toEqual({ kind: 'svc', name: 'ci' })
  expect(request({ expiry: '30' })).toMatchObject({ expires_at: '2026-12-21' })
  expect(request({ expiry: 'day', expires_at: '2027-01-01' })).toMatchObject({ expires_at: '2027-01-01' })
})

test('only service tokens can be allowed to send bills, even if the box was checked for another kind', () => {
  expect(request({ allow_bills: true })).toMatchObject({ allow: ['bills'] })
  expect(request({ kind: 'read', allow_bills: true })).not.toContainKey('allow')
})
