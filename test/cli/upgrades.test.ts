/** Databases of every released version, kept by `scripts/upgrade-fixture.ts`, become this version's. */
import { Database as Connection } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { MIGRATIONS } from '../../migrations/index.ts'
import { QUESTIONS } from '../../scripts/upgrade-fixture.ts'
import { CommandLine } from '../support/command-line.ts'
import { isLong } from '../support/tier.ts'

const FIXTURES = join(import.meta.dir, '../fixtures/upgrades')
const versions = [...new Bun.Glob('*.db.zst').scanSync({ cwd: FIXTURES })].map((name) => name.replace('.db.zst', ''))

/** As many as start at once where a supervisor, cron jobs and people meet after an upgrade. */
const AT_ONCE = 8

/** Of the versions that are upgraded by several processes at once, in the default tier the oldest. */
const contended = isLong ? versions : versions.sort(Bun.semver.order).slice(0, 1)

function appliedIn(file: string): unknown[] {
  const connection = new Connection(file, { readonly: true })
  try {
    return connection.query('SELECT version FROM migrations ORDER BY version').values().flat()
  } finally {
    connection.close()
  }
}

test('a database of each earlier version is kept', () => {
  expect(versions).toContain('0.1.0')
})

for (const version of versions) {
  const first = contended.includes(version) ? 'by whichever of eight processes comes first' : 'by the first command'
  test(`a database of ${version} is upgraded once, ${first}, and answers as before`, async () => {
    const tally = await CommandLine.make({ engine: 'sqlite', isFirst: true })
    try {
      await mkdir(tally.dataDir)
      const file = join(tally.dataDir, 'tally.db')
      await Bun.write(file, zstdDecompressSync(await Bun.file(join(FIXTURES, `${version}.db.zst`)).bytes()))
      const older = appliedIn(file).length < MIGRATIONS.length
      const list = () => tally.done(['users', 'list'], { asProcess: true })
      if (contended.includes(version)) await Promise.all(Array.from({ length: AT_ONCE }, list))
      else await tally.done(['users', 'list'])

      expect(appliedIn(file)).toEqual(MIGRATIONS.map((migration) => migration.version))

      const before = await Bun.file(join(FIXTURES, `${version}.json`)).json()
      for (const [name, question] of Object.entries(QUESTIONS)) {
        const { stdout } = await tally.done(question)
        expect({ [name]: JSON.parse(stdout) }).toMatchObject({ [name]: before[name] })
      }
      await tally.done(['verify'])

      const copies = (await readdir(tally.dataDir)).filter((name) => name.includes('before-upgrade-from'))
      expect(copies).toHaveLength(older ? 1 : 0)
      const { token } = await tally.createToken()
      expect((await (await tally.app()).call('GET /api/v1/me', { token })).status).toBe(200)
    } finally {
      await tally.remove()
    }
  })
}
