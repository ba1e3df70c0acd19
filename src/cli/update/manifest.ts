/** What a release source offers: the versions in its `SHA256SUMS`, once its signature is checked. */
import { type PublicKey, readPublicKey, SignatureError, verifySignature } from '../../lib/minisign.ts'
import { CommandError } from '../failures.ts'
import type { ReleaseSource } from './release-source.ts'

const CHECKSUMS = 'SHA256SUMS'
const SIGNATURE = 'SHA256SUMS.minisig'

export interface Archive {
  version: string
  name: string
  sha256: string
}

export interface Manifest {
  /** For the platform, newest first. */
  archives: Archive[]
  /** `none` if the source has no signature, `unchecked` if there is no key to check it with. */
  signature: 'valid' | 'unchecked' | 'none'
}

/** Throws if the source has no checksums, or a signature that is not made with the key. */
export async function readManifest(
  source: ReleaseSource,
  platform: string,
  key: PublicKey | undefined,
): Promise<Manifest> {
  const checksums = await source.find(CHECKSUMS)
  if (!checksums) {
    throw new CommandError(
      `${source.place} has no ${CHECKSUMS}, so it is not a release. Name its folder or address with --from.`,
    )
  }
  const signature = await source.find(SIGNATURE)
  const archives = archivesIn(checksums.toString(), platform)
  if (!signature) return { archives, signature: 'none' }
  if (!key) return { archives, signature: 'unchecked' }
  try {
    verifySignature(checksums, signature.toString(), key)
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error
    throw new CommandError(`${source.place}/${SIGNATURE}: ${error.message} Nothing was changed.`)
  }
  return { archives, signature: 'valid' }
}

/** The checksums of the archives for a platform, from the text of `SHA256SUMS`. */
export function archivesIn(checksums: string, platform: string): Archive[] {
  const suffix = `-${platform}.tar.gz`
  const archives = checksums.split('\n').flatMap((line) => {
    const [, sha256, name] = /^([0-9a-f]{64}) [ *](tally-\d[\w.+-]*\.tar\.gz)\r?$/.exec(line) ?? []
    if (!sha256 || !name?.endsWith(suffix)) return []
    return [{ version: name.slice('tally-'.length, -suffix.length), name, sha256 }]
  })
  return archives.sort((one, other) => Bun.semver.order(other.version, one.version))
}

/** @param given a key or the path of its file; where it is undefined, `embedded` counts */
export async function keyFrom(given: string | undefined, embedded: string | undefined): Promise<PublicKey | undefined> {
  if (given === undefined) return embedded === undefined ? undefined : readPublicKey(embedded)
  try {
    return readPublicKey(given)
  } catch {
    // Not a key, so the path of one.
  }
  try {
    return readPublicKey(await Bun.file(given).text())
  } catch (error) {
    const { message } = error as Error
    throw new CommandError(`--key: ${given} is neither a public key of minisign nor a file with one. ${message}`, 2)
  }
}
