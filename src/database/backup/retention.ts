/** Which backups are kept, in a folder and in S3-compatible storage alike. Pure. */
import { newestFirst } from './names.ts'

/** How many backups of each class are kept; a backup may be in several. */
export interface Keep {
  /** The newest ones. */
  last: number
  /** Of as many days, weeks and months that have a backup: the newest of each. */
  daily: number
  weekly: number
  monthly: number
}

const DAY_MS = 86_400_000

/** The number of the day, week (from Monday) or month, in UTC, as the names of backups are. */
const PERIODS = {
  daily: (time: number) => Math.floor(time / DAY_MS),
  // 1970 began on a Thursday.
  weekly: (time: number) => Math.floor((time / DAY_MS + 3) / 7),
  monthly: (time: number) => new Date(time).getUTCFullYear() * 12 + new Date(time).getUTCMonth(),
} as const

/**
 * The backups that are not kept. Never the newest one, and none that is dated later than now: they were made while the
 * clock was ahead, or it is behind now, so their age is unknown. Periods are counted by the backups in them and not from
 * now, so that a clock that jumps ahead does not make all of them old.
 */
export function expired<Backup extends { madeAt: number }>(
  backups: readonly Backup[],
  keep: Keep,
  now: number,
): Backup[] {
  const dated = backups.filter(({ madeAt }) => madeAt <= now).sort(newestFirst)
  const kept = new Set(dated.slice(0, Math.max(1, keep.last)))
  for (const [kind, periodOf] of Object.entries(PERIODS) as [keyof typeof PERIODS, (time: number) => number][]) {
    const newest = new Map<number, Backup>()
    for (const backup of dated) {
      const period = periodOf(backup.madeAt)
      if (!newest.has(period)) newest.set(period, backup)
    }
    for (const backup of [...newest.values()].slice(0, keep[kind])) kept.add(backup)
  }
  return dated.filter((backup) => !kept.has(backup))
}
