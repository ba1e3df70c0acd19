import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { filledBy, refilled } from '../../../src/web/pages/bills/bill-terms.ts'
import { isWorthKeeping, keepDraft, readDrafts, removeDraft } from '../../../src/web/pages/bills/drafts.ts'
import { valuesOf } from '../../../src/web/pages/bills/new-bill-values.ts'

function memory() {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
  }
}
const initial = valuesOf({}, 'UTC')
const draft = (id: string) => ({ id, at: '2026-11-25T10:00:00.000Z', values: { ...initial, note: id } })

test('drafts are those of one person, newest first, and limited', () => {
  const storage = memory()
  for (let index = 0; index < 25; index += 1) keepDraft('usr_1', draft(`d${index}`), storage)
  keepDraft('usr_1', draft('d20'), storage)
  expect(
    readDrafts('usr_1', storage)
      .map(({ id }) => id)
      .slice(0, 3),
  ).toEqual(['d20', 'd24', 'd23'])
  expect(readDrafts('usr_1', storage)).toHaveLength(20)
  expect(readDrafts('usr_2', storage)).toEqual([])
  removeDraft('usr_1', 'd20', storage)
  expect(readDrafts('usr_1', storage)[0]!.id).toBe('d24')
})

test('a browser that stores nothing, or something else, has no drafts', () => {
  const failing = {
    getItem: () => '{"not": "ours"}',
    setItem: () => {
      throw new Error('full')
    },
  }
  expect(readDrafts('usr_1', failing)).toEqual([])
  keepDraft('usr_1', draft('d'), failing)
})

test('what was typed is worth a draft, choosing a client is not', () => {
  expect(isWorthKeeping({ ...initial, client: { value: 'cli_1', label: 'Acme' } }, initial)).toBe(false)
  expect(isWorthKeeping({ ...initial, note: 'Thank you' }, initial)).toBe(true)
  expect(isWorthKeeping({ ...initial, extra_lines: [{ text: 'Setup', amount: '' }] }, initial)).toBe(true)
})

const terms = {
  currency: 'EUR',
  tax: { name: 'VAT', percent: 19 },
  exchange_rate: { rate: 0.92, on: '2026-10-31' },
  group_by: ['model'],
  due_days: 14,
  show_cost: false,
  last_bill: null,
}

test('terms fill what nobody has changed, and a rate never serves another currency', () => {
  const empty = filledBy(undefined, undefined)
  const filled = filledBy(terms, 'EUR')
  const values = { ...initial, ...empty, tax_percent: 7 }
  expect(refilled(values, empty, filled)).toEqual({
    exchange_rate: 0.92,
    tax_name: 'VAT',
    due_days: 14,
    group_by: ['model'],
  })
  expect(refilled({ ...initial, ...filled }, filled, filledBy(terms, 'GBP'))).toEqual({ exchange_rate: '' })
})
