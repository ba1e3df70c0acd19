import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findServiceUnit, findUnitWith } from '../../src/cli/service-unit.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-unit-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('a systemd unit says with which options it runs an executable, or reads a file of variables', async () => {
  const etc = join(folder, 'etc')
  const options = join(folder, 'tally.env')
  const executable = join(folder, 'executable')
  await Bun.write(executable, '')
  await Bun.write(options, '# comment\nTALLY_BACKUP_DIR="/mnt/my backups"\nTALLY_PORT=1\n')
  const unit = `[Service]\nExecStart=${executable} \\\n  serve\nEnvironment=TALLY_DATA=/var/lib/tally "TALLY_HOST=a b"\nEnvironmentFile=/etc/gone\nEnvironmentFile=\nEnvironmentFile=-${options}\n`
  await Bun.write(join(etc, 'tally.service'), unit)
  await Bun.write(
    join(etc, 'tally.service.d/override.conf'),
    '[Service]\nEnvironment=TALLY_DATA=/srv/tally TALLY_PORT=2\nEnvironment=TALLY_SMTP_URL_FILE=%d/smtp-url TALLY_SMTP_FROM=100%%@example.com\n',
  )
  const folders = [join(folder, 'none'), etc]
  const found = {
    name: 'tally.service',
    environment: {
      TALLY_DATA: '/srv/tally',
      TALLY_HOST: 'a b',
      TALLY_SMTP_URL_FILE: '/run/credentials/tally.service/smtp-url',
      TALLY_SMTP_FROM: '100%@example.com',
      TALLY_BACKUP_DIR: '/mnt/my backups',
      TALLY_PORT: '1',
    },
  }
  expect(findServiceUnit(executable, folders)).toEqual(found)
  expect(findUnitWith(options, folders)).toEqual(found)
  expect(findServiceUnit('/usr/local/bin/other', folders)).toBeUndefined()
  expect(findUnitWith('/etc/gone', folders)).toBeUndefined()
  expect(findServiceUnit(executable, [join(folder, 'none')])).toBeUndefined()
})
