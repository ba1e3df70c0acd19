/**
 * Measures reads on a large database: the executable on a copy of a seeded database (scripts/bench/seed), over the
 * loopback address. Prints Markdown: details of each part, and then one table of all goals.
 *
 *   scripts/bench/reports                       everything, on dist/seeded
 *   scripts/bench/reports --data FOLDER         on another database of scripts/bench/seed, of any size
 *   scripts/bench/reports --database-url URL    on a database in PostgreSQL, to which `tally move` has moved a seeded one;
 *                                               it is changed
 *   scripts/bench/reports --rounds 50           runs of each query (default 20)
 *   scripts/bench/reports --only lists,exports  only these parts (reading/options.ts lists them)
 *   scripts/bench/reports --skip sums-meanwhile without these parts
 *   scripts/bench/reports --executable PATH     another executable than that of the work tree
 *   scripts/bench/reports --commit main~3       the executable of that commit
 *
 *   scripts/bench/reports --against main~3      processor time and seconds of what reads much, compared with the executable
 *                                               of that commit in alternating rounds, in about three minutes
 *   scripts/bench/reports --against main~3 --rounds 8 --entries 1000000   more rounds (default 3) and entries (default
 *                                               300,000) of a database that is created once and kept in dist/
 *
 *   scripts/bench/reports --against main~3 --basis   with plans that pay for entries, and reports by each basis of cost
 *
 * What an executable does not have yet is "not available". The database must not be of a later version than it. Parts that
 * change data are last, and change only the copy. Below 100 rounds, p99 is the slowest run.
 */
import { printProgress, runAndCleanUp, temporaryFolder } from './clean-up.ts'
import { MACHINE } from './machine.ts'
import { measureAnswers } from './reading/answers.ts'
import { measureBill } from './reading/bills.ts'
import { measureCancellation } from './reading/cancellation.ts'
import { compareReads, printReadComparison } from './reading/comparison.ts'
import { measureExports } from './reading/exports.ts'
import { measureLists, measureSearch, measureSorted } from './reading/lists.ts'
import { type Part, type ReadingOptions, readOptions } from './reading/options.ts'
import { measurePages } from './reading/pages.ts'
import { measureReporting } from './reading/reporting.ts'
import { measureReports } from './reading/reports.ts'
import { type Line, megabytes, ms, printLines, whole } from './reading/results.ts'
import { Subject } from './reading/subject.ts'
import { measureBytes, measureSumsMeanwhile, settle } from './reading/sums.ts'
import { buildCommit, nameOfWorkTree } from './reporting/commit-executable.ts'

type Measurement = (subject: Subject, stack: AsyncDisposableStack) => Promise<Line[]>

const MEASUREMENTS: Record<Exclude<Part, 'sums'>, Measurement> = {
  reports: measureReports,
  lists: measureLists,
  search: measureSearch,
  sorted: measureSorted,
  exports: measureExports,
  answers: measureAnswers,
  cancellation: measureCancellation,
  pages: measurePages,
  reporting: measureReporting,
  bills: measureBill,
  'sums-meanwhile': measureSumsMeanwhile,
}

/** The executable to measure, with a name for it. */
async function executableOf({ executable, commit }: ReadingOptions, folder: string, stack: AsyncDisposableStack) {
  if (executable !== undefined) return { path: executable, name: executable }
  if (commit !== undefined) return buildCommit(commit, folder, stack)
  return { path: undefined, name: await nameOfWorkTree() }
}

await runAndCleanUp(async (stack) => {
  const options = readOptions(process.argv.slice(2))
  const folder = await temporaryFolder(stack)
  if ('against' in options) return printReadComparison(await compareReads(options, folder, stack), options)
  const { path, name } = await executableOf(options, folder, stack)
  const subject = await Subject.prepare({ ...options, executable: path }, folder, stack)
  const [counted] = await subject.database.read<{ entries: number }>('SELECT count(*) AS entries FROM entries')
  const isMeasuringSums = options.parts.has('sums')
  if (isMeasuringSums) await subject.database.removeSums()
  await subject.start(stack)
  console.log(
    `${name} with ${subject.database.name}. ${whole(counted!.entries)} entries. ${MACHINE}. Started in ${ms(subject.server.startedInMs)} ms.`,
  )
  const lines: Line[] = []
  const sums = await settle(subject)
  if (isMeasuringSums) lines.push(sums, ...(await measureBytes(subject)))
  for (const [part, measure] of Object.entries(MEASUREMENTS)) {
    if (!options.parts.has(part as Part)) continue
    try {
      lines.push(...(await measure(subject, stack)))
    } catch (error) {
      // The other parts are still worth having after hours.
      printProgress(`${part} failed: ${error instanceof Error ? error.message : error}`)
      lines.push({ figure: part, measured: 'failed', isMet: false })
    }
  }
  const memory = `${megabytes(subject.idleMegabytes)} after the start, peak ${megabytes(subject.peakMegabytes)}`
  lines.push({ figure: 'memory of the server with its child processes', measured: memory })
  printLines(lines)
})
