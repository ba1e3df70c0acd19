import { expect, test } from 'bun:test'
import { byWeek, weekOf, weekToApprove } from '../../../src/web/pages/inbox/weeks.ts'

const MONDAY = 1
const SUNDAY = 0
const sheet = (from: string, to: string) => ({ period: { from, to } })

test('a week begins on the day that the organization or the person has chosen', () => {
  expect(weekOf('2026-11-29', MONDAY)).toEqual({ from: '2026-11-23', to: '2026-11-29' })
  expect(weekOf('2026-11-29', SUNDAY)).toEqual({ from: '2026-11-29', to: '2026-12-05' })
  expect(weekOf('2026-11-23', MONDAY).from).toBe('2026-11-23')
})

test('sheets belong to the week in which their period ends, the latest first', () => {
  const [month, week, current] = [
    sheet('2026-10-01', '2026-10-31'),
    sheet('2026-11-16', '2026-11-22'),
    sheet('2026-11-23', '2026-11-29'),
  ]
  const weeks = byWeek([month!, week!, current!], MONDAY)
  expect([...weeks.keys()]).toEqual(['2026-11-23', '2026-11-16', '2026-10-26'])
  expect(weeks.get('2026-10-26')).toEqual([month!])
})

test('the past week is chosen first, else the latest one that is over', () => {
  const weeks = (...firsts: string[]) => new Map(firsts.map((from) => [from, null]))
  const today = '2026-11-25'
  expect(weekToApprove(weeks('2026-11-23', '2026-11-16', '2026-11-09'), today, MONDAY)).toBe('2026-11-16')
  expect(weekToApprove(weeks('2026-11-23', '2026-10-26'), today, MONDAY)).toBe('2026-10-26')
  expect(weekToApprove(weeks('2026-11-23'), today, MONDAY)).toBe('2026-11-23')
})
