/**
 * The archives of a release, one per platform: the executable, what is installed beside it, and the licenses, in a folder
 * with the archive's name. The same commit gives the same bytes: files are in order, belong to root, and have the time of
 * the commit.
 */
import { join } from 'node:path'
import { zipSync } from 'fflate'
import {
  type InstalledFile,
  PLATFORMS,
  type Platform,
  programFile,
  type Release,
  sharedFiles,
  textFile,
} from './release.ts'
import { LEVEL, tarGz } from './tar.ts'

/** The time zone of the format is that of the reader: times are those of UTC. */
const asLocal = (at: Date) => new Date(at.getTime() + at.getTimezoneOffset() * 60_000)

export async function archives(release: Release): Promise<string[]> {
  const written: string[] = []
  for (const platform of PLATFORMS) written.push(await archive(release, platform))
  return written
}

async function archive(release: Release, platform: Platform): Promise<string> {
  const name = `tally-${release.version}-${platform}`
  const files = (await filesFor(release, platform)).map((file) => ({ ...file, path: `${name}/${file.path}` }))
  const isWindows = platform.startsWith('windows')
  const path = join(release.folder, isWindows ? `${name}.zip` : `${name}.tar.gz`)
  await Bun.write(path, isWindows ? zipped(files, release.at) : await tarGz(files, release.at))
  return path
}

async function filesFor({ executables, texts, version }: Release, platform: Platform): Promise<InstalledFile[]> {
  const isWindows = platform.startsWith('windows')
  const files: InstalledFile[] = [
    await programFile(isWindows ? 'tally.exe' : 'tally', executables[platform]),
    textFile('README.txt', readme(version, isWindows ? 'tally.exe' : './tally')),
    textFile('LICENSE.txt', texts.license),
    textFile('THIRD-PARTY-LICENSES.txt', texts.thirdPartyLicenses),
    ...(isWindows ? [] : sharedFiles(texts)),
    ...(platform.startsWith('linux') ? [textFile('tally.service', texts.service)] : []),
  ]
  return files.sort((one, other) => (one.path < other.path ? -1 : 1))
}

const readme = (
  version: string,
  program: string,
) => `Tally ${version} records what AI agents use, shows it, and bills for it.

  ${program} serve       starts the server, with its data in ./tally-data, and prints a link to set it up
  ${program} --help      lists the commands
  ${program} help pages  lists the pages of the manual, which every server has at /docs/

Put the executable in a folder of your PATH, such as /usr/local/bin. The folder "share" has the manual page and the
completions for shells; "tally.service" is a unit for systemd.
`

function zipped(files: readonly InstalledFile[], at: Date): Uint8Array {
  const entries = files.map(({ path, content }) => [path, [content, { mtime: asLocal(at), level: LEVEL }]] as const)
  return zipSync(Object.fromEntries(entries) as Parameters<typeof zipSync>[0])
}
