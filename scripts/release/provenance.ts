/**
 * `provenance.json`: which sources and tools made which files, as an in-toto statement with SLSA's predicate
 * (https://slsa.dev/spec/v1.0/provenance). It has no time and nothing of the machine, so that whoever makes the release
 * again gets the same file. It is a claim of whoever signs the release: no build service vouches for it.
 */
import { join } from 'node:path'
import { runtimeUrl } from '../sbom.ts'
import type { Checksums } from './checksums.ts'
import type { Release } from './release.ts'

/** Names of this repository's own, as a project without an address of its own can't use URLs. */
const BUILD_TYPE = 'urn:tally:build:release-script:v1'
const BUILDER = 'urn:tally:builder:release-script'

export interface Sources {
  /** The full hash of the commit. */
  commit: string
  /** The SHA-256 of `bun.lock`, which has a checksum for every package. */
  lockSha256: string
}

/** Of the repository at `root`. */
export async function sourcesOf(root: string): Promise<Sources> {
  const commit = (await Bun.$`git rev-parse HEAD`.cwd(root).quiet().text()).trim()
  const lock = await Bun.file(join(root, 'bun.lock')).bytes()
  return { commit, lockSha256: new Bun.CryptoHasher('sha256').update(lock).digest('hex') }
}

interface Options extends Pick<Release, 'version' | 'at'> {
  sources: Sources
  /** The URL that the formula for Homebrew names, if it does. */
  releasesUrl: string | undefined
}

/** @param checksums of every other file of the release */
export function provenanceText(checksums: Checksums, { version, at, sources, releasesUrl }: Options): string {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...checksums].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: {
          command: 'bun scripts/release.ts',
          version,
          ...(releasesUrl ? { TALLY_RELEASES_URL: releasesUrl } : {}),
        },
        internalParameters: { SOURCE_DATE_EPOCH: Math.floor(at.getTime() / 1000) },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: sources.commit } },
          { name: 'bun.lock', digest: { sha256: sources.lockSha256 } },
          { name: 'bun', uri: runtimeUrl() },
        ],
      },
      runDetails: { builder: { id: BUILDER, version: { bun: Bun.version } } },
    },
  }
  return `${JSON.stringify(statement, null, 2)}\n`
}
