/** What the argument of a backup command names: a file, a folder, a place in S3-compatible storage, or the latest backup. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { type Config, type OptionName, readBackupKeys, readS3Config } from '../../config.ts'
import type { BackupFile } from '../../database/backup/names.ts'
import type { Bucket, StoredBackup } from '../../database/backup/remote/bucket.ts'
import { isS3Address, parseS3Place, type S3Place, s3Address } from '../../lib/s3-place.ts'
import { CommandError } from '../failures.ts'

export type Flags = Partial<Record<OptionName, string>>

/** A backup that can be restored. */
export type Source =
  | { kind: 'file'; file: string }
  | { kind: 'sealed file'; file: string }
  | { kind: 's3'; bucket: Bucket; backup: StoredBackup; address: string }

export const LATEST = 'latest'

/** What a file in the format of age begins with. */
const AGE_BEGIN = 'age-encryption.org/'

export async function bucketAt(text: string, flags: Flags): Promise<{ bucket: Bucket; place: S3Place }> {
  const [{ Bucket }, { sealedTime }] = await Promise.all([
    import('../../database/backup/remote/bucket.ts'),
    import('../../database/backup/names.ts'),
  ])
  const place = parseS3Place(text, (name) => sealedTime(name) !== undefined || name === LATEST)
  if (!place) {
    throw new CommandError(`'${text}' is not a valid place. Use s3://bucket/prefix/ with lowercase bucket names.`, 2)
  }
  return { bucket: new Bucket(place, readS3Config(flags)), place }
}

/** The backup that the argument of `tally restore` names: `latest` is the newest in the backup folder and in S3. */
export async function findSource(text: string, { backups }: Config, flags: Flags): Promise<Source> {
  if (isS3Address(text)) return findStored(text, flags)
  if (text !== LATEST || existsSync(text)) return { kind: (await isSealed(text)) ? 'sealed file' : 'file', file: text }
  const { backupsIn, newestOf } = await import('../../database/backup/names.ts')
  const local = existsSync(backups.folder) ? newestOf(backupsIn(backups.folder), Date.now()) : undefined
  if (backups.remote) {
    const place = s3Address(backups.remote.place)
    const { bucket } = await bucketAt(place, flags)
    const stored = newestOf(await bucket.list(), Date.now())
    if (stored && stored.madeAt > (local?.madeAt ?? 0)) {
      return { kind: 's3', bucket, backup: stored, address: place + stored.name }
    }
  }
  if (local) return { kind: 'file', file: local.file }
  throw new CommandError(
    `There is no backup in ${backups.folder}${backups.remote ? ` or ${s3Address(backups.remote.place)}` : ''}. Name one.`,
  )
}

async function findStored(text: string, flags: Flags): Promise<Source> {
  const { bucket, place } = await bucketAt(text, flags)
  const folder = s3Address({ ...place, name: undefined })
  if (place.name !== undefined && place.name !== LATEST) {
    const backup = await bucket.find(place.name)
    if (!backup) throw new CommandError(`${text} does not exist. List the backups there: tally backup list ${folder}`)
    return { kind: 's3', bucket, backup, address: text }
  }
  const { newestOf } = await import('../../database/backup/names.ts')
  const backup = newestOf(await bucket.list(), Date.now())
  if (!backup) throw new CommandError(`${folder} does not contain a backup of Tally. Check the bucket and the prefix.`)
  return { kind: 's3', bucket, backup, address: folder + backup.name }
}

/** By its content, since people rename files. */
async function isSealed(file: string): Promise<boolean> {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return false
  return (await Bun.file(file).slice(0, AGE_BEGIN.length).text()) === AGE_BEGIN
}

/** The private keys that decrypt a backup. Throws if none are configured. */
async function identitiesFor(flags: Flags): Promise<string[]> {
  const { identityFile } = readBackupKeys(flags)
  if (identityFile === undefined) {
    throw new CommandError(
      'The backup is encrypted. Name the file with the private key: --identity (TALLY_BACKUP_IDENTITY_FILE).',
    )
  }
  const { readIdentities } = await import('../../database/backup/remote/encryption.ts')
  try {
    return readIdentities(readFileSync(identityFile, 'utf8'), identityFile)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw code
      ? new CommandError(`${identityFile} cannot be read (${code}). Check the path and its permissions.`)
      : new CommandError(message)
  }
}

/** Writes the database of an encrypted backup to a path that must not exist. */
export async function openSealed(
  source: Exclude<Source, { kind: 'file' }>,
  { to, flags, onBytes }: { to: string; flags: Flags; onBytes: (done: number, total: number) => void },
): Promise<void> {
  const identities = await identitiesFor(flags)
  if (source.kind === 's3') {
    const { download } = await import('../../database/backup/remote/transfers.ts')
    await download(source.bucket, source.backup, { identities, to, onBytes })
    return
  }
  const { BackupError, unseal } = await import('../../database/backup/remote/encryption.ts')
  try {
    await unseal(Bun.file(source.file).stream() as ReadableStream<Uint8Array<ArrayBuffer>>, identities, to)
  } catch (error) {
    throw error instanceof BackupError ? new BackupError(`${source.file}: ${error.message}`) : error
  }
}

/** One line for each backup in lists. */
export interface ListedBackup {
  place: string
  name: string
  madeAt: number
  bytes: number
}

export async function listFolder(folder: string): Promise<ListedBackup[]> {
  const { backupsIn } = await import('../../database/backup/names.ts')
  if (!existsSync(folder)) return []
  return backupsIn(folder).map(({ name, madeAt, bytes }: BackupFile) => ({ place: folder, name, madeAt, bytes }))
}

export async function listStored(text: string, flags: Flags): Promise<ListedBackup[]> {
  const { bucket, place } = await bucketAt(text, flags)
  const address = s3Address({ ...place, name: undefined })
  return (await bucket.list()).map((backup) => ({ place: address, ...backup }))
}
