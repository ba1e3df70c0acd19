/** The checks of `tally doctor` of backups: in the folder, and in S3-compatible storage. */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config, RemoteBackupsConfig } from '../config.ts'
import { s3Address } from '../lib/s3-place.ts'
import { type Finding, failure, ok, warning } from './doctor-checks.ts'
import { sizeText } from './terminal/numbers.ts'

/** A day and a half: a daily backup that was late is none that is missing. */
const AGE_LIMIT_MS = 36 * 3_600_000

/** A verification that failed is tried again within the hour; one that is this many turns late does not run. */
const LATE_TURNS = 2

const STORED = 'stored backups'

export async function checkBackups(config: Config, now: number): Promise<Finding[]> {
  if (config.databaseUrl) return [ok('backups', 'not managed by Tally; use PostgreSQL’s own tools')]
  const { remote } = config.backups
  return [await checkFolder(config, now), ...(remote ? await checkStored(config, remote, now) : [])]
}

async function checkFolder({ backups, dataDir }: Config, now: number): Promise<Finding> {
  const advice =
    'Let the server create backups: set TALLY_BACKUP_EVERY=24h, and TALLY_BACKUP_DIR to a folder on another disk.'
  if (!existsSync(backups.folder)) return warning('backups', 'no backups', advice)
  const { backupsIn, newestOf } = await import('../database/backup/names.ts')
  const newest = newestOf(backupsIn(backups.folder), now)
  if (!newest) return warning('backups', `no backups in ${resolve(backups.folder)}`, advice)
  const message = `latest backup ${new Date(newest.madeAt).toISOString()}`
  if (now - newest.madeAt > AGE_LIMIT_MS) return warning('backups', message, advice)
  if (!backups.remote && statSync(backups.folder).dev === statSync(dataDir).dev) {
    return warning(
      'backups',
      `${message}, on the same disk as the database`,
      'Set TALLY_BACKUP_DIR to a folder on another disk, or TALLY_BACKUP_S3 to upload them.',
    )
  }
  return ok('backups', message)
}

async function checkStored({ backups }: Config, remote: RemoteBackupsConfig, now: number): Promise<Finding[]> {
  const { everyMs } = backups
  if (everyMs === undefined) {
    return [warning(STORED, 'no backups are scheduled, so none are uploaded', 'Set TALLY_BACKUP_EVERY=24h.')]
  }
  if (remote.recipients.length === 0) {
    const advice = 'Set it to a public key. `tally backup keygen` creates one.'
    return [failure(STORED, 'TALLY_BACKUP_RECIPIENTS is not set, and backups are encrypted', advice)]
  }
  const [{ Bucket }, { encrypterFor }, { newestOf }] = await Promise.all([
    import('../database/backup/remote/bucket.ts'),
    import('../database/backup/remote/encryption.ts'),
    import('../database/backup/names.ts'),
  ])
  const address = s3Address(remote.place)
  try {
    encrypterFor(remote.recipients)
    const stored = await new Bucket(remote.place, remote.access).list()
    const newest = newestOf(stored, now)
    const advice = 'Check that the server runs with TALLY_BACKUP_S3, and its log.'
    if (!newest) return [warning(STORED, `no backups in ${address}`, advice)]
    const bytes = stored.reduce((sum, backup) => sum + backup.bytes, 0)
    const message = `${stored.length} in ${address} (${sizeText(bytes)}), the latest of ${new Date(newest.madeAt).toISOString()}`
    const isOld = now - newest.madeAt > Math.max(AGE_LIMIT_MS, LATE_TURNS * everyMs)
    return [
      isOld ? warning(STORED, message, advice) : ok(STORED, message),
      await checkVerification(backups.folder, remote, now),
    ]
  } catch (error) {
    // The storage names what is wrong, and what to do.
    const [, message = '', advice = ''] = /^(.*?\.) (.*)$/s.exec((error as Error).message) ?? []
    return [failure(STORED, message || (error as Error).message, advice || 'Check TALLY_BACKUP_S3.')]
  }
}

async function checkVerification(folder: string, remote: RemoteBackupsConfig, now: number): Promise<Finding> {
  const { readState } = await import('../database/backup/remote/state.ts')
  const { verification } = readState(folder, s3Address(remote.place))
  const { succeededAt = null, extent = null, error = null } = verification ?? {}
  const elsewhere = 'Verify backups where the private key is: tally backup verify s3://… --identity …'
  if (error !== null)
    return failure('verification', error, 'Run `tally backup verify`, and keep older backups until it succeeds.')
  if (remote.verifyEveryMs === undefined) return ok('verification', `off. ${elsewhere}`)
  if (succeededAt === null) {
    return warning(
      'verification',
      'no stored backup was verified so far',
      'A running server does so within minutes of an upload.',
    )
  }
  const message = `the latest succeeded ${new Date(succeededAt).toISOString()}`
  if (now - succeededAt > LATE_TURNS * remote.verifyEveryMs) {
    return warning('verification', message, 'Check that the server runs, and its log.')
  }
  if (extent === 'restored') return ok('verification', `${message}: restored and checked`)
  return ok('verification', `${message}: downloaded, and not decrypted, as the server has no private key. ${elsewhere}`)
}
