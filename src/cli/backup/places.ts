/** What the argument of a backup command names: a file, a folder, a place in S3-compatible storage, or the latest backup. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Config, type OptionName, readBackupKeys, readS3Config } from '../../config.ts'
import type { Content } from '../../database/backup/contents.ts'
import type { Bucket, StoredBackup } from '../../database/backup/remote/bucket.ts'
import type { Catalog } from '../../database/backup/remote/catalog.ts'
import { isS3Address, parseS3Place, type S3Place, s3Address } from '../../lib/s3-place.ts'
import { CommandError } from '../failures.ts'
import { note } from '../terminal/print.ts'

export type Flags = Partial<Record<OptionName, string>> & {
  /** The database whose backup is meant, by its id. */
  database?: string
}

/** A backup that can be restored. */
export type Source = (
  | { kind: 'file'; file: string }
  | { kind: 'sealed file'; file: string }
  | { kind: 's3'; bucket: Bucket; backup: StoredBackup; address: string }
) & {
  /** Sentences about newer backups that were uploaded and are missing, if this was the latest. */
  missing?: string[]
}

export const LATEST = 'latest'

export const DATABASE_OPTION = [
  '--database <id>',
  'only a backup of this database, by the id that `tally backup list` shows',
] as const

/** What a file in the format of age begins with. */
const AGE_BEGIN = 'age-encryption.org/'

export async function bucketAt(text: string, flags: Flags): Promise<{ bucket: Bucket; place: S3Place }> {
  const [{ Bucket }, { readSealedName }] = await Promise.all([
    import('../../database/backup/remote/bucket.ts'),
    import('../../database/backup/names.ts'),
  ])
  const place = parseS3Place(text, (name) => readSealedName(name) !== undefined || name === LATEST)
  if (!place) {
    throw new CommandError(`'${text}' is not a valid place. Use s3://bucket/prefix/ with lowercase bucket names.`, 2)
  }
  return { bucket: new Bucket(place, readS3Config(flags)), place }
}

/** The identity of the database in the data folder; undefined if there is none, or one that cannot be read. */
export async function ownIdentity({ databaseUrl, dataDir }: Config) {
  const file = join(dataDir, 'tally.db')
  if (databaseUrl || !existsSync(file)) return undefined
  const { identityIn } = await import('../../database/backup/identity.ts')
  try {
    return identityIn(file)
  } catch {
    return undefined
  }
}

/** The backup that the argument of a command names: `latest` is the newest in the backup folder and in S3. */
export async function findSource(text: string, config: Config, flags: Flags): Promise<Source> {
  const { backups } = config
  const isAddress = isS3Address(text)
  const isLatest = text === LATEST && !existsSync(text)
  if (!isAddress && !isLatest) return { kind: (await isSealed(text)) ? 'sealed file' : 'file', file: text }
  if (isAddress) {
    const { bucket, place } = await bucketAt(text, flags)
    if (place.name !== undefined && place.name !== LATEST) {
      const backup = await bucket.find(place.name)
      const folder = s3Address({ ...place, name: undefined })
      if (!backup) throw new CommandError(`${text} does not exist. List the backups there: tally backup list ${folder}`)
      return { kind: 's3', bucket, backup, address: text }
    }
  }
  const files = isLatest ? await listFolder(backups.folder) : []
  const storage = isAddress ? text : backups.remote && s3Address(backups.remote.place)
  const { found, missing } = storage ? await listStored(storage, config, flags) : { found: [], missing: [] }
  const listed = [...files, ...found]
  const { AmbiguousBackups, latestOf } = await import('../../database/backup/latest.ts')
  const database = flags.database ?? (await ownIdentity(config))?.database
  try {
    const latest = latestOf(listed, { database, now: Date.now() })
    if (!latest) throw nothingAt(isAddress ? text : undefined, config, listed)
    const newer = missing.filter(
      ({ content, madeAt }) => madeAt > latest.madeAt && isSameDatabase(content, latest.content),
    )
    return { ...latest.source, missing: newer.map(({ place, name }) => missingText(place + name)) }
  } catch (error) {
    throw error instanceof AmbiguousBackups ? new CommandError(error.message) : error
  }
}

export const missingText = (address: string): string =>
  `${address} is missing: it was uploaded, and Tally did not remove it.`

const isSameDatabase = (one: Content, other: Content) =>
  one.kind === 'backup' && other.kind === 'backup' && one.database === other.database

function nothingAt(address: string | undefined, { backups }: Config, listed: ListedBackup[]): CommandError {
  const where = address ?? `${backups.folder}${backups.remote ? ` or ${s3Address(backups.remote.place)}` : ''}`
  const unusable = listed
    .flatMap(({ name, content }) => (content.kind === 'unusable' ? [`${name}: ${content.reason}.`] : []))
    .at(0)
  return new CommandError(
    listed.length === 0
      ? `There is no backup in ${where}. Name one, or check the folder, the bucket and the prefix.`
      : `There is no backup in ${where} that is usable and of the database.${unusable ? ` ${unusable}` : ''} List them: tally backup list`,
  )
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

/**
 * Writes the database of an encrypted backup to a path that must not exist, and checks that it is what its name and the
 * manifest say.
 */
export async function openSealed(
  source: Exclude<Source, { kind: 'file' }>,
  { to, flags, onBytes }: { to: string; flags: Flags; onBytes: (done: number, total: number) => void },
): Promise<void> {
  const identities = await identitiesFor(flags)
  if (source.kind === 's3') {
    const { download } = await import('../../database/backup/remote/transfers.ts')
    const sha256 = await download(source.bucket, source.backup, { identities, to, onBytes })
    const content = await requireMeant(to, { name: source.backup.name, label: source.address, flags })
    await requireUploaded(source, sha256, content)
    return
  }
  const { BackupError, unseal } = await import('../../database/backup/remote/encryption.ts')
  try {
    await unseal(Bun.file(source.file).stream() as ReadableStream<Uint8Array<ArrayBuffer>>, identities, to)
  } catch (error) {
    throw error instanceof BackupError ? new BackupError(`${source.file}: ${error.message}`) : error
  }
  await requireMeant(to, { name: basename(source.file), label: source.file, flags })
}

/**
 * What a backup contains. Throws if that is older than its name says, or of another database than the flags say. A file
 * with a name that Tally does not give can be anything.
 */
export async function requireMeant(
  file: string,
  { name, label, flags: { database } }: { name: string; label: string; flags: Flags },
): Promise<Content> {
  const [{ contentOf }, { readName, SEALED_ENDING }] = await Promise.all([
    import('../../database/backup/contents.ts'),
    import('../../database/backup/names.ts'),
  ])
  const plain = name.endsWith(SEALED_ENDING) ? name.slice(0, -SEALED_ENDING.length) : name
  const content = contentOf(file, plain)
  if (content.kind === 'unusable' && readName(plain) !== undefined) {
    throw new CommandError(
      `${label} is not the backup that its name says: ${content.reason}. To restore it all the same, download it and give it another name.`,
    )
  }
  if (database !== undefined && (content.kind !== 'backup' || content.database !== database)) {
    const whose = content.kind === 'backup' ? `of the database ${content.database}` : 'of a database without an id'
    throw new CommandError(`${label} is a backup ${whose}, not of ${database} (--database).`)
  }
  return content
}

/** Throws if the object is not the one that its database has uploaded. */
async function requireUploaded(
  { bucket, backup, address }: Extract<Source, { kind: 's3' }>,
  sha256: string,
  content: Content,
): Promise<void> {
  if (content.kind !== 'backup') {
    note(`${address} was made by an earlier version of Tally, so that nothing shows whether it is the latest.`)
    return
  }
  const [{ manifestName, readManifest }, { requireSame }] = await Promise.all([
    import('../../database/backup/remote/manifest.ts'),
    import('../../database/backup/remote/transfers.ts'),
  ])
  const manifest = readManifest((await bucket.readManifest(manifestName(content.timeline))) ?? '')
  const upload = manifest?.uploads.find(({ name }) => name === backup.name)
  if (manifest?.database === content.database && upload) requireSame(backup, sha256, upload)
  else note(`No manifest lists ${address}, so that nothing shows whether it is the latest: tally backup list`)
}

/** One line for each backup in lists. */
export interface ListedBackup {
  place: string
  name: string
  madeAt: number
  bytes: number
  content: Content
  source: Source
}

export async function listFolder(folder: string): Promise<ListedBackup[]> {
  const { backupsIn } = await import('../../database/backup/contents.ts')
  if (!existsSync(folder)) return []
  return backupsIn(folder).map((backup) => ({ ...backup, place: folder, source: { kind: 'file', file: backup.file } }))
}

export async function listStored(
  text: string,
  config: Config,
  flags: Flags,
): Promise<{ found: ListedBackup[]; missing: (Catalog['missing'][number] & { place: string })[] }> {
  const { bucket, place } = await bucketAt(text, flags)
  const { readCatalog } = await import('../../database/backup/remote/catalog.ts')
  const address = s3Address({ ...place, name: undefined })
  const database = flags.database ?? (await ownIdentity(config))?.database
  const { backups, missing } = await readCatalog(bucket, database)
  return {
    found: backups.map((backup) => ({
      ...{ ...backup, place: address },
      source: { kind: 's3' as const, bucket, backup, address: address + backup.name },
    })),
    missing: missing.map((backup) => ({ ...backup, place: address })),
  }
}
