import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { furtherOf, type Group } from '../../../src/web/pages/unattributed/groups.ts'

const group = (changes: object) => changes as unknown as Group

test('what the entries of a group have in common is shown without the fields that define the group', () => {
  const common = ['labels.repository', 'agent_name'].map((field) => ({ field, value: 'x' }))
  const rule = { conditions: [{ field: 'labels.repository', matches: 'x' }] }
  expect(furtherOf(group({ common, rule })).map(({ field }) => field)).toEqual(['agent_name'])
})
