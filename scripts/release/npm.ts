/**
 * The packages for npm: one per platform with its executable, and one that depends on all of them optionally and starts the
 * executable that the package manager has chosen by `os`, `cpu` and `libc`. Intentionally without scripts such as
 * `postinstall`, which package managers refuse more and more: what is installed is what is in the package.
 */
import { join } from 'node:path'
import { type InstalledFile, PLATFORMS, type Platform, programFile, type Release, textFile } from './release.ts'
import { tarGz } from './tar.ts'

/** Whoever publishes must own this name and, as an organization of the registry, the scope. */
export const MAIN_PACKAGE = 'tally-agents'
export const SCOPE = '@tally-agents'

const LAUNCHER = join(import.meta.dir, '../../packaging/npm/tally.cjs')

/** As `npm pack` sets it: a fixed time makes the bytes depend on nothing but the files. */
const PACKED_AT = new Date('1985-10-26T08:15:00Z')

const DESCRIPTION = 'Records what AI agents use, shows it, and bills for it'

export async function npmPackages(release: Release): Promise<string[]> {
  const written: string[] = []
  for (const platform of PLATFORMS) written.push(await platformPackage(release, platform))
  written.push(await mainPackage(release))
  return written
}

const json = (path: string, value: unknown) => textFile(path, `${JSON.stringify(value, null, 2)}\n`)

const nameOf = (platform: Platform) => `${SCOPE}/${platform}`
const fileOf = (platform: Platform, version: string) => `tally-agents-${platform}-${version}.tgz`
const mainFile = (version: string) => `${MAIN_PACKAGE}-${version}.tgz`

/** In the order to publish them: the main package depends on the others. */
export const packagesOf = (version: string): { name: string; file: string }[] => [
  ...PLATFORMS.map((platform) => ({ name: nameOf(platform), file: fileOf(platform, version) })),
  { name: MAIN_PACKAGE, file: mainFile(version) },
]

/**
 * npm publishes a package from a workflow of GitHub only if it names the repository of that workflow.
 *
 * @param releasesUrl where the files of the release will be, which names it if that is at GitHub
 */
function repositoryAt(releasesUrl = process.env.TALLY_RELEASES_URL ?? '') {
  const [, repository] = /^(https:\/\/github\.com\/[^/]+\/[^/]+)\/releases\/download\//.exec(releasesUrl) ?? []
  return repository ? { repository: { type: 'git', url: `git+${repository}.git` } } : {}
}

async function platformPackage(release: Release, platform: Platform): Promise<string> {
  const { version, executables, texts } = release
  const [os, cpu, libc] = platform.split('-') as [string, string, string?]
  const file = os === 'windows' ? 'bin/tally.exe' : 'bin/tally'
  return pack(release, fileOf(platform, version), [
    json('package.json', {
      name: nameOf(platform),
      version,
      description: `The executable of ${MAIN_PACKAGE} for ${platform}`,
      license: 'MIT',
      ...repositoryAt(),
      os: [os === 'windows' ? 'win32' : os],
      cpu: [cpu],
      ...(os === 'linux' ? { libc: [libc ?? 'glibc'] } : {}),
      // An executable can't be started from within an archive, where Yarn would otherwise leave it.
      preferUnplugged: true,
      files: ['bin', 'THIRD-PARTY-LICENSES.txt'],
      publishConfig: { access: 'public' },
    }),
    await programFile(file, executables[platform]),
    textFile(
      'README.md',
      `# ${nameOf(platform)}\n\nThe executable of Tally for ${platform}. Install \`${MAIN_PACKAGE}\`.\n`,
    ),
    textFile('LICENSE', texts.license),
    textFile('THIRD-PARTY-LICENSES.txt', texts.thirdPartyLicenses),
  ])
}

async function mainPackage(release: Release): Promise<string> {
  const { version, texts } = release
  const launcher = await Bun.file(LAUNCHER).text()
  if (!launcher.includes(`SCOPE = '${SCOPE}'`)) throw new Error(`${LAUNCHER} must look for packages of ${SCOPE}`)
  return pack(release, mainFile(version), [
    json('package.json', {
      name: MAIN_PACKAGE,
      version,
      description: DESCRIPTION,
      keywords: ['ai', 'agents', 'usage', 'cost', 'tokens', 'billing', 'self-hosted'],
      license: 'MIT',
      ...repositoryAt(),
      type: 'commonjs',
      // The only one, so that `npx tally-agents` runs it although its name differs.
      bin: { tally: 'bin/tally.cjs' },
      files: ['bin'],
      engines: { node: '>=18' },
      optionalDependencies: Object.fromEntries(PLATFORMS.map((platform) => [nameOf(platform), version])),
    }),
    { ...textFile('bin/tally.cjs', launcher), mode: 0o755 },
    textFile('README.md', README),
    textFile('LICENSE', texts.license),
  ])
}

const README = `# Tally

${DESCRIPTION}: a server with a web interface, and the command line for machines where agents run.

\`\`\`sh
npx ${MAIN_PACKAGE} agents scan   # shows what agents have used on this machine, and sends nothing
npx ${MAIN_PACKAGE} serve         # starts a server, with its data in ./tally-data
\`\`\`

To have the command \`tally\`: \`npm install --global ${MAIN_PACKAGE}\`. Hooks and services that \`npx\` installs run a copy of the
executable in \`~/.local/state/tally/bin\`; a newer version replaces it when it installs them again.

The executable is in an optional dependency for each platform. Nothing is downloaded or run while it is installed.
`

async function pack({ folder }: Release, name: string, files: readonly InstalledFile[]): Promise<string> {
  const path = join(folder, name)
  const inPackage = files.map((file) => ({ ...file, path: `package/${file.path}` }))
  await Bun.write(path, await tarGz(inPackage, PACKED_AT))
  return path
}
