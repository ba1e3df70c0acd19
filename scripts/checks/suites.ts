/** What `scripts/test` runs: checks that are scripts, and suites of tests, each by its tier. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ENGINE_OF_TESTS, type Engine, PARTITIONED } from '../../test/support/engines.ts'
import { TIER_OF_TESTS, type Tier } from '../../test/support/tier.ts'

export const TESTS = join(import.meta.dir, '../../test')

/** A script of package.json. */
export interface ScriptCheck {
  tier: 'default'
  name: string
  doc: string
}

/** Tests that run with the same environment, in one run of Bun. */
export interface Suite {
  tier: Tier
  /** Follows the names of the suite's checks in the summary. */
  title: string
  doc: string
  engine: Engine
  environment: Record<string, string>
  /** Paths in `test/`. */
  files: readonly string[]
}

/** The tests use the bundle and the executable, so these come first, in this order. */
export const BUILDS: readonly ScriptCheck[] = [
  { tier: 'default', name: 'bundle', doc: 'builds the web application and the manual' },
  { tier: 'default', name: 'build', doc: 'builds the executable' },
]

export const SOURCE_CHECKS: readonly ScriptCheck[] = [
  { tier: 'default', name: 'types', doc: 'checks types with TypeScript' },
  { tier: 'default', name: 'style', doc: 'checks format and lint rules with Biome' },
  { tier: 'default', name: 'boundaries', doc: 'checks which module imports which with dependency-cruiser' },
  { tier: 'default', name: 'unused', doc: 'finds unused files, exports and packages with knip' },
]

const isLongFile = (path: string) => /\.long\.test\.tsx?$/.test(path)

/** Every file that contains tests, so that new ones run without being listed here. */
const FILES = [...new Bun.Glob('**/*.test.{ts,tsx}').scanSync({ cwd: TESTS })].sort()

const textOf = (path: string) => readFileSync(join(TESTS, path), 'utf8')

/** Whether a file opens a database of the engine of the run: not one that names its engine each time. */
const opensDatabase = (path: string) =>
  /\b(startApp\((?!\{ db\b)|forEachEngine\(|CommandLine\.make\((?!\{ engine: 'sqlite')|testEngine\b)/.test(textOf(path))

/** Whether a file tries a property more often in the long tier. */
const hasSizes = (path: string) => /\b(runs\(|isLong\b)/.test(textOf(path))

/** Tests of HTTP alone, for which it makes no difference where the data are. */
const WITHOUT_QUERIES = [
  'compression',
  'load-limits',
  'manual',
  'openapi',
  'pages',
  'rate-limits',
  'security-headers',
  'unread-bodies',
].map((name) => `http/${name}.test.ts`)

/** Tests that use both engines wherever they begin. */
const THERE_AND_BACK = ['database/moves.test.ts']

/** @param partitioned whether entries of PostgreSQL are partitioned */
export function suites(partitioned = false): Suite[] {
  const postgres = { [ENGINE_OF_TESTS]: 'postgres', ...(partitioned && { [PARTITIONED]: '1' }) }
  const long = { [TIER_OF_TESTS]: 'long' }
  const brief = FILES.filter((path) => !isLongFile(path))
  const onBoth = FILES.filter((path) => opensDatabase(path) && !WITHOUT_QUERIES.includes(path))
  const isOfDatabase = (path: string) =>
    path.startsWith('database/') && !isLongFile(path) && !THERE_AND_BACK.includes(path)
  return [
    {
      tier: 'default',
      title: '',
      doc: 'every rule once, on SQLite; commands in the process of the tests',
      engine: 'sqlite',
      environment: {},
      files: brief,
    },
    {
      tier: 'default',
      title: 'on PostgreSQL',
      doc: 'the database layer on the other engine',
      engine: 'postgres',
      environment: postgres,
      files: onBoth.filter(isOfDatabase),
    },
    {
      tier: 'long',
      title: 'at length',
      doc: 'files called *.long.test.ts, and properties with ten times as much random input',
      engine: 'sqlite',
      environment: long,
      files: FILES.filter((path) => isLongFile(path) || hasSizes(path)),
    },
    {
      tier: 'long',
      title: 'by process',
      doc: 'every command once more as a process of the executable',
      engine: 'sqlite',
      environment: { ...long, [COMMANDS]: 'process' },
      files: brief.filter((path) => path.startsWith('cli/') && textOf(path).includes('CommandLine')),
    },
    {
      tier: 'long',
      title: 'on PostgreSQL',
      doc: 'what the default tier runs on SQLite, and properties at length',
      engine: 'postgres',
      environment: { ...long, ...postgres },
      files: onBoth.filter((path) => !isOfDatabase(path) || hasSizes(path)),
    },
  ]
}

/** How tests of the command line call it. */
const COMMANDS = 'TALLY_TEST_COMMANDS'

/** The slowest files, which begin first: the last one of a run is not alone with most of its time. */
export const SLOWEST = [
  'binary/chaos.long.test.ts',
  'web/walks/pages.long.test.ts',
  'docs/manual-examples.long.test.ts',
  'web/stories/pages.long.test.ts',
  'binary/authorization.long.test.ts',
  'binary/server.long.test.ts',
  'cli/several-servers.long.test.ts',
  'demo/demo.long.test.ts',
  'cli/remote-backups.test.ts',
  'cli/agents.test.ts',
  'web/walks/pages.test.ts',
  'cli/demo.test.ts',
  'database/disk.test.ts',
  'database/moves.test.ts',
  'binary/smoke.test.ts',
  'cli/several-servers.test.ts',
  'cli/transfer.test.ts',
  'web/journey.test.ts',
  'http/access-matrix.test.ts',
]

/** Folders of `test/` that are too large for one check: each folder in them is one. */
const DIVIDED = ['features']

/** The name of the check that a file belongs to: its folder. */
export function checkOf(path: string): string {
  const [folder = '', next = ''] = path.split('/')
  return (DIVIDED.includes(folder) ? `${folder}/${next}` : folder).replace(/(\.long)?\.test\.tsx?$/, '')
}
