/** The backups that `tally serve` schedules, uploads and verifies. */
import { join } from 'node:path'
import type { Logger } from 'pino'
import { type Config, ConfigError } from '../../config.ts'
import type { identityOf, ServerIdentity } from '../../database/backup/identity.ts'
import type { BackupStep } from '../../features/notices/service.ts'
import type { Services } from '../../services.ts'
import { driverError } from '../failures.ts'

export type ServerBackups = Awaited<ReturnType<typeof prepareBackups>>

/** Both kinds, as far as they are configured. Throws a {@link ConfigError}. */
export async function prepareBackups(
  config: Config,
  logger: Logger,
  { db, notices }: Pick<Services, 'db' | 'notices'>,
) {
  const identity = config.backups.everyMs === undefined ? undefined : await backupIdentity(db)
  const remote = await prepareRemote(config, logger, { notices }, identity)
  const onMade = () => remote?.job.wake()
  return { scheduled: identity && (await prepareScheduled(config, logger, { notices, identity, onMade })), remote }
}

const backupIdentity: typeof identityOf = async (db) =>
  (await import('../../database/backup/identity.ts')).identityOf(db)

/** Scheduled backups. A failed backup is retried a minute later. */
async function prepareScheduled(
  { backups, dataDir }: Config,
  logger: Logger,
  { notices, identity, onMade }: Pick<Services, 'notices'> & { identity: ServerIdentity; onMade: () => void },
) {
  const [{ scheduleBackups }, { DATABASE_FILE }, { systemClock }] = await Promise.all([
    import('../../database/backup/scheduled-backups.ts'),
    import('../../database/open.ts'),
    import('../../lib/clock.ts'),
  ])
  const report = failureReports(logger, notices)
  return scheduleBackups({
    from: join(dataDir, DATABASE_FILE),
    identity: identity.read,
    folder: backups.folder,
    everyMs: backups.everyMs!,
    keep: backups.keep,
    clock: systemClock,
    events: {
      made: onMade,
      failed: (error, lastMadeAt) => report('backup', error, lastMadeAt),
    },
  })
}

const failureReports =
  (logger: Logger, notices: Services['notices']) => (step: BackupStep, error: unknown, succeededAt: number | null) => {
    notices.backupFailed(step, error, succeededAt).catch((refused) => {
      logger.warn({ err: driverError(refused) }, 'could not record that a backup failed')
    })
  }

/** Uploads of the scheduled backups; undefined if they stay on this machine. A failed upload is logged and retried. */
async function prepareRemote(
  config: Config,
  logger: Logger,
  { notices }: Pick<Services, 'notices'>,
  identity: ServerIdentity | undefined,
) {
  const { remote, folder, keep } = config.backups
  if (!remote) return undefined
  if (!identity) throw new ConfigError('TALLY_BACKUP_S3: no backups are scheduled. Set TALLY_BACKUP_EVERY=24h')
  if (remote.recipients.length === 0) {
    throw new ConfigError(
      'TALLY_BACKUP_S3: backups in S3 are encrypted. Set TALLY_BACKUP_RECIPIENTS to a public key; `tally backup keygen` creates one',
    )
  }
  const [{ createRemoteBackups }, { runRemoteTask }, { encrypterFor }, { systemClock }] = await Promise.all([
    import('../../database/backup/remote/remote-backups.ts'),
    import('../../database/backup/remote/link.ts'),
    import('../../database/backup/remote/encryption.ts'),
    import('../../lib/clock.ts'),
  ])
  encrypterFor(remote.recipients)
  const report = failureReports(logger, notices)
  return createRemoteBackups({
    ...remote,
    ...{ folder, keep, clock: systemClock, run: runRemoteTask },
    ...{ identity: identity.read, renewTimeline: identity.renewTimeline },
    events: {
      uploaded({ name, uploaded, removed, notRemoved }) {
        const { bytes, sha256 } = uploaded ?? {}
        logger.info({ backup: { name, bytes, sha256 }, removed: removed.length }, 'uploaded a backup')
        if (notRemoved !== undefined)
          logger.warn({ reason: notRemoved }, 'could not remove old backups from the storage')
      },
      uploadFailed(error, succeededAt) {
        logger.error({ reason: error.message }, 'could not upload a backup')
        report('upload', error, succeededAt)
      },
      verified: ({ name, extent }) => logger.info({ backup: name, extent }, VERIFIED[extent]),
      verificationFailed(error, succeededAt) {
        logger.error({ reason: error.message }, 'could not verify the uploaded backups')
        report('verification', error, succeededAt)
      },
    },
  })
}

/** Without the private key, nothing was verified. */
const VERIFIED = {
  restored: 'verified an uploaded backup: restored and checked',
  compared: 'compared an uploaded backup: uploaded as made, not test-restored',
}
