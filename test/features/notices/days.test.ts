import { expect, test } from 'bun:test'
import { silencesOf, watchedDays } from '../../../src/features/notices/days.ts'

test('a silence is of two working days after seven, so that a weekend is none', () => {
  // A Tuesday: Monday and Friday, and the working days before.
  expect(watchedDays('2026-11-24')).toEqual({
    silent: ['2026-11-23', '2026-11-20'],
    before: ['2026-11-19', '2026-11-18', '2026-11-17', '2026-11-16', '2026-11-13', '2026-11-12', '2026-11-11'],
  })
  expect(watchedDays('2026-11-22').silent).toEqual(['2026-11-20', '2026-11-19'])
})

test('somebody with usage on five of the days before, and none since, is silent since the last of them', () => {
  const days = watchedDays('2026-11-24')
  const ada = { managerId: 1, harnessId: 1 }
  const adaElsewhere = { managerId: 1, harnessId: 2 }
  const grace = { managerId: 2, harnessId: 1 }
  const before = [
    [],
    [ada, grace],
    [ada, grace],
    [ada, adaElsewhere, grace],
    [ada, grace],
    [ada, grace],
    [adaElsewhere],
  ]
  expect(silencesOf(days, { silent: [grace], before })).toEqual([{ ...ada, lastUsedOn: '2026-11-18', usedDays: 5 }])
})
