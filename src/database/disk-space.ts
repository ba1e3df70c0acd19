/** Free disk space, and the limits that follow from it. */
import { statfsSync } from 'node:fs'

export interface DiskSpace {
  freeBytes: number
  totalBytes: number
}

/** Of the file system that holds a folder, as far as this user may use it. */
export function diskSpaceOf(folder: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

export type SpaceLevel = 'ok' | 'low' | 'critical'

/** Shares of the disk at which somebody should look, and at which it is urgent. */
const LOW_SHARE = 0.15
const CRITICAL_SHARE = 0.05

export function spaceLevelOf({ freeBytes, totalBytes }: DiskSpace): SpaceLevel {
  if (freeBytes < totalBytes * CRITICAL_SHARE) return 'critical'
  return freeBytes < totalBytes * LOW_SHARE ? 'low' : 'ok'
}

/** Below it, checkpoints would sync the file several times a second under load. */
const LOG_BYTES_ALLOWED = 64 * 1_048_576

/** A server that was killed reads the whole log before it is ready; 128 MiB take less than half a second. */
const LOG_BYTES_WANTED = 128 * 1_048_576

/** How large the log may become while nobody reads for long. */
export const logBytesAllowed = (freeBytes: number): number => Math.max(LOG_BYTES_ALLOWED, freeBytes / 10)

/**
 * From how many bytes on the log is emptied even if writers have to pause: at half of what it may have, the larger of
 * 64 MiB and a tenth of the free space, as it grows until the checkpoint is done; and on a small disk at a quarter of
 * what it could have, so that the database finds space to grow by all that is in the log.
 */
export function logBytesToEmptyAt(freeBytes: number, logBytes: number): number {
  return Math.min(logBytesAllowed(freeBytes) / 2, LOG_BYTES_WANTED, (freeBytes + logBytes) / 4)
}

/** Often enough to be early, and nothing for a disk. */
const LOOK_MS = 10_000

/** By how much of the disk more must be free before an alarm ends, so that one at its border is not raised again and again. */
const RELIEF_SHARE = 0.01

const LEVELS: SpaceLevel[] = ['ok', 'low', 'critical']

/** Reports each crossing of a level once, that of the start included where it is not `ok`, as long as the process runs. */
export function watchDiskSpace(folder: string, onChange: (level: SpaceLevel, space: DiskSpace) => void): void {
  let known: SpaceLevel = 'ok'
  const look = () => {
    const space = diskSpaceOf(folder)
    const relieved = { ...space, freeBytes: space.freeBytes - space.totalBytes * RELIEF_SHARE }
    const level = spaceLevelOf(space)
    const isWorse = LEVELS.indexOf(level) > LEVELS.indexOf(known)
    const isBetter = LEVELS.indexOf(spaceLevelOf(relieved)) < LEVELS.indexOf(known)
    if (!isWorse && !isBetter) return
    known = isWorse ? level : spaceLevelOf(relieved)
    onChange(known, space)
  }
  look()
  setInterval(look, LOOK_MS).unref()
}
