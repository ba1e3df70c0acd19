import { expect, test } from 'bun:test'
import { spanOf } from '../../../src/web/pages/reports/series.ts'
import type { Usage } from '../../../src/web/parts/usage/usage.ts'

const hours = (used: readonly boolean[]) =>
  used.map((isUsed, hour) => ({ starting_at: `${hour}`, results: isUsed ? [{}] : [] })) as Usage['data']

test('the axis of a session is from the hour of its first entry to that of its last', () => {
  const shown = (used: readonly boolean[]) => spanOf(hours(used)).map(({ starting_at }) => starting_at)
  expect(shown([false, false, true, false, true, false])).toEqual(['2', '3', '4'])
  expect(shown([true])).toEqual(['0'])
  expect(shown([false, false])).toEqual([])
})
