/**
 * Runs the checks, prints a line for each, continues after a failed one, and ends with the total: `N passed, N failed`.
 * Tests count one by one, every other check counts once.
 *
 * Without arguments, all checks run; otherwise only the named ones: `types style boundaries unused bundle build`, the
 * folders of `test/` (`http cli web binary`, `features/bills`), and `postgres`, which repeats on PostgreSQL what else
 * runs on SQLite alone. `--engine postgres` runs the tests themselves on PostgreSQL, and nothing on SQLite; with
 * `--partitioned`, its entries are partitioned.
 */
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ENGINE_OF_TESTS, ENGINES, type Engine, PARTITIONED } from '../test/support/engines.ts'
import { pgbouncerMissing } from '../test/support/pgbouncer.ts'
import { postgresPrograms } from '../test/support/postgres-programs.ts'
import { SHARED_SERVER, startInstalled } from '../test/support/postgres-server.ts'
import { SHARED_FILES } from '../test/support/shared-files.ts'

const ROOT = join(import.meta.dir, '..')

/**
 * Several times as long as the slowest check takes on two cores; a check that hangs must not block the results of the
 * others.
 */
const CHECK_TIMEOUT_MS = 1_200_000

/** A test that takes longer is waiting for something that will not happen. */
const TEST_TIMEOUT_MS = 180_000

/** Lines shown of a failed check. The first issues matter; thousands after them bury the summary. */
const SHOWN_LINES = 150

/** The space that the tests need at a time for databases and copies of the executable. */
const MEMORY_FOLDER_BYTES = 4 * 1024 ** 3

/** In memory if there is enough: many tests spend a third of their time on syncs of databases that they throw away. */
const TMPDIR = process.env.TMPDIR ?? (hasRoom('/dev/shm') ? '/dev/shm' : tmpdir())

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= MEMORY_FOLDER_BYTES
  } catch {
    return false
  }
}

/** Of one run: what is made for the first test that needs it serves the tests of all processes. */
const shared = mkdtempSync(join(TMPDIR, 'tally-shared-'))
process.on('exit', () => rmSync(shared, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** What a check printed, and the processor time of its processes, in seconds. */
interface Work {
  output: string
  cpuSeconds: number
}

interface Check {
  /** What it is selected by on the command line. */
  name: string
  title: string
  run(): Promise<Counts & Work>
}

async function spawn(command: string[], env: Record<string, string> = {}): Promise<{ ok: boolean } & Work> {
  const child = Bun.spawn(command, {
    cwd: ROOT,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: CHECK_TIMEOUT_MS,
    env: { ...process.env, TMPDIR, [SHARED_FILES]: shared, NO_COLOR: '1', FORCE_COLOR: undefined, ...env },
  })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  const cut = child.signalCode
    ? `\nStopped by ${child.signalCode}: the time limit of a check is ${CHECK_TIMEOUT_MS / 1000} s.`
    : ''
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6
  return { ok: code === 0, output: stdout + stderr + cut, cpuSeconds }
}

/** A check that is a script in package.json, run by Bun even if its program asks for Node. */
function scriptCheck(name: string): Check {
  return {
    name,
    title: name,
    async run() {
      const { ok, ...work } = await spawn([process.execPath, 'run', '--bun', name])
      return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, ...work }
    },
  }
}

/** @param engine of what the tests open; by default that of the surrounding run */
function testCheck(name: string, title: string, paths: readonly string[], engine?: Engine): Check {
  return {
    name,
    title,
    async run() {
      const folder = await mkdtemp(join(tmpdir(), 'tally-checks-'))
      try {
        const report = join(folder, 'junit.xml')
        const options = [`--timeout=${TEST_TIMEOUT_MS}`, '--reporter=junit', `--reporter-outfile=${report}`]
        const { ok, ...work } = await spawn(
          [process.execPath, 'test', ...options, ...paths],
          engine && { [ENGINE_OF_TESTS]: engine },
        )
        const results = existsSync(report) ? await Bun.file(report).text() : ''
        fileTimes.push(...timesOf(results))
        const counts = countTests(results)
        if (!counts) return { passed: 0, failed: 1, skipped: 0, ...work }
        // A file that does not load, or an error between two tests, fails the run without failing a test.
        if (!ok && counts.failed === 0) counts.failed = 1
        return { ...counts, ...work }
      } finally {
        await rm(folder, { recursive: true })
      }
    },
  }
}

/** The totals in the root element of a JUnit report. */
function countTests(report: string): Counts | undefined {
  const root = /<testsuites [^>]*>/.exec(report)?.[0]
  if (!root) return undefined
  const attribute = (name: string) => Number(new RegExp(` ${name}="(\\d+)"`).exec(root)?.[1] ?? 0)
  const failed = attribute('failures') + attribute('errors')
  const skipped = attribute('skipped')
  return { passed: attribute('tests') - failed - skipped, failed, skipped }
}

/** A file of tests, and the seconds that it took. */
interface FileTime {
  file: string
  seconds: number
}

const fileTimes: FileTime[] = []

/** Where the next second of a run is to be saved. */
const SHOWN_FILES = 12

/** The files in a JUnit report; a `describe` has an element like that of its file, inside it. */
function timesOf(report: string): FileTime[] {
  return [...report.matchAll(/^ {2}<testsuite name="[^"]*" file="([^"]*)" .* time="([\d.]+)"/gm)].map(
    ([, file, seconds]) => ({ file: file!, seconds: Number(seconds) }),
  )
}

/** Folders of `test/` that are too large for one check: each folder in them is one. */
const DIVIDED = ['features']

/** How many processes share the files of a check that takes minutes, so that the last lane is not alone with it. */
const PROCESSES: Record<string, number> = { web: 3, cli: 3, binary: 3, postgres: 2, 'features/entries': 2 }

/** Every file that contains tests, so that new ones run without being listed here. */
const tests = [...new Bun.Glob('**/*.test.{ts,tsx}').scanSync({ cwd: join(ROOT, 'test') })].sort()

/** By folders and files of `test/`. */
function testChecks(): Check[] {
  const nameOf = ([folder = '', ...rest]: string[]) => (DIVIDED.includes(folder) ? `${folder}/${rest[0]}` : folder)
  const files = Map.groupBy(tests, (path) => nameOf(path.split('/')).replace(/\.test\.tsx?$/, ''))
  return [...files].flatMap(([name, paths]) => {
    return sharesOf(name, paths)
  })
}

/** Tests of HTTP alone, for which it makes no difference where the data are. */
const WITHOUT_QUERIES = [
  'compression',
  'load-limits',
  'manual',
  'openapi',
  'pages',
  'python-client',
  'rate-limits',
  'security-headers',
  'unread-bodies',
].map((name) => `http/${name}.test.ts`)

/**
 * On PostgreSQL once more: who may call what, and every test that starts an application on one database. Those that
 * open a database of each engine (`forEachEngine`) have run on both.
 */
function postgresChecks(): Check[] {
  const startsOne = (path: string) =>
    /\bstartApp\((?!\{ db\b)/.test(readFileSync(join(ROOT, 'test', path), 'utf8')) && !WITHOUT_QUERIES.includes(path)
  return sharesOf('postgres', ['binary/authorization.test.ts', ...tests.filter(startsOne)], 'postgres')
}

/** The checks of one name, which share its files. */
function sharesOf(name: string, paths: readonly string[], engine?: Engine): Check[] {
  const count = PROCESSES[name] ?? 1
  const shares = Map.groupBy(paths, (path) => paths.indexOf(path) % count)
  return [...shares].map(([index, share]) =>
    testCheck(
      name,
      count === 1 ? name : `${name} ${index + 1}/${count}`,
      share.map((path) => `./test/${path}`),
      engine,
    ),
  )
}

interface DebianPackage {
  name: string
  isInstalled: () => boolean
  /** What the tests that need it do without the package. */
  instead: string
}

const PACKAGES: DebianPackage[] = [
  // PGlite has one connection and can't show races.
  {
    name: 'postgresql',
    isInstalled: () => postgresPrograms() !== undefined,
    instead: 'the tests that need it use PGlite or are skipped.',
  },
  {
    name: 'pgbouncer',
    isInstalled: () => pgbouncerMissing() === undefined,
    instead: 'the tests that need it are skipped.',
  },
  // Validates the journals of bills.
  {
    name: 'hledger',
    isInstalled: () => Bun.which('hledger') !== null,
    instead: 'the tests that need it are skipped.',
  },
  // Reads and installs the packages for systems with RPM.
  {
    name: 'rpm',
    isInstalled: () => Bun.which('rpm') !== null,
    instead: 'the tests that need it are skipped.',
  },
  // Runs openapi-python-client, which users of Python make their client with.
  {
    name: 'python3-venv',
    isInstalled: () => Bun.spawnSync(['sh', '-c', 'python3 -c "import ensurepip"']).exitCode === 0,
    instead: 'the test of a client in Python is skipped.',
  },
  // Reads and makes encrypted backups.
  {
    name: 'age',
    isInstalled: () => Bun.which('age') !== null,
    instead: 'the tests that need it are skipped.',
  },
  // Opens the web application's pages.
  {
    name: 'chromium-headless-shell',
    isInstalled: () => Bun.which('chromium-headless-shell') !== null,
    instead: 'the tests of the web pages use the package chromium, or are skipped without it.',
  },
]

/** Installs the package if it can, and returns a line about what the tests will use. */
async function preparePackage({ name, isInstalled, instead }: DebianPackage): Promise<string> {
  if (isInstalled()) return `${name} is installed.`
  if (process.getuid?.() !== 0 || !Bun.which('apt-get')) {
    return `${name} is not installed, and this script can install it only as root on Debian: ${instead}`
  }
  console.log(`Installing the Debian package ${name} for the tests that need it.`)
  const apt = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-y']
  await spawn([...apt, 'update'])
  const { output } = await spawn([...apt, 'install', '--no-install-recommends', name])
  if (isInstalled()) return `${name} was installed.`
  return `${name} could not be installed (${output.trim().split('\n').at(-1)}): ${instead}`
}

const totals: Counts = { passed: 0, failed: 0, skipped: 0 }

function inWords({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

async function perform(check: Check): Promise<void> {
  const begun = performance.now()
  const { output, cpuSeconds, ...counts } = await check.run()
  totals.passed += counts.passed
  totals.failed += counts.failed
  totals.skipped += counts.skipped
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  console.log(
    `${counts.failed > 0 ? 'FAILED' : 'ok    '} ${check.title.padEnd(12)} ${seconds.padStart(6)} s ${cpuSeconds.toFixed(1).padStart(6)} s CPU  ${inWords(counts)}`,
  )
  if (counts.failed > 0) {
    const lines = issuesOf(output)
    console.log(lines.slice(0, SHOWN_LINES).join('\n'))
    if (lines.length > SHOWN_LINES) console.log(`… and ${lines.length - SHOWN_LINES} more lines.`)
  }
}

/** The line that Bun prints before the results of a test file. */
const FILE_HEADER = /^\S+\.test\.tsx?:$/

/** Leaves out files and tests that passed: their hundreds of lines would hide the one that failed. */
function issuesOf(output: string): string[] {
  const files: string[][] = [[]]
  for (const line of output.trimEnd().split('\n')) {
    if (FILE_HEADER.test(line)) files.push([])
    if (!/^\(pass\)|^$/.test(line)) files.at(-1)!.push(line)
  }
  const failed = files.filter((lines) => lines.some((line) => /^\(fail\)|^error: |^# Unhandled error/.test(line)))
  return (failed.length > 0 ? failed : files).flat()
}

const sourceChecks = ['types', 'unused', 'boundaries', 'style'].map(scriptCheck)
// The tests use the web pages from the first and the executable from the second.
const builds = ['bundle', 'build'].map(scriptCheck)

/** Longest first, so that all lanes end at about the same time; test folders that are not listed here come last. */
const LONGEST = [
  'web',
  'cli',
  'binary',
  'docs',
  'postgres',
  'features/entries',
  'features/prices',
  'http',
  'database',
  'release',
  'features/bills',
  'features/people',
  'features/transfer',
  'features/telemetry',
]
const byLength = ({ name }: Check) => (LONGEST.includes(name) ? LONGEST.indexOf(name) : LONGEST.length)
const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { engine: { type: 'string' }, partitioned: { type: 'boolean' } },
})
if (flags.engine !== undefined && !ENGINES.includes(flags.engine as Engine)) {
  console.error(`Unknown engine: ${flags.engine}. Choose from: ${ENGINES.join(', ')}.`)
  process.exit(2)
}
if (flags.engine !== undefined) process.env[ENGINE_OF_TESTS] = flags.engine
if (flags.partitioned) process.env[PARTITIONED] = '1'
const testing = [...testChecks(), ...(flags.engine === undefined ? postgresChecks() : [])].sort(
  (one, other) => byLength(one) - byLength(other),
)

/**
 * More than the smallest machine has cores, because tests wait for disks, browsers and clocks, too; with one more, they
 * begin to miss their time limits.
 */
const LANES = 3

const ordered = [...builds, ...sourceChecks, ...testing]

const selected = new Set(positionals)
const isSelected = ({ name }: Check) => selected.size === 0 || selected.has(name)
const unknown = selected.difference(new Set(ordered.map(({ name }) => name)))
if (unknown.size > 0) {
  const known = [...new Set(ordered.map(({ name }) => name))].join(', ')
  console.error(`Unknown check: ${[...unknown].join(', ')}. Choose from: ${known}.`)
  process.exit(2)
}

if (testing.some(isSelected)) {
  for (const wanted of PACKAGES) console.log(await preparePackage(wanted))
  const programs = postgresPrograms()
  // One for all checks, as each would take seconds to create and stop its own. It stops with this process.
  if (programs) process.env[SHARED_SERVER] = (await startInstalled(programs, { parent: TMPDIR })).url
}

async function performInTurn(waiting: Check[]): Promise<void> {
  for (let check = waiting.shift(); check; check = waiting.shift()) await perform(check)
}

const selectedOf = (checks: readonly Check[]) => checks.filter(isSelected)
const waiting = selectedOf(testing)
const built = performInTurn(selectedOf(builds))
const checked = performInTurn(selectedOf(sourceChecks))
await Promise.all(
  Array.from({ length: LANES }, async (_, lane) => {
    await built
    if (lane === 0) await checked
    await performInTurn(waiting)
  }),
)

if (fileTimes.length > SHOWN_FILES) {
  const slowest = fileTimes.sort((one, other) => other.seconds - one.seconds).slice(0, SHOWN_FILES)
  console.log(`slowest: ${slowest.map(({ file, seconds }) => `${file} ${seconds.toFixed(0)} s`).join(', ')}`)
}
console.log(inWords(totals))
process.exit(totals.failed > 0 ? 1 : 0)
