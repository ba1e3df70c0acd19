/** `tally update`: the real executable, replaced from releases with small programs for executables. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, chownSync, copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { archives } from '../../scripts/release/archives.ts'
import { checksumsOf, writeChecksums } from '../../scripts/release/checksums.ts'
import { PLATFORMS } from '../../scripts/release/release.ts'
import { signChecksums, signingKey } from '../../scripts/release/signature.ts'
import { archivesIn } from '../../src/cli/update/manifest.ts'
import { readDatabasePlace } from '../../src/config.ts'
import { publicKeyLine } from '../../src/lib/minisign.ts'
import { precompiledExecutable } from '../support/binary.ts'
import { makeKey, smallRelease, THIS_PLATFORM } from '../support/release.ts'
import { canMount } from '../support/small-disk.ts'
import { runs } from '../support/tier.ts'

const INSTALLED = packageJson.version
const [NEWER, NEWEST] = ['98.0.0', '99.0.0']

let folder: string
let key: Awaited<ReturnType<typeof makeKey>>
let other: typeof key
/** Folders of releases that are signed with the key. */
let newest: string
let older: string
/** Of an executable that takes a while to unpack, and more space than there is. */
let large: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-update-'))
  // Another user must be able to start what is in it.
  chmodSync(folder, 0o755)
  copyFileSync(await precompiledExecutable(), join(folder, 'executable'))
  key = await makeKey(join(folder, 'release'))
  other = await makeKey(join(folder, 'other'))
  newest = await makeRelease(NEWEST)
  older = await makeRelease('0.0.1')
  large = await makeRelease(NEWEST, { padding: 4_000_000 })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface ReleaseOptions {
  does?: string
  /** Bytes that no compression makes less of, after the program. */
  padding?: number
  isSigned?: boolean
}

async function makeRelease(version: string, options: ReleaseOptions = {}): Promise<string> {
  const { does = `echo "tally ${version} (test)"`, padding = 0, isSigned = true } = options
  const made = await smallRelease({ version, folder: await mkdtemp(join(folder, 'release-')), does })
  const program = `${made.folder}-padded`
  const filling = crypto.getRandomValues(Buffer.alloc(padding ? 65_536 : 0))
  const parts = [
    `#!/bin/sh\n${does}\nexit\n`,
    ...Array.from({ length: Math.ceil(padding / 65_536) }, () => shuffled(filling)),
  ]
  await Bun.write(program, new Blob(parts))
  const paths = await archives({ ...made, executables: { ...made.executables, [THIS_PLATFORM]: program } })
  for (const path of paths.filter((each) => !each.includes(`${THIS_PLATFORM}.`))) await Bun.write(path, '')
  await writeChecksums(made.folder, await checksumsOf(paths))
  if (isSigned) await signChecksums(made, (await signingKey(key.secretFile, folder))!)
  return made.folder
}

const shuffled = (bytes: Buffer) => crypto.getRandomValues(Buffer.alloc(bytes.byteLength))

const archiveOf = (release: string, version = NEWEST) => join(release, `tally-${version}-${THIS_PLATFORM}.tar.gz`)

/** A prefix with the executable in `bin`. */
class Installation {
  constructor(
    readonly prefix: string,
    readonly executable: string,
  ) {}

  static async make({ bin = 'bin' } = {}): Promise<Installation> {
    const prefix = await mkdtemp(join(folder, 'prefix-'))
    chmodSync(prefix, 0o755)
    const executable = join(prefix, bin, 'tally')
    mkdirSync(dirname(executable), { recursive: true })
    // One file for all of them: an update gives its name to another file.
    linkSync(join(folder, 'executable'), executable)
    return new Installation(prefix, executable)
  }

  spawn(args: string[], { before = [] as string[], env = {} as Record<string, string> } = {}) {
    return Bun.spawn([...before, this.executable, ...args], {
      cwd: this.prefix,
      env: { PATH: process.env.PATH!, HOME: this.prefix, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
  }

  async run(args: string[], options: { before?: string[]; env?: Record<string, string> } = {}) {
    const child = this.spawn(args, options)
    const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    return { code, stdout, stderr }
  }

  /** With the key, from that release. */
  update(from: string, ...args: string[]) {
    return this.run(['update', '--from', from, '--key', key.publicFile, ...args])
  }

  async version(): Promise<string> {
    return (await this.run(['version'])).stdout.split(' ')[1]!
  }

  names(): string[] {
    return readdirSync(dirname(this.executable)).sort()
  }
}

const IS_ROOT = process.getuid?.() === 0

/** Nobody. */
const OTHER_USER = 65_534

/** For what root may always do. */
const AS_OTHER_USER = IS_ROOT ? ['setpriv', `--reuid=${OTHER_USER}`, `--regid=${OTHER_USER}`, '--clear-groups'] : []

/** Lets that user replace the executable, from releases whose files are private to whoever made them. */
async function letOthersUpdate(installation: Installation): Promise<void> {
  await Bun.$`chmod -R a+rX ${newest} ${key.publicFile}`
  if (IS_ROOT) chownSync(dirname(installation.executable), OTHER_USER, OTHER_USER)
}

/** What a failed update must leave. */
async function expectUnchanged(installation: Installation): Promise<void> {
  expect(installation.names()).toEqual(['tally'])
  expect(await installation.version()).toBe(INSTALLED)
}

describe('tally update', () => {
  test('--check shows the installed and the newest version, and whether the signature is valid', async () => {
    const installation = await Installation.make()
    const { stdout } = await installation.update(newest, '--check')
    expect(stdout).toMatch(new RegExp(`Installed +${INSTALLED}\nNewest +${NEWEST}\nSignature +valid\n`))
    const withoutKey = await installation.run(['update', '--check', '--json'], { env: { TALLY_RELEASES: newest } })
    expect(JSON.parse(withoutKey.stdout)).toEqual({
      installed: INSTALLED,
      newest: NEWEST,
      is_newer: true,
      signature: 'unchecked',
    })
    expect((await installation.update(older, '--check')).stdout).toContain('There is nothing to update.')
    await expectUnchanged(installation)
  })

  test('replaces the executable and what is installed beside it, and says how to restart and to go back', async () => {
    const installation = await Installation.make()
    const page = join(installation.prefix, 'share/man/man1/tally.1')
    await Bun.write(page, 'old')
    chmodSync(installation.executable, 0o750)
    const { code, stdout, stderr } = await installation.update(newest)
    chmodSync(join(folder, 'executable'), 0o755)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`Updated ${installation.executable} from ${INSTALLED} to ${NEWEST}.`)
    expect(stdout).toContain('If a server is running, restart it')
    expect(await installation.version()).toBe(NEWEST)
    expect((await Bun.file(installation.executable).stat()).mode & 0o777).toBe(0o750)
    expect(await Bun.file(page).text()).toContain(NEWEST)
    expect(readdirSync(join(installation.prefix, 'share'))).toEqual(['man'])
    // As it is printed.
    const goBack = /^ {2}(mv .*)$/m.exec(stdout)![1]!
    expect(installation.names()).toEqual(['tally', 'tally.previous'])
    await Bun.$`${{ raw: goBack }}`
    await expectUnchanged(installation)
  })

  test('takes the newest version of several, or the named one, and no prerelease', async () => {
    const several = await mkdtemp(join(folder, 'several-'))
    const prerelease = await makeRelease('100.0.0-rc.1')
    const sums: string[] = []
    for (const release of [older, await makeRelease(NEWER), newest, prerelease]) {
      await Bun.$`cp ${{ raw: `${release}/*` }} ${several}`
      sums.push(await Bun.file(join(release, 'SHA256SUMS')).text())
    }
    await Bun.write(join(several, 'SHA256SUMS'), sums.join(''))
    await signChecksums(
      { folder: several, version: 'all', at: new Date(0) },
      (await signingKey(key.secretFile, folder))!,
    )
    const installation = await Installation.make()
    expect((await installation.update(several, '--check')).stdout).toContain(NEWEST)
    expect((await installation.update(several, '--to', `v${NEWER}`)).code).toBe(0)
    expect(await installation.version()).toBe(NEWER)
  })

  test('downloads from a server that redirects, with a key that is no file', async () => {
    await using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch({ url }) {
        const { pathname } = new URL(url)
        if (pathname.startsWith('/latest/')) return Response.redirect(pathname.replace('/latest', ''), 302)
        const file = Bun.file(join(newest, pathname))
        return file.size > 0 ? new Response(file) : new Response('', { status: 404 })
      },
    })
    const installation = await Installation.make()
    const from = `${server.url}latest/`
    const ran = await installation.run(['update', '--from', from, '--key', publicKeyLine(key.publicKey), '--json'])
    expect(JSON.parse(ran.stdout)).toEqual({
      installed: NEWEST,
      is_updated: true,
      executable: installation.executable,
      previous: { version: INSTALLED, executable: `${installation.executable}.previous` },
      backup: null,
    })
    expect(await installation.version()).toBe(NEWEST)
  })

  test('does nothing if the version is installed already', async () => {
    const installation = await Installation.make()
    const ran = await installation.update(await makeRelease(INSTALLED))
    expect(ran).toMatchObject({ code: 0, stderr: `Tally ${INSTALLED} is installed already.\n` })
    await expectUnchanged(installation)
  })

  test('installs an older version if that is meant', async () => {
    const installation = await Installation.make()
    expect((await installation.update(older, '--allow-downgrade')).code).toBe(0)
    expect(await installation.version()).toBe('0.0.1')
  })

  test('installs without a signature if that is meant, and never with a wrong one', async () => {
    const unsigned = await makeRelease(NEWEST, { isSigned: false })
    const installation = await Installation.make()
    const wrong = ['update', '--from', newest, '--key', other.publicFile, '--allow-unsigned']
    expect((await installation.run(wrong)).stderr).toContain(`not with ${other.publicKey.id}`)
    await expectUnchanged(installation)
    const { code, stderr } = await installation.update(unsigned, '--allow-unsigned')
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'tally: The signature of the release is not checked.\n' })
    expect(await installation.version()).toBe(NEWEST)
  })
})

describe('tally update leaves the executable as it is', () => {
  const withKey = () => ['--key', key.publicFile]
  const cases: [what: string, args: () => Promise<string[]> | string[], message: RegExp][] = [
    ['without a source', withKey, /no default download address.*--from or TALLY_RELEASES/],
    ['from a folder that is not there', () => ['--from', join(folder, 'no'), ...withKey()], /no has no SHA256SUMS/],
    [
      'from http:// of another machine',
      () => ['--from', 'http://tally.example'],
      /TALLY_RELEASES.*must be a folder or an https/,
    ],
    ['from a server that is not there', () => ['--from', 'http://127.0.0.1:1'], /could not be downloaded.*Try again/],
    ['without a key', () => ['--from', newest], /cannot be checked without a public key.*--key/],
    [
      'with something else than a key',
      () => ['--from', newest, '--key', newest],
      /neither a public key of minisign nor a file/,
    ],
    [
      'with another key',
      () => ['--from', newest, '--key', other.publicFile],
      /made with the key .*Nothing was changed/,
    ],
    [
      'if the release is not signed',
      async () => ['--from', await makeRelease(NEWEST, { isSigned: false }), ...withKey()],
      /is not signed. --allow-unsigned/,
    ],
    [
      'if the checksums were changed',
      async () => {
        const release = await makeRelease(NEWEST)
        const sums = Bun.file(join(release, 'SHA256SUMS'))
        await Bun.write(sums, (await sums.text()).replace(/^./, 'f').replace(/^f/, '0'))
        await Bun.write(sums, `${await sums.text()}\n`)
        return ['--from', release, ...withKey()]
      },
      /The signature is not valid.*Nothing was changed/,
    ],
    [
      'if the archive is another than that of the checksum',
      async () => {
        const release = await makeRelease(NEWEST)
        await Bun.write(archiveOf(release), Bun.file(archiveOf(older, '0.0.1')))
        return ['--from', release, ...withKey()]
      },
      /is not what SHA256SUMS says.*Nothing was changed/,
    ],
    [
      'if the archive is missing',
      async () => {
        const release = await makeRelease(NEWEST)
        await rm(archiveOf(release))
        return ['--from', release, ...withKey()]
      },
      /has no tally-99.*which its SHA256SUMS lists/,
    ],
    ['for an older version', () => ['--from', older, ...withKey()], /0\.0\.1 is older.*--allow-downgrade/],
    [
      'for a version that is not there',
      () => ['--from', newest, '--to', '9.9.9', ...withKey()],
      /does not have version 9\.9\.9 .*It has 99/,
    ],
    [
      'if the new one does not run',
      async () => ['--from', await makeRelease(NEWEST, { does: 'exit 3' }), ...withKey()],
      /does not run on this machine/,
    ],
    [
      'if the new one is another version than its archive says',
      async () => ['--from', await makeRelease(NEWEST, { does: 'echo tally 0.0.1' }), ...withKey()],
      /has another version: tally 0\.0\.1/,
    ],
  ]
  test.each(cases)('%s, and says what to do', async (_what, args, message) => {
    const installation = await Installation.make()
    const { code, stderr } = await installation.run(['update', ...(await args())])
    expect(stderr).toMatch(message)
    expect(code).toBeGreaterThan(0)
    await expectUnchanged(installation)
  })

  const managed: [what: string, owner: { bin?: string; marker?: string }, message: RegExp][] = [
    ['a Debian package', { marker: 'deb\n' }, /belongs to a Debian package.*sudo apt install \.\/tally_99\.0\.0_/],
    ['an image', { marker: 'container\n' }, /belongs to a container image.*image of version 99/],
    ['npm', { bin: 'lib/node_modules/@tally-agents/linux-x64/bin' }, /npm install --global tally-agents@99/],
    ['Homebrew', { bin: 'Cellar/tally/1.0.0/bin' }, /brew upgrade tally/],
  ]
  test.each(managed)('where %s manages it, and names the command', async (_what, { bin, marker }, message) => {
    const installation = await Installation.make(bin === undefined ? {} : { bin })
    if (marker) await Bun.write(join(installation.prefix, 'share/tally/installed-by'), marker)
    const { code, stderr } = await installation.update(newest)
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
    const [, command] = /(?:Update it with: |Start )(.*)/.exec(stderr)!
    expect((await installation.update(newest, '--check')).stdout).toContain(command!.trim())
    await expectUnchanged(installation)
  })

  const broken: [what: string, respond: () => Response | Promise<Response>, message: RegExp][] = [
    [
      'breaks off',
      () => new Response(Bun.file(archiveOf(newest)).slice(0, 100), { headers: { 'content-length': '5000' } }),
      /could not be downloaded|checksum differs/,
    ],
    ['fails', () => new Response('', { status: 503 }), /returned 503.*/],
    [
      'redirects to another machine without encryption',
      () => Response.redirect('http://tally.example/x'),
      /redirects to http:\/\/tally\.example, which is not encrypted/,
    ],
    ['redirects forever', () => Response.redirect('/again'), /redirects more than 5 times/],
  ]
  test.each(broken)('if the server %s', async (_what, respond, message) => {
    await using server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch({ url }) {
        const { pathname } = new URL(url)
        return pathname.startsWith('/SHA256SUMS') ? new Response(Bun.file(join(newest, pathname))) : respond()
      },
    })
    const installation = await Installation.make()
    const { code, stderr } = await installation.update(String(server.url))
    expect(stderr).toMatch(message)
    expect(code).toBe(1)
    await expectUnchanged(installation)
  })

  test('in a folder that is not writable', async () => {
    const installation = await Installation.make()
    await letOthersUpdate(installation)
    chmodSync(dirname(installation.executable), 0o555)
    if (IS_ROOT) chownSync(dirname(installation.executable), 0, 0)
    const args = ['update', '--from', newest, '--key', key.publicFile]
    const { code, stderr } = await installation.run(args, { before: AS_OTHER_USER })
    chmodSync(dirname(installation.executable), 0o755)
    expect(stderr).toMatch(/bin is not writable.*Run this as the owner of .*sudo/)
    expect(code).toBe(1)
    await expectUnchanged(installation)
  })

  test.skipIf(!canMount)('on a full disk', async () => {
    const installation = await Installation.make()
    const disk = join(installation.prefix, 'disk')
    mkdirSync(disk)
    const megabytes = Math.ceil(Bun.file(installation.executable).size / 1_048_576) + 5
    const script = `mount -t tmpfs -o size=${megabytes}m tmpfs "$0" && cp "$1" "$0/tally" && shift
      "$0/tally" "$@" 2>&1; echo "code $?"; ls -A "$0"; "$0/tally" version`
    const args = [installation.executable, 'update', '--from', large, '--key', key.publicFile]
    const { stdout } = Bun.spawnSync(['unshare', '--map-root-user', '--mount', 'sh', '-c', script, disk, ...args])
    expect(stdout.toString()).toMatch(
      new RegExp(`not enough space in .*Nothing was changed.*\ncode 1\ntally\ntally ${INSTALLED}`),
    )
  })

  test('while another update of it is running, and not because one was killed', async () => {
    const installation = await Installation.make()
    const running = join(dirname(installation.executable), `.tally-update-${process.pid}`)
    mkdirSync(running)
    expect((await installation.update(newest)).stderr).toContain(
      `Another update of ${installation.executable} is running (process ${process.pid})`,
    )
    expect(installation.names()).toEqual([`.tally-update-${process.pid}`, 'tally'])
    await rm(running, { recursive: true })
    const ended = Bun.spawnSync(['true'])
    mkdirSync(join(dirname(installation.executable), `.tally-update-${ended.pid}`))
    expect((await installation.update(newest)).code).toBe(0)
    expect(installation.names()).toEqual(['tally', 'tally.previous'])
  })
})

test('an update that is killed at any moment leaves the old or the new executable', async () => {
  const startedAt = performance.now()
  expect((await (await Installation.make()).update(large)).code).toBe(0)
  const tookMs = performance.now() - startedAt
  const kills = runs(10, 3)
  const found = new Set<string>()
  // The first is killed before it has done anything, and the others later.
  for (let at = 0; at <= kills; at += 1) {
    const installation = await Installation.make()
    const child = installation.spawn(['update', '--from', large, '--key', key.publicFile])
    await Bun.sleep((tookMs * at) / kills)
    child.kill('SIGKILL')
    await child.exited
    const version = await installation.version()
    found.add(version)
    expect([INSTALLED, NEWEST]).toContain(version)
    // The next one is not hindered by what is left.
    if (at % 3 === 0 && version === INSTALLED) {
      expect((await installation.update(large)).code).toBe(0)
      expect(installation.names()).toEqual(['tally', 'tally.previous'])
    }
  }
  expect(found).toContain(INSTALLED)
})

describe('the database', () => {
  /** Makes the database in the folder `data`. */
  const addUser = (installation: Installation) =>
    installation.run('users add --email ada@example.com --name Ada --role admin --data data'.split(' '))

  test('is backed up first, and can be restored with the command that is printed', async () => {
    const installation = await Installation.make()
    // The printed paths must be right in any folder.
    const data = join(installation.prefix, 'data')
    await addUser(installation)
    const { code, stdout, stderr } = await installation.update(newest, '--data', 'data')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [, backup] = /backed up: (.*\/data\/backups\/tally-.*Z-[\da-f]{8}\.db)\n/.exec(stdout)!
    expect((await Bun.file(backup!).stat()).mode & 0o777).toBe(0o600)
    const restore = / {2}tally (restore .*)$/m.exec(stdout)![1]!.split(' ')
    await Bun.$`mv ${installation.executable}.previous ${installation.executable}`
    expect(await installation.run([...restore, '--yes'])).toMatchObject({ code: 0 })
    expect((await installation.run(['users', 'list', '--data', data])).stdout).toContain('ada@example.com')
  })

  test('is not backed up if that is not wanted; if it can not be, nothing changes', async () => {
    const installation = await Installation.make()
    const data = join(installation.prefix, 'data')
    await Bun.write(join(data, 'tally.db'), 'no database')
    const refused = await installation.update(newest, '--data', data)
    expect(refused.stderr).toMatch(/could not be backed up: .*Nothing was changed\. --no-backup/)
    await expectUnchanged(installation)
    expect((await installation.update(newest, '--data', data, '--no-backup')).stdout).not.toContain('backed up')
    expect(await installation.version()).toBe(NEWEST)
  })

  test('that may not be read keeps the executable from being replaced', async () => {
    const installation = await Installation.make()
    await addUser(installation)
    const data = join(installation.prefix, 'data')
    chmodSync(data, 0)
    await letOthersUpdate(installation)
    const args = ['update', '--from', newest, '--key', key.publicFile, '--data', data]
    const { code, stderr } = await installation.run(args, { before: AS_OTHER_USER })
    expect(stderr).toMatch(/data\/tally\.db can't be backed up: permission denied.*sudo.*--no-backup/)
    expect(code).toBe(1)
    await expectUnchanged(installation)
    expect((await installation.run([...args, '--no-backup'], { before: AS_OTHER_USER })).code).toBe(0)
    chmodSync(data, 0o700)
  })

  test.skipIf(!IS_ROOT)('of another user gets a backup of that user, who can make more there', async () => {
    const installation = await Installation.make()
    await addUser(installation)
    const data = join(installation.prefix, 'data')
    await Bun.$`chown -R ${OTHER_USER} ${data}`
    const { stdout } = await installation.update(newest, '--data', data)
    const [, backup] = /backed up: (.*)\n/.exec(stdout)!
    for (const path of [backup!, dirname(backup!), ...readdirSync(data).map((name) => join(data, name))]) {
      expect((await Bun.file(path).stat()).uid).toBe(OTHER_USER)
    }
  })

  test('in PostgreSQL is left to its own tool', async () => {
    const installation = await Installation.make()
    const env = { TALLY_DATABASE_URL: 'postgres://localhost/tally' }
    const ran = await installation.run(['update', '--from', newest, '--key', key.publicFile], { env })
    expect(ran.stdout).toContain('Before you restart: pg_dump')
    expect(ran.code).toBe(0)
  })

  test('is the one of flags and variables, or else of the service', () => {
    const service = { TALLY_DATA: '/var/lib/tally', TALLY_PORT: 'wrong' }
    const file = (dataDir: string, backups = `${dataDir}/backups`) => ({ kind: 'file' as const, dataDir, backups })
    expect(readDatabasePlace({}, service, {})).toEqual(file('/var/lib/tally'))
    expect(readDatabasePlace({}, { ...service, TALLY_BACKUP_DIR: '/mnt' }, {})).toEqual(file('/var/lib/tally', '/mnt'))
    expect(readDatabasePlace({}, service, { TALLY_DATA: '/other' })).toEqual(file('/other'))
    expect(readDatabasePlace({ data: '/flag' }, service, { TALLY_DATA: '/other' })).toEqual(file('/flag'))
    expect(readDatabasePlace({}, { TALLY_DATABASE_URL_FILE: '/run/x' }, {})).toEqual({ kind: 'postgresql' })
  })
})

test('archives are those of the platform, newest first', () => {
  const sum = 'a'.repeat(64)
  const names = [
    'tally-0.9.0-linux-x64.tar.gz',
    'tally-0.10.0-linux-x64.tar.gz',
    'tally-0.10.0-rc.1-linux-x64.tar.gz',
    'tally-9.0.0-linux-x64-musl.tar.gz',
    'tally-9.0.0-windows-x64.zip',
    'tally_9.0.0_amd64.deb',
    '../tally-9.0.0-linux-x64.tar.gz',
  ]
  const text = names.map((name) => `${sum}  ${name}\n`).join('')
  expect(archivesIn(text, 'linux-x64').map(({ version }) => version)).toEqual(['0.10.0', '0.10.0-rc.1', '0.9.0'])
  expect(archivesIn(text, 'linux-x64-musl').map(({ version }) => version)).toEqual(['9.0.0'])
  expect(PLATFORMS as readonly string[]).toContain(THIS_PLATFORM)
})
