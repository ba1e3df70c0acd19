import { expect, test } from 'bun:test'
import { type AllSettings, changeOf, numberExample, valuesOf } from '../../../src/web/pages/settings/values.ts'

const settings = {
  name: 'Acme',
  time_zone: 'Europe/Berlin',
  week_start: 'monday',
  currency: 'EUR',
  unknown_projects: 'create',
  approval_required: true,
  telemetry_by_email: false,
  email: 'office@acme.example',
  address: null,
  tax_id: null,
  markup: 0,
  due_days: 14,
  bill_number_format: '{year}-{sequence:4}',
  bill_footer: null,
} as unknown as AllSettings

test('settings that were not changed are not sent, so that changes by others are kept', () => {
  const values = valuesOf(settings)
  expect(changeOf(values, settings)).toEqual({})
  expect(changeOf({ ...values, name: 'Acme Inc.' }, settings)).toEqual({ name: 'Acme Inc.' })
})

test('a cleared text is null, and a cleared markup is not 0', () => {
  expect(changeOf({ ...valuesOf(settings), email: ' ', markup: '' }, settings)).toEqual({ email: null, markup: null })
})

test('numbers that were typed are sent as numbers, and spaces around a text are not', () => {
  const typed = { ...valuesOf(settings), markup: '12.5', due_days: '30', address: ' 1 Main Street ' }
  expect(changeOf(typed, settings)).toEqual({ markup: 12.5, due_days: 30, address: '1 Main Street' })
})

test('the example of a bill number follows the format', () => {
  const example = (format: string) => numberExample(format, '2026-11-21')
  expect(['{year}-{sequence:4}', 'INV{month}/{sequence}', '{sequence:99}'].map(example)).toEqual([
    '2026-0042',
    'INV11/42',
    '00000000000000000042',
  ])
})
