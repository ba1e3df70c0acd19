/** The checks of `tally doctor` of backups: in the folder, and in S3-compatible storage. */
import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Config, RemoteBackupsConfig } from '../config.ts'
import type { StatePlace } from '../database/backup/remote/state.ts'
import { s3Address } from '../lib/s3-place.ts'
import { ownIdentity } from './backup/places.ts'
import { type Finding, failure, ok, warning } from './doctor-checks.ts'
import { sizeText } from './terminal/numbers.ts'

/** A day and a half: a daily backup that was late is none that is missing. */
const AGE_LIMIT_MS = 36 * 3_600_000

/** A verification that failed is tried again within the hour; one that is this many turns late does not run. */
const LATE_TURNS = 2

const STORED = 'stored backups'

const START_ADVICE = 'Check that the server runs with TALLY_BACKUP_S3, and its log.'

export async function checkBackups(config: Config, now: number): Promise<Finding[]> {
  if (config.databaseUrl) return [ok('backups', 'not managed by Tally; use PostgreSQL’s own tools')]
  const { remote } = config.backups
  return [await checkFolder(config, now), ...(remote ? await checkStored(config, remote, now) : [])]
}

async function checkFolder(config: Config, now: number): Promise<Finding> {
  const { backups, dataDir } = config
  const advice =
    'Let the server create backups: set TALLY_BACKUP_EVERY=24h, and TALLY_BACKUP_DIR to a folder on another disk.'
  if (!existsSync(backups.folder)) return warning('backups', 'no backups', advice)
  const { backupsIn, originOf, othersText } = await import('../database/backup/contents.ts')
  const { newestOf } = await import('../database/backup/names.ts')
  const identity = await ownIdentity(config)
  const found = backupsIn(backups.folder).map((backup) => ({ ...backup, origin: originOf(backup.content, identity) }))
  const newest = newestOf(
    found.filter(({ origin }) => origin === 'own'),
    now,
  )
  const others = othersText(found.map(({ origin }) => origin))
  const besides = others === '' ? '' : `; not counted and never removed: ${others}`
  if (!newest) return warning('backups', `no backups of this database in ${resolve(backups.folder)}${besides}`, advice)
  const message = `latest backup ${new Date(newest.madeAt).toISOString()}${besides}`
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

async function checkStored(config: Config, remote: RemoteBackupsConfig, now: number): Promise<Finding[]> {
  const { backups } = config
  const { everyMs } = backups
  if (everyMs === undefined) {
    return [warning(STORED, 'no backups are scheduled, so none are uploaded', 'Set TALLY_BACKUP_EVERY=24h.')]
  }
  if (remote.recipients.length === 0) {
    const advice = 'Set it to a public key. `tally backup keygen` creates one.'
    return [failure(STORED, 'TALLY_BACKUP_RECIPIENTS is not set, and backups are encrypted', advice)]
  }
  const identity = await ownIdentity(config)
  if (!identity) return [warning(STORED, 'there is no database of this version that uploads backups', START_ADVICE)]
  const [{ Bucket }, { encrypterFor }, { newestOf }, { inspect }] = await Promise.all([
    import('../database/backup/remote/bucket.ts'),
    import('../database/backup/remote/encryption.ts'),
    import('../database/backup/names.ts'),
    import('../database/backup/remote/uploads.ts'),
  ])
  const address = s3Address(remote.place)
  try {
    encrypterFor(remote.recipients)
    const { place, access } = remote
    const uploader = { bucket: new Bucket(place, access), place, folder: backups.folder, identity }
    const { present, problems, others } = await inspect(uploader, { keep: backups.keep, now })
    const besides = others === 0 ? '' : `; not counted and never removed: ${others} that it did not upload`
    const newest = newestOf(present, now)
    if (!newest) return [warning(STORED, `no backups of this database in ${address}${besides}`, START_ADVICE)]
    const bytes = present.reduce((sum, backup) => sum + backup.bytes, 0)
    const message = `${present.length} in ${address} (${sizeText(bytes)}), the latest of ${new Date(newest.madeAt).toISOString()}${besides}`
    const isOld = now - newest.madeAt > Math.max(AGE_LIMIT_MS, LATE_TURNS * everyMs)
    return [
      ...problems.map((problem) => failureOf(problem)),
      isOld ? warning(STORED, message, START_ADVICE) : ok(STORED, message),
      await checkVerification({ folder: backups.folder, timeline: identity.timeline, place: address }, remote, now),
    ]
  } catch (error) {
    return [failureOf((error as Error).message)]
  }
}

/** The storage names what is wrong, and what to do. */
function failureOf(text: string): Finding {
  const [, message = '', advice = ''] = /^(.*?\.) (.*)$/s.exec(text) ?? []
  return failure(STORED, message || text, advice || 'Check TALLY_BACKUP_S3.')
}

async function checkVerification(at: StatePlace, remote: RemoteBackupsConfig, now: number): Promise<Finding> {
  const { readState } = await import('../database/backup/remote/state.ts')
  const { verification } = readState(at)
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
  const compared = `uploaded as made, not test-restored (${new Date(succeededAt).toISOString()})`
  return ok('verification', `${compared}: the server has no private key. ${elsewhere}`)
}
