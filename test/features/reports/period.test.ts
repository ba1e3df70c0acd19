import { expect, test } from 'bun:test'
import { type NamedPeriod, periodTexts } from '../../../src/features/reports/period.ts'

/** Half an hour into 21 November in Berlin, and still the 20th in UTC. */
const NOW = Date.parse('2026-11-20T23:30:00Z')

const named = (period: NamedPeriod, timeZone = 'Europe/Berlin') => periodTexts(period, { now: NOW, timeZone })

test('the last days are whole ones of the zone, of which today is one', () => {
  expect(named({ last: '1d' })).toEqual({ starting_at: '2026-11-21' })
  expect(named({ last: '1d' }, 'UTC')).toEqual({ starting_at: '2026-11-20' })
  expect(named({ last: '2w' })).toEqual({ starting_at: '2026-11-08' })
  expect(named({})).toEqual({ starting_at: '2026-10-23' })
})

test('the last hours end now', () => {
  expect(named({ last: '24h' })).toEqual({ starting_at: '2026-11-19T23:30:00.000Z' })
  expect(named({ last: '90min' })).toEqual({ starting_at: '2026-11-20T22:00:00.000Z' })
})

test('a month ends where the next begins', () => {
  expect(named({ month: '2026-02' })).toEqual({ starting_at: '2026-02-01', ending_at: '2026-03-01' })
  expect(named({ month: '2026-12' })).toEqual({ starting_at: '2026-12-01', ending_at: '2027-01-01' })
})

test('a quarter and a year have three and twelve months', () => {
  expect(named({ quarter: '2026-Q1' })).toEqual({ starting_at: '2026-01-01', ending_at: '2026-04-01' })
  expect(named({ quarter: '2026-q4' })).toEqual({ starting_at: '2026-10-01', ending_at: '2027-01-01' })
  expect(named({ year: '2026' })).toEqual({ starting_at: '2026-01-01', ending_at: '2027-01-01' })
})

test('from and to are what the report itself reads', () => {
  expect(named({ from: '2026-11-01' })).toEqual({ starting_at: '2026-11-01', ending_at: undefined })
  expect(named({ from: 'x', to: 'y' })).toEqual({ starting_at: 'x', ending_at: 'y' })
})

test('what names no period, or two, is refused under its name', () => {
  const refused: [NamedPeriod, string][] = [
    [{ last: '0d' }, '/query/last'],
    [{ last: '1y' }, '/query/last'],
    [{ last: '999999w' }, '/query/last'],
    [{ month: '2026-00' }, '/query/month'],
    [{ month: '2026-1' }, '/query/month'],
    [{ quarter: '2026-Q5' }, '/query/quarter'],
    [{ quarter: '2026' }, '/query/quarter'],
    [{ year: '26' }, '/query/year'],
    [{ year: '2026', quarter: '2026-Q1' }, '/query/quarter'],
    [{ year: '2026', last: '1d' }, '/query/year'],
    [{ to: '2026-11-01' }, '/query/to'],
    [{ last: '1d', from: '2026-11-01' }, '/query/last'],
    [{ month: '2026-11', to: '2026-11-01' }, '/query/month'],
  ]
  for (const [period, pointer] of refused) {
    expect(() => named(period)).toThrow(
      expect.objectContaining({ more: { issues: [expect.objectContaining({ pointer })] } }),
    )
  }
})
