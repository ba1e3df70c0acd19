import { expect, test } from 'bun:test'
import '../../support/page-location.ts'
import { filledBy, refilled } from '../../../src/web/pages/bills/bill-terms.ts'
import {
  formOf,
  isWorthKeeping,
  moveStoredDrafts,
  storedDrafts,
  valuesOfForm,
} from '../../../src/web/pages/bills/drafts.ts'
import { valuesOf } from '../../../src/web/pages/bills/new-bill-values.ts'

const initial = valuesOf({}, { timeZone: 'UTC', basis: 'cost' })

/** The storage of a browser in which an earlier version has kept these. */
function memory(kept: string) {
  const stored = new Map([['tally-bill-drafts:usr_1', kept]])
  return {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, text: string) => void stored.set(key, text),
    removeItem: (key: string) => void stored.delete(key),
  }
}

test('drafts of an earlier version are moved to the server once, and what it does not take stays', async () => {
  const notes = ['newest', 'refused', 'oldest']
  const storage = memory(JSON.stringify(notes.map((note) => ({ id: note, at: '', values: { ...initial, note } }))))
  const added: string[] = []
  const add = async ({ note }: { note: string }) => {
    if (note === 'refused') throw new Error('no')
    added.push(note)
  }
  expect(await moveStoredDrafts('usr_2', add, storage)).toBe(0)
  expect(await moveStoredDrafts('usr_1', add, storage)).toBe(2)
  expect(added).toEqual(['oldest', 'newest'])
  expect(storedDrafts('usr_1', storage).map(({ values }) => values.note)).toEqual(['refused'])
  expect(await moveStoredDrafts('usr_1', add, storage)).toBe(0)
  expect(storedDrafts('usr_1', memory('{"not": "ours"}'))).toEqual([])
})

test('a draft is the form without what no API takes, and opens as it was', () => {
  const values = { ...initial, client: { value: 'cli_1', label: 'Acme', detail: null }, markup: Number.NaN, note: 'x' }
  const form = formOf(values)
  expect(form).toMatchObject({ client: { value: 'cli_1', label: 'Acme' }, markup: '', note: 'x' })
  expect('include_earlier' in form).toBe(false)
  expect(valuesOfForm(formOf({ ...initial, include_earlier: false }))).toEqual({ ...initial, include_earlier: false })
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
  show_active_time: false,
  basis: 'allocated' as const,
  last_bill: null,
}

test('terms fill what nobody has changed, and a rate never serves another currency', () => {
  const empty = filledBy(undefined, undefined, 'cost')
  const filled = filledBy(terms, 'EUR', 'cost')
  const values = { ...initial, ...empty, tax_percent: 7 }
  expect(refilled(values, empty, filled)).toEqual({
    exchange_rate: 0.92,
    tax_name: 'VAT',
    due_days: 14,
    group_by: ['model'],
    basis: 'allocated',
  })
  expect(refilled({ ...initial, ...filled }, filled, filledBy(terms, 'GBP', 'cost'))).toEqual({ exchange_rate: '' })
})
