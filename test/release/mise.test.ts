/** The lines for mise name archives of the release, with their checksums. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { archives } from '../../scripts/release/archives.ts'
import { miseToolFor } from '../../scripts/release/mise.ts'
import type { Release } from '../../scripts/release/release.ts'
import { smallRelease } from '../support/release.ts'

let folder: string
let release: Release

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-mise-'))
  release = await smallRelease({ version: '1.2.3', folder: join(folder, 'release') })
  await archives(release)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('without the URL of the archives, there are none', async () => {
  expect(await miseToolFor(release, undefined)).toEqual([])
})

test('every platform has an archive of the release, with its checksum', async () => {
  const [path] = await miseToolFor(release, 'https://downloads.example/tally/')
  const { tools } = Bun.TOML.parse(await Bun.file(path!).text()) as {
    tools: Record<string, { version: string; platforms: Record<string, { url: string; checksum: string }> }>
  }
  const { version, platforms } = tools['http:tally']!
  expect(version).toBe('1.2.3')
  expect(Object.keys(platforms)).toEqual(['linux-arm64', 'linux-x64', 'macos-arm64', 'macos-x64', 'windows-x64'])
  for (const { url, checksum } of Object.values(platforms)) {
    const archive = url.replace('https://downloads.example/tally/', '')
    const content = await Bun.file(join(release.folder, archive)).bytes()
    expect(checksum).toBe(`sha256:${createHash('sha256').update(content).digest('hex')}`)
  }
})
