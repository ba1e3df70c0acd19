/**
 * What a server does with remote backups, in a process of its own: neither compressing and encrypting nor a storage that
 * misbehaves takes time or memory of the server, and killing the process ends it in the middle.
 */
import type { S3Place } from '../../../lib/s3-place.ts'
import { newestOf, SEALED_ENDING } from '../names.ts'
import type { Keep } from '../retention.ts'
import { Bucket, type StoredBackup } from './bucket.ts'
import { BackupError, readIdentities } from './encryption.ts'
import type { S3Access } from './s3-client.ts'
import { download, inScratch, prune, requireSame, sumOf, type Upload, upload } from './transfers.ts'

interface Storage {
  place: Pick<S3Place, 'bucket' | 'prefix'>
  access: S3Access
}

export interface UploadTask extends Storage {
  task: 'upload'
  /** The backup, and its name without the ending of encrypted ones. */
  file: string
  name: string
  recipients: readonly string[]
  /** Undefined to remove nothing. */
  keep: Keep | undefined
  now: number
}

export interface UploadResult {
  name: string
  /** Undefined if it had been uploaded before. */
  uploaded: Upload | undefined
  /** The names of all backups in the storage. */
  stored: string[]
  removed: string[]
  /** Why backups that are not kept could not be removed. */
  notRemoved: string | undefined
}

export interface VerifyTask extends Storage {
  task: 'verify'
  uploads: readonly Upload[]
  /** The private key; undefined to compare the object with what was uploaded only. */
  identity: { path: string; text: string } | undefined
  scratch: string
  now: number
}

export interface VerifyResult {
  name: string
  /** `restored`: decrypted, restored and checked; `compared`: equal to what was uploaded; `read`: all of it was read. */
  extent: 'restored' | 'compared' | 'read'
  /** What is wrong in the restored database. */
  differences: string[]
}

export type RemoteTask = UploadTask | VerifyTask

/** Checks a database in a folder as `tally verify` does. */
export type CheckDatabase = (folder: string, file: string) => Promise<string[]>

export function performTask(task: RemoteTask, check: CheckDatabase): Promise<UploadResult | VerifyResult> {
  return task.task === 'upload' ? performUpload(task) : performVerification(task, check)
}

async function performUpload({ place, access, file, name, recipients, keep, now }: UploadTask): Promise<UploadResult> {
  const bucket = new Bucket(place, access)
  const sealedName = name + SEALED_ENDING
  const existing = await bucket.list()
  const isStored = existing.some((backup) => backup.name === sealedName)
  const uploaded = isStored ? undefined : await upload(bucket, { file, name: sealedName, recipients })
  const result = { name: sealedName, uploaded }
  const names = (backups: readonly StoredBackup[]) => backups.map((backup) => backup.name)
  if (keep === undefined)
    return { ...result, stored: [...names(existing), sealedName], removed: [], notRemoved: undefined }
  try {
    const { kept, removed } = await prune(bucket, keep, now)
    return { ...result, stored: names(kept), removed: names(removed), notRemoved: undefined }
  } catch (error) {
    // The backup itself was made: a key that must not remove anything is a safe choice.
    return { ...result, stored: [...names(existing), sealedName], removed: [], notRemoved: (error as Error).message }
  }
}

async function performVerification(task: VerifyTask, check: CheckDatabase): Promise<VerifyResult> {
  const { place, access, uploads, identity, scratch, now } = task
  const bucket = new Bucket(place, access)
  const backup = newestOf(await bucket.list(), now)
  if (!backup) throw new BackupError('There is no backup in the storage.')
  const { name } = backup
  const uploaded = uploads.find((each) => each.name === name)
  if (!identity) {
    const sha256 = await sumOf(bucket, backup)
    if (!uploaded) return { name, extent: 'read', differences: [] }
    requireSame(backup, sha256, uploaded)
    return { name, extent: 'compared', differences: [] }
  }
  const identities = readIdentities(identity.text, identity.path)
  return inScratch(scratch, async (file) => {
    const sha256 = await download(bucket, backup, { identities, to: file })
    if (uploaded) requireSame(backup, sha256, uploaded)
    return { name, extent: 'restored', differences: await check(scratch, file) }
  })
}
