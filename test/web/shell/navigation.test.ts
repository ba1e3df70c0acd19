import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import type { Me } from '../../../src/web/server/me.ts'
import { GROUPS, SECTIONS, sectionsFor } from '../../../src/web/shell/navigation.ts'

const titlesFor = (role: string, shared: object | null = null) =>
  sectionsFor({ person: { role }, settings: { share_links: true }, shared } as unknown as Me).map(({ title }) => title)

test('every page has an address, a shortcut and a group of its own', () => {
  for (const values of [SECTIONS.map(({ path }) => path), SECTIONS.map(({ key }) => key)]) {
    expect(new Set(values).size).toBe(SECTIONS.length)
  }
  expect(SECTIONS.every(({ group }) => GROUPS.includes(group))).toBe(true)
})

test('each role sees the pages that it may use, and admins see all', () => {
  expect(titlesFor('member')).toEqual([
    'Inbox',
    'Overview',
    'Reports',
    'Insights',
    'Entries',
    'Unattributed',
    'Work',
    'Token sheets',
    'Budgets',
    'Prices',
    'Connect an agent',
    'Tokens',
    'Share links',
  ])
  const withMoney = new Set(titlesFor('billing')).difference(new Set(titlesFor('member')))
  expect([...withMoney]).toEqual(['Rules', 'Bills', 'Plans', 'Telemetry'])
  expect(titlesFor('admin')).toEqual(SECTIONS.map(({ title }) => title))
})

test('a viewer sees what is shared with them', () => {
  expect(titlesFor('viewer', { shows_bills: false })).toEqual(['Usage'])
  expect(titlesFor('viewer', { shows_bills: true })).toEqual(['Usage', 'Bills'])
})
