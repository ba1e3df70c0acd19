/**
 * Builds a release: `bun scripts/release.ts` writes the executables for every platform, their bill of materials,
 * licenses and checksums to `dist/release`. If something is missing, it reports what and stops. It does not tag or
 * publish.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { buildAll, PROGRAMS, writeChecksums } from './build.ts'
import { bundledPackages } from './bundled.ts'
import { wholeNotices } from './notices.ts'
import { sbomText } from './sbom.ts'

const ROOT = join(import.meta.dir, '..')

/** The reasons why this tree can't be released, each with what to do. Empty if there are none. */
export async function obstacles(version: string, root = ROOT): Promise<string[]> {
  const found: string[] = []
  const changes = (await Bun.$`git status --porcelain`.cwd(root).quiet().text()).trim()
  if (changes) found.push(`The working tree has uncommitted changes. Commit or remove them first:\n${changes}`)
  const changelog = await Bun.file(join(root, 'CHANGELOG.md')).text()
  if (!changelog.split('\n').includes(`## ${version}`)) {
    found.push(`CHANGELOG.md has no section '## ${version}'. Add it, or change the version in package.json.`)
  }
  const fixture = `test/fixtures/upgrades/${version}.db.zst`
  if (!(await Bun.file(join(root, fixture)).exists())) {
    found.push(
      `${fixture} is missing. Tests of later versions upgrade from it. Create it with \`bun scripts/build.ts && bun scripts/upgrade-fixture.ts dist/tally\`, and commit it.`,
    )
  }
  return found
}

/** The time of the commit, so that the same commit gives the same bill of materials. */
async function momentOfCommit(): Promise<Date> {
  return new Date((await Bun.$`git log -1 --format=%cI`.cwd(ROOT).quiet().text()).trim())
}

async function release(version: string): Promise<void> {
  const folder = join(ROOT, 'dist/release')
  // Files of an earlier release must not end up in this one.
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const files = await buildAll(folder)
  const packages = await bundledPackages(PROGRAMS)
  const papers = {
    [`tally-${version}.cdx.json`]: sbomText({ version, packages, at: await momentOfCommit() }),
    'THIRD-PARTY-LICENSES.txt': await wholeNotices(packages),
  }
  for (const [name, text] of Object.entries(papers)) {
    await Bun.write(join(folder, name), text)
    files.push(join(folder, name))
  }
  await writeChecksums(folder, files)
  console.log(`dist/release  ${files.length} files and SHA256SUMS for tally ${version}`)
}

if (import.meta.main) {
  const { version } = packageJson
  const found = await obstacles(version)
  if (found.length > 0) {
    console.error(`Version ${version} can't be released yet:\n\n${found.join('\n\n')}`)
    process.exit(1)
  }
  await release(version)
}
