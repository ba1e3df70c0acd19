/** The package for Debian, installed in a scratch root. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { debianPackages } from '../../scripts/release/debian.ts'
import { precompiledExecutable } from '../support/binary.ts'
import { smallRelease, THIS_PLATFORM } from '../support/release.ts'
import { inScratchRoot, scratchRootHindrance } from '../support/scratch-root.ts'

const ROOT = join(import.meta.dir, '../..')
const PACKAGED = `tally_VERSION_${process.arch === 'x64' ? 'amd64' : 'arm64'}.deb`

/** Two packages of 60 MB are compressed and unpacked. */
const INSTALLING_MS = 300_000

let folder: string

async function makePackages(version: string, name = version, executable?: string): Promise<string> {
  const executables = executable === undefined ? {} : { [THIS_PLATFORM]: executable }
  const paths = await debianPackages(await smallRelease({ version, folder: join(folder, name), executables }))
  return paths.find((path) => path.endsWith(PACKAGED.replace('VERSION', version)))!
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-debian-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const hindered = Bun.which('deb-systemd-helper') ? scratchRootHindrance() : 'this is not Debian'
if (hindered) console.warn(`Packages of Debian are not installed in tests: ${hindered}.`)

test.skipIf(hindered !== undefined)(
  'a package takes over data, is upgraded, removed and purged, and the data stays',
  async () => {
    for (const version of ['0.2.0', '0.3.0']) await makePackages(version, version, await precompiledExecutable())
    await Bun.write(
      join(folder, 'old.db'),
      Bun.zstdDecompressSync(await Bun.file(join(ROOT, 'test/fixtures/upgrades/0.2.0.db.zst')).bytes()),
    )
    const out = await inScratchRoot(
      folder,
      `
ip link set lo up 2>/dev/null || true
package() { echo "/mnt/$1/${PACKAGED}" | sed "s/VERSION/$1/"; }
start() {
  program=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/tally.service)
  # Not the address of the server before it.
  rm -f /tmp/log
  # As the unit says, which systemd would read; a free port, because others may run on this machine.
  setpriv --reuid tally --regid tally --init-groups env TALLY_DATA=/var/lib/tally TALLY_PORT=0 $program >/tmp/log 2>&1 &
  server=$!
  until url=$(grep -o 'http://127.0.0.1:[0-9]*' /tmp/log | head -1) && [ -n "$url" ]; do
    kill -0 $server || { cat /tmp/log >&2; exit 1; }
    sleep 0.1
  done
}
stop() { kill $server; wait $server; }

mkdir -p /etc/systemd/system
echo '[Unit]' >/etc/systemd/system/tally.service
printf '#!/bin/sh\\n' >/usr/local/bin/tally
dpkg -i "$(package 0.2.0)"
rm /etc/systemd/system/tally.service /usr/local/bin/tally
stat -c '%n %a %U:%G' /etc/tally.env
install -d -o tally -g tally -m 700 /var/lib/tally
install -o tally -g tally -m 600 /mnt/old.db /var/lib/tally/tally.db
start
curl -fsS "$url/ready" >/dev/null
echo 'ready 0.2.0'
echo 'TALLY_LOG_LEVEL=warn' >>/etc/tally.env
dpkg -i --force-confold "$(package 0.3.0)"
curl -fsS "$url/ready" >/dev/null
echo 'ready while upgraded'
stop
start
curl -fsS "$url/ready" >/dev/null
echo 'ready 0.3.0'
mkdir -p /etc/systemd/system/tally.service.d
printf '[Service]\\nLoadCredential=smtp-url:/etc/tally/smtp-url\\nEnvironment=TALLY_SMTP_URL_FILE=%%d/smtp-url\\n' \
  >/etc/systemd/system/tally.service.d/override.conf
setpriv --reuid tally --regid tally --init-groups tally doctor --env-file /etc/tally.env || echo "doctor: $?"
stop
grep LEVEL=warn /etc/tally.env
dpkg --remove tally
ls /usr/bin/tally 2>/dev/null || echo 'program removed'
dpkg --purge tally
ls /etc/tally.env 2>/dev/null || echo 'options purged'
ls /var/lib/tally/tally.db
`,
    )
    expect(out).toContain('sudo systemctl reenable tally')
    expect(out).toContain('sudo rm /usr/local/bin/tally')
    expect(out).toContain('/etc/tally.env 640 root:tally')
    for (const line of ['ready 0.2.0', 'ready while upgraded', 'ready 0.3.0', 'TALLY_LOG_LEVEL=warn']) {
      expect(out).toContain(line)
    }
    // With the folder of the unit, and without a credential that only systemd would provide.
    expect(out).toContain('/var/lib/tally/tally.db is readable and writable')
    expect(out).toMatch(/ERROR +options +.*\/run\/credentials\/tally.service\/smtp-url cannot be read \(ENOENT\)/)
    expect(out).toContain('doctor: 1')
    expect(out).toContain('program removed')
    expect(out).toContain('options purged')
    expect(out).toContain('/var/lib/tally is kept')
    expect(out).toContain('/var/lib/tally/tally.db')
  },
  INSTALLING_MS,
)
