/**
 * The lines for `mise.toml` with which mise installs Tally, for teams that keep the versions of their tools in a repository.
 * Like the formula for Homebrew, they are written only if TALLY_RELEASES_URL says where the archives will be.
 */
import { join } from 'node:path'
import { checkedUrl, downloadOf } from './downloads.ts'
import type { Platform, Release } from './release.ts'

/** By mise's names. On Linux, it installs the executables for glibc. */
const PLATFORMS = {
  'linux-arm64': 'linux-arm64',
  'linux-x64': 'linux-x64',
  'macos-arm64': 'darwin-arm64',
  'macos-x64': 'darwin-x64',
  'windows-x64': 'windows-x64',
} as const satisfies Record<string, Platform>

export function miseTool(release: Release): Promise<string[]> {
  return miseToolFor(release, process.env.TALLY_RELEASES_URL)
}

/** Writes nothing without a URL. */
export async function miseToolFor(release: Release, releasesUrl: string | undefined): Promise<string[]> {
  if (!releasesUrl) return []
  const base = checkedUrl(releasesUrl)
  const lines = await Promise.all(
    Object.entries(PLATFORMS).map(async ([name, platform]) => {
      const { url, sha256 } = await downloadOf(release, base, platform)
      return `${name} = { url = "${url}", checksum = "sha256:${sha256}" }`
    }),
  )
  const path = join(release.folder, 'mise.toml')
  await Bun.write(
    path,
    `# Copy this into the mise.toml of a project, and run: mise install
[tools."http:tally"]
version = "${release.version}"

[tools."http:tally".platforms]
${lines.join('\n')}
`,
  )
  return [path]
}
