/**
 * Publishes `dist/release`, which `scripts/release.ts` has made and signed at the commit of the version's tag:
 * `bun scripts/release/publish.ts [--dry-run]`. First it compares every file with the signed checksums, and installs the
 * release. Then it drafts the release of GitHub with all files, pushes the image, publishes the packages for npm, which
 * nothing undoes, tags the image as the latest, and makes the draft public. What is published already is left as it is:
 * repeat a run that has failed.
 * `--dry-run` checks the files, asks nobody what is published, and prints the commands instead of running them.
 *
 * GITHUB_REPOSITORY names the repository, such as `acme/tally`. The programs gh, npm and docker must be signed in.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { readPublicKey, verifySignature } from '../../src/lib/minisign.ts'
import { checksumsOf } from './checksums.ts'
import { packagesOf } from './npm.ts'
import { PUBLIC_KEY } from './signature.ts'

const ROOT = join(import.meta.dir, '../..')
const FOLDER = join(ROOT, 'dist/release')
const SUMS = 'SHA256SUMS'
const SIGNATURE = 'SHA256SUMS.minisig'

/** The architectures of the image, and the archives with their executables. */
const IMAGE_PLATFORMS = { amd64: 'linux-x64', arm64: 'linux-arm64' }

interface Published {
  version: string
  tag: string
  commit: string
  /** The time of the commit. */
  at: Date
  /** Owner and name. */
  repository: string
  /** Without a tag. */
  image: string
  names: Names
}

/** By which names a version is found besides its own. */
export interface Names {
  isPrerelease: boolean
  isLatest: boolean
  /** Tags of the image. */
  imageTags: string[]
  /** npm finds every version by a tag. */
  npmTag: string
}

/** @param versions all that have a tag: a newer one keeps the names that both would have */
export function namesOf(version: string, versions: readonly string[]): Names {
  const isPrerelease = version.includes('-')
  const [major, minor] = version.split('.')
  const line = `${major}.${minor}`
  const isNewest = (others: readonly string[]) =>
    !isPrerelease && others.every((other) => other.includes('-') || Bun.semver.order(other, version) <= 0)
  const isLatest = isNewest(versions)
  const isNewestOfLine = isNewest(versions.filter((other) => other.startsWith(`${line}.`)))
  return {
    isPrerelease,
    isLatest,
    imageTags: [...(isNewestOfLine ? [line] : []), ...(isLatest ? ['latest'] : [])],
    // A tag such as `0.4` would be read as a range of versions.
    npmTag: isLatest ? 'latest' : isPrerelease ? 'next' : `release-${line}`,
  }
}

const textOf = (name: string) => Bun.file(join(FOLDER, name)).text()

async function published(): Promise<Published> {
  const { version } = packageJson
  const tag = `v${version}`
  const repository = process.env.GITHUB_REPOSITORY ?? ''
  if (!/^[\w-]+\/[\w.-]+$/.test(repository)) {
    throw new Error(`GITHUB_REPOSITORY is '${repository}'. It must be an owner and a name, such as acme/tally.`)
  }
  const git = async (...args: string[]) => (await Bun.$`git ${args}`.cwd(ROOT).quiet().nothrow().text()).trim()
  const commit = await git('rev-parse', 'HEAD')
  if ((await git('rev-parse', '--verify', '--quiet', `refs/tags/${tag}^{commit}`)) !== commit) {
    throw new Error(
      `The commit ${commit} has the version ${version}, but not the tag ${tag}. Check out that tag, or tag the commit.`,
    )
  }
  const versions = (await git('tag', '--list', 'v*')).split('\n').map((each) => each.slice(1))
  return {
    version,
    tag,
    commit,
    at: new Date(await git('log', '-1', '--format=%cI')),
    repository,
    image: `ghcr.io/${repository.split('/')[0]!.toLowerCase()}/tally`,
    names: namesOf(
      version,
      versions.filter((each) => /^\d+\.\d+\.\d+(-|$)/.test(each)),
    ),
  }
}

/** Throws unless the folder has exactly the files that are signed, made at this commit. */
async function checkFiles({ version, commit }: Published): Promise<void> {
  const key = Bun.file(join(ROOT, PUBLIC_KEY))
  if (!(await key.exists())) throw new Error(`${PUBLIC_KEY} is missing: only signed releases are published.`)
  const signature = await textOf(SIGNATURE).catch(() => {
    throw new Error(`dist/release has no ${SIGNATURE}. Make the release with TALLY_SIGNING_KEY_FILE.`)
  })
  const sums = await textOf(SUMS)
  verifySignature(Buffer.from(sums), signature, readPublicKey(await key.text()))
  const names = (await readdir(FOLDER)).filter((name) => name !== SUMS && name !== SIGNATURE)
  const found = await checksumsOf(names.map((name) => join(FOLDER, name)))
  const signed = new Map(sums.split('\n').flatMap((line) => (line ? [[line.slice(66), line.slice(0, 64)]] : [])))
  const differing = [...new Set([...found.keys(), ...signed.keys()])].filter(
    (name) => found.get(name) !== signed.get(name),
  )
  if (differing.length > 0) throw new Error(`Not as in ${SUMS}: ${differing.join(', ')}. Make the release again.`)
  const { buildDefinition } = JSON.parse(await textOf('provenance.json')).predicate
  const source = buildDefinition.resolvedDependencies[0].digest.gitCommit
  if (source !== commit || buildDefinition.externalParameters.version !== version) {
    throw new Error(
      `dist/release is version ${buildDefinition.externalParameters.version} of the commit ${source}, instead of ${version} of ${commit}. Make the release again.`,
    )
  }
}

/** As users do it. */
async function checkInstallation({ version }: Published): Promise<void> {
  const prefix = await emptyFolder('installed')
  await Bun.$`sh install.sh --prefix ${prefix} --key ${join(ROOT, PUBLIC_KEY)}`.cwd(FOLDER)
  const printed = await Bun.$`${join(prefix, 'bin/tally')} version`.text()
  if (!printed.startsWith(`tally ${version} `)) throw new Error(`The installed program says: ${printed}`)
}

async function emptyFolder(name: string): Promise<string> {
  const folder = join(ROOT, 'dist', name)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  return folder
}

const isDry = process.argv.includes('--dry-run')

async function run(command: string[], env: Record<string, string> = {}): Promise<void> {
  console.log(`$ ${command.map((part) => Bun.$.escape(part)).join(' ')}`)
  if (isDry) return
  const stdio = ['ignore', 'inherit', 'inherit'] as const
  const code = await Bun.spawn(command, { cwd: FOLDER, env: { ...process.env, ...env }, stdio: [...stdio] }).exited
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}. Remove the cause, and run this again.`)
}

/** What a command prints that only reads; undefined in a dry run, and if it ends with an error that says `absent`. */
async function ask(command: string[], absent: RegExp): Promise<string | undefined> {
  if (isDry) return undefined
  const child = Bun.spawn(command, { cwd: FOLDER, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code === 0) return stdout
  if (absent.test(stdout + stderr)) return undefined
  throw new Error(`${command.join(' ')} ended with ${code}: ${stderr.trim()}`)
}

/** Returns false if the release is public already. */
async function draftRelease({ version, tag, repository, image, names }: Published): Promise<boolean> {
  const command = ['gh', 'release', 'view', tag, '--repo', repository, '--json', 'isDraft']
  const found = await ask(command, /release not found/)
  if (found && !JSON.parse(found).isDraft) return false
  const files = (await readdir(FOLDER)).sort()
  if (found) await run(['gh', 'release', 'upload', tag, '--repo', repository, '--clobber', ...files])
  else {
    const flags = ['--verify-tag', '--draft', `--prerelease=${names.isPrerelease}`, '--title', `Tally ${version}`]
    const notes = join(ROOT, 'dist/notes.txt')
    await Bun.write(notes, (await textOf('RELEASE_NOTES.md')) + imageNotes(`${image}:${version}`))
    await run(['gh', 'release', 'create', tag, '--repo', repository, ...flags, '--notes-file', notes, ...files])
  }
  return true
}

const imageNotes = (named: string) => `
## Container image

\`${named}\`, with its digest for each platform in \`image.json\`.
`

/** Pushes the image by its version, and adds `image.json` to the release. */
async function pushImage(release: Published): Promise<void> {
  const { version, tag, commit, at, repository, image } = release
  const named = `${image}:${version}`
  // Any error: registries answer differently to a name that they do not know, and to push the same again changes nothing.
  const indexOf = () => ask(['docker', 'buildx', 'imagetools', 'inspect', '--raw', named], /^/)
  if (!(await indexOf())) {
    const context = await emptyFolder('image')
    for (const [architecture, platform] of Object.entries(IMAGE_PLATFORMS)) {
      const [folder, name] = [join(context, architecture), `tally-${version}-${platform}`]
      await mkdir(folder)
      await Bun.$`tar -xzf ${name}.tar.gz -C ${folder} --strip-components=1 ${name}/tally`.cwd(FOLDER)
    }
    const labels = { version, revision: commit, source: `https://github.com/${repository}`, created: at.toISOString() }
    await run(
      [
        ...['docker', 'buildx', 'build', '--push', '--provenance=true', '--tag', named],
        ...['--platform', `linux/${Object.keys(IMAGE_PLATFORMS).join(',linux/')}`],
        ...Object.entries(labels).flatMap(([key, value]) => ['--label', `org.opencontainers.image.${key}=${value}`]),
        ...['--file', join(ROOT, 'Dockerfile'), '--build-arg', 'SOURCE=released', context],
      ],
      { SOURCE_DATE_EPOCH: String(at.getTime() / 1000) },
    )
  }
  const index = await indexOf()
  if (!index && !isDry) throw new Error(`The registry does not have ${named} although it was pushed. Run this again.`)
  const path = join(ROOT, 'dist/image.json')
  if (index) await Bun.write(path, `${JSON.stringify(describeImage(release, index), null, 2)}\n`)
  await run(['gh', 'release', 'upload', tag, '--repo', repository, '--clobber', path])
}

/** @param index the bytes that the digest of the image is of */
function describeImage({ version, image, names }: Published, index: string) {
  const digest = `sha256:${createHash('sha256').update(index).digest('hex')}`
  const { manifests } = JSON.parse(index) as {
    manifests: { digest: string; platform: { os: string; architecture: string } }[]
  }
  const platforms = manifests
    // Without those that state the provenance of the others.
    .filter(({ platform: { os } }) => os === 'linux')
    .map(({ digest: of, platform: { os, architecture } }) => [`${os}/${architecture}`, of])
  return { image, tags: [version, ...names.imageTags], digest, platforms: Object.fromEntries(platforms) }
}

async function publishPackages({ version, names }: Published): Promise<void> {
  for (const { name, file } of packagesOf(version)) {
    const found = await ask(['npm', 'view', `${name}@${version}`, 'dist.integrity', '--json'], /\bE404\b/)
    const hash = createHash('sha512').update(await Bun.file(join(FOLDER, file)).bytes())
    if (!found?.trim()) await run(['npm', 'publish', `./${file}`, '--access', 'public', '--tag', names.npmTag])
    else if (JSON.parse(found) !== `sha512-${hash.digest('base64')}`) {
      throw new Error(`${name}@${version} is published with other bytes than ${file}. Release a new version.`)
    }
  }
}

/** Makes the release what those get who name no version. */
async function announce({ version, tag, repository, image, names }: Published): Promise<void> {
  const tags = names.imageTags.flatMap((each) => ['--tag', `${image}:${each}`])
  if (tags.length > 0) await run(['docker', 'buildx', 'imagetools', 'create', ...tags, `${image}:${version}`])
  await run(['gh', 'release', 'edit', tag, '--repo', repository, '--draft=false', `--latest=${names.isLatest}`])
}

if (import.meta.main) {
  try {
    const release = await published()
    await checkFiles(release)
    await checkInstallation(release)
    console.log(`The files of ${release.tag} are signed, complete, and can be installed.`)
    if (await draftRelease(release)) {
      await pushImage(release)
      await publishPackages(release)
      await announce(release)
    } else console.log(`${release.tag} is published already.`)
  } catch (error) {
    console.error((error as Error).message)
    process.exit(1)
  }
}
