import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { filterOf, furtherOf, type Group } from '../../../src/web/pages/unattributed/groups.ts'

const group = (changes: object) => changes as unknown as Group

test('the filter of a group is that of its list: lists stay lists, and single values single', () => {
  const list =
    '/api/v1/token-entries?placed=none&label=repository%3Aacme%2Fweb&label=branch%3Amain&starting_at=2026-11-01'
  expect(filterOf(group({ list }))).toEqual({
    placed: ['none'],
    label: ['repository:acme/web', 'branch:main'],
    starting_at: '2026-11-01',
  })
})

test('what the entries of a group have in common is shown without the fields that define the group', () => {
  const common = ['labels.repository', 'agent_name'].map((field) => ({ field, value: 'x' }))
  const rule = { conditions: [{ field: 'labels.repository', matches: 'x' }] }
  expect(furtherOf(group({ common, rule })).map(({ field }) => field)).toEqual(['agent_name'])
})
