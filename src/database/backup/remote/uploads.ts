/** What a server has uploaded, by its memory and the manifest in the storage: what is there, missing or changed. */
import { type S3Place, s3Address } from '../../../lib/s3-place.ts'
import { contentOf, originOf } from '../contents.ts'
import { identify, requireIntact } from '../copy.ts'
import type { Identity, SigningKey } from '../identity.ts'
import { readSealedName } from '../names.ts'
import { expired, type Keep } from '../retention.ts'
import type { Bucket } from './bucket.ts'
import { BackupError } from './encryption.ts'
import { digestOf, discrepancyOf, manifestName, readManifest, signManifest, type Upload } from './manifest.ts'
import { endEarlierState, exclusively, readMemory, type StatePlace, writeMemory } from './state.ts'
import { upload } from './transfers.ts'

/** A storage, and the database that uploads to it. */
export interface Uploader {
  bucket: Bucket
  place: Pick<S3Place, 'bucket' | 'prefix'>
  /** The folder for local backups. */
  folder: string
  identity: Pick<Identity, 'database' | 'timeline'> & { key: SigningKey }
}

/** An upload that is still there. */
export type PresentUpload = Upload & { madeAt: number }

export interface Inspection {
  present: PresentUpload[]
  /** The names of uploads that are not there, or not as they were uploaded. */
  gone: string[]
  /** What somebody has done to uploads or the manifest, as something to act on. */
  problems: string[]
  /** Backups that are not own uploads. */
  others: number
}

const addressOf = ({ place }: Pick<Uploader, 'place'>): string => s3Address({ ...place, name: undefined })

const statePlace = ({ folder, identity, place }: Uploader): StatePlace => ({
  ...{ folder, timeline: identity.timeline, place: addressOf({ place }) },
})

/** Another copy of the database goes on with its timeline in the same storage. Nothing is uploaded or removed then. */
export class TimelineConflict extends BackupError {
  override name = 'TimelineConflict'
}

/** What this server has uploaded, by its memory. */
export const knownUploads = (at: StatePlace): readonly Upload[] => {
  const { text, earlier } = readMemory(at)
  return text === null ? earlier : (readManifest(text)?.uploads ?? [])
}

const ADVICE = 'Check who can write to the bucket, and whether it keeps versions of what was removed.'

/** Compares what was uploaded with what the storage has. Throws {@link TimelineConflict}. */
export async function inspect(uploader: Uploader, { keep, now }: { keep: Keep; now: number }): Promise<Inspection> {
  const { bucket } = uploader
  const at = statePlace(uploader)
  const address = addressOf(uploader)
  const { backups, manifests } = await bucket.list()
  const name = manifestName(uploader.identity.timeline)
  const discrepancy = manifestProblem(uploader, manifests.includes(name) ? await bucket.readManifest(name) : undefined)
  const problems = discrepancy === undefined ? [] : [`${discrepancy} ${ADVICE}`]
  const sizes = new Map(backups.map(({ name, bytes }) => [name, bytes]))
  const uploads = knownUploads(at).map((upload) => ({ ...upload, madeAt: readSealedName(upload.name)!.madeAt }))
  const present = uploads.filter(({ name, bytes }) => sizes.get(name) === bytes)
  const gone = uploads.filter((upload) => !present.includes(upload))
  // A lifecycle rule of the bucket may remove what Tally would remove as well.
  const unneeded = expired(uploads, keep, now)
  for (const upload of gone) {
    const { name, bytes } = upload
    const found = sizes.get(name)
    if (found !== undefined) {
      problems.push(
        `${address}${name} is not what this server uploaded: it has ${found} bytes instead of ${bytes}. ${ADVICE}`,
      )
    } else if (!unneeded.includes(upload)) {
      problems.push(`${address}${name} is missing, which this server uploaded and did not remove. ${ADVICE}`)
    }
  }
  return {
    ...{ present, problems },
    gone: gone.map(({ name }) => name),
    others: backups.length - present.length,
  }
}

function manifestProblem(uploader: Uploader, stored: string | undefined): string | undefined {
  const { identity } = uploader
  const name = manifestName(identity.timeline)
  const discrepancy = discrepancyOf(stored, readMemory(statePlace(uploader)), identity)
  if (discrepancy === 'of another server') throw conflict(uploader)
  if (discrepancy === undefined) return undefined
  const what = { missing: 'is missing', 'an older one': 'was replaced by an older one' } as const
  const says = discrepancy === 'not signed by this database' ? 'was changed: its signature is wrong' : what[discrepancy]
  return `The manifest ${addressOf(uploader)}${name} ${says}. The next upload writes it again.`
}

function conflict(uploader: Uploader): TimelineConflict {
  const { timeline } = uploader.identity
  const address = addressOf(uploader)
  return new TimelineConflict(
    `${address} has a manifest of this database and its timeline ${timeline} that this server did not write: another copy of the database uploads there, or remote-manifests-${timeline}.json was lost from the folder for backups.`,
  )
}

/** Writes the manifest anew after a change of what is uploaded. Throws {@link TimelineConflict}. */
export function record(uploader: Uploader, change: (uploads: readonly Upload[]) => readonly Upload[]): Promise<void> {
  const at = statePlace(uploader)
  const { bucket, identity } = uploader
  const { database, timeline, key } = identity
  const name = manifestName(timeline)
  return exclusively(at, async () => {
    const memory = readMemory(at)
    const stored = await bucket.readManifest(name)
    const discrepancy = discrepancyOf(stored, memory, identity)
    if (discrepancy === 'of another server') throw conflict(uploader)
    const before = discrepancy === undefined ? (stored ?? null) : memory.text
    const text = signManifest(
      {
        ...{ database, timeline },
        sequence: (memory.text === null ? 0 : readManifest(memory.text)!.sequence) + 1,
        previous: before === null ? null : digestOf(before),
        uploads: change(knownUploads(at)),
      },
      key,
    )
    // Before the storage has it: a crash in between must not make the server take it for another's.
    writeMemory(at, { text, isStored: false })
    if (memory.earlier.length > 0) endEarlierState(at)
    await bucket.writeManifest(name, text)
    writeMemory(at, { text, isStored: true })
  })
}

/** Uploads a backup, if it is complete and of this database, and adds it to the manifest. */
export async function uploadChecked(
  uploader: Uploader,
  { gone }: Pick<Inspection, 'gone'>,
  from: { file: string; name: string; recipients: readonly string[]; onBytes?: (done: number, total: number) => void },
): Promise<Upload> {
  const content = contentOf(from.file)
  if (originOf(content, uploader.identity) !== 'own') {
    const reason = content.kind === 'unusable' ? content.reason : 'it is not of this database and its timeline'
    throw new BackupError(`${from.file} was not uploaded: ${reason}.`)
  }
  identify(from.file)
  requireIntact(from.file)
  const uploaded = await upload(uploader.bucket, from)
  await record(uploader, (all) => [
    ...all.filter(({ name }) => name !== uploaded.name && !gone.includes(name)),
    uploaded,
  ])
  return uploaded
}
