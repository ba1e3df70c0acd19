/**
 * A release as it is published and as users get it: the script itself in a repository of its own, the real npm, Buildah and
 * registry of images where they are installed, and stand-ins on this machine for npm's registry and for GitHub.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { archives } from '../../scripts/release/archives.ts'
import { checksumsOf, writeChecksums } from '../../scripts/release/checksums.ts'
import { formulaFor } from '../../scripts/release/homebrew.ts'
import { MAIN_PACKAGE, npmPackages, packagesOf, SCOPE } from '../../scripts/release/npm.ts'
import { provenanceText, sourcesOf } from '../../scripts/release/provenance.ts'
import { writeReleaseNotes } from '../../scripts/release/release-notes.ts'
import { PUBLIC_KEY, signChecksums, signingKey } from '../../scripts/release/signature.ts'
import { publicKeyLine } from '../../src/lib/minisign.ts'
import { precompiledExecutable } from '../support/binary.ts'
import { ImageRegistry, imageHindrance } from '../support/image-registry.ts'
import { NpmRegistry } from '../support/npm-registry.ts'
import { makeKey, smallRelease, THIS_PLATFORM } from '../support/release.ts'

const ROOT = join(import.meta.dir, '../..')
const VERSION = packageJson.version
const TAG = `v${VERSION}`
const REPOSITORY = 'acme/tally'
const DOWNLOADS = `/${REPOSITORY}/releases/download/${TAG}`
const IMAGE = 'ghcr.io/acme/tally'

const hindered = process.platform === 'linux' && Bun.which('npm') !== null ? undefined : 'this is not Linux with npm'
if (hindered) console.warn(`No release is published in tests: ${hindered}.`)
const withoutImages = hindered ?? imageHindrance()
if (withoutImages && !hindered) console.warn(`No image is built in tests: ${withoutImages}.`)

let folder: string
/** The repository that is released. */
let root: string
let key: Awaited<ReturnType<typeof makeKey>>
let registry: NpmRegistry
let images: ImageRegistry | undefined
let forge: ReturnType<typeof Bun.serve>

/** What `gh` knows: the release of the tag. */
let published: { isDraft: boolean; flags: string[]; notes: string; assets: Map<string, Uint8Array> } | undefined
/** The commands of `gh` and `docker` that change something. */
let changes: string[] = []
/** In place of the registry of images. */
const INDEX = JSON.stringify({
  manifests: ['amd64', 'arm64', 'unknown'].map((architecture, at) => ({
    digest: `sha256:${String(at).repeat(64)}`,
    platform: { os: architecture === 'unknown' ? 'unknown' : 'linux', architecture },
  })),
})
let hasImage = false

/** `gh release …` */
async function gh([, action, tag, ...rest]: string[], cwd: string): Promise<string> {
  expect(rest.slice(0, 2)).toEqual(['--repo', REPOSITORY])
  expect(tag).toBe(TAG)
  if (action === 'view') {
    if (!published) throw new Error('release not found')
    return JSON.stringify({ isDraft: published.isDraft })
  }
  changes.push(`gh ${action}`)
  const flags = rest.slice(2).filter((arg) => arg.startsWith('--'))
  if (action === 'create') {
    const notes = await Bun.file(rest[rest.indexOf('--notes-file') + 1]!).text()
    published = { isDraft: flags.includes('--draft'), flags, notes, assets: new Map() }
  }
  if (action === 'edit') {
    published!.isDraft = !flags.includes('--draft=false')
    published!.flags.push(...flags)
  }
  const values = ['--title', '--notes-file']
  const files = rest.slice(2).filter((arg, at, all) => !arg.startsWith('--') && !values.includes(all[at - 1]!))
  for (const file of files) {
    const path = file.startsWith('/') ? file : join(cwd, file)
    published!.assets.set(basename(path), await Bun.file(path).bytes())
  }
  return ''
}

/** `docker buildx …` */
async function docker([, command, ...rest]: string[]): Promise<string> {
  const isQuery = rest[0] === 'inspect'
  if (!isQuery) changes.push(`docker ${command}`)
  if (images) return images.buildx(command!, rest)
  hasImage ||= command === 'build'
  if (isQuery && !hasImage) throw new Error('not found')
  return isQuery ? INDEX : ''
}

/** GitHub: what the programs ask, and the files of the release that is public. */
function startForge() {
  const programs: Record<string, (args: string[], cwd: string) => Promise<string>> = { gh, docker }
  return Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    // Building an image takes longer than the default.
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const program = programs[pathname.slice(1)]
      if (program) {
        const { args, cwd } = (await request.json()) as { args: string[]; cwd: string }
        return program(args, cwd).then(
          (text) => new Response(text),
          (error: Error) => new Response(error.message, { status: 400 }),
        )
      }
      const file = pathname.startsWith(`${DOWNLOADS}/`) && published?.assets.get(basename(pathname))
      return file && !published!.isDraft ? new Response(file) : new Response(null, { status: 404 })
    },
  })
}

/** A program on the PATH that is a function of this test. */
async function program(name: string): Promise<void> {
  const script = join(folder, `${name}.ts`)
  await writeFile(
    script,
    `const body = JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd() })
const answer = await fetch('${forge.url}${name}', { method: 'POST', body })
;(answer.ok ? process.stdout : process.stderr).write(await answer.text())
process.exitCode = answer.ok ? 0 : 1
`,
  )
  await writeFile(join(folder, 'bin', name), `#!/bin/sh\nexec '${process.execPath}' '${script}' "$@"\n`, {
    mode: 0o755,
  })
}

/** Nothing of the surrounding environment, such as the settings of npm or of a pipeline. */
const environment = () => ({
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  HOME: folder,
  NO_COLOR: '1',
  GITHUB_REPOSITORY: REPOSITORY,
  npm_config_registry: registry.url,
  npm_config_cache: join(folder, 'cache'),
  npm_config_update_notifier: 'false',
  // A registry that refuses does so once.
  npm_config_fetch_retries: '0',
})

async function run(command: string[], cwd = folder) {
  const child = Bun.spawn(command, { cwd, env: environment(), stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { stdout, stderr, code }
}

const publish = (...flags: string[]) =>
  run([process.execPath, join(root, 'scripts/release/publish.ts'), ...flags], root)

async function git(...args: string[]): Promise<void> {
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b.c']
  const { code, stderr } = await run(['git', ...who, ...args], root)
  if (code !== 0) throw new Error(stderr)
}

/** What `scripts/release.ts` makes, with one real executable, and describes and signs. */
async function makeRelease(): Promise<void> {
  const at = join(root, 'dist/release')
  const release = await smallRelease({
    version: VERSION,
    folder: at,
    executables: { [THIS_PLATFORM]: await precompiledExecutable() },
  })
  const url = `https://github.com${DOWNLOADS}`
  const before = process.env.TALLY_RELEASES_URL
  process.env.TALLY_RELEASES_URL = url
  try {
    const files = [...(await archives(release)), ...(await npmPackages(release)), ...(await formulaFor(release, url))]
    for (const path of ['packaging/install.sh', PUBLIC_KEY]) {
      files.push(join(at, basename(path)))
      await cp(join(root, path), files.at(-1)!)
    }
    const section = { date: '2026-11-20', text: '- A line.' }
    files.push(await writeReleaseNotes(release, section, publicKeyLine(key.publicKey)))
    const sources = await sourcesOf(root)
    const sums = await checksumsOf(files)
    await Bun.write(
      join(at, 'provenance.json'),
      provenanceText(sums, { version: VERSION, at: release.at, sources, releasesUrl: url }),
    )
    await writeChecksums(at, await checksumsOf([...files, join(at, 'provenance.json')]))
  } finally {
    if (before === undefined) delete process.env.TALLY_RELEASES_URL
    else process.env.TALLY_RELEASES_URL = before
  }
  await sign()
}

const releaseFile = (name: string) => Bun.file(join(root, 'dist/release', name))

async function sign(by = key): Promise<void> {
  const release = { folder: join(root, 'dist/release'), version: VERSION, at: new Date('2026-11-20T19:30:00Z') }
  await signChecksums(release, (await signingKey(by.secretFile, folder))!)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-rehearsal-'))
  if (hindered) return
  root = join(folder, 'repository')
  await mkdir(join(folder, 'bin'))
  for (const path of [
    'package.json',
    'bun.lock',
    'Dockerfile',
    'packaging',
    'scripts/release',
    'src/lib/minisign.ts',
  ]) {
    await cp(join(ROOT, path), join(root, path), { recursive: true })
  }
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  await writeFile(join(root, '.gitignore'), 'node_modules\ndist\n')
  key = await makeKey(join(folder, 'key'))
  await cp(key.publicFile, join(root, PUBLIC_KEY))
  registry = new NpmRegistry()
  forge = startForge()
  await Promise.all([program('gh'), program('docker')])
  const { host } = new URL(registry.url)
  await writeFile(join(folder, '.npmrc'), `//${host}/:_authToken=token\n`)
  await git('init', '--quiet')
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'one')
  await git('tag', TAG)
  // Of another line, and a pre-release: this one is the newest.
  await git('tag', 'v0.0.1')
  await git('tag', 'v999.0.0-rc.1')
  await mkdir(join(root, 'dist/release'), { recursive: true })
  await makeRelease()
  if (!withoutImages) images = await ImageRegistry.start(join(folder, 'images'))
})
afterAll(async () => {
  await Promise.all([registry?.stop(), forge?.stop(true), images?.stop()])
  await rm(folder, { recursive: true, force: true })
})

const MISTAKES: [what: string, make: () => Promise<unknown>, undo: () => Promise<unknown>, says: string][] = [
  [
    'a commit without the tag of its version',
    () => git('tag', '--delete', TAG),
    () => git('tag', TAG),
    `but not the tag ${TAG}. Check out that tag`,
  ],
  [
    'a release of another commit',
    async () => {
      await git('commit', '--quiet', '--allow-empty', '--message', 'two')
      await git('tag', '--force', TAG)
    },
    async () => {
      await git('reset', '--quiet', '--hard', 'HEAD~1')
      await git('tag', '--force', TAG)
    },
    'Make the release again.',
  ],
  [
    'a file that is not signed',
    () => releaseFile('more.txt').write('more'),
    () => releaseFile('more.txt').delete(),
    'Not as in SHA256SUMS: more.txt.',
  ],
  [
    'a file that has changed',
    async () => releaseFile('install.sh').write(`${await releaseFile('install.sh').text()}\n`),
    () => cp(join(root, 'packaging/install.sh'), join(root, 'dist/release/install.sh')),
    'Not as in SHA256SUMS: install.sh.',
  ],
  [
    'a release that is not signed',
    () => releaseFile('SHA256SUMS.minisig').delete(),
    () => sign(),
    'has no SHA256SUMS.minisig',
  ],
  ['a signature of another key', async () => sign(await makeKey(join(folder, 'other'))), () => sign(), 'key'],
]

for (const [what, make, undo, says] of MISTAKES) {
  test.skipIf(hindered !== undefined)(`${what} is not published`, async () => {
    await make()
    try {
      const { stderr, code } = await publish()
      expect(stderr).toContain(says)
      expect(code).toBe(1)
    } finally {
      await undo()
    }
    expect([published, registry.published, changes]).toEqual([undefined, [], []])
  })
}

test.skipIf(hindered !== undefined)(
  'a dry run checks the files and prints the commands, in order, but runs none',
  async () => {
    const { stdout, code } = await publish('--dry-run')
    expect(code).toBe(0)
    const commands = [...stdout.matchAll(/^\$ (\S+ \S+ \S+)/gm)].map(([, command]) => command!.replaceAll('"', ''))
    expect(commands).toEqual([
      'gh release create',
      'docker buildx build',
      'gh release upload',
      ...packagesOf(VERSION).map(({ file }) => `npm publish ./${file}`),
      'docker buildx imagetools',
      'gh release edit',
    ])
    expect([published, registry.published, changes]).toEqual([undefined, [], []])
  },
)

test.skipIf(hindered !== undefined)(
  'what fails halfway is not public, and the next run publishes the rest, but nothing twice',
  async () => {
    registry.refused = MAIN_PACKAGE
    const failed = await publish()
    expect(failed.stderr).toContain('npm ended with 1. Remove the cause, and run this again.')
    expect(failed.code).toBe(1)
    const platforms = [...registry.published]
    expect(platforms).toHaveLength(packagesOf(VERSION).length - 1)
    // The image has its version alone.
    expect(changes).toEqual(['gh create', 'docker build', 'gh upload'])
    expect((await fetch(`${forge.url.origin}${DOWNLOADS}/SHA256SUMS`)).status).toBe(404)

    registry.refused = undefined
    changes = []
    const { stderr, code } = await publish()
    expect({ stderr: stderr.replaceAll(/^npm (notice|warn).*\n?/gm, ''), code }).toEqual({ stderr: '', code: 0 })
    expect(registry.published).toEqual([...platforms, `${MAIN_PACKAGE}@${VERSION}`])
    expect(changes).toEqual(['gh upload', 'gh upload', 'docker imagetools', 'gh edit'])
    expect(published!.flags).toEqual(
      expect.arrayContaining(['--verify-tag', '--draft', '--prerelease=false', '--draft=false', '--latest=true']),
    )
    expect([...published!.assets.keys()].sort()).toEqual(
      [...(await readdir(join(root, 'dist/release'))), 'image.json'].sort(),
    )
    expect(published!.notes).toStartWith(`# Tally ${VERSION}\n`)
    expect(published!.notes).toContain(`\`${IMAGE}:${VERSION}\``)
    expect(registry.tagsOf(MAIN_PACKAGE)).toEqual({ latest: VERSION })
  },
  // Buildah copies every layer, twice for each architecture.
  600_000,
)

test.skipIf(hindered !== undefined)('another run publishes nothing', async () => {
  changes = []
  const before = [...registry.published]
  const { stdout, code } = await publish()
  expect(stdout).toContain(`${TAG} is published already.`)
  expect({ code, changes, published: registry.published }).toEqual({ code: 0, changes: [], published: before })
})

test.skipIf(hindered !== undefined)(
  'a package that was published with other bytes is not taken for this one',
  async () => {
    const { isDraft } = published!
    published!.isDraft = true
    const file = packagesOf(VERSION)[0]!.file
    const bytes = await releaseFile(file).bytes()
    const sums = await releaseFile('SHA256SUMS').text()
    try {
      await releaseFile(file).write(Buffer.concat([bytes, Buffer.from([0])]))
      const sum = (await checksumsOf([join(root, 'dist/release', file)])).get(file)!
      await releaseFile('SHA256SUMS').write(sums.replace(new RegExp(`.{64}(?=  ${file})`), sum))
      await sign()
      const { stderr, code } = await publish()
      expect(stderr).toContain(`${packagesOf(VERSION)[0]!.name}@${VERSION} is published with other bytes than ${file}.`)
      expect(code).toBe(1)
    } finally {
      await releaseFile(file).write(bytes)
      await releaseFile('SHA256SUMS').write(sums)
      await sign()
      published!.isDraft = isDraft
    }
  },
)

test.skipIf(hindered !== undefined)('npx runs what was published', async () => {
  const { stdout, code } = await run(['npx', '--yes', MAIN_PACKAGE, 'version'])
  expect(stdout).toStartWith(`tally ${VERSION} `)
  expect(code).toBe(0)
  const repository = { type: 'git', url: `git+https://github.com/${REPOSITORY}.git` }
  const view = await run(['npm', 'view', `${SCOPE}/${THIS_PLATFORM}`, 'repository', '--json'])
  expect(JSON.parse(view.stdout)).toEqual(repository)
})

test.skipIf(hindered !== undefined)('install.sh and tally update take the public files, which are signed', async () => {
  const from = ['--from', `${forge.url.origin}${DOWNLOADS}`, '--key', key.publicFile]
  const prefix = join(folder, 'prefix')
  const installed = await run(['sh', join(ROOT, 'packaging/install.sh'), '--prefix', prefix, ...from])
  expect({ stderr: installed.stderr, code: installed.code }).toEqual({ stderr: '', code: 0 })
  const { stdout, code } = await run([join(prefix, 'bin/tally'), 'update', '--check', ...from])
  expect(stdout).toMatch(/Signature +valid\nThere is nothing to update\./)
  expect(code).toBe(0)
})

test.skipIf(hindered !== undefined)(
  'the formula for Homebrew names files that are public, with their checksums',
  async () => {
    const formula = await (await fetch(`${forge.url.origin}${DOWNLOADS}/tally.rb`)).text()
    const downloads = [...formula.matchAll(/url "https:\/\/github\.com(.+)"\n\s+sha256 "(.+)"/g)]
    expect(downloads).toHaveLength(4)
    for (const [, path, sum] of downloads) {
      const bytes = await (await fetch(`${forge.url.origin}${path}`)).bytes()
      expect(new Bun.CryptoHasher('sha256').update(bytes).digest('hex')).toBe(sum!)
    }
  },
)

test.skipIf(hindered !== undefined)(
  'image.json names the image, its tags and the digest for each platform',
  async () => {
    const description = JSON.parse(Buffer.from(published!.assets.get('image.json')!).toString())
    const tags = [VERSION, VERSION.split('.', 2).join('.'), 'latest']
    expect(description).toEqual({ image: IMAGE, tags, digest: expect.any(String), platforms: expect.any(Object) })
    expect(Object.keys(description.platforms).sort()).toEqual(['linux/amd64', 'linux/arm64'])
  },
)

test.skipIf(withoutImages !== undefined)(
  'the image of each tag runs what was released, as a user without rights',
  async () => {
    const description = JSON.parse(Buffer.from(published!.assets.get('image.json')!).toString())
    for (const tag of description.tags) {
      const place = images!.place(`${IMAGE}:${tag}`)
      const { Digest: digest } = JSON.parse(await images!.skopeo('inspect', '--tls-verify=false', place))
      expect(digest).toBe(description.digest)
    }
    const named = `${images!.host}/acme/tally`
    for (const [platform, digest] of Object.entries(description.platforms)) {
      const place = `docker://${named}@${digest}`
      const { architecture, config } = JSON.parse(
        await images!.skopeo('inspect', '--config', '--tls-verify=false', place),
      )
      expect(`linux/${architecture}`).toBe(platform)
      expect(config).toMatchObject({ User: '10001', Entrypoint: ['tally'], Cmd: ['serve'], Volumes: { '/data': {} } })
      expect(config.Labels).toMatchObject({
        'org.opencontainers.image.title': 'Tally',
        'org.opencontainers.image.version': VERSION,
        'org.opencontainers.image.source': `https://github.com/${REPOSITORY}`,
        'org.opencontainers.image.revision': (await sourcesOf(root)).commit,
      })
    }
    const container = (await images!.buildah('from', '--tls-verify=false', `${named}:latest`)).trim()
    const inside = (...command: string[]) => images!.buildah('run', container, '--', ...command)
    expect(await inside('tally', 'version')).toStartWith(`tally ${VERSION} `)
    expect(await inside('stat', '-c', '%n %u', '/')).toBe('/ 0\n')
    expect(await inside('stat', '-c', '%n %u %a', '/data', '/backups')).toBe('/data 10001 700\n/backups 10001 700\n')
    expect(await inside('sh', '-c', 'read -r name </usr/local/share/tally/installed-by && echo "$name"')).toBe(
      'container\n',
    )
  },
)
