import { expect, test } from 'bun:test'
import {
  actionInWords,
  actorOf,
  type Change,
  differenceInWords,
  differencesOf,
} from '../../../src/web/pages/audit/change.ts'

const shown = (before: object | null, after: object | null) =>
  differencesOf({ before, after } as unknown as Change).map(differenceInWords)

test('a change shows each field with its values before and after', () => {
  expect(shown({ role: 'member', lead: true }, { role: 'billing', lead: false })).toEqual([
    'role: member → billing',
    'lead: yes → no',
  ])
})

test('an object that was added or removed shows its values alone', () => {
  expect(shown(null, { key: 'ACME', budget: 0 })).toEqual(['key: ACME', 'budget: 0'])
  expect(shown({ key: 'ACME' }, null)).toEqual(['key: was ACME'])
})

test('empty values read as none, lists with commas, and objects as JSON', () => {
  expect(shown({ leads: [], note: '', client_id: null }, { leads: ['a', 'b'], note: 'x', client_id: 'cli_1' })).toEqual(
    ['leads: none → a, b', 'note: none → x', 'client id: none → cli_1'],
  )
  expect(shown(null, { tiers: [{ from_tokens: 1 }] })[0]).toContain('"from_tokens": 1')
})

test('labels named like members of every object are shown only if they were recorded', () => {
  expect(shown({}, { constructor: 'x' })).toEqual(['constructor: x'])
})

test('an action is shown in words', () => {
  expect(actionInWords('placement_rule.added')).toBe('placement rule added')
})

test('the actor is a person, their token, the command line or Tally', () => {
  const actor = (changes: object) => actorOf({ user: null, token: null, ...changes } as unknown as Change)
  const user = { name: 'Ada' }
  expect([
    actor({ user, origin: 'web' }),
    actor({ user, token: { name: 'ci' }, origin: 'api' }),
    actor({ origin: 'command line' }),
    actor({ origin: 'tally' }),
  ]).toEqual(['Ada', 'Ada via token ci', 'command line', 'Tally'])
})
