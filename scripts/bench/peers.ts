/**
 * Compares Tally with programs that do comparable work, in alternating rounds of one run, over the loopback address.
 * Prints one Markdown table: ratios with their goals, then what was divided. Each value is the median of the rounds with
 * its range. A row whose program is not installed says what it needs.
 *
 *   scripts/bench/peers                          everything, in about ten minutes; the first time, more for compiling
 *   scripts/bench/peers --only scans,exports     some of pocketbase, postgres, starts, exports and scans
 *   scripts/bench/peers --rounds 5               rounds of each program (default 3)
 *   scripts/bench/peers --seconds 10             length of each load (default 5)
 *   scripts/bench/peers --entries 2000000        entries of the database that is exported (default 500,000)
 *   scripts/bench/peers --lines 1000000          lines of session files (default 200,000)
 *   scripts/bench/peers --json                   prints JSON
 *
 * pocketbase   reports to Tally, and the same bodies as records of PocketBase, which Go compiles with the packages in
 *              peer-programs/pocketbase/go.sum. Processor time counts until the server is idle again.
 * postgres     reports with PostgreSQL and with SQLite, and rows that pgbench inserts into a copy of the table
 * starts       the first reports after a start, and memory
 * exports      the export as CSV, and the shell of SQLite on the same file, which dist/ keeps
 * scans        the first scan of session files, and ccusage, which is installed for the run
 *
 * PocketBase does not sync a record to the disk before it answers, which Tally does. Use an idle machine: with few reports
 * per second, the sums that follow them weigh too much.
 */
import { parseArgs } from 'node:util'
import { knownNames, printProgress, runAndCleanUp, temporaryFolder, wholeNumberFrom } from './clean-up.ts'
import { MACHINE } from './machine.ts'
import { exports } from './peer-programs/exports.ts'
import { LeftOut, type Peer, printRows, type RatioRow, type Rounds, ratioRows } from './peer-programs/peer.ts'
import { pocketbase } from './peer-programs/pocketbase.ts'
import { postgres } from './peer-programs/postgres.ts'
import { scans } from './peer-programs/scans.ts'
import { starts } from './peer-programs/starts.ts'
import { nameOfWorkTree } from './reporting/commit-executable.ts'

const PEERS: Record<string, Peer> = { pocketbase, postgres, starts, exports, scans }

function readOptions(args: string[]) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: Object.keys(PEERS).join(',') },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      entries: { type: 'string', default: '500000' },
      lines: { type: 'string', default: '200000' },
      json: { type: 'boolean', default: false },
    },
  })
  const { only, json, ...numbers } = values
  const names = knownNames('--only', only.split(','), Object.keys(PEERS))
  const from1 = (name: keyof typeof numbers) => wholeNumberFrom(name, numbers[name], 1)
  return {
    ...{ names, json, rounds: from1('rounds'), seconds: from1('seconds') },
    ...{ entries: from1('entries'), lines: from1('lines') },
  }
}

await runAndCleanUp(async (stack) => {
  const { names, json, ...options } = readOptions(process.argv.slice(2))
  const folder = await temporaryFolder(stack)
  const ratios: RatioRow[] = []
  const absolute: Rounds[] = []
  for (const name of names) {
    const peer = PEERS[name]!
    try {
      const measured = await peer.measure({ ...options, folder, stack })
      ratios.push(...ratioRows(peer, measured))
      absolute.push(...measured.absolute)
    } catch (error) {
      if (stack.disposed) throw error
      const why = error instanceof Error ? error.message : String(error)
      // The other rows are still worth having.
      if (!(error instanceof LeftOut)) printProgress(`${name} failed: ${why}`)
      ratios.push(...ratioRows(peer, error instanceof LeftOut ? `left out: needs ${why}` : 'failed'))
    }
  }
  const tally = await nameOfWorkTree()
  if (json) return console.log(JSON.stringify({ tally, machine: MACHINE, ...options, ratios, absolute }, null, 2))
  console.log(`${tally}. ${MACHINE}. Medians of ${options.rounds} rounds, loads of ${options.seconds} s.`)
  printRows(ratios, absolute)
})
