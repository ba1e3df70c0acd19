import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { backupName, newestOf, readName, readSealedName } from '../../../src/database/backup/names.ts'
import { expired, type Keep } from '../../../src/database/backup/retention.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const at = (day: string) => Date.parse(`${day}T03:00:00Z`)
const days = (times: readonly number[]) => times.map((time) => new Date(time).toISOString().slice(0, 10))

/** Backups every so often, with what is not kept removed after each, as a server does. */
function simulate(keep: Keep, { from, count, everyMs }: { from: number; count: number; everyMs: number }): number[] {
  let kept: { madeAt: number }[] = []
  for (let made = 0; made < count; made += 1) {
    const now = from + made * everyMs
    kept.push({ madeAt: now })
    const removed = new Set(expired(kept, keep, now))
    kept = kept.filter((backup) => !removed.has(backup))
  }
  return kept.map(({ madeAt }) => madeAt).reverse()
}

const none: Keep = { last: 1, daily: 0, weekly: 0, monthly: 0 }

describe('a year of daily backups', () => {
  const year = { from: at('2025-11-21'), count: 366, everyMs: DAY_MS }

  test('leaves the newest ones', () => {
    expect(days(simulate({ ...none, last: 3 }, year))).toEqual(['2026-11-21', '2026-11-20', '2026-11-19'])
  })

  test('leaves the last one of weeks, which begin on Monday, and of months', () => {
    expect(days(simulate({ ...none, weekly: 3 }, year))).toEqual(['2026-11-21', '2026-11-15', '2026-11-08'])
    expect(days(simulate({ ...none, monthly: 3 }, year))).toEqual(['2026-11-21', '2026-10-31', '2026-09-30'])
  })

  test('leaves what any class keeps, counted once', () => {
    const kept = simulate({ last: 2, daily: 7, weekly: 4, monthly: 12 }, year)
    expect(days(kept)).toEqual([
      ...['2026-11-21', '2026-11-20', '2026-11-19', '2026-11-18', '2026-11-17', '2026-11-16', '2026-11-15'],
      ...['2026-11-08', '2026-11-01', '2026-10-31', '2026-09-30', '2026-08-31', '2026-07-31', '2026-06-30'],
      ...['2026-05-31', '2026-04-30', '2026-03-31', '2026-02-28', '2026-01-31', '2025-12-31'],
    ])
  })

  test('leaves one of each day if there are several a day', () => {
    const kept = simulate({ ...none, daily: 3 }, { from: at('2026-11-01'), count: 200, everyMs: HOUR_MS })
    expect(days(kept)).toEqual(['2026-11-09', '2026-11-08', '2026-11-07'])
  })
})

const time = fc.integer({ min: at('2020-01-01'), max: at('2030-01-01') })
const backups = fc.uniqueArray(time, { maxLength: 60 }).map((times) => times.map((madeAt) => ({ madeAt })))
const count = fc.integer({ min: 0, max: 20 })
const keeps = fc.record({ last: count, daily: count, weekly: count, monthly: count })

describe('whatever the clock says', () => {
  test('the newest backup that is not from the future is kept', () => {
    fc.assert(
      fc.property(backups, keeps, time, (all, keep, now) => {
        const newest = newestOf(all, now)
        expect(expired(all, keep, now)).not.toContain(newest!)
      }),
    )
  })

  test('none from the future is removed', () => {
    fc.assert(
      fc.property(backups, keeps, time, (all, keep, now) => {
        for (const { madeAt } of expired(all, keep, now)) expect(madeAt).toBeLessThanOrEqual(now)
      }),
    )
  })

  test('a clock that jumps ahead removes what it would have removed anyway, and a clock that is set back nothing more', () => {
    fc.assert(
      fc.property(backups, keeps, time, fc.integer({ min: 0, max: 100 * 365 }), (all, keep, now, daysAhead) => {
        const past = all.filter(({ madeAt }) => madeAt <= now)
        const removed = expired(past, keep, now)
        expect(expired(past, keep, now + daysAhead * DAY_MS)).toEqual(removed)
        const earlier = now - daysAhead * DAY_MS
        const kept = past.filter((backup) => !expired(past, keep, earlier).includes(backup))
        expect(kept.length).toBeGreaterThanOrEqual(Math.min(past.length, Math.max(1, keep.last)))
      }),
    )
  })

  test('as many as each class says are kept, if there are as many', () => {
    fc.assert(
      fc.property(backups, keeps, (all, keep) => {
        const kept = all.length - expired(all, keep, at('2031-01-01')).length
        expect(kept).toBeGreaterThanOrEqual(Math.min(all.length, keep.last))
        expect(kept).toBeLessThanOrEqual(Math.max(1, keep.last) + keep.daily + keep.weekly + keep.monthly)
      }),
    )
  })

  test('what was kept is kept again', () => {
    fc.assert(
      fc.property(backups, keeps, time, (all, keep, now) => {
        const removed = expired(all, keep, now)
        const kept = all.filter((backup) => !removed.includes(backup))
        expect(expired(kept, keep, now)).toEqual([])
      }),
    )
  })
})

describe('names', () => {
  test('are those of Tally only', () => {
    fc.assert(
      fc.property(time, (now) => {
        const second = Math.floor(now / 1000) * 1000
        for (const timeline of [undefined, '0123abcd']) {
          const name = backupName({ madeAt: now, timeline })
          expect(readName(name)).toEqual({ madeAt: second, timeline })
          expect(readSealedName(`${name}.zst.age`)).toEqual({ madeAt: second, timeline })
        }
      }),
    )
    for (const name of [
      'tally-20261121T201500Z.db.zst',
      'tally-20261121T201500Z.db.zst.age.zst.age',
      'tally-20261331T201500Z.db.zst.age',
      'tally-20260231T201500Z.db.zst.age',
      '../tally-20261121T201500Z.db.zst.age',
      'a/tally-20261121T201500Z.db.zst.age',
      'tally-20261121T201500Z.db.zst.age\n',
      'TALLY-20261121T201500Z.db.zst.age',
      'tally-20261121T201500Z-0123ABCD.db.zst.age',
      'tally-20261121T201500Z-0123abc.db.zst.age',
      'tally-20261121T201500Z-.db.zst.age',
      '',
    ]) {
      expect([name, readSealedName(name)]).toEqual([name, undefined])
    }
  })
})
