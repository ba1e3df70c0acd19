/** What a release says about itself: its section of the changelog, and its provenance. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { changelogObstacle, changelogSection } from '../../scripts/release/changelog.ts'
import { checksumsOf, writeChecksums } from '../../scripts/release/checksums.ts'
import { provenanceText, sourcesOf } from '../../scripts/release/provenance.ts'
import { writeReleaseNotes } from '../../scripts/release/release-notes.ts'

const ROOT = join(import.meta.dir, '../..')

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-notes-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const CHANGELOG = `# Changelog

## [Unreleased]

- Not yet.

## [1.2.3] - 2026-11-20

### Added

- A command, see [Budgets](docs/spending-limits.md) and [SLSA](https://slsa.dev/).

## [1.2.2] - 2026-02-31

- Something.

## [1.2.1]

- Something.

## [1.2.0] - 2026-10-01

### Added

## [1.1.9] - 2026-09-01
`

describe('CHANGELOG.md', () => {
  test('has a section for each version that can be released', () => {
    expect(changelogSection(CHANGELOG, '1.2.3')).toEqual({
      date: '2026-11-20',
      text: '### Added\n\n- A command, see [Budgets](docs/spending-limits.md) and [SLSA](https://slsa.dev/).',
    })
  })

  const refused: [version: string, message: RegExp][] = [
    ['9.9.9', /no section '## \[9\.9\.9\] - YYYY-MM-DD'\. Rename '## \[Unreleased\]' to it/],
    ['1.2', /no section/],
    ['1.2.2', /no valid date/],
    ['1.2.1', /no valid date/],
    ['1.2.0', /is empty\. List what has changed/],
    ['1.1.9', /is empty/],
  ]
  test.each(refused)('refuses the section of %s', (version, message) => {
    expect(changelogObstacle(CHANGELOG, version)).toMatch(message)
    expect(() => changelogSection(CHANGELOG, version)).toThrow(message)
  })

  test('of Tally follows Keep a Changelog, newest first', async () => {
    const text = await Bun.file(join(ROOT, 'CHANGELOG.md')).text()
    expect(changelogObstacle(text, packageJson.version)).toBeUndefined()
    const [unreleased, ...released] = text.match(/^## .*$/gm)!
    expect(unreleased).toBe('## [Unreleased]')
    const versions = released.map(
      (heading) => heading.match(/^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d$/)?.[1] ?? heading,
    )
    expect(versions).toEqual(versions.toSorted(Bun.semver.order).reverse())
  })
})

test('release notes have the section, how to check the files, and links that lead somewhere', async () => {
  const notes = async (key?: string) =>
    Bun.file(await writeReleaseNotes({ folder, version: '1.2.3' }, changelogSection(CHANGELOG, '1.2.3'), key)).text()
  const signed = await notes('RWQkey')
  expect(signed).toStartWith('# Tally 1.2.3\n\nReleased on 2026-11-20.')
  expect(signed).toContain('- A command, see Budgets and [SLSA](https://slsa.dev/).')
  expect(signed).toContain('minisign -V -P RWQkey -m SHA256SUMS\nsha256sum --check')
  expect(signed).not.toContain('not signed')
  const unsigned = await notes()
  expect(unsigned).toContain('Without a `SHA256SUMS.minisig`, the release is not signed.')
  expect(unsigned).not.toContain('minisign -V')
})

test('the provenance names files, commit, lock file and runtime, and nothing of the machine or its clock', async () => {
  const files = [join(folder, 'a.tar.gz'), join(folder, 'b.deb')]
  for (const file of files) await Bun.write(file, file)
  const sums = await checksumsOf(files)
  const at = new Date('2026-11-20T19:30:00Z')
  const sources = await sourcesOf(ROOT)
  const text = provenanceText(sums, { version: '1.2.3', at, sources, releasesUrl: undefined })
  const { subject, predicate, ...statement } = JSON.parse(text)
  expect(statement).toEqual({
    _type: 'https://in-toto.io/Statement/v1',
    predicateType: 'https://slsa.dev/provenance/v1',
  })
  const sha256 = new Bun.CryptoHasher('sha256').update(files[0]!).digest('hex')
  expect(subject).toEqual([{ name: 'a.tar.gz', digest: { sha256 } }, expect.objectContaining({ name: 'b.deb' })])
  const head = (await Bun.$`git rev-parse HEAD`.cwd(ROOT).text()).trim()
  const lock = (await Bun.$`sha256sum bun.lock`.cwd(ROOT).text()).split(' ')[0]
  expect(predicate.buildDefinition).toMatchObject({
    externalParameters: { version: '1.2.3' },
    internalParameters: { SOURCE_DATE_EPOCH: 1_795_203_000 },
    resolvedDependencies: [
      { name: 'source', digest: { gitCommit: head } },
      { name: 'bun.lock', digest: { sha256: lock } },
      { name: 'bun', uri: `pkg:github/oven-sh/bun@bun-v${Bun.version}` },
    ],
  })
  // What SLSA requires of a predicate: types and builders are URIs.
  for (const uri of [predicate.buildDefinition.buildType, predicate.runDetails.builder.id]) {
    expect(URL.canParse(uri)).toBeTrue()
  }
  expect(text).not.toContain(folder)
  expect(text).not.toContain(ROOT)
  expect(provenanceText(sums, { version: '1.2.3', at, sources, releasesUrl: undefined })).toBe(text)
})

test('SHA256SUMS is what sha256sum checks', async () => {
  const file = join(folder, 'checked')
  await Bun.write(file, 'content')
  await writeChecksums(folder, await checksumsOf([file]))
  const check = () => Bun.spawnSync(['sha256sum', '--check', 'SHA256SUMS'], { cwd: folder, stderr: 'ignore' }).exitCode
  expect(check()).toBe(0)
  await Bun.write(file, 'other')
  expect(check()).toBe(1)
})
