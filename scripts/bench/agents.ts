/**
 * Compares `tally agents scan` with ccusage on the same session files in the same run: tokens, cost, time and memory.
 * First on those of Claude Code, of which both must report the same, and then on a home folder with ten agents, of which
 * the two count forks and running totals differently. Prints Markdown.
 *
 *   scripts/bench/agents                   200,000 lines of Claude Code, five rounds, with dist/tally
 *   scripts/bench/agents --lines 1000000   number of lines; half as many are in the home with ten agents
 *   scripts/bench/agents --copies 1000     copies of the captured sessions of each other agent, 300 by default
 *   scripts/bench/agents --rounds 20       runs of each program
 *   scripts/bench/agents --program PATH    another executable
 *   scripts/bench/agents --ccusage PATH    the native program of ccusage; otherwise it is installed for the run
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { CCUSAGE_VERSION, Ccusage } from '../../test/support/ccusage.ts'
import { type Corpus, writeCorpus } from './agents-corpus.ts'
import { writeHome } from './agents-home.ts'
import { MACHINE } from './machine.ts'
import { type Run, readWith, runFirstScan, runProgram, scanWith } from './scan-runs.ts'
import { median } from './spread.ts'

const ROOT = join(import.meta.dir, '../..')

const { values: options } = parseArgs({
  options: {
    lines: { type: 'string', default: '200000' },
    copies: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '5' },
    ccusage: { type: 'string' },
    program: { type: 'string', default: join(ROOT, 'dist/tally') },
  },
})
const [lines, copies, rounds] = [Number(options.lines), Number(options.copies), Number(options.rounds)]
if (!(lines > 0) || !(copies > 0) || !(rounds > 0)) {
  throw new Error('--lines, --copies and --rounds must be positive numbers.')
}

interface Totals {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  cost: number
}

// biome-ignore lint/suspicious/noExplicitAny: what the two programs print as JSON
function totalsOfTally({ data, cost }: any): Totals {
  const sum = (of: (tokens: Record<string, number>) => number) =>
    data.reduce((total: number, { report }: (typeof data)[number]) => total + of(report.tokens), 0)
  return {
    input: sum(({ input }) => input!),
    output: sum(({ output }) => output!),
    cacheRead: sum(({ cache_read }) => cache_read!),
    cacheWrite: sum(({ cache_write, cache_write_1h }) => cache_write! + cache_write_1h!),
    cost,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function totalsOfCcusage({ totals }: any): Totals {
  return {
    input: totals.inputTokens,
    output: totals.outputTokens,
    cacheRead: totals.cacheReadTokens,
    cacheWrite: totals.cacheCreationTokens,
    cost: totals.totalCost,
  }
}

const whole = (count: number) => Math.round(count).toLocaleString('en')

function row(name: string, totals: Totals, runs: Run[]): string {
  const { input, output, cacheRead, cacheWrite, cost } = totals
  const cells = [
    ...[whole(input), whole(output), whole(cacheRead), whole(cacheWrite), cost.toFixed(4)],
    median(runs.map(({ seconds }) => seconds)).toFixed(3),
    median(runs.map(({ processorSeconds }) => processorSeconds)).toFixed(3),
    whole(Math.max(...runs.map(({ megabytes }) => megabytes))),
  ]
  return `| ${[name, ...cells].join(' | ')} |`
}

/** Compares on a home folder of its own, and prints a table. */
async function compare(ccusage: string, agents: string, write: (home: string) => Promise<Corpus>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'tally-bench-agents-'))
  try {
    console.error(`… writing session files of ${agents}`)
    const { lines: written, bytes, sessions } = await write(home)
    const runs = { ccusage: [] as Run[], first: [] as Run[], second: [] as Run[] }
    for (let round = 0; round < rounds; round++) {
      console.error(`… round ${round + 1} of ${rounds}`)
      // Alternating, so that other load on the machine affects all of them.
      runs.ccusage.push(await runProgram(readWith(ccusage), home))
      runs.first.push(await runFirstScan(options.program, home))
      runs.second.push(await runProgram(scanWith(options.program), home))
    }
    const ours = totalsOfTally(JSON.parse(runs.first[0]!.stdout))
    const again = totalsOfTally(JSON.parse(runs.second[0]!.stdout))
    console.log(`${whole(written)} lines (${whole(bytes / 1e6)} MB) of ${whole(sessions)} sessions of ${agents};`)
    console.log(`medians of ${rounds} rounds on ${MACHINE}.\n`)
    console.log('| program | input | output | cache read | cache write | cost | s | processor s | MB |')
    console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |')
    console.log(row(`ccusage ${CCUSAGE_VERSION}`, totalsOfCcusage(JSON.parse(runs.ccusage[0]!.stdout)), runs.ccusage))
    console.log(row('tally, first scan', ours, runs.first))
    console.log(`${row('tally, second scan', again, runs.second)}\n`)
  } finally {
    await rm(home, { recursive: true })
  }
}

const installed = options.ccusage === undefined ? await Ccusage.install() : undefined
const ccusage = options.ccusage ?? installed?.program
if (ccusage === undefined) {
  throw new Error(
    `ccusage ${CCUSAGE_VERSION} could not be installed. Check that the npm registry is reachable, or use --ccusage.`,
  )
}
try {
  await compare(ccusage, 'Claude Code', (home) => writeCorpus(join(home, '.claude/projects'), lines))
  await compare(ccusage, 'ten agents', (home) => writeHome(home, Math.ceil(lines / 2), copies))
} finally {
  await installed?.remove()
}
