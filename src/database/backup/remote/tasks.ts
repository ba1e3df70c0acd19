/**
 * What a server does with remote backups, in a process of its own: neither compressing and encrypting nor a storage that
 * misbehaves takes time or memory of the server, and killing the process ends it in the middle.
 */
import type { S3Place } from '../../../lib/s3-place.ts'
import { contentOf, originOf } from '../contents.ts'
import { type Identity, SigningKey } from '../identity.ts'
import { newestOf, readSealedName, SEALED_ENDING } from '../names.ts'
import { expired, type Keep } from '../retention.ts'
import { Bucket } from './bucket.ts'
import { BackupError, readIdentities } from './encryption.ts'
import type { Upload } from './manifest.ts'
import type { S3Access } from './s3-client.ts'
import type { Extent } from './state.ts'
import { download, inScratch, requireSame, sumOf } from './transfers.ts'
import {
  type Inspection,
  inspect,
  type PresentUpload,
  record,
  TimelineConflict,
  type Uploader,
  uploadChecked,
} from './uploads.ts'

interface Storage {
  place: Pick<S3Place, 'bucket' | 'prefix'>
  access: S3Access
  /** The folder for local backups. */
  folder: string
  identity: Pick<Identity, 'database' | 'timeline'> & { seed: Uint8Array }
  keep: Keep
  now: number
}

export interface UploadTask extends Storage {
  task: 'upload'
  /** The backup, and its name without the ending of encrypted ones. */
  file: string
  name: string
  recipients: readonly string[]
  /** Whether old backups are removed. */
  removes: boolean
  /** An upload that was compared or restored since. */
  verified: string | null
}

export interface UploadResult extends Pick<Inspection, 'problems' | 'others'> {
  name: string
  /** Undefined if it had been uploaded before. */
  uploaded: Upload | undefined
  removed: string[]
  /** Why backups that are not kept could not be removed. */
  notRemoved: string | undefined
}

export interface VerifyTask extends Storage {
  task: 'verify'
  /** The private key; undefined to compare the object with what was uploaded only. */
  privateKey: { path: string; text: string } | undefined
  scratch: string
}

export interface VerifyResult extends Pick<Inspection, 'problems' | 'gone' | 'others'> {
  /** Undefined if the newest is not there. */
  name: string | undefined
  extent: Extent
  /** What is wrong in the restored database. */
  differences: string[]
}

export type RemoteTask = UploadTask | VerifyTask

/** The timeline belongs to another copy of the database, too. */
export interface Conflict {
  conflict: string
}

export type RemoteResult = UploadResult | VerifyResult | Conflict

/** Checks a database in a folder as `tally verify` does. */
export type CheckDatabase = (folder: string, file: string) => Promise<string[]>

export async function performTask(task: RemoteTask, check: CheckDatabase): Promise<RemoteResult> {
  try {
    return task.task === 'upload' ? await performUpload(task) : await performVerification(task, check)
  } catch (error) {
    if (error instanceof TimelineConflict) return { conflict: error.message }
    throw error
  }
}

function uploaderOf({ place, access, folder, identity }: Storage): Uploader {
  const { seed, ...whose } = identity
  return { bucket: new Bucket(place, access), place, folder, identity: { ...whose, key: new SigningKey(seed) } }
}

async function performUpload(task: UploadTask): Promise<UploadResult> {
  const { file, name, recipients, keep, removes, now } = task
  const uploader = uploaderOf(task)
  const inspection = await inspect(uploader, task)
  const { present, problems, others } = inspection
  const sealedName = name + SEALED_ENDING
  const isStored = present.some((each) => each.name === sealedName)
  const uploaded = isStored
    ? undefined
    : await uploadChecked(uploader, inspection, { file, name: sealedName, recipients })
  const result = { name: sealedName, uploaded, problems, others }
  // While something is wrong in the storage, an older backup may be the last that can be restored.
  if (!removes || problems.length > 0) return { ...result, removed: [], notRemoved: undefined }
  const own = uploaded ? [...present, { ...uploaded, madeAt: readSealedName(sealedName)!.madeAt }] : present
  const outdated = expired(own, keep, now)
  const removed: string[] = []
  try {
    if (outdated.length > 0) await requireReplaced(uploader, { own, outdated, ...task })
  } catch (error) {
    return { ...result, problems: [(error as Error).message], removed, notRemoved: undefined }
  }
  try {
    for (const each of outdated) {
      await uploader.bucket.remove(each)
      removed.push(each.name)
    }
    return { ...result, removed, notRemoved: undefined }
  } catch (error) {
    // The backup itself was made: a key that must not remove anything is a safe choice.
    return { ...result, removed, notRemoved: (error as Error).message }
  } finally {
    if (removed.length > 0) await record(uploader, (all) => all.filter((each) => !removed.includes(each.name)))
  }
}

/** Throws if no backup is newer than those that are not kept, and was verified: at least, read again as it was uploaded. */
async function requireReplaced(
  { bucket }: Uploader,
  {
    own,
    outdated,
    verified,
    now,
  }: { own: PresentUpload[]; outdated: PresentUpload[]; verified: string | null; now: number },
): Promise<void> {
  const replaces = own.find(({ name }) => name === verified)
  if (replaces && outdated.every(({ madeAt }) => madeAt < replaces.madeAt)) return
  const newest = newestOf(own, now)!
  requireSame(newest, await sumOf(bucket, newest), newest)
}

async function performVerification(task: VerifyTask, check: CheckDatabase): Promise<VerifyResult> {
  const { privateKey, scratch, now } = task
  const uploader = uploaderOf(task)
  const { present, gone, problems, others } = await inspect(uploader, task)
  const named = gone.map((name) => ({ name, madeAt: readSealedName(name)!.madeAt }))
  const result = { problems, gone, others, extent: privateKey ? ('restored' as const) : ('compared' as const) }
  const newest = newestOf<{ name: string; madeAt: number }>([...present, ...named], now)
  if (!newest) throw new BackupError('There is no backup in the storage that this server has uploaded.')
  const backup = present.find(({ name }) => name === newest.name)
  if (!backup) return { ...result, name: undefined, differences: [] }
  const { name } = backup
  const { bucket, identity } = uploader
  if (!privateKey) {
    requireSame(backup, await sumOf(bucket, backup), backup)
    return { ...result, name, differences: [] }
  }
  const identities = readIdentities(privateKey.text, privateKey.path)
  return inScratch(scratch, async (file) => {
    requireSame(backup, await download(bucket, backup, { identities, to: file }), backup)
    const content = contentOf(file, name.slice(0, -SEALED_ENDING.length))
    const isOwn = originOf(content, identity) === 'own' || content.kind === 'earlier version'
    if (!isOwn) throw new BackupError(`${name} contains something else than a backup of this database.`)
    return { ...result, name, differences: await check(scratch, file) }
  })
}
