/** Free disk space, and the limits that follow from it. */
import { statfsSync } from 'node:fs'
import { Job } from '../lib/jobs.ts'

export interface DiskSpace {
  freeBytes: number
  totalBytes: number
}

/** The space of the file system that contains a folder, as far as this user may use it. */
export function diskSpaceOf(folder: string): DiskSpace {
  const { bavail, blocks, bsize } = statfsSync(folder)
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
}

export type SpaceLevel = 'ok' | 'low' | 'critical'

/** Shares of free space for a warning, and for an urgent one. */
const LOW_SHARE = 0.15
const CRITICAL_SHARE = 0.05

export function spaceLevelOf({ freeBytes, totalBytes }: DiskSpace): SpaceLevel {
  if (freeBytes < totalBytes * CRITICAL_SHARE) return 'critical'
  return freeBytes < totalBytes * LOW_SHARE ? 'low' : 'ok'
}

/** With less, checkpoints would sync the file several times a second under load. */
const MIN_LOG_LIMIT_BYTES = 64 * 1_048_576

/** A killed server reads the whole log before it is ready again; 128 MiB take less than half a second. */
const QUICK_RESTART_LOG_BYTES = 128 * 1_048_576

/** Maximum size of the log while no reader blocks it. */
export const logBytesAllowed = (freeBytes: number): number => Math.max(MIN_LOG_LIMIT_BYTES, freeBytes / 10)

/**
 * The log size at which the log is emptied even if writers have to pause: half of its maximum (the larger of 64 MiB and
 * a tenth of the free space), because it grows until the checkpoint is done; on a small disk a quarter of its possible
 * size, so that the database has space for the content of the log.
 */
export function logBytesToEmptyAt(freeBytes: number, logBytes: number): number {
  return Math.min(logBytesAllowed(freeBytes) / 2, QUICK_RESTART_LOG_BYTES, (freeBytes + logBytes) / 4)
}

/** Often enough to be early, and cheap. */
const CHECK_MS = 10_000

/**
 * The additional share of free space needed before an alarm ends, so that it is not raised repeatedly near its
 * threshold.
 */
const HYSTERESIS_SHARE = 0.01

const LEVELS: SpaceLevel[] = ['ok', 'low', 'critical']

/** Reports each change of the level once, including the initial level if it is not `ok`. */
export function diskSpaceJob(folder: string, onChange: (level: SpaceLevel, space: DiskSpace) => void): Job {
  let known: SpaceLevel = 'ok'
  async function run(): Promise<void> {
    const space = diskSpaceOf(folder)
    const relieved = { ...space, freeBytes: space.freeBytes - space.totalBytes * HYSTERESIS_SHARE }
    const level = spaceLevelOf(space)
    const isWorse = LEVELS.indexOf(level) > LEVELS.indexOf(known)
    const isBetter = LEVELS.indexOf(spaceLevelOf(relieved)) < LEVELS.indexOf(known)
    if (!isWorse && !isBetter) return
    known = isWorse ? level : spaceLevelOf(relieved)
    onChange(known, space)
  }
  return new Job({ name: 'disk-space', task: 'look at the free space of the disk', everyMs: CHECK_MS, run })
}
