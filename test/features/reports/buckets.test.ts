import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { WEEKDAYS, type Weekday } from '../../../src/database/schema/values.ts'
import { type BucketWidth, bucketsOf, countBuckets, findTimeZone } from '../../../src/features/reports/buckets.ts'
import { isDay, startOfDay } from '../../../src/lib/calendar.ts'

const HOUR_MS = 3_600_000
const iso = (moment: number) => new Date(moment).toISOString().replace(/:00\.000Z$/, 'Z')

const weekStart = 'monday'

/** Where buckets begin, and where the last one ends. */
function bounds(
  timeZone: string,
  width: BucketWidth,
  from: string,
  to: string,
  weekStart: Weekday = 'monday',
): string[] {
  const found = bucketsOf({ startingAt: Date.parse(from), endingAt: Date.parse(to), width, timeZone, weekStart }, 1_000)
  return [...found.map(({ startingAt }) => iso(startingAt)), iso(found.at(-1)!.endingAt)]
}

/** The lengths of buckets in hours. */
function hours(timeZone: string, width: BucketWidth, from: string, to: string): number[] {
  return bucketsOf({ startingAt: Date.parse(from), endingAt: Date.parse(to), width, timeZone, weekStart }, 1_000).map(
    ({ startingAt, endingAt }) => (endingAt - startingAt) / HOUR_MS,
  )
}

describe('a day', () => {
  test('is that of the zone', () => {
    expect(bounds('Europe/Berlin', '1d', '2026-10-31T23:00Z', '2026-11-02T23:00Z')).toEqual([
      '2026-10-31T23:00Z',
      '2026-11-01T23:00Z',
      '2026-11-02T23:00Z',
    ])
  })

  test('begins at the half or quarter of a UTC hour where the zone does', () => {
    expect(bounds('Asia/Kolkata', '1d', '2026-11-01T18:30Z', '2026-11-02T18:30Z')).toHaveLength(2)
    expect(bounds('Asia/Kathmandu', '1d', '2026-11-01T18:15Z', '2026-11-02T18:15Z')).toHaveLength(2)
    expect(bounds('Australia/Eucla', '1d', '2026-11-01T15:15Z', '2026-11-02T15:15Z')).toHaveLength(2)
  })

  test('has 23 hours when the clocks go forward, and 25 when they go back', () => {
    expect(hours('Europe/Berlin', '1d', '2026-03-27T23:00Z', '2026-03-30T22:00Z')).toEqual([24, 23, 24])
    expect(hours('Europe/Berlin', '1d', '2026-10-23T22:00Z', '2026-10-26T23:00Z')).toEqual([24, 25, 24])
    expect(hours('Australia/Lord_Howe', '1d', '2026-04-03T13:00Z', '2026-04-05T13:30Z')).toEqual([24, 24.5])
    expect(hours('Antarctica/Troll', '1d', '2026-03-28T00:00Z', '2026-03-30T22:00Z')).toEqual([24, 22, 24])
  })

  test('begins at its first moment where the clocks skip midnight', () => {
    expect(bounds('America/Sao_Paulo', '1d', '2018-11-03T03:00Z', '2018-11-05T02:00Z')).toEqual([
      '2018-11-03T03:00Z',
      '2018-11-04T03:00Z',
      '2018-11-05T02:00Z',
    ])
    expect(hours('Asia/Beirut', '1d', '2022-03-25T22:00Z', '2022-03-27T21:00Z')).toEqual([24, 23])
    expect(hours('Africa/Cairo', '1d', '2026-04-22T22:00Z', '2026-04-24T21:00Z')).toEqual([24, 23])
  })

  test('begins at the first of two midnights', () => {
    // Havana's clocks go from 1:00 back to 0:00, St. John's went from 0:01 back to 23:01.
    expect(bounds('America/Havana', '1d', '2026-11-01T04:00Z', '2026-11-02T05:00Z')).toEqual([
      '2026-11-01T04:00Z',
      '2026-11-02T05:00Z',
    ])
    expect(bounds('America/St_Johns', '1d', '2010-11-06T02:30Z', '2010-11-08T03:30Z')).toEqual([
      '2010-11-06T02:30Z',
      '2010-11-07T02:30Z',
      '2010-11-08T03:30Z',
    ])
  })

  test('that has begun goes on while the clocks show yesterday once more', () => {
    const [bucket] = bucketsOf(
      {
        startingAt: Date.parse('2010-11-07T03:00Z'),
        endingAt: Date.parse('2010-11-07T04:00Z'),
        width: '1d',
        timeZone: 'America/St_Johns',
        weekStart,
      },
      10,
    )
    expect(iso(bucket!.period.startingAt)).toBe('2010-11-07T02:30Z')
  })

  test('that a zone left out is no bucket', () => {
    // Samoa went from 29 to 31 December 2011.
    expect(hours('Pacific/Apia', '1d', '2011-12-29T10:00Z', '2011-12-31T10:00Z')).toEqual([24, 24])
  })
})

describe('an hour', () => {
  test('that the clocks repeat is two buckets', () => {
    expect(bounds('Europe/Berlin', '1h', '2026-10-25T00:00Z', '2026-10-25T02:00Z')).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T01:00Z',
      '2026-10-25T02:00Z',
    ])
  })

  test('begins where the clock on the wall shows a full one', () => {
    expect(bounds('Asia/Kathmandu', '1h', '2026-11-01T00:15Z', '2026-11-01T02:15Z')).toEqual([
      '2026-11-01T00:15Z',
      '2026-11-01T01:15Z',
      '2026-11-01T02:15Z',
    ])
  })

  test('ends where the clocks are moved by half of one', () => {
    expect(hours('Australia/Lord_Howe', '1h', '2026-04-04T13:00Z', '2026-04-04T16:30Z')).toEqual([1, 1, 0.5, 1])
    expect(hours('Australia/Lord_Howe', '1h', '2026-10-03T14:30Z', '2026-10-03T17:00Z')).toEqual([1, 0.5, 1])
  })

  test('ends and begins where the clocks are moved within one', () => {
    expect(bounds('America/St_Johns', '1h', '2010-03-14T03:30Z', '2010-03-14T04:30Z')).toEqual([
      '2010-03-14T03:30Z',
      '2010-03-14T03:31Z',
      '2010-03-14T04:30Z',
    ])
    const [bucket] = bucketsOf(
      {
        startingAt: Date.parse('2010-03-14T03:31Z'),
        endingAt: Date.parse('2010-03-14T04:00Z'),
        width: '1h',
        timeZone: 'America/St_Johns',
        weekStart,
      },
      10,
    )
    expect([bucket!.period.startingAt, bucket!.period.endingAt].map(iso)).toEqual([
      '2010-03-14T03:31Z',
      '2010-03-14T04:30Z',
    ])
  })
})

test('a week begins on Monday, a month on its first', () => {
  expect(bounds('UTC', '1w', '2026-11-02T00:00Z', '2026-11-16T00:00Z')).toEqual([
    '2026-11-02T00:00Z',
    '2026-11-09T00:00Z',
    '2026-11-16T00:00Z',
  ])
  expect(bounds('Europe/Berlin', '1mo', '2026-09-30T22:00Z', '2026-12-31T23:00Z')).toEqual([
    '2026-09-30T22:00Z',
    '2026-10-31T23:00Z',
    '2026-11-30T23:00Z',
    '2026-12-31T23:00Z',
  ])
})

test('a week begins on the day that the organization chose, in its zone', () => {
  expect(bounds('UTC', '1w', '2026-11-01T00:00Z', '2026-11-15T00:00Z', 'sunday')).toEqual([
    '2026-11-01T00:00Z',
    '2026-11-08T00:00Z',
    '2026-11-15T00:00Z',
  ])
  expect(bounds('Asia/Riyadh', '1w', '2026-11-05T00:00Z', '2026-11-13T21:00Z', 'saturday')).toEqual([
    '2026-11-05T00:00Z',
    '2026-11-06T21:00Z',
    '2026-11-13T21:00Z',
  ])
})

test('a quarter begins in January, April, July and October, a year on its first day', () => {
  expect(bounds('Europe/Berlin', '1q', '2026-02-15T00:00Z', '2027-01-10T00:00Z')).toEqual([
    '2026-02-15T00:00Z',
    '2026-03-31T22:00Z',
    '2026-06-30T22:00Z',
    '2026-09-30T22:00Z',
    '2026-12-31T23:00Z',
    '2027-01-10T00:00Z',
  ])
  expect(bounds('America/New_York', '1y', '2025-12-31T12:00Z', '2028-01-01T05:00Z')).toEqual([
    '2025-12-31T12:00Z',
    '2026-01-01T05:00Z',
    '2027-01-01T05:00Z',
    '2028-01-01T05:00Z',
  ])
})

test('the first and the last bucket hold what is asked for, and say of which period they are a part', () => {
  const [first, last] = bucketsOf(
    {
      startingAt: Date.parse('2026-11-20T17:53:04Z'),
      endingAt: Date.parse('2026-11-21T00:00:00.001Z'),
      width: '1d',
      timeZone: 'UTC',
      weekStart,
    },
    10,
  )
  expect([iso(first!.startingAt), iso(first!.period.startingAt)]).toEqual([
    '2026-11-20T17:53:04.000Z',
    '2026-11-20T00:00Z',
  ])
  expect([iso(last!.startingAt), last!.endingAt - last!.startingAt, iso(last!.period.endingAt)]).toEqual([
    '2026-11-21T00:00Z',
    1,
    '2026-11-22T00:00Z',
  ])
})

test('one bucket for all is the question itself', () => {
  const question = { startingAt: 17, endingAt: 4_711 }
  expect(bucketsOf({ ...question, width: 'all', timeZone: 'Europe/Berlin', weekStart }, 10)).toEqual([
    { ...question, period: question },
  ])
})

test('a time zone is found in any letters; an offset is none, as it knows no change of the clocks', () => {
  expect(['europe/berlin', 'UTC', 'US/Pacific', 'Mars/Base', '+01:00', ''].map(findTimeZone)).toEqual([
    'Europe/Berlin',
    'UTC',
    'US/Pacific',
    undefined,
    undefined,
    undefined,
  ])
})

test('a date begins in its zone', () => {
  expect(iso(startOfDay('2026-11-01', 'Europe/Berlin'))).toBe('2026-10-31T23:00Z')
  expect(['2026-02-30', '2026-11-01T00:00:00+01:00', ''].map(isDay)).toEqual([false, false, false])
})

/** Where clocks have done most of what clocks do. */
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'America/New_York', 'America/Sao_Paulo', 'America/Havana', 'America/St_Johns'],
  ...['Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Australia/Eucla', 'Africa/Cairo', 'Asia/Beirut'],
  ...['Pacific/Apia', 'Pacific/Chatham', 'Africa/Casablanca', 'Asia/Pyongyang', 'America/Caracas', 'Asia/Gaza'],
]

/** Since then every zone's clocks were changed at quarters of an hour. */
const FROM_MS = Date.parse('1990-01-01T00:00Z')
const TO_MS = Date.parse('2037-01-01T00:00Z')
const QUARTER_MS = HOUR_MS / 4

/** What Intl, which knows nothing of Temporal, says a clock and a calendar on the wall show. */
const walls = new Map<string, Intl.DateTimeFormat>()
function wall(timeZone: string, moment: number): { date: string; hour: string } {
  if (!walls.has(timeZone)) {
    walls.set(
      timeZone,
      new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'long', hourCycle: 'h23' }),
    )
  }
  const [date, time, ...offset] = walls.get(timeZone)!.format(moment).split(' ')
  return { date: date!, hour: `${date} ${time!.slice(0, 2)} ${offset.join(' ')}` }
}

function nameOf(width: BucketWidth, timeZone: string, weekStart: Weekday, moment: number): string {
  const { date, hour } = wall(timeZone, moment)
  if (width === '1h') return hour
  if (width === '1mo') return date.slice(0, 7)
  if (width === '1d') return date
  if (width === '1q') return `${date.slice(0, 4)} ${'111222333444'.charAt(Number(date.slice(5, 7)) - 1)}`
  if (width === '1y') return date.slice(0, 4)
  const day = new Date(`${date}T00:00:00Z`)
  // From Monday, 1, to Sunday, 7.
  const first = WEEKDAYS.indexOf(weekStart) + 1
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 7 - first) % 7))
  return day.toISOString().slice(0, 10)
}

describe('buckets of any zone', () => {
  for (const [width, quarters] of [
    ['1h', 300],
    ['1d', 800],
    ['1w', 3_000],
    ['1mo', 9_000],
    ['1q', 27_000],
    ['1y', 80_000],
  ] as const) {
    test(`${width}: are what the clocks and calendars on the wall say, quarter of an hour by quarter of an hour`, () => {
      fc.assert(
        fc.property(
          fc.constantFrom(...ZONES),
          fc.integer({ min: FROM_MS / QUARTER_MS, max: TO_MS / QUARTER_MS }),
          fc.integer({ min: 1, max: quarters }),
          fc.constantFrom(...WEEKDAYS),
          (timeZone, start, length, weekStart) => {
            const startingAt = start * QUARTER_MS
            const endingAt = (start + length) * QUARTER_MS
            const found = bucketsOf({ startingAt, endingAt, width, timeZone, weekStart }, 10_000)
            const expected: number[] = []
            let latest = ''
            for (let moment = startingAt; moment < endingAt; moment += QUARTER_MS) {
              const name = nameOf(width, timeZone, weekStart, moment)
              // Once a day has begun, yesterday shown again is a part of it; hours have their offset in their name.
              if (width === '1h' ? name === latest : name <= latest) continue
              expected.push(moment)
              latest = name
            }
            // St. John's changed its clocks a minute after midnight: who looks each quarter sees that at the next one.
            const seen = (moment: number) => Math.ceil(moment / QUARTER_MS) * QUARTER_MS
            expect(found.map((bucket) => seen(bucket.startingAt))).toEqual(expected)
            expect(found.map((bucket) => seen(bucket.endingAt))).toEqual([...expected.slice(1), endingAt])
            for (const { startingAt, endingAt, period } of found) {
              expect(period.startingAt).toBeLessThanOrEqual(startingAt)
              expect(period.endingAt).toBeGreaterThanOrEqual(endingAt)
            }
            expect(countBuckets({ startingAt, endingAt, width, timeZone, weekStart })).toBeLessThan(
              found.length * 1.2 + 2,
            )
          },
        ),
        {
          numRuns: { '1mo': 20, '1q': 8, '1y': 4 }[width as string] ?? 60,
          examples: [['America/St_Johns', Date.UTC(2010, 10, 7) / QUARTER_MS, 20, 'monday']],
        },
      )
    })
  }

  test('read in parts are the same as read at once', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ZONES),
        fc.constantFrom('1h' as const, '1d' as const, '1w' as const, '1mo' as const, '1q' as const, '1y' as const),
        fc.integer({ min: FROM_MS, max: TO_MS }),
        fc.integer({ min: 1, max: 2_000 * HOUR_MS }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(...WEEKDAYS),
        (timeZone, width, startingAt, length, part, weekStart) => {
          const question = { startingAt, endingAt: startingAt + length, width, timeZone, weekStart }
          const parts = []
          for (let from = startingAt; from < question.endingAt; from = parts.at(-1)!.endingAt) {
            parts.push(...bucketsOf({ ...question, startingAt: from }, part))
          }
          expect(parts).toEqual(bucketsOf(question, 10_000))
        },
      ),
      { numRuns: 60 },
    )
  })
})
