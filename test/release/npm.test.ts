/** The packages for npm; `npm.long.test.ts` installs them. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npmPackages, SCOPE } from '../../scripts/release/npm.ts'
import { readNpmPackage } from '../support/npm-package.ts'
import { smallRelease } from '../support/release.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tally-npm-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function makePackages(name: string) {
  const paths = await npmPackages(await smallRelease({ version: '1.2.3', folder: join(folder, name) }))
  return Promise.all(paths.map(readNpmPackage))
}

test('the same release has the same bytes, and every package has the files that it names', async () => {
  const [one, other] = [await makePackages('one'), await makePackages('other')]
  for (const [at, { path, manifest, files }] of one.entries()) {
    expect(await readFile(path)).toEqual(await readFile(other[at]!.path))
    const paths = Object.keys(files).map((file) => file.replace(/^package\//, ''))
    expect(paths).toContain('README.md')
    expect(paths).toContain('LICENSE')
    for (const listed of manifest.files as string[]) {
      expect(paths.some((file) => file.startsWith(listed))).toBeTrue()
    }
    expect(paths.filter((file) => file.startsWith('bin/')).map((file) => files[`package/${file}`]!.mode)).toEqual([
      0o755,
    ])
    expect(manifest).not.toHaveProperty('scripts')
  }
  expect(one.map(({ manifest: { name, os, cpu, libc } }) => ({ name, os, cpu, libc }))).toContainEqual({
    name: `${SCOPE}/linux-arm64-musl`,
    os: ['linux'],
    cpu: ['arm64'],
    libc: ['musl'],
  })
})

test('packages of a release at GitHub name the repository, which npm compares with that of the workflow', async () => {
  const repositories = async (url: string) => {
    process.env.TALLY_RELEASES_URL = url
    const made = await makePackages(new URL(url).host)
    return [...new Set(made.map(({ manifest }) => JSON.stringify(manifest.repository)))]
  }
  const before = process.env.TALLY_RELEASES_URL
  try {
    const repository = '{"type":"git","url":"git+https://github.com/acme/tally.git"}'
    expect(await repositories('https://github.com/acme/tally/releases/download/v1.2.3')).toEqual([repository])
    expect(await repositories('https://downloads.example/tally')).toEqual([undefined as never])
  } finally {
    if (before === undefined) delete process.env.TALLY_RELEASES_URL
    else process.env.TALLY_RELEASES_URL = before
  }
})
