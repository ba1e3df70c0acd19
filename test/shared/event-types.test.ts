import { expect, test } from 'bun:test'
import { EVENT_TYPE_NAMES, EVENT_TYPES, eventTypesOf } from '../../src/shared/event-types.ts'

test('a pattern selects one type, or all of an area', () => {
  expect(eventTypesOf('bill.sent')).toEqual(['bill.sent'])
  expect(eventTypesOf('sheet.*')).toEqual([
    'sheet.submitted',
    'sheet.returned',
    'sheet.approved',
    'sheet.approval_withdrawn',
  ])
})

test('what is neither a type nor an area selects nothing', () => {
  for (const pattern of ['', '*', '.*', 'bill', 'bill.', 'bil.*', 'bill.*.*', 'constructor', 'price_.*']) {
    expect(eventTypesOf(pattern)).toEqual([])
  }
})

test('every type has an area, and a sentence that describes it', () => {
  for (const type of EVENT_TYPE_NAMES) {
    expect(type).toMatch(/^[a-z_]+\.[a-z_]+$/)
    expect(EVENT_TYPES[type].description).toMatch(/^[A-Z].*\.$/)
  }
})
