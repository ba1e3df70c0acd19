/** The packages for Debian; `debian.long.test.ts` installs them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { debianPackages } from '../../scripts/release/debian.ts'
import { smallRelease } from '../support/release.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-debian-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the same release has the same bytes, in packages of both architectures', async () => {
  const make = async (name: string) =>
    debianPackages(await smallRelease({ version: '1.2.3', folder: join(folder, name) }))
  const [some, others] = [await make('some'), await make('others')]
  expect(some.map((path) => basename(path)).sort()).toEqual(['tally_1.2.3_amd64.deb', 'tally_1.2.3_arm64.deb'])
  for (const [index, path] of some.entries()) {
    expect(await Bun.file(path).bytes()).toEqual(await Bun.file(others[index]!).bytes())
  }
})
