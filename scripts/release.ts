/**
 * Makes a release, `bun scripts/release.ts`: the executables of every platform with their bill of materials, licences
 * and checksums in `dist/release`. Refuses what would not be one, and says what is missing; tagging and publishing are
 * left to whoever runs it.
 */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { buildAll, PROGRAMS, writeChecksums } from './build.ts'
import { bundledPackages } from './bundled.ts'
import { wholeNotices } from './notices.ts'
import { sbomText } from './sbom.ts'

const ROOT = join(import.meta.dir, '..')

/** What keeps this tree from being a release, each with what to do. Empty where nothing does. */
export async function obstacles(version: string, root = ROOT): Promise<string[]> {
  const found: string[] = []
  const changes = (await Bun.$`git status --porcelain`.cwd(root).quiet().text()).trim()
  if (changes) found.push(`The tree has changes; commit or remove them first:\n${changes}`)
  const changelog = await Bun.file(join(root, 'CHANGELOG.md')).text()
  if (!changelog.split('\n').includes(`## ${version}`)) {
    found.push(`CHANGELOG.md has no section '## ${version}'. Write what changed, or set the version in package.json.`)
  }
  const fixture = `test/fixtures/upgrades/${version}.db.zst`
  if (!(await Bun.file(join(root, fixture)).exists())) {
    found.push(
      `${fixture} is missing, from which later versions are tested. Make it with \`bun scripts/build.ts && bun scripts/upgrade-fixture.ts dist/tally\`, and commit it.`,
    )
  }
  return found
}

/** When the commit was made, so that the same commit makes the same bill of materials. */
async function momentOfCommit(): Promise<Date> {
  return new Date((await Bun.$`git log -1 --format=%cI`.cwd(ROOT).quiet().text()).trim())
}

async function release(version: string): Promise<void> {
  const folder = join(ROOT, 'dist/release')
  // What an earlier one left would be taken for this one's.
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
  console.log(`dist/release  ${files.length} files and SHA256SUMS of tally ${version}`)
}

if (import.meta.main) {
  const { version } = packageJson
  const found = await obstacles(version)
  if (found.length > 0) {
    console.error(`This is no release of ${version}:\n\n${found.join('\n\n')}`)
    process.exit(1)
  }
  await release(version)
}
