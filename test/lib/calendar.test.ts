import { expect, test } from 'bun:test'
import { daysOfMonth, daysOfQuarter, daysOfYear, isDay, spanOf } from '../../src/lib/calendar.ts'
import { parseMoment, timestamp } from '../../src/lib/duration.ts'
import { parseTimestamp } from '../../src/lib/timestamp.ts'

test('a day, month, quarter or year whose start or end no timestamp can say is none', () => {
  expect(['0000-12-31', '9999-01-01', '2026-02-30', '2026-2-3'].filter(isDay)).toEqual([])
  expect([daysOfMonth('0000-01'), daysOfMonth('9999-12'), daysOfQuarter('9999-Q4'), daysOfYear('0000')]).toEqual(
    Array(4).fill(undefined),
  )
  for (const day of ['0001-01-01', '9998-12-31']) {
    expect(isDay(day)).toBe(true)
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'Etc/GMT+12', 'America/New_York']) {
      const { startingAt, endingAt } = spanOf({ from: day, to: day }, zone)
      expect([startingAt, endingAt].map((moment) => parseTimestamp(timestamp(moment)))).toEqual([startingAt, endingAt])
    }
  }
})

test('a date means its first moment, if a timestamp can say it', () => {
  const written = (day: string, zone: string) => {
    const moment = parseMoment(day, zone)
    return moment === undefined ? undefined : timestamp(moment)
  }
  expect(written('9999-12-31', 'America/New_York')).toBe('9999-12-31T05:00:00.000Z')
  expect(written('0000-01-01', 'UTC')).toBe('0000-01-01T00:00:00.000Z')
  expect(written('0000-01-01', 'Europe/Berlin')).toBeUndefined()
})
