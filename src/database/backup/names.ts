/** The names of backups, which say when they were made: files, and objects in S3-compatible storage. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What a backup is called in S3-compatible storage: a file, compressed with Zstandard, then encrypted with age. */
export const SEALED_ENDING = '.zst.age'

const NAME = /^tally-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/

/** What the names of all backups begin with. */
export const NAME_BEGIN = 'tally-'

/** `tally-20261121T201500Z.db`: sorts by date, and is a valid name on every system. */
export function backupName(now: number): string {
  return `${NAME_BEGIN}${new Date(now).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z.db`
}

/** When the backup of this name was made; undefined if it is not the name of one. */
export function backupTime(name: string): number | undefined {
  const [, ...parts] = NAME.exec(name) ?? []
  if (parts.length === 0) return undefined
  const [year, month, day, hour, minute, second] = parts.map(Number)
  const time = Date.UTC(year!, month! - 1, day, hour, minute, second)
  // Of two names of one moment, such as the 31st of June and the 1st of July, only one was made by Tally.
  return backupName(time) === name ? time : undefined
}

/** As {@link backupTime}, of an object. */
export function sealedTime(name: string): number | undefined {
  return name.endsWith(SEALED_ENDING) ? backupTime(name.slice(0, -SEALED_ENDING.length)) : undefined
}

export interface BackupFile {
  file: string
  name: string
  madeAt: number
  bytes: number
}

/** The backups in a folder, newest first. Ignores other files. */
export function backupsIn(folder: string): BackupFile[] {
  return readdirSync(folder)
    .flatMap((name) => {
      const madeAt = backupTime(name)
      const file = join(folder, name)
      const found = madeAt === undefined ? undefined : statSync(file, { throwIfNoEntry: false })
      return found?.isFile() ? [{ file, name, madeAt: madeAt!, bytes: found.size }] : []
    })
    .sort(newestFirst)
}

export const newestFirst = (one: { madeAt: number }, other: { madeAt: number }) => other.madeAt - one.madeAt

/** The newest backup that was not made while the clock was ahead; undefined if there is none. */
export function newestOf<Backup extends { madeAt: number }>(backups: readonly Backup[], now: number) {
  return backups.filter(({ madeAt }) => madeAt <= now).sort(newestFirst)[0]
}
