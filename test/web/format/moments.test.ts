import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { startOfDay as startOfDayOnServer } from '../../../src/lib/calendar.ts'
import { LOCALES } from '../../../src/shared/locales.ts'
import { setLocale } from '../../../src/web/format/locale.ts'
import {
  addDays,
  addMonths,
  ago,
  dayAndTime,
  dayInShort,
  dayInWords,
  dayOf,
  daysBetween,
  duration,
  firstOfMonth,
  firstOfQuarter,
  isoWeekOf,
  momentOf,
  monthInWords,
  quarterInWords,
  readDay,
  shortDayAndTime,
  startOfDay,
  timeAt,
  timeInWords,
} from '../../../src/web/format/moments.ts'

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Apia',
  'America/Havana',
  'Asia/Beirut',
]
const zone = fc.constantFrom(...ZONES)
const day = fc.integer({ min: 0, max: 36_000 }).map((days) => addDays('1970-01-02', days))
const second = fc.integer({ min: 0, max: 4_000_000_000 }).map((seconds) => new Date(seconds * 1_000))

const inLocale = (locale: string, check: () => void) => {
  try {
    setLocale(locale)
    check()
  } finally {
    setLocale('en-GB')
  }
}

test('fields read days as texts show them, in every locale', () => {
  for (const locale of [...LOCALES, 'cs-CZ', 'fi-FI', 'ko-KR', 'el-GR', 'hu-HU', 'tr-TR']) {
    inLocale(locale, () => {
      for (let day = '2026-01-01'; day < '2027-01-01'; day = addDays(day, 1)) {
        const shown = dayInWords(day)
        expect([locale, shown, readDay(shown)]).toEqual([locale, shown, day])
      }
    })
  }
})

test('fields read what people type otherwise, in the order of the locale', () => {
  const now = new Date('2026-06-01')
  const typed = (...texts: string[]) => texts.map((text) => readDay(text, now))
  inLocale('de-DE', () => {
    expect(typed('21.11.2026', '1.2.27', '3. 4.', '21 nov 2026', '21. November', 'March 3, 2026')).toEqual([
      '2026-11-21',
      '2027-02-01',
      '2026-04-03',
      '2026-11-21',
      '2026-11-21',
      '2026-03-03',
    ])
  })
  inLocale('en-US', () => {
    expect(typed('11/21/2026', '2/1/27', '2026-11-21', 'sep 5', '2026/1/2')).toEqual([
      '2026-11-21',
      '2027-02-01',
      '2026-11-21',
      '2026-09-05',
      '2026-01-02',
    ])
    expect(typed('', 'tomorrow', '31/12/2026', '2/30/2026', 'ju 5', '1 2 3 4', 'foo 3', '5')).toEqual(
      Array(8).fill(null),
    )
  })
})

test('the locale is the person’s, else the organization’s, else that of pages of which nobody has chosen any', () => {
  const shown = (...locales: (string | null)[]) => {
    setLocale(...locales)
    return dayInWords('2026-11-21')
  }
  try {
    expect([shown('en-US', 'de-DE'), shown(null, 'de-DE'), shown('no locale', 'de-DE'), shown(null, null)]).toEqual([
      'Nov 21, 2026',
      '21. Nov. 2026',
      '21. Nov. 2026',
      '21 Nov 2026',
    ])
  } finally {
    setLocale('en-GB')
  }
})

test('fields show times as texts do', () => {
  expect(timeInWords('2026-11-21 17:53:00')).toBe(dayAndTime('2026-11-21T17:53:00Z', 'UTC'))
})

test('a day begins in the browser at the moment at which it begins on the server', () => {
  fc.assert(
    fc.property(zone, day, (zone, day) => {
      expect(startOfDay(day, zone)).toBe(new Date(startOfDayOnServer(day, zone)).toISOString())
    }),
    { numRuns: 3_000 },
  )
})

test('the day of a moment is the one that has begun and has not ended', () => {
  fc.assert(
    fc.property(zone, second, (zone, moment) => {
      const day = dayOf(moment, zone)
      expect(Date.parse(startOfDay(day, zone))).toBeLessThanOrEqual(moment.getTime())
      expect(Date.parse(startOfDay(addDays(day, 1), zone))).toBeGreaterThan(moment.getTime())
    }),
  )
})

test('a time that is shown in a form and sent back is the same local time', () => {
  fc.assert(
    fc.property(zone, second, (zone, moment) => {
      const shown = timeAt(moment.toISOString(), zone)
      const sent = momentOf(shown, zone)
      expect(timeAt(sent, zone)).toBe(shown)
      // The same moment, or the earlier of two when clocks were set back.
      expect(Date.parse(sent)).toBeLessThanOrEqual(moment.getTime())
    }),
  )
})

test('a local time that clocks show twice is the earlier one, and one that they skip is the first after it', () => {
  expect(momentOf('2026-10-25 02:30:00', 'Europe/Berlin')).toBe('2026-10-25T00:30:00.000Z')
  expect(momentOf('2026-03-29 02:30:00', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z')
})

test('days are counted and added without gaps', () => {
  fc.assert(
    fc.property(day, fc.integer({ min: -5_000, max: 5_000 }), (day, days) => {
      expect(daysBetween(day, addDays(day, days))).toBe(days)
    }),
  )
})

test('months are added without skipping one, and there are twelve in a year', () => {
  fc.assert(
    fc.property(day, fc.integer({ min: -300, max: 300 }), (day, months) => {
      expect(addMonths(addMonths(day, months), -months)).toBe(firstOfMonth(day))
      expect(addMonths(day, 12)).toBe(`${Number(day.slice(0, 4)) + 1}${firstOfMonth(day).slice(4)}`)
    }),
  )
  expect(addMonths('2026-01-31', 1)).toBe('2026-02-01')
})

test('times are shown in the given zone, without the year if it is the current one', () => {
  const moment = '2026-11-21T23:30:00Z'
  expect(dayAndTime(moment, 'UTC')).toBe('21 Nov 2026, 23:30')
  expect(dayAndTime(moment, 'Europe/Berlin')).toBe('22 Nov 2026, 00:30')
  expect(shortDayAndTime(moment, 'UTC', new Date('2026-12-31T12:00:00Z'))).toBe('21 Nov, 23:30')
  expect(shortDayAndTime(moment, 'UTC', new Date('2027-01-01T00:00:00Z'))).toBe('21 Nov 2026, 23:30')
})

test('days and months are shown as they are, in whatever zone the browser is', () => {
  expect([dayInWords('2026-11-01'), monthInWords('2026-11-01')]).toEqual(['1 Nov 2026', 'Nov 2026'])
})

test('a day in short has its year unless it is the current one', () => {
  const now = new Date('2026-11-21T12:00:00Z')
  expect(['2026-10-30', '2025-10-30'].map((day) => dayInShort(day, now))).toEqual(['30 Oct', '30 Oct 2025'])
})

test('the distance of a time is in its largest unit', () => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  const shown = (seconds: number) => ago(new Date(now + seconds * 1_000).toISOString(), now)
  expect([0, -59, -60, -3_599, -7_200, -86_400, -3 * 86_400, 300].map(shown)).toEqual([
    'just now',
    'just now',
    '1 min ago',
    '59 min ago',
    '2 h ago',
    'yesterday',
    '3 days ago',
    'in 5 min',
  ])
})

test('a duration is in hours and minutes, and never in 60 minutes', () => {
  const lasting = (seconds: number) =>
    duration('2026-11-21T12:00:00Z', new Date(Date.UTC(2026, 10, 21, 12, 0, seconds)).toISOString())
  expect([0, 59, 60, 3_569, 3_570, 3_600, 4_320].map(lasting)).toEqual([
    '0 s',
    '59 s',
    '1 min',
    '59 min',
    '1 h',
    '1 h',
    '1 h 12 min',
  ])
})

test('a week has the number of ISO 8601, also around the end of a year', () => {
  expect(['2026-01-01', '2026-12-31', '2027-01-03', '2027-01-04', '2024-12-30'].map(isoWeekOf)).toEqual([
    1, 53, 53, 1, 1,
  ])
  const day = fc.integer({ min: 0, max: 40_000 }).map((days) => addDays('1990-01-01', days))
  fc.assert(fc.property(day, (day) => expect(isoWeekOf(day)).toBe(Temporal.PlainDate.from(day).weekOfYear!)))
})

test('a quarter has three months', () => {
  const days = ['2026-01-01', '2026-03-31', '2026-04-01', '2026-12-31']
  expect(days.map(quarterInWords)).toEqual(['Q1 2026', 'Q1 2026', 'Q2 2026', 'Q4 2026'])
  expect(days.map(firstOfQuarter)).toEqual(['2026-01-01', '2026-01-01', '2026-04-01', '2026-10-01'])
})
