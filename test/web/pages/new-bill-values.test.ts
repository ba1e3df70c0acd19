import { expect, test } from 'bun:test'
import { entriesInWords, reasonsIn } from '../../../src/web/pages/bills/left-out-reasons.ts'
import {
  type BillValues,
  deliveryOf,
  entriesBefore,
  entriesIn,
  requestOf,
  valuesOf,
} from '../../../src/web/pages/bills/new-bill-values.ts'

const NOW = new Date('2026-03-01T00:30:00Z')
const UTC = { timeZone: 'UTC', basis: 'cost' } as const
const acme = { value: 'cli_1', label: 'Acme' }
const values = (changes: Partial<BillValues> = {}): BillValues => ({
  ...valuesOf({}, UTC, NOW),
  client: acme,
  ...changes,
})

test('a new bill is for last month in the organization’s zone, unless the address sets a period', () => {
  expect(valuesOf({}, UTC, NOW)).toMatchObject({ scope: 'client', span: 'month', month: '2026-02-01' })
  expect(valuesOf({}, { ...UTC, timeZone: 'America/New_York' }, NOW)).toMatchObject({ month: '2026-01-01' })
  const given = { project: 'ACME', from: '2026-02-03', to: '2026-02-09', replaces: '2026-0042' }
  expect(requestOf(valuesOf(given, UTC, NOW))).toEqual({
    project: 'ACME',
    period: { from: '2026-02-03', to: '2026-02-09' },
    group_by: ['project', 'ticket'],
    replaces: '2026-0042',
  })
})

test('there is no request until a scope and a period are chosen', () => {
  expect(requestOf(values({ client: null }))).toBeUndefined()
  expect(requestOf(values({ scope: 'project' }))).toBeUndefined()
  expect(requestOf(values({ month: null }))).toBeUndefined()
  expect(requestOf(values({ span: 'days', days: ['2026-02-03', null] }))).toBeUndefined()
  expect(requestOf(values({ scope: 'everything', client: null }))).toEqual({
    month: '2026-02',
    group_by: ['project', 'ticket'],
  })
})

test('empty fields are absent from the request, so that the defaults of the client apply', () => {
  expect(requestOf(values({ note: ' ', tax_name: 'VAT' }))).toEqual({
    client: 'cli_1',
    month: '2026-02',
    group_by: ['project', 'ticket'],
  })
})

test('amounts that were typed are numbers, and 0 is not an empty field', () => {
  const typed = { exchange_rate: '0.92', markup: 0, tax_name: ' VAT ', tax_percent: '19', due_days: 0 }
  expect(requestOf(values(typed))).toMatchObject({
    exchange_rate: 0.92,
    markup: 0,
    tax: { name: 'VAT', percent: 19 },
    due_days: 0,
  })
})

test('extra lines without a description or an amount are left out', () => {
  const extra_lines = [
    { text: ' Discount ', amount: '-12.5' },
    { text: 'Setup', amount: '' },
    { text: ' ', amount: 3 },
  ]
  expect(requestOf(values({ extra_lines }))).toMatchObject({ extra_lines: [{ text: 'Discount', amount: -12.5 }] })
  expect(requestOf(values({ extra_lines: extra_lines.slice(1) }))).not.toContainKey('extra_lines')
})

test('earlier entries are included or left out only after the decision', () => {
  expect(requestOf(values())).not.toContainKey('include_earlier')
  expect(requestOf(values({ include_earlier: false }))).toMatchObject({ include_earlier: false })
})

test('a bill is delivered to its client, to other addresses or to no one', () => {
  const message = ' Thank you '
  expect<object>(deliveryOf(values({ message }))).toEqual({ message: 'Thank you' })
  expect<object>(deliveryOf(values({ deliver: 'others', deliver_to: ['a@example.com'] }))).toEqual({
    deliver_to: ['a@example.com'],
  })
  expect<object>(deliveryOf(values({ deliver: 'nobody', message }))).toEqual({ deliver_to: [] })
})

test('the entries in question are those of the scope, in the period or before it', () => {
  expect(entriesIn(values(), { priced: 'false' })).toBe(
    '/entries?client=cli_1&period=2026-02-01..2026-02-28&priced=false',
  )
  const days = values({ scope: 'everything', span: 'days', days: ['2026-02-03', '2026-02-09'] })
  expect(entriesBefore(days, { bill: 'none' })).toBe('/entries?period=2000-01-01..2026-02-02&bill=none')
})

test('an unknown cost is not 0', () => {
  const left = { entries: 11, cost: 0, at_least: false }
  expect(entriesInWords({ ...left, unpriced_entries: 11 })).toBe('11 entries without a price: cost unknown')
  expect(entriesInWords({ ...left, unpriced_entries: 2 })).toBe('11 entries (2 without a price)')
  expect(entriesInWords({ ...left, entries: 1, unpriced_entries: 0 })).toBe('1 entry')
})

test('each reason why entries are left out links to exactly these entries', () => {
  const none = { entries: 0, unpriced_entries: 0, cost: 0, at_least: false }
  const some = { ...none, entries: 2 }
  const left_out = { unpriced: some, not_approved: none, on_sheets: some, rejected: none, not_billable: none }
  const others = { earlier: some, unattributed: some, without_client: none, without_project: none }
  const february = 'period=2026-02-01..2026-02-28&bill=none&superseded=false'
  const document = {
    left_out: { ...left_out, ...others },
    scope: { client: { id: 'cli_1' }, project: null },
    period: { from: '2026-02-01', to: '2026-02-28' },
    sections: [],
  } as unknown as Parameters<typeof reasonsIn>[0]
  expect(
    Object.fromEntries(reasonsIn(document, { isApprovalRequired: false }).map(({ reason, href }) => [reason, href])),
  ).toEqual({
    unpriced: `/entries?client=cli_1&${february}&status=submitted&status=approved&billable=true&priced=false`,
    on_sheets: `/entries?client=cli_1&${february}&status=draft&status=pending&billable=true`,
    earlier:
      '/entries?client=cli_1&period=2000-01-01..2026-01-31&bill=none&superseded=false&status=submitted&status=draft&status=pending&status=approved&status=held&billable=true',
    unattributed: `/entries?${february}&status=submitted&status=draft&status=pending&status=approved&status=held&placed=none`,
  })
  // Of a bill with what is from before the period.
  const later = { ...document, sections: [{ title: 'Earlier usage', lines: [] }] }
  const links = reasonsIn(later, { isApprovalRequired: true }).map(({ reason, href }) => [reason, href])
  expect(Object.fromEntries(links)).toMatchObject({
    unpriced: expect.stringContaining('period=2000-01-01..2026-02-28'),
    earlier: expect.stringContaining('status=submitted&status=draft&status=pending&status=held&billable=true'),
  })
})
