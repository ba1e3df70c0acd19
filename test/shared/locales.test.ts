import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatsOf, LOCALES, localeOf } from '../../src/shared/locales.ts'

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')

test('a locale decides the order of dates and the separators of numbers', () => {
  const written = (locale: string | null) => {
    const { day, moment, decimal, money, counted, marked } = formatsOf(locale)
    return [
      day('2026-09-21'),
      moment(Date.UTC(2026, 8, 21, 15, 53), 'Europe/Berlin'),
      decimal('-1234567.5', 2),
      money(1234.5),
      counted(12_345, 'entry', 'entries'),
      marked('1.2M'),
    ].map(plain)
  }
  expect(written('de-DE')).toEqual([
    '21. Sept. 2026',
    '21. Sept. 2026, 17:53',
    '-1.234.567,50',
    '1.234,50 $',
    '12.345 entries',
    '1,2M',
  ])
  expect(written('en-US')).toEqual([
    'Sep 21, 2026',
    'Sep 21, 2026, 17:53',
    '-1,234,567.50',
    '$1,234.50',
    '12,345 entries',
    '1.2M',
  ])
  // As before organizations had a locale.
  expect(written(null)).toEqual([
    '2026-09-21',
    '2026-09-21 17:53',
    '-1,234,567.50',
    '$1,234.50',
    '12,345 entries',
    '1.2M',
  ])
})

test('digits are exact in every locale, and Latin', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...LOCALES, 'ar-EG', 'hi-IN', 'fa-IR', null),
      fc.bigInt(-(10n ** 24n), 10n ** 24n),
      (locale, minor) => {
        const text = `${minor}.00`
        const digits = formatsOf(locale).decimal(text, 2).replaceAll(/\D/g, '')
        expect(digits).toBe(text.replaceAll(/\D/g, ''))
      },
    ),
  )
})

test('only known locales without extensions are taken, in their canonical case', () => {
  expect(['DE-ch', 'zh-hant-tw', 'en', 'es-419'].map(localeOf)).toEqual(['de-CH', 'zh-Hant-TW', 'en', 'es-419'])
  for (const wrong of ['', 'german', 'de_DE', 'xx-YY', 'tlh', 'de-DE-u-nu-arab', 'en-US@posix', 'ä']) {
    expect([wrong, localeOf(wrong)]).toEqual([wrong, undefined])
  }
})
