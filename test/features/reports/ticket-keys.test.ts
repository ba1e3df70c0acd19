import { expect, test } from 'bun:test'
import type { SuggestedProject } from '../../../src/features/reports/store/suggestions.ts'
import { type Known, type SuggestionGroup, suggestionOf } from '../../../src/features/reports/suggestions.ts'
import { ticketKeysIn } from '../../../src/features/reports/ticket-keys.ts'

const ACME: SuggestedProject = { id: 1, uid: 'prj_1', key: 'ACME', name: 'Acme shop' }
const WEB: SuggestedProject = { id: 2, uid: 'prj_2', key: 'acme/web', name: 'Web' }

const KNOWN: Known = {
  tickets: new Map([
    ['acme-42', { folded: 'acme-42', key: 'ACME-42', projectId: 1 }],
    ['utf-9', { folded: 'utf-9', key: 'UTF-9', projectId: null }],
    ['old-1', { folded: 'old-1', key: 'OLD-1', projectId: 9 }],
  ]),
  projects: new Map([
    ['acme', ACME],
    ['acme/web', WEB],
  ]),
  projectsById: new Map([[1, ACME]]),
  byRepository: new Map([
    ['r', [ACME]],
    ['shared', [ACME, WEB]],
  ]),
}

const groupOf = (branches: string[], more: Partial<SuggestionGroup> = {}): SuggestionGroup => ({
  repository: undefined,
  parts: branches.map((branch) => ({ labels: { branch }, summaries: [] })),
  ...more,
})
const suggested = (branches: string[], more?: Partial<SuggestionGroup>) => {
  const { suggestion } = suggestionOf(groupOf(branches, more), KNOWN)
  return suggestion && [suggestion.project?.key ?? null, suggestion.ticket, suggestion.from]
}

test('keys are found in branches and summaries, in any case, the longest of joined words first', () => {
  expect(ticketKeysIn('feature/ACME-42-login')).toEqual(['ACME-42'])
  expect(ticketKeysIn('acme-42_login')).toEqual(['acme-42'])
  expect(ticketKeysIn('fix-acme-42')).toEqual(['fix-acme-42', 'acme-42'])
  expect(ticketKeysIn('Fix acme/web#17 and ACME-1, ACME-1')).toEqual(['acme/web#17', 'web#17', 'ACME-1'])
  expect(ticketKeysIn('2026-11-20, release-1.2.3x, main, v1, #5, ACME-, -7')).toEqual(['release-1'])
  expect(ticketKeysIn('')).toEqual([])
})

test('a hostile text yields few keys, at once', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => `A${index}-1`).join(' ')
  expect(ticketKeysIn(many).length).toBeLessThanOrEqual(20)
  for (const part of ['a', 'a-', 'a/', 'a.', '1-', 'a#', 'é-1']) {
    expect(ticketKeysIn(part.repeat(1_000_000)).length).toBeLessThanOrEqual(20)
  }
  expect(ticketKeysIn(`${'x'.repeat(300)} ACME-42`)).toEqual([])
})

test('only known tickets, and keys of known projects, are suggested', () => {
  expect(suggested(['feature/acme-42-x'])).toEqual(['ACME', 'ACME-42', 'branch'])
  expect(suggested(['ACME-77'])).toEqual(['ACME', 'ACME-77', 'branch'])
  expect(suggested(['acme/web#17'])).toEqual(['acme/web', 'acme/web#17', 'branch'])
  expect(suggested(['UTF-9'])).toEqual([null, 'UTF-9', 'branch'])
  for (const branch of ['UTF-8', 'v1-2', 'feature-123', 'main', 'OLD-1', 'constructor-1', '__proto__-1']) {
    expect(suggested([branch])).toBeNull()
  }
})

test('a ticket is suggested only if all entries name it, otherwise what they have in common', () => {
  expect(suggested(['ACME-42', 'x/acme-42'])).toEqual(['ACME', 'ACME-42', 'branch'])
  expect(suggested(['ACME-42', 'ACME-43'])).toEqual(['ACME', null, 'branch'])
  expect(suggested(['ACME-42', 'main'])).toBeNull()
  expect(suggested(['ACME-42', 'main'], { repository: 'r' })).toEqual(['ACME', null, 'repository'])
  expect(suggested(['main'], { repository: 'shared' })).toBeNull()
  const summaries = (...texts: string[]) => [{ labels: {}, summaries: texts }]
  expect(suggested([], { parts: summaries('Fix ACME-42', 'ACME-42: test') })).toEqual(['ACME', 'ACME-42', 'summary'])
  expect(suggested([], { parts: summaries('Fix ACME-42', 'Anything') })).toBeNull()
})

test('the pattern of a rule finds the tickets of one project', () => {
  const patternOf = (...branches: string[]) => suggestionOf(groupOf(branches), KNOWN).branchPattern
  expect(patternOf('feature/ACME-42', 'acme-43', 'main')).toBe('/(?:^|[^a-z0-9])(?<ticket>acme-[0-9]+)/i')
  expect(patternOf('acme/web#17')).toBe('/(?:^|[^a-z0-9])(?<ticket>acme\\/web#[0-9]+)/i')
  expect(patternOf('ACME-42', 'UTF-9')).toBeNull()
  expect(patternOf('main')).toBeNull()
})
