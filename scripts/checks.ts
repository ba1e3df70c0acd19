/** The program of `scripts/test`: `--help` describes it. */
import { cpus } from 'node:os'
import { relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ENGINES, type Engine } from '../test/support/engines.ts'
import { postgresPrograms } from '../test/support/postgres-programs.ts'
import { SHARED_SERVER, startInstalled } from '../test/support/postgres-server.ts'
import { TIERS, type Tier } from '../test/support/tier.ts'
import { startBusyLoops } from './checks/load.ts'
import { preparePackages } from './checks/packages.ts'
import { type Counts, type FileTime, type Result, runScript, runSuite, TMPDIR } from './checks/running.ts'
import { BUILDS, checkOf, type ScriptCheck, SOURCE_CHECKS, type Suite, suites, TESTS } from './checks/suites.ts'

const HELP = `Usage: scripts/test [options] [checks and files…]

Runs the checks and tests of Tally and prints a line for each, continues after one that failed, and ends with the total.
Without options, it runs the default tier: types, style, module boundaries, unused code, the builds, and every rule once.
Checks are scripts and the folders of test/: scripts/test types features/bills test/http/access-matrix.test.ts

Options:
  --all           also runs the long tier: the other engine, every command by process, every page as each role,
                  the manual's examples, packages, chaos tests, and properties at length
  --long          runs the long tier alone
  --engine NAME   runs only what runs on this engine: ${ENGINES.join(' or ')}
  --partitioned   with entries of PostgreSQL partitioned by month
  --repeat N      runs the selected tests N times
  --busy          runs them beside a busy loop for each core
  --seed N        begins random input with this number, as a run before printed it
  --no-install    installs no Debian packages, and skips the tests that need a missing one
  --list          lists the checks with their tiers; with checks or files, the files of tests
  --help          prints this text
`

class UsageError extends Error {}

interface Selection {
  scripts: readonly ScriptCheck[]
  suites: readonly Suite[]
}

/** A name without a test in the selected tiers selects those of the other tier. */
function select(names: readonly string[], tiers: ReadonlySet<Tier>, engine: Engine | undefined, all: readonly Suite[]) {
  const scripts = [...BUILDS, ...SOURCE_CHECKS]
  const ofEngine = all.filter((suite) => engine === undefined || suite.engine === engine)
  if (names.length === 0) {
    return {
      scripts: engine === undefined ? scripts.filter(({ tier }) => tiers.has(tier)) : [],
      suites: ofEngine.filter(({ tier }) => engine !== undefined || tiers.has(tier)),
    }
  }
  const selected: { script?: ScriptCheck; suite?: Suite; file?: string }[] = []
  for (const name of names) {
    const script = scripts.find((each) => each.name === name)
    const path = relative(TESTS, resolve(name))
    const found = ofEngine.flatMap((suite) =>
      suite.files
        .filter((file) => file === path || checkOf(file) === name || file.startsWith(`${name}/`))
        .map((file) => ({ suite, file })),
    )
    const inTiers = found.filter(({ suite }) => tiers.has(suite.tier))
    if (!script && found.length === 0) throw new UsageError(`Unknown check or file: ${name}. List them with --list.`)
    selected.push(...(script ? [{ script }] : inTiers.length > 0 ? inTiers : found))
  }
  return {
    scripts: scripts.filter((script) => selected.some((each) => each.script === script)),
    suites: ofEngine.map((suite) => ({
      ...suite,
      files: suite.files.filter((file) => selected.some((each) => each.suite === suite && each.file === file)),
    })),
  }
}

const titleOf = ({ title }: Suite, name: string) => (title === '' ? name : `${name} ${title}`)

function list({ scripts, suites }: Selection, withFiles: boolean): void {
  for (const { tier, name, doc } of scripts) console.log(`${tier.padEnd(8)} ${name.padEnd(36)} ${doc}`)
  for (const suite of suites) {
    const checks = Map.groupBy(suite.files, checkOf)
    if (checks.size > 0) console.log(`\n${suite.tier} tier, ${suite.engine}: ${suite.doc}`)
    for (const [name, files] of checks) {
      const lines = withFiles
        ? files.map((file) => `test/${file}`)
        : [`${files.length} ${files.length === 1 ? 'file' : 'files'}`]
      for (const line of lines) console.log(`${suite.tier.padEnd(8)} ${titleOf(suite, name).padEnd(36)} ${line}`)
    }
  }
}

const inWords = ({ passed, failed, skipped }: Counts) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`

/** The processor time that all programs of this machine have taken, in seconds: browsers do not tell theirs. */
const processorSeconds = () =>
  cpus().reduce((total, { times }) => total + times.user + times.nice + times.sys + times.irq, 0) / 1000

/** Where the next second of a run is to be saved. */
const SHOWN_FILES = 30

class Summary {
  readonly totals: Counts = { passed: 0, failed: 0, skipped: 0 }
  readonly #times: FileTime[] = []
  readonly #tiers = new Map<Tier, { seconds: number; processor: number }>()

  /** Measures what a part of a tier takes. */
  async measure(tier: Tier, part: () => Promise<void>): Promise<void> {
    const [begun, before] = [performance.now(), processorSeconds()]
    await part()
    const { seconds, processor } = this.#tiers.get(tier) ?? { seconds: 0, processor: 0 }
    this.#tiers.set(tier, {
      seconds: seconds + (performance.now() - begun) / 1000,
      processor: processor + processorSeconds() - before,
    })
  }

  add(tier: Tier, title: string, { seconds, ...counts }: Result): void {
    for (const kind of ['passed', 'failed', 'skipped'] as const) this.totals[kind] += counts[kind]
    const state = counts.failed > 0 ? 'FAILED' : 'ok'
    console.log(
      `${state.padEnd(6)} ${tier.padEnd(7)} ${title.padEnd(36)} ${seconds.toFixed(1).padStart(7)} s  ${inWords(counts)}`,
    )
  }

  addTimes(times: readonly FileTime[]): void {
    this.#times.push(...times)
  }

  print(): void {
    const slowest = this.#times.sort((one, other) => other.seconds - one.seconds).slice(0, SHOWN_FILES)
    if (slowest.length === SHOWN_FILES) {
      console.log(`slowest: ${slowest.map(({ file, seconds }) => `${file} ${seconds.toFixed(0)} s`).join(', ')}`)
    }
    for (const [tier, { seconds, processor }] of this.#tiers) {
      console.log(
        `${tier} tier: ${seconds.toFixed(0)} s, ${processor.toFixed(0)} s of processor time of all programs of this machine`,
      )
    }
    console.log(inWords(this.totals))
  }
}

async function runAll({ scripts, suites }: Selection, seed: number, repeat: number): Promise<Counts> {
  const summary = new Summary()
  const inTurn = async (checks: readonly ScriptCheck[]) => {
    for (const { tier, name } of checks)
      if (scripts.some((each) => each.name === name)) summary.add(tier, name, await runScript(name))
  }
  const runSuites = async (tier: Tier) => {
    for (let round = 1; round <= repeat; round += 1) {
      if (repeat > 1) console.log(`round ${round} of ${repeat}`)
      for (const suite of suites.filter((each) => each.tier === tier && each.files.length > 0)) {
        const { results, times } = await runSuite(suite, seed + round - 1)
        for (const result of results) summary.add(tier, titleOf(suite, result.name), result)
        summary.addTimes(times)
      }
    }
  }
  if (scripts.length > 0 || suites.some(({ tier, files }) => tier === 'default' && files.length > 0)) {
    await summary.measure('default', async () => {
      await Promise.all([inTurn(BUILDS), inTurn(SOURCE_CHECKS)])
      await runSuites('default')
    })
  }
  if (suites.some(({ tier, files }) => tier === 'long' && files.length > 0)) {
    await summary.measure('long', () => runSuites('long'))
  }
  summary.print()
  return summary.totals
}

const OPTIONS = {
  all: { type: 'boolean' },
  long: { type: 'boolean' },
  engine: { type: 'string' },
  partitioned: { type: 'boolean' },
  repeat: { type: 'string' },
  busy: { type: 'boolean' },
  seed: { type: 'string' },
  'no-install': { type: 'boolean' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** A seed of fast-check is a 32-bit number. */
const MAX_SEED = 2 ** 31 - 1

function readNumber(flag: string, text: string, max: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= 1 && number <= max) return number
  throw new UsageError(`--${flag} is a whole number from 1 to ${max}, not '${text}'.`)
}

function readArguments(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: OPTIONS })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function main(args: string[]): Promise<number> {
  const { values: flags, positionals } = readArguments(args)
  if (flags.help) {
    process.stdout.write(HELP)
    return 0
  }
  const engine = flags.engine as Engine | undefined
  if (engine !== undefined && !ENGINES.includes(engine)) {
    throw new UsageError(`Unknown engine: ${engine}. Choose from: ${ENGINES.join(', ')}.`)
  }
  const tiers = new Set<Tier>(flags.long ? ['long'] : flags.all || flags.list ? TIERS : ['default'])
  const selection = select(positionals, tiers, engine, suites(flags.partitioned))
  if (flags.list) {
    list(selection, positionals.length > 0)
    return 0
  }
  const seed = flags.seed === undefined ? Math.ceil(Math.random() * MAX_SEED) : readNumber('seed', flags.seed, MAX_SEED)
  const repeat = flags.repeat === undefined ? 1 : readNumber('repeat', flags.repeat, 1_000)
  if (selection.suites.some(({ files }) => files.length > 0)) {
    await preparePackages(selection.suites, { mayInstall: !flags['no-install'] })
    const programs = postgresPrograms()
    // One for all tests, as each process would take seconds to create and stop its own. It stops with this process.
    if (programs) process.env[SHARED_SERVER] = (await startInstalled(programs, { parent: TMPDIR })).url
    console.log(`Random input begins with ${seed}: repeat it with --seed ${seed}.`)
  }
  const stop = flags.busy ? startBusyLoops() : () => {}
  try {
    return (await runAll(selection, seed, repeat)).failed > 0 ? 1 : 0
  } finally {
    stop()
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`scripts/test: ${error.message}\nRun scripts/test --help for its options.`)
  process.exit(2)
}
