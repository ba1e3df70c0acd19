import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { startOfDay as startOfDayOnServer } from '../../../src/lib/calendar.ts'
import { addDays, startOfDay } from '../../../src/web/format/moments.ts'

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Apia',
  'America/Havana',
  'Asia/Beirut',
]

test('a day begins in the browser at the moment at which it begins on the server', () => {
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), fc.integer({ min: 0, max: 36_000 }), (zone, days) => {
      const day = addDays('1970-01-02', days)
      expect(startOfDay(day, zone)).toBe(new Date(startOfDayOnServer(day, zone)).toISOString())
    }),
    { numRuns: 3_000 },
  )
})
