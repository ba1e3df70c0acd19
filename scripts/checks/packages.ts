/** Debian packages that some tests need. Only those of the selected tests are installed, and only if that is allowed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pgbouncerMissing } from '../../test/support/pgbouncer.ts'
import { postgresPrograms } from '../../test/support/postgres-programs.ts'
import { type Suite, TESTS } from './suites.ts'

interface DebianPackage {
  name: string
  isInstalled: () => boolean
  /** What the tests use it for. */
  use: string
  /** What happens to the tests that need it without it. */
  instead: string
  isNeededBy: (suite: Suite, text: string) => boolean
}

const SKIPPED = 'these tests are skipped'

const PACKAGES: readonly DebianPackage[] = [
  {
    name: 'postgresql',
    isInstalled: () => postgresPrograms() !== undefined,
    use: 'runs the tests of PostgreSQL',
    instead: 'they use PGlite, which has one connection and cannot show races, or are skipped',
    isNeededBy: ({ engine }, text) => engine === 'postgres' || /'postgres'|\bstartPostgres\b|\bENGINES\b/.test(text),
  },
  {
    name: 'pgbouncer',
    isInstalled: () => pgbouncerMissing() === undefined,
    use: 'is in front of PostgreSQL in some tests',
    instead: SKIPPED,
    isNeededBy: (_, text) => text.includes('support/pgbouncer.ts') || text.includes('chaos/postgres-crashes.ts'),
  },
  {
    name: 'hledger',
    isInstalled: () => Bun.which('hledger') !== null,
    use: 'reads the journals of bills',
    instead: SKIPPED,
    isNeededBy: (_, text) => text.includes("which('hledger')"),
  },
  {
    name: 'rpm',
    isInstalled: () => Bun.which('rpm') !== null,
    use: 'reads and installs the packages for systems with RPM',
    instead: SKIPPED,
    isNeededBy: (_, text) => text.includes("which('rpm')"),
  },
  {
    name: 'python3-venv',
    isInstalled: () => Bun.spawnSync(['sh', '-c', 'python3 -c "import ensurepip"']).exitCode === 0,
    use: 'runs a client in Python that is made from the OpenAPI document',
    instead: SKIPPED,
    isNeededBy: (_, text) => text.includes('python-packages.ts'),
  },
  {
    name: 'age',
    isInstalled: () => Bun.which('age') !== null,
    use: 'reads and makes encrypted backups',
    instead: SKIPPED,
    isNeededBy: (_, text) => text.includes("which('age')"),
  },
  ...['buildah', 'docker-registry', 'skopeo'].map((name) => ({
    name,
    isInstalled: () => Bun.which(name) !== null,
    use: 'builds and publishes the container image',
    instead: SKIPPED,
    isNeededBy: (_: Suite, text: string) => text.includes('support/image-registry.ts'),
  })),
  ...['default-jdk-headless', 'maven'].map((name, index) => ({
    name,
    isInstalled: () => Bun.which(['javac', 'mvn'][index]!) !== null,
    use: 'checks PDFs against PDF/UA with veraPDF',
    instead: SKIPPED,
    isNeededBy: (_: Suite, text: string) => text.includes('support/verapdf.ts'),
  })),
  {
    name: 'chromium-headless-shell',
    isInstalled: () => Bun.which('chromium-headless-shell') !== null || Bun.which('chromium') !== null,
    use: 'opens the pages of the web application',
    instead: SKIPPED,
    isNeededBy: (_, text) => /\bCHROMIUM\b|\bwebStage\b/.test(text),
  },
]

const APT = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-y']

/** Installs what the suites need and the machine lacks, or says what is missing and with which command to install it. */
export async function preparePackages(selected: readonly Suite[], { mayInstall }: { mayInstall: boolean }) {
  const missing = PACKAGES.filter(({ isInstalled, isNeededBy }) => {
    const isNeeded = (suite: Suite) =>
      suite.files.some((path) => isNeededBy(suite, readFileSync(join(TESTS, path), 'utf8')))
    return selected.some(isNeeded) && !isInstalled()
  })
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name)
  const install = `apt-get install --no-install-recommends ${names.join(' ')}`
  for (const { name, use } of missing) console.log(`The Debian package ${name} is missing: it ${use}.`)
  const isPossible = process.getuid?.() === 0 && Bun.which('apt-get') !== null
  if (mayInstall && isPossible) {
    console.log(`Installing ${names.join(', ')}. Use --no-install to skip the tests that need them.`)
    const updated = Bun.spawnSync([...APT, 'update'])
    const installed = Bun.spawnSync([...APT, 'install', '--no-install-recommends', ...names])
    if (missing.every(({ isInstalled }) => isInstalled())) return
    const error = [updated, installed]
      .find(({ exitCode }) => exitCode !== 0)
      ?.stderr.toString()
      .trim()
    console.log(`apt-get failed: ${error?.split('\n').at(-1) ?? 'it installed something else'}`)
  }
  for (const { name, instead } of missing.filter(({ isInstalled }) => !isInstalled())) {
    console.log(`Without ${name}, ${instead}.`)
  }
  console.log(`To run them, install what is missing: ${isPossible ? install : `as root on Debian, ${install}`}`)
}
