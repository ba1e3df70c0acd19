/** The package for systems with RPM, read and installed by RPM itself in a scratch root. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { rpmPackages } from '../../scripts/release/rpm.ts'
import { smallRelease } from '../support/release.ts'
import { inScratchRoot, scratchRootHindrance } from '../support/scratch-root.ts'

const ARCHITECTURE = process.arch === 'x64' ? 'x86_64' : 'aarch64'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-rpm-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const packagesOf = async (version: string, name = version) =>
  rpmPackages(await smallRelease({ version, folder: join(folder, name), does: `echo ${version}` }))

const hindered = Bun.which('rpm') ? scratchRootHindrance() : 'the package rpm is not installed'
if (hindered) console.warn(`Packages of RPM are not installed in tests: ${hindered}.`)

test('the same release has the same bytes, in packages of both architectures', async () => {
  const [some, others] = [await packagesOf('1.2.3-rc.1', 'some'), await packagesOf('1.2.3-rc.1', 'others')]
  expect(some.map((path) => basename(path))).toEqual([
    'tally-1.2.3~rc.1-1.x86_64.rpm',
    'tally-1.2.3~rc.1-1.aarch64.rpm',
  ])
  for (const [index, path] of some.entries()) {
    expect(await Bun.file(path).bytes()).toEqual(await Bun.file(others[index]!).bytes())
  }
})

test.skipIf(hindered !== undefined)(
  'a package is verified, installed, upgraded and removed, and the data stays',
  async () => {
    for (const version of ['1.2.3', '1.3.0']) await packagesOf(version)
    const out = await inScratchRoot(
      folder,
      `
# Without the database of Debian's packages, RPM does not know what is here.
packages() { rpm --force-debian --dbpath /tmp/packages "$@"; }
package() { echo "/mnt/$1/tally-$1-1.${ARCHITECTURE}.rpm"; }
rpm --checksig "$(package 1.2.3)"
mkdir -p /etc/systemd/system /usr/local/bin
echo '[Unit]' >/etc/systemd/system/tally.service
packages --install --nodeps "$(package 1.2.3)"
rm /etc/systemd/system/tally.service
packages --verify --nodeps tally && echo 'nothing differs'
stat -c '%n %a %U:%G' /etc/tally.env /usr/bin/tally
setpriv --reuid tally --regid tally --init-groups /usr/bin/tally
cat /usr/share/tally/installed-by
install -d -o tally -g tally -m 700 /var/lib/tally
echo 'TALLY_LOG_LEVEL=warn' >>/etc/tally.env
packages --upgrade --nodeps "$(package 1.3.0)"
tally
grep LEVEL=warn /etc/tally.env
packages --query tally
packages --erase tally
ls /usr/bin/tally /usr/share/tally 2>/dev/null || echo 'program removed'
ls -d /etc/tally.env.rpmsave /var/lib/tally
`,
    )
    for (const line of [
      'digests OK',
      'sudo systemctl enable --now tally',
      'nothing differs',
      '/etc/tally.env 640 root:tally',
      '/usr/bin/tally 755 root:root',
      '1.2.3',
      'rpm',
      '1.3.0',
      'TALLY_LOG_LEVEL=warn',
      `tally-1.3.0-1.${ARCHITECTURE}`,
      'program removed',
      '/var/lib/tally is kept',
      '/etc/tally.env.rpmsave',
    ]) {
      expect(out).toContain(line)
    }
  },
)
