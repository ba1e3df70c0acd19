import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { dayAt, daysWithin, monthAt } from '../../../src/features/rollup/calendar.ts'
import { runs } from '../../support/tier.ts'

const HOUR = 3_600_000
const at = (text: string) => Date.parse(text)

/** A day as its first moment and its hours. */
function dayOf(moment: string, zone: string): [start: string, hours: number] {
  const { from, to } = dayAt(at(moment), zone)
  return [new Date(from).toISOString(), (to - from) / HOUR]
}

test('a day has 23 hours in spring and 25 in autumn', () => {
  expect(dayOf('2026-03-29T12:00:00Z', 'Europe/Berlin')).toEqual(['2026-03-28T23:00:00.000Z', 23])
  expect(dayOf('2026-10-25T12:00:00Z', 'Europe/Berlin')).toEqual(['2026-10-24T22:00:00.000Z', 25])
})

test('days of zones with half hours, quarters and a change by half an hour begin at their midnights', () => {
  expect(dayOf('2026-11-20T12:00:00Z', 'Asia/Kolkata')).toEqual(['2026-11-19T18:30:00.000Z', 24])
  expect(dayOf('2026-11-20T12:00:00Z', 'Asia/Kathmandu')).toEqual(['2026-11-19T18:15:00.000Z', 24])
  expect(dayOf('2026-04-04T20:00:00Z', 'Australia/Lord_Howe')).toEqual(['2026-04-04T13:00:00.000Z', 24.5])
})

test('a day whose midnight the clocks leap over begins an hour later', () => {
  expect(dayOf('2018-11-04T12:00:00Z', 'America/Sao_Paulo')).toEqual(['2018-11-04T03:00:00.000Z', 23])
  expect(dayOf('2026-04-24T12:00:00Z', 'Africa/Cairo')).toEqual(['2026-04-23T22:00:00.000Z', 23])
  expect(dayOf('2026-03-29T12:00:00Z', 'Asia/Beirut')).toEqual(['2026-03-28T22:00:00.000Z', 23])
})

test('the evening hour that comes twice belongs to one day of 25 hours', () => {
  expect(dayOf('2018-02-18T01:30:00Z', 'America/Sao_Paulo')).toEqual(['2018-02-17T02:00:00.000Z', 25])
  expect(dayOf('2018-02-18T02:30:00Z', 'America/Sao_Paulo')).toEqual(['2018-02-17T02:00:00.000Z', 25])
})

test('clocks that are set back just after midnight do not bring the day before again', () => {
  // Newfoundland changed at one minute past midnight until 2011.
  const before = dayAt(at('2010-11-07T02:30:30Z'), 'America/St_Johns')
  const again = dayAt(at('2010-11-07T02:45:00Z'), 'America/St_Johns')
  expect(again).toEqual(before)
})

test('a date that a zone left out is no day', () => {
  const days = daysWithin({ from: at('2011-12-29T12:00:00Z'), to: at('2012-01-01T12:00:00Z') }, 'Pacific/Apia')
  expect(days.every(({ from, to }) => to - from >= 23 * HOUR)).toBe(true)
})

test('a month ends where the next begins', () => {
  expect(monthAt(at('2026-10-31T23:30:00Z'), 'Europe/Berlin').from).toBe(at('2026-10-31T23:00:00Z'))
  expect(monthAt(at('2026-10-31T22:30:00Z'), 'Europe/Berlin')).toEqual({
    from: at('2026-09-30T22:00:00Z'),
    to: at('2026-10-31T23:00:00Z'),
  })
})

test('in every zone days follow each other without gap or overlap, each within one month', () => {
  const zones = fc.constantFrom(...Intl.supportedValuesOf('timeZone'))
  const moments = fc.integer({ min: at('1990-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') })
  fc.assert(
    fc.property(zones, moments, (zone, moment) => {
      const day = dayAt(moment, zone)
      expect(day.from).toBeLessThanOrEqual(moment)
      expect(day.to).toBeGreaterThan(moment)
      expect(dayAt(day.from, zone)).toEqual(day)
      expect(dayAt(day.to - 1, zone)).toEqual(day)
      expect(dayAt(day.to, zone).from).toBe(day.to)
      const month = monthAt(moment, zone)
      expect(month.from).toBeLessThanOrEqual(day.from)
      expect(month.to).toBeGreaterThanOrEqual(day.to)
    }),
    { numRuns: runs(300, 100) },
  )
})
