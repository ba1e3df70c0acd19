/**
 * The packages for Debian and Ubuntu. A package is an `ar` archive of two tar archives, written without Debian's tools, so that a
 * release can be made on any machine. The same commit gives the same bytes.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { packagedFiles, zipped } from './installed.ts'
import { type InstalledFile, type Platform, programFile, type Release, textFile } from './release.ts'
import { tarGz } from './tar.ts'

const ARCHITECTURES = { amd64: 'linux-x64', arm64: 'linux-arm64' } as const satisfies Record<string, Platform>

const SCRIPTS = join(import.meta.dir, '../../packaging/debian')
const MAINTAINER = 'Tally contributors <tally@localhost>'

export async function debianPackages(release: Release): Promise<string[]> {
  const written: string[] = []
  for (const [architecture, platform] of Object.entries(ARCHITECTURES)) {
    const path = join(release.folder, `tally_${release.version}_${architecture}.deb`)
    await Bun.write(path, await debianPackage(release, architecture, release.executables[platform]))
    written.push(path)
  }
  return written
}

async function debianPackage(release: Release, architecture: string, executable: string): Promise<Buffer> {
  const files = await installed(release, executable)
  const inFolder = (packed: readonly InstalledFile[]) =>
    tarGz(
      packed.map((file) => ({ ...file, path: `./${file.path}` })),
      release.at,
      { hasFolders: true },
    )
  return ar(
    [
      { name: 'debian-binary', content: Buffer.from('2.0\n') },
      { name: 'control.tar.gz', content: await inFolder(await controlFiles(release, architecture, files)) },
      { name: 'data.tar.gz', content: await inFolder(files) },
    ],
    release.at,
  )
}

/** With paths from the root folder. */
async function installed(release: Release, executable: string): Promise<InstalledFile[]> {
  const { version, at, texts } = release
  const files = await packagedFiles(release, executable, 'deb')
  return [
    ...files.map((file) => ({ ...file, path: file.path.replace('zsh/site-functions', 'zsh/vendor-completions') })),
    textFile('usr/share/doc/tally/copyright', `${texts.license}\n${texts.thirdPartyLicenses}`),
    zipped(textFile('usr/share/doc/tally/changelog', changelog(version, at))),
  ].sort((one, other) => (one.path < other.path ? -1 : 1))
}

const changelog = (version: string, at: Date) => `tally (${version}) stable; urgency=medium

  * Release ${version}. CHANGELOG.md in the source says what has changed.

 -- ${MAINTAINER}  ${at.toUTCString().replace('GMT', '+0000')}
`

async function controlFiles(
  { version }: Release,
  architecture: string,
  files: readonly InstalledFile[],
): Promise<InstalledFile[]> {
  const sizeKiB = Math.ceil(files.reduce((sum, { content }) => sum + content.byteLength, 0) / 1024)
  // Bun needs the C library of 2.17; `adduser` makes the user of the service.
  const control = `Package: tally
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${sizeKiB}
Depends: libc6 (>= 2.17), adduser, init-system-helpers (>= 1.52)
Section: admin
Priority: optional
Description: records what AI agents use, shows it, and bills for it
 Tally is a server with a web interface. It records the tokens and costs of AI
 agents, shows them by person, project and customer, and makes bills of them.
`
  const sums = files
    .map(({ path, content }) => `${createHash('md5').update(content).digest('hex')}  ${path}\n`)
    .join('')
  const script = (name: string) => programFile(name, join(SCRIPTS, name))
  return [
    textFile('conffiles', '/etc/tally.env\n'),
    textFile('control', control),
    textFile('md5sums', sums),
    ...(await Promise.all(['postinst', 'postrm', 'prerm'].map(script))),
  ]
}

/** The format of `ar(5)`: a header of 60 characters before each file, at even offsets. */
function ar(files: readonly { name: string; content: Uint8Array }[], at: Date): Buffer {
  const seconds = String(Math.floor(at.getTime() / 1000))
  const parts: Uint8Array[] = [Buffer.from('!<arch>\n')]
  for (const { name, content } of files) {
    const fields = [name.padEnd(16), seconds.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)]
    parts.push(Buffer.from(`${fields.join('')}${String(content.byteLength).padEnd(10)}\`\n`), content)
    if (content.byteLength % 2 === 1) parts.push(Buffer.from('\n'))
  }
  return Buffer.concat(parts)
}
