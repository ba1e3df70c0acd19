import { expect, test } from 'bun:test'
import { forecastSpan, monthForecast } from '../../../src/features/overview/month-forecast.ts'
import type { UsageReport } from '../../../src/features/reports/schema.ts'
import { addDays } from '../../../src/lib/calendar.ts'
import { hourAt } from '../../../src/shared/forecast.ts'

const costsByDay = (from: string, costs: number[]) =>
  ({
    data: costs.map((cost, at) => ({
      starting_at: `${addDays(from, at)}T00:00:00Z`,
      results: cost > 0 ? [{ cost }] : [],
    })),
  }) as Pick<UsageReport, 'data'>

const NOON = Date.parse('2026-11-10T12:00:00.000Z')

test('the month is forecast from what is spent by the hour and the averages of its weekdays', () => {
  const spanAt = (time: string) => {
    const { startingAt, endingAt } = forecastSpan(Date.parse(time), 'Europe/Berlin')
    return [startingAt, endingAt].map((moment) => new Date(moment).toISOString())
  }
  expect(spanAt('2026-11-10T12:34:56Z')).toEqual(['2026-10-12T22:00:00.000Z', '2026-11-10T12:00:00.000Z'])
  expect(spanAt('2026-11-30T12:34:56Z')).toEqual(['2026-10-31T23:00:00.000Z', '2026-11-30T12:00:00.000Z'])
  const steady = costsByDay('2026-10-13', Array(29).fill(0.1))
  // Nine days and today so far; the other half of today and twenty more days.
  expect(monthForecast(steady, 'UTC', NOON)).toEqual({
    ...{ month: '2026-11', at: '2026-11-10T12:00:00.000Z', spent: 1 },
    ...{ amount: expect.closeTo(1 + 2.05), low: expect.closeTo(3.05), high: expect.closeTo(3.05) },
  })
})

test('a forecast is made for the last full hour', () => {
  expect(hourAt(NOON + 3_599_999)).toBe(NOON)
  const steady = costsByDay('2026-10-13', Array(29).fill(0.1))
  expect(monthForecast(steady, 'UTC', NOON + 3_599_999)).toEqual(monthForecast(steady, 'UTC', NOON))
})

test('there is no forecast from less than three days with usage', () => {
  const two = costsByDay('2026-10-13', [...Array(26).fill(0), 5, 5, 5])
  expect(monthForecast(two, 'UTC', NOON)).toBeNull()
})
