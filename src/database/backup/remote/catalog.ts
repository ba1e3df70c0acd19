/** The backups in a storage, with what the manifests there say of them. */
import type { Content } from '../contents.ts'
import { newestFirst, readSealedName } from '../names.ts'
import type { Bucket, StoredBackup } from './bucket.ts'
import { type Manifest, manifestName, readManifest } from './manifest.ts'

export type CatalogedBackup = StoredBackup & { content: Content }

export interface Catalog {
  /** Newest first. */
  backups: CatalogedBackup[]
  /** What manifests list and the storage does not have. */
  missing: CatalogedBackup[]
}

/**
 * @param database whose manifests count more than others that list the same objects
 */
export async function readCatalog(bucket: Bucket, database: string | undefined): Promise<Catalog> {
  const { backups, manifests } = await bucket.list()
  const signed: Manifest[] = []
  for (const name of manifests) {
    const manifest = readManifest((await bucket.readManifest(name)) ?? '')
    if (manifest && manifestName(manifest.timeline) === name) signed.push(manifest)
  }
  signed.sort((one, other) => Number(one.database === database) - Number(other.database === database))
  const listed = new Map(
    signed.flatMap(({ uploads, ...manifest }) => uploads.map((upload) => [upload.name, { ...manifest, ...upload }])),
  )
  const stored = new Set(backups.map(({ name }) => name))
  return {
    backups: backups.map((backup) => ({ ...backup, content: contentOf(backup, listed.get(backup.name)) })),
    missing: [...listed.values()]
      .filter(({ name }) => !stored.has(name))
      .map(({ name, bytes, database, timeline }) => {
        const { madeAt } = readSealedName(name)!
        return { name, madeAt, bytes, content: { kind: 'backup' as const, database, timeline, madeAt } }
      })
      .sort(newestFirst),
  }
}

function contentOf(
  { madeAt, bytes }: StoredBackup,
  listed: { database: string; timeline: string; bytes: number } | undefined,
): Content {
  if (!listed) return { kind: 'unlisted' }
  const { database, timeline } = listed
  if (listed.bytes === bytes) return { kind: 'backup', database, timeline, madeAt }
  return { kind: 'unusable', reason: `it has ${bytes} bytes instead of the ${listed.bytes} that were uploaded` }
}
