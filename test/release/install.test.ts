/** Archives of a release with small programs for executables, and the script that installs them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import { archives } from '../../scripts/release/archives.ts'
import { checksumsOf, writeChecksums } from '../../scripts/release/checksums.ts'
import { PLATFORMS } from '../../scripts/release/release.ts'
import { smallRelease } from '../support/release.ts'

const SCRIPT = join(import.meta.dir, '../../packaging/install.sh')

/** Other shells than bash are stricter; where there is no BusyBox, `sh` alone has to do. */
const SHELLS = [['sh'], ...(Bun.which('busybox') ? [['busybox', 'sh']] : [])]

let folder: string
/** The releases by version. */
const releases: Record<string, string> = {}

async function makeRelease(version: string, name = version, does = `echo "tally ${version}"`): Promise<string> {
  const at = join(folder, name)
  const paths = await archives(await smallRelease({ version, folder: at, does }))
  await writeChecksums(at, await checksumsOf(paths))
  await Bun.write(join(at, 'install.sh'), Bun.file(SCRIPT))
  return at
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-release-'))
  for (const version of ['1.2.3', '1.3.0']) releases[version] = await makeRelease(version)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the same release has the same bytes, whenever and wherever it is made', async () => {
  const again = await makeRelease('1.2.3', 'again')
  const sums = (at: string) => Bun.file(join(at, 'SHA256SUMS')).text()
  expect(await sums(again)).toBe(await sums(releases['1.2.3']!))
  expect((await sums(again)).split('\n')).toHaveLength(PLATFORMS.length + 1)
})

test('an archive has one folder, which belongs to root, with the program and what is installed beside it', async () => {
  const listed = await Bun.$`tar -tvzf ${join(releases['1.2.3']!, 'tally-1.2.3-linux-x64.tar.gz')} --numeric-owner`
    .env({ ...process.env, TZ: 'UTC' })
    .text()
  const lines = listed.trim().split('\n')
  expect(
    lines.every((line) => /^-rw[x-]r-[x-]r-[x-] 0\/0 .* 2026-11-20 19:30 tally-1\.2\.3-linux-x64\//.test(line)),
  ).toBeTrue()
  expect(lines.map((line) => line.split('linux-x64/')[1]!)).toEqual([
    'LICENSE.txt',
    'README.txt',
    'THIRD-PARTY-LICENSES.txt',
    'share/bash-completion/completions/tally',
    'share/fish/vendor_completions.d/tally.fish',
    'share/man/man1/tally.1',
    'share/zsh/site-functions/_tally',
    'tally',
    'tally.service',
  ])
  const zip = unzipSync(await Bun.file(join(releases['1.2.3']!, 'tally-1.2.3-windows-x64.zip')).bytes())
  expect(Object.keys(zip)).toContain('tally-1.2.3-windows-x64/tally.exe')
})

for (const shell of SHELLS) {
  describe(`install.sh in ${shell.join(' ')}`, () => {
    let home: string
    beforeAll(async () => {
      home = await mkdtemp(join(folder, 'home-'))
    })

    async function install(script: string, ...args: string[]) {
      const child = Bun.spawn([...shell, script, ...args], {
        cwd: home,
        env: { PATH: process.env.PATH!, HOME: home },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
      return { code, stdout, stderr }
    }

    const installed = (...path: string[]) => Bun.file(join(home, 'tally', ...path))
    const prefix = () => ['--prefix', join(home, 'tally')]

    test('installs the release that it lies in, and says what comes next', async () => {
      const { code, stdout, stderr } = await install(join(releases['1.2.3']!, 'install.sh'), ...prefix())
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain(`Installed tally 1.2.3 as ${home}/tally/bin/tally.`)
      expect(stdout).toContain(`${home}/tally/bin is not in your PATH`)
      expect(stdout).toContain('tally serve')
      expect((await stat(join(home, 'tally/bin/tally'))).mode & 0o777).toBe(0o755)
      expect(await installed('share/man/man1/tally.1').text()).toContain('1.2.3')
      expect(await installed('share/zsh/site-functions/_tally').text()).toBe('zsh')
    })

    test('replaces an earlier version, from a server', async () => {
      await using server = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: ({ url }) => new Response(Bun.file(join(releases['1.3.0']!, new URL(url).pathname))),
      })
      const { code, stdout, stderr } = await install(SCRIPT, '--from', `${server.url}`, ...prefix())
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain('Installed tally 1.3.0')
      expect(await installed('share/man/man1/tally.1').text()).toContain('1.3.0')
      expect(await readdir(join(home, 'tally/bin'))).toEqual(['tally'])
    })

    test('leaves what is installed when the archive is not what its checksum says', async () => {
      const broken = await makeRelease('1.4.0', `broken-${shell.length}`)
      for (const platform of PLATFORMS.filter((each) => !each.startsWith('windows'))) {
        const archive = join(broken, `tally-1.4.0-${platform}.tar.gz`)
        await Bun.write(archive, `${await Bun.file(archive).text()} `)
      }
      const { code, stderr } = await install(SCRIPT, '--from', broken, ...prefix())
      expect(code).toBe(1)
      expect(stderr).toMatch(/tally-1\.4\.0-.*\.tar\.gz is not what SHA256SUMS says/)
      expect(await installed('bin/tally').text()).toContain('1.3.0')
    })

    const refused: [what: string, args: () => string[], message: RegExp][] = [
      ['no release', () => [], /Name the folder or URL of the release with --from or TALLY_RELEASES/],
      ['an empty folder', () => ['--from', home], /has no SHA256SUMS/],
      [
        'a version that is not there',
        () => ['--from', releases['1.2.3']!, '--version', '9.9.9'],
        /does not list tally-9\.9\.9-/,
      ],
      ['a server that is not there', () => ['--from', 'http://127.0.0.1:1'], /could not be downloaded/],
      ['an unknown option', () => ['--form', home], /Unknown option: --form/],
      ['an option without its value', () => ['--from'], /--from needs a value/],
      [
        'a prefix that is a file',
        () => ['--from', releases['1.2.3']!, '--prefix', SCRIPT],
        /install\.sh\/bin is not writable/,
      ],
    ]
    test.each(refused)('refuses %s, with what to do', async (_what, args, message) => {
      const { code, stderr } = await install(SCRIPT, ...args())
      expect(code).toBe(1)
      expect(stderr).toMatch(message)
    })

    test('does nothing if its download breaks off, wherever that is', async () => {
      const text = await Bun.file(SCRIPT).text()
      const empty = join(home, 'nothing')
      // In the middle of a line that would act: the shell runs what is there of it.
      for (const last of ['mv -f -- "$unfinished" "$prefix/bin/', 'chmod 755', 'main() {']) {
        const cut = join(home, 'cut.sh')
        await Bun.write(cut, text.slice(0, text.lastIndexOf(last) + last.length))
        expect((await install(cut, '--from', releases['1.2.3']!, '--prefix', empty)).code).not.toBe(0)
        expect(await readdir(home)).not.toContain('nothing')
      }
    })

    test('read from a pipe, does not trust the current folder', async () => {
      const child = Bun.spawn(shell, {
        cwd: releases['1.2.3']!,
        env: { PATH: process.env.PATH!, HOME: home },
        stdin: Bun.file(SCRIPT),
        stdout: 'ignore',
        stderr: 'pipe',
      })
      expect(await child.stderr.text()).toContain('Name the folder or URL of the release')
      expect(await child.exited).toBe(1)
    })

    test('installs an older version only if it is named', async () => {
      const older = [releases['1.2.3']!, await makeRelease('1.3.0-rc.2', `candidate-${shell.length}`)]
      for (const at of older) {
        const { code, stderr } = await install(SCRIPT, '--from', at, ...prefix())
        expect(code).toBe(1)
        expect(stderr).toMatch(/1\.\S+ is older than the installed 1\.3\.0.*Nothing was installed/)
        expect(stderr).toContain('--version 1.')
        expect(await installed('bin/tally').text()).toContain('1.3.0')
      }
      const named = await install(SCRIPT, '--from', releases['1.2.3']!, '--version', '1.2.3', ...prefix())
      expect(named).toMatchObject({ code: 0, stderr: '' })
      // In this order, each one is newer.
      for (const version of ['1.2.4-alpha', '1.2.4-rc.2', '1.2.4-rc.10', '1.2.4', '1.2.10', '1.3.0']) {
        const at = releases[version] ?? (await makeRelease(version, `${version}-${shell.length}`))
        expect(await install(SCRIPT, '--from', at, ...prefix())).toMatchObject({ code: 0, stderr: '' })
        // The same one again.
        expect(await install(SCRIPT, '--from', at, ...prefix())).toMatchObject({ code: 0, stderr: '' })
      }
    })

    test('replaces a program that does not run, whatever its version is', async () => {
      const broken = join(home, 'broken')
      await Bun.write(join(broken, 'bin/tally'), 'no program')
      await chmod(join(broken, 'bin/tally'), 0o755)
      const { code } = await install(SCRIPT, '--from', releases['1.2.3']!, '--prefix', broken)
      expect(code).toBe(0)
    })

    test('refuses a program that does not run on this machine', async () => {
      const useless = await makeRelease('1.5.0', `useless-${shell.length}`, 'exit 1')
      const { code, stderr } = await install(SCRIPT, '--from', useless, ...prefix())
      expect(code).toBe(1)
      expect(stderr).toContain('The executable does not run on this machine. Nothing was installed.')
      expect(await installed('bin/tally').text()).toContain('1.3.0')
    })
  })
}
