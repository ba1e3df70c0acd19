import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'
import { PROGRAMS } from '../../scripts/build.ts'
import { bundledPackages } from '../../scripts/bundled.ts'
import { manPage } from '../../scripts/man-page.ts'
import { wholeNotices } from '../../scripts/notices.ts'
import { obstacles } from '../../scripts/release.ts'
import { packageUrlOf, sbomText } from '../../scripts/sbom.ts'

const packages = await bundledPackages(PROGRAMS)
const named = (name: string) => packages.filter((each) => each.name === name)

test('what is bundled is listed with where it is, and what only builds and tests use is not', () => {
  expect(named('elysia')).toEqual([expect.objectContaining({ license: 'MIT', parts: ['program'], within: undefined })])
  expect(named('react')).toEqual([expect.objectContaining({ parts: ['web application'], within: undefined })])
  expect(named('@mantine/core')).not.toEqual([])
  expect(named('@scalar/api-reference')).toEqual([expect.objectContaining({ within: undefined })])
  expect(named('microdiff')).toEqual([expect.objectContaining({ within: '@scalar/api-reference' })])
  expect(named('minisearch')).toEqual([expect.objectContaining({ parts: ['manual'], within: undefined })])
  for (const name of ['knip', 'typescript', 'fast-check', '@biomejs/biome']) {
    expect(named(name)).toEqual([])
  }
})

test('the bill of materials is valid CycloneDX and has every bundled package once', async () => {
  const text = sbomText({ version: '1.2.3', packages, at: new Date('2026-11-20T19:30:00Z') })
  expect(await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text)).toBeNull()
  const bom = JSON.parse(text)
  expect(bom.metadata).toMatchObject({
    timestamp: '2026-11-20T19:30:00.000Z',
    component: { name: 'tally', version: '1.2.3' },
  })
  const urls: string[] = bom.components.map(({ purl }: { purl: string }) => purl)
  expect(urls.filter((url) => url.startsWith('pkg:npm/')).sort()).toEqual(
    [...new Set(packages.map(packageUrlOf))].sort(),
  )
  expect(urls).toContain(`pkg:github/oven-sh/bun@bun-v${Bun.version}`)
  expect(packageUrlOf({ name: '@mantine/core', version: '9.7.3' })).toBe('pkg:npm/%40mantine/core@9.7.3')
  const elysia = bom.components.find(({ name }: { name: string }) => name === 'elysia')
  expect(elysia.licenses).toEqual([{ license: { id: 'MIT' } }])
  const protobuf = bom.components.find(({ group }: { group: string }) => group === '@bufbuild')
  expect(protobuf.licenses).toEqual([{ expression: '(Apache-2.0 AND BSD-3-Clause)' }])
})

test('the notices name every bundled package with the text of its licence', async () => {
  const text = await wholeNotices(packages)
  const has = (part: string) => text.includes(part)
  expect(packages.filter(({ name, version }) => !has(`\n${name} ${version} · `))).toEqual([])
  const texts = packages.flatMap(({ licenseTexts }) => licenseTexts)
  expect(texts.filter((each) => !has(each.replace(/\r\n?/g, '\n').trim()))).toEqual([])
  // One full text of each license that must be included; the others refer to it.
  expect(
    ['SIL OPEN FONT LICENSE', 'TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION'].filter(has),
  ).toHaveLength(2)
  expect(packages.filter(({ license }) => !license)).toEqual([])
})

test('a tree with changes, without a section of changes or without a database of its version is no release', async () => {
  const root = await mkdtemp(join(tmpdir(), 'tally-release-'))
  try {
    await Bun.$`git init --quiet`.cwd(root).quiet()
    await Bun.write(join(root, 'CHANGELOG.md'), '# Changes\n\n## [1.2.3-rc] - 2026-11-20\n')
    expect(await obstacles('1.2.3', root)).toEqual([
      expect.stringContaining('?? CHANGELOG.md'),
      expect.stringContaining("no section '## [1.2.3] - YYYY-MM-DD'"),
      expect.stringContaining('bun scripts/upgrade-fixture.ts dist/tally'),
    ])
    await Bun.write(join(root, 'CHANGELOG.md'), '# Changes\n\n## [1.2.3] - 2026-11-20\n\n### Added\n\n- A line.\n')
    await Bun.write(join(root, 'test/fixtures/upgrades/1.2.3.db.zst'), 'a database')
    await Bun.$`git add . && git -c user.name=a -c user.email=a@b.c commit --quiet -m one`.cwd(root).quiet()
    expect(await obstacles('1.2.3', root)).toEqual([])
  } finally {
    await rm(root, { recursive: true })
  }
})

test('the man page has every command and variable, and is one that man formats without a warning', async () => {
  const text = await manPage('1.2.3', new Date('2026-11-20T19:30:00Z'))
  expect(text).toStartWith('.TH TALLY 1 "2026-11-20" "Tally 1.2.3"')
  for (const part of ['tally bills send [options]', 'TALLY_DATA', '\\-\\-month']) expect(text).toContain(part)
  const man = Bun.which('groff')
  if (!man) return
  const format = Bun.spawn([man, '-man', '-ww', '-Tutf8', '-z'], { stdin: Buffer.from(text), stderr: 'pipe' })
  expect(await format.stderr.text()).toBe('')
})
