/** What `tally serve` does by itself: the jobs of all services, and those of the process and its database. */
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import { type DiskSpace, diskSpaceJob, type SpaceLevel } from '../../database/disk-space.ts'
import { systemClock } from '../../lib/clock.ts'
import { createJobs, Job } from '../../lib/jobs.ts'
import type { Services } from '../../services.ts'
import { driverError } from '../failures.ts'
import type { ServerBackups } from './backups.ts'

/** How soon after its start a month of partitioned entries begins. */
const LOOK_FOR_MONTH_MS = 3_600_000

interface ServerJobsDependencies {
  services: Services
  backups: ServerBackups
}

export function createServerJobs({ dataDir }: Config, logger: Logger, { services, backups }: ServerJobsDependencies) {
  const { db, jobs } = services
  const ofServer = [
    db.file === undefined ? undefined : diskSpaceJob(dataDir, (level, space) => logDiskSpace(level, space, logger)),
    backups.scheduled?.job,
    backups.remote?.job,
    partitionsJob(db),
  ].filter((job) => job !== undefined)
  return createJobs([...ofServer, ...jobs], {
    clock: systemClock,
    log: (line, message) => logger.info(line, message),
    failed: ({ name, task, isUrgent }, error) =>
      logger[isUrgent ? 'error' : 'warn']({ err: driverError(error), job: name }, `could not ${task}`),
  })
}

/** Undefined where entries are not partitioned. */
function partitionsJob({ beginMonth }: Services['db']): Job | undefined {
  if (!beginMonth) return undefined
  return new Job({
    name: 'partitions',
    task: 'begin the partition of a new month',
    everyMs: LOOK_FOR_MONTH_MS,
    async run({ log }) {
      const month = await beginMonth(systemClock.now())
      if (month !== undefined) log({ month }, 'entries are recorded in the partition of a new month')
    },
  })
}

function logDiskSpace(level: SpaceLevel, { freeBytes, totalBytes }: DiskSpace, logger: Logger): void {
  const line = { free_bytes: freeBytes, total_bytes: totalBytes }
  if (level === 'ok') logger.info(line, 'the database disk has enough free space again')
  else if (level === 'low') logger.warn(line, 'the database disk has less than 15% free space; free some space')
  else logger.error(line, 'the database disk has less than 5% free space; reports are refused when it is full')
}
