/** Runs scripts and suites of tests, and reads what they found. */
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SEED_OF_TESTS } from '../../test/support/seed.ts'
import { SHARED_FILES } from '../../test/support/shared-files.ts'
import { checkOf, SLOWEST, type Suite } from './suites.ts'

const ROOT = join(import.meta.dir, '../..')

/** Several times as long as the longest run takes on two cores: one that hangs must not hide what others found. */
const RUN_TIMEOUT_MS = 5_400_000

/** A test that takes longer is waiting for something that will not happen. */
const TEST_TIMEOUT_MS = 180_000

/**
 * More than the smallest machine has cores, because tests wait for disks, browsers and clocks, too; with one more, they
 * take more memory than time.
 */
const WORKERS = 3

/** The space that the tests need at a time for databases and copies of the executable. */
const MEMORY_FOLDER_BYTES = 4 * 1024 ** 3

/** In memory if there is enough: many tests spend a third of their time on syncs of databases that they throw away. */
export const TMPDIR = process.env.TMPDIR ?? (hasRoom('/dev/shm') ? '/dev/shm' : tmpdir())

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

export interface Counts {
  passed: number
  failed: number
  skipped: number
}

export interface Result extends Counts {
  name: string
  /** Of the check; of tests, that of their files together, which run side by side. */
  seconds: number
}

/** A file of tests, and the seconds that it took. */
export interface FileTime {
  file: string
  seconds: number
}

interface Output {
  ok: boolean
  text: string
}

/** @param show gets what is printed, a line at a time */
async function spawn(
  command: string[],
  environment: Record<string, string>,
  show: (line: string) => void = () => {},
): Promise<Output> {
  const child = Bun.spawn(command, {
    cwd: ROOT,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: RUN_TIMEOUT_MS,
    env: { ...process.env, TMPDIR, [SHARED_FILES]: shared, NO_COLOR: '1', FORCE_COLOR: undefined, ...environment },
  })
  const read = async (stream: ReadableStream<Uint8Array>) => {
    let text = ''
    let rest = ''
    for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
      text += piece
      const lines = (rest + piece).split('\n')
      rest = lines.pop()!
      lines.forEach(show)
    }
    if (rest !== '') show(rest)
    return text
  }
  const [stdout, stderr, code] = await Promise.all([read(child.stdout), read(child.stderr), child.exited])
  const cut = child.signalCode ? `\nStopped by ${child.signalCode} after at most ${RUN_TIMEOUT_MS / 60_000} min.` : ''
  return { ok: code === 0, text: stdout + stderr + cut }
}

/** Lines shown of a failed script. The first issues matter; thousands after them bury the summary. */
const SHOWN_LINES = 150

/** Runs a script of package.json by Bun, even if its program asks for Node. */
export async function runScript(name: string): Promise<Result> {
  const startedAt = performance.now()
  const { ok, text } = await spawn([process.execPath, 'run', '--bun', name], {})
  if (!ok) {
    const lines = text.trimEnd().split('\n')
    console.log(lines.slice(0, SHOWN_LINES).join('\n'))
    if (lines.length > SHOWN_LINES) console.log(`… and ${lines.length - SHOWN_LINES} more lines.`)
  }
  return { name, passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, seconds: (performance.now() - startedAt) / 1000 }
}

/** The line that Bun prints before the results of a file. */
const FILE_HEADER = /^\S+\.test\.tsx?:$/

/** Prints what Bun prints about files with a failed test, as soon as each is complete. */
function failuresOnly(): { show(line: string): void; end(): void } {
  let lines: string[] = []
  const end = () => {
    if (lines.some((line) => /^\(fail\)|^# Unhandled error/.test(line))) console.log(lines.join('\n'))
    lines = []
  }
  return {
    end,
    show(line) {
      if (FILE_HEADER.test(line)) end()
      if (!/^\(pass\)|^\(skip\)|^$/.test(line)) lines.push(line)
    },
  }
}

/** Runs the tests of a suite, and returns a result for each of its checks, and the time of each file. */
export async function runSuite(
  { environment, files }: Suite,
  seed: number,
): Promise<{ results: Result[]; times: FileTime[] }> {
  const report = join(shared, `${crypto.randomUUID()}.xml`)
  const timings = join(shared, 'timings.json')
  writeFileSync(timings, timingsOf(files))
  const failures = failuresOnly()
  const { ok, text } = await spawn(
    [
      process.execPath,
      'test',
      `--timeout=${TEST_TIMEOUT_MS}`,
      `--parallel=${Math.min(WORKERS, files.length)}`,
      // A file leaves nothing behind, and to read the modules again for each would take a second.
      '--no-isolate',
      `--timings=${timings}`,
      '--reporter=junit',
      `--reporter-outfile=${report}`,
      ...files.map((path) => `./test/${path}`),
    ],
    { ...environment, [SEED_OF_TESTS]: `${seed}` },
    failures.show,
  )
  failures.end()
  const found = existsSync(report) ? filesOf(readFileSync(report, 'utf8')) : []
  const byCheck = Map.groupBy(found, ({ file }) => checkOf(file.replace(/^(\.\/)?test\//, '')))
  const results = [...byCheck].map(([name, each]) => ({
    name,
    passed: sum(each, ({ passed }) => passed),
    failed: sum(each, ({ failed }) => failed),
    skipped: sum(each, ({ skipped }) => skipped),
    seconds: sum(each, ({ seconds }) => seconds),
  }))
  // A file that does not load, or an error between two tests, fails the run without failing a test.
  if (!ok && results.every(({ failed }) => failed === 0)) {
    console.log(text.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n'))
    results.push({ name: 'errors outside of tests', passed: 0, failed: 1, skipped: 0, seconds: 0 })
  }
  return { results: results.sort((one, other) => one.name.localeCompare(other.name)), times: found }
}

/** Bun begins with the files that take longest: milliseconds of which only the order matters. */
function timingsOf(files: readonly string[]): string {
  const rank = (path: string) => (SLOWEST.includes(path) ? SLOWEST.length - SLOWEST.indexOf(path) : 0)
  return JSON.stringify({
    version: 1,
    files: Object.fromEntries(files.map((path) => [`test/${path}`, 1 + 1_000 * rank(path)])),
  })
}

const sum = <Item>(items: readonly Item[], of: (item: Item) => number) =>
  items.reduce((total, item) => total + of(item), 0)

/** The files in a JUnit report; a `describe` has an element like that of its file, inside it. */
function filesOf(report: string): (FileTime & Counts)[] {
  return [...report.matchAll(/^ {2}<testsuite [^>]*>/gm)].map(([element]) => {
    const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(element)?.[1] ?? ''
    const failed = Number(attribute('failures')) + Number(attribute('errors'))
    const skipped = Number(attribute('skipped'))
    const passed = Number(attribute('tests')) - failed - skipped
    return { file: attribute('file'), seconds: Number(attribute('time')), passed, failed, skipped }
  })
}
