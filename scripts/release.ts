/**
 * Builds a release: `bun scripts/release.ts` writes an archive for every platform, the script that installs them, the bill
 * of materials, the provenance, release notes and the checksums to `dist/release`, and signs them if TALLY_SIGNING_KEY_FILE
 * names a key. If something is missing, it reports what and stops. It does not tag or publish: `release/publish.ts` does.
 */
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { SCRIPTS } from '../src/cli/completion/scripts.ts'
import { completions } from '../src/cli/completion/tree.ts'
import { createProgram } from '../src/cli/program.ts'
import { publicKeyLine } from '../src/lib/minisign.ts'
import { buildAll, PROGRAMS } from './build.ts'
import { bundledPackages } from './bundled.ts'
import { manPage } from './man-page.ts'
import { wholeNotices } from './notices.ts'
import { archives } from './release/archives.ts'
import { changelogObstacle, changelogSection } from './release/changelog.ts'
import { checksumsOf, writeChecksums } from './release/checksums.ts'
import { debianPackages } from './release/debian.ts'
import { homebrewFormula } from './release/homebrew.ts'
import { miseTool } from './release/mise.ts'
import { npmPackages } from './release/npm.ts'
import { provenanceText, sourcesOf } from './release/provenance.ts'
import type { Release, ReleaseStep } from './release/release.ts'
import { writeReleaseNotes } from './release/release-notes.ts'
import { rpmPackages } from './release/rpm.ts'
import { PUBLIC_KEY, type SigningKey, signChecksums, signingKey } from './release/signature.ts'
import { sbomText } from './sbom.ts'

/** In turn, as later ones read the files of earlier ones. */
const STEPS: readonly ReleaseStep[] = [archives, debianPackages, rpmPackages, npmPackages, homebrewFormula, miseTool]

const ROOT = join(import.meta.dir, '..')

/** The reasons why this tree can't be released, each with what to do. Empty if there are none. */
export async function obstacles(
  version: string,
  root = ROOT,
  keyFile = process.env.TALLY_SIGNING_KEY_FILE,
): Promise<string[]> {
  const found: string[] = []
  const changes = (await Bun.$`git status --porcelain`.cwd(root).quiet().text()).trim()
  if (changes) found.push(`The working tree has uncommitted changes. Commit or remove them first:\n${changes}`)
  const changelog = changelogObstacle(await changelogOf(root), version)
  if (changelog) found.push(changelog)
  const fixture = `test/fixtures/upgrades/${version}.db.zst`
  if (!(await Bun.file(join(root, fixture)).exists())) {
    found.push(
      `${fixture} is missing. Tests of later versions upgrade from it. Create it with \`bun scripts/build.ts && bun scripts/upgrade-fixture.ts dist/tally\`, and commit it.`,
    )
  }
  await signingKey(keyFile, root).catch(({ message }: Error) => found.push(message))
  return found
}

const changelogOf = (root: string) => Bun.file(join(root, 'CHANGELOG.md')).text()

/** The time of the commit, so that the same commit gives the same bill of materials. */
async function momentOfCommit(): Promise<Date> {
  return new Date((await Bun.$`git log -1 --format=%cI`.cwd(ROOT).quiet().text()).trim())
}

async function release(version: string, key: SigningKey | undefined): Promise<void> {
  const folder = join(ROOT, 'dist/release')
  // Files of an earlier release must not end up in this one.
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  // First: what is bundled is read from the parts that it builds.
  const executables = await buildAll(join(ROOT, 'dist/executables'))
  const packages = await bundledPackages(PROGRAMS)
  const at = await momentOfCommit()
  const commands = completions(await createProgram())
  const release: Release = {
    version,
    at,
    folder,
    executables,
    texts: {
      license: await Bun.file(join(ROOT, 'LICENSE')).text(),
      thirdPartyLicenses: await wholeNotices(packages),
      manPage: await manPage(version, at),
      completions: { bash: SCRIPTS.bash(commands), zsh: SCRIPTS.zsh(commands), fish: SCRIPTS.fish(commands) },
      service: await Bun.file(join(ROOT, 'packaging/tally.service')).text(),
    },
  }
  const bom = join(folder, `tally-${version}.cdx.json`)
  await Bun.write(bom, sbomText({ version, packages, at }))
  const installer = join(folder, 'install.sh')
  await copyFile(join(ROOT, 'packaging/install.sh'), installer)
  const files = [bom, installer]
  if (await Bun.file(join(ROOT, PUBLIC_KEY)).exists()) {
    files.push(join(folder, basename(PUBLIC_KEY)))
    await copyFile(join(ROOT, PUBLIC_KEY), files.at(-1)!)
  }
  for (const step of STEPS) files.push(...(await step(release)))
  const count = await describeFiles(release, files, key)
  console.log(`dist/release  ${count} files and SHA256SUMS for tally ${version}`)
  await sign(release, key)
}

/** Writes what says something about the other files, and returns how many files `SHA256SUMS` lists. */
async function describeFiles(release: Release, files: string[], key: SigningKey | undefined): Promise<number> {
  const { folder, version, at } = release
  const section = changelogSection(await changelogOf(ROOT), version)
  const notes = await writeReleaseNotes(release, section, key && publicKeyLine(key.publicKey))
  const checksums = new Map(await checksumsOf([...files, notes]))
  const provenance = join(folder, 'provenance.json')
  const releasesUrl = process.env.TALLY_RELEASES_URL
  await Bun.write(provenance, provenanceText(checksums, { version, at, sources: await sourcesOf(ROOT), releasesUrl }))
  for (const [name, sum] of await checksumsOf([provenance])) checksums.set(name, sum)
  await writeChecksums(folder, checksums)
  return checksums.size
}

async function sign(release: Release, key: SigningKey | undefined): Promise<void> {
  if (!key) {
    console.log('This release is not signed: set TALLY_SIGNING_KEY_FILE to the file of the secret key.')
    return
  }
  await signChecksums(release, key)
  console.log(`Signed with the key ${key.publicKey.id}: ${publicKeyLine(key.publicKey)}`)
  if (!(await Bun.file(join(ROOT, PUBLIC_KEY)).exists())) {
    console.log(
      `${PUBLIC_KEY} is missing. Commit the public key there, so that \`tally update\` checks later releases with it.`,
    )
  }
}

if (import.meta.main) {
  const { version } = packageJson
  const found = await obstacles(version)
  if (found.length > 0) {
    console.error(`Version ${version} can't be released yet:\n\n${found.join('\n\n')}`)
    process.exit(1)
  }
  await release(version, await signingKey(process.env.TALLY_SIGNING_KEY_FILE, ROOT))
}
