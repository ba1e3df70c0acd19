/**
 * The names of backups, which say when they were made and on which timeline: files, and objects in S3-compatible storage.
 * A name is only what somebody says of the content, which says the same of itself: see contents.ts.
 */

/** What a backup is called in S3-compatible storage: a file, compressed with Zstandard, then encrypted with age. */
export const SEALED_ENDING = '.zst.age'

const NAME = /^tally-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-([\da-f]{8}))?\.db$/

/** What the names of all backups begin with. */
export const NAME_BEGIN = 'tally-'

export interface BackupName {
  /** In whole seconds. */
  madeAt: number
  /** Undefined in names that earlier versions gave. */
  timeline: string | undefined
}

/**
 * `tally-20261121T201500Z-5f0c2a9b.db`: sorts by date, is a valid name on every system, and the same for no two databases
 * that share a folder.
 */
export function backupName({ madeAt, timeline }: BackupName): string {
  const stamp = new Date(madeAt).toISOString().slice(0, 19).replace(/[-:]/g, '')
  return `${NAME_BEGIN}${stamp}Z${timeline === undefined ? '' : `-${timeline}`}.db`
}

/** Undefined if it is not the name of a backup. */
export function readName(name: string): BackupName | undefined {
  const [, year, month, day, hour, minute, second, timeline] = NAME.exec(name) ?? []
  if (year === undefined) return undefined
  const madeAt = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second))
  // Of two names of one moment, such as the 31st of June and the 1st of July, only one was made by Tally.
  return backupName({ madeAt, timeline }) === name ? { madeAt, timeline } : undefined
}

/** As {@link readName}, of an object. */
export function readSealedName(name: string): BackupName | undefined {
  return name.endsWith(SEALED_ENDING) ? readName(name.slice(0, -SEALED_ENDING.length)) : undefined
}

export const newestFirst = (one: { madeAt: number }, other: { madeAt: number }) => other.madeAt - one.madeAt

/** The newest backup that was not made while the clock was ahead; undefined if there is none. */
export function newestOf<Backup extends { madeAt: number }>(backups: readonly Backup[], now: number) {
  return backups.filter(({ madeAt }) => madeAt <= now).sort(newestFirst)[0]
}
