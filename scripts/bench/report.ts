/**
 * Measures speed and size against their targets in one run: the executable in a temporary folder, with a separate load
 * generator over the loopback address. Two runs on a shared machine differ more than most changes to the program do:
 * compare the ratios within a run, or two versions with `--against`.
 *
 *   scripts/bench/report                     the whole table, in about a minute
 *   scripts/bench/report --seconds 10        longer measurements
 *   scripts/bench/report --entries 1000000   with this many entries already stored
 *   scripts/bench/report --repeat 20         report each session of the updates this often (default 5)
 *   scripts/bench/report --rules 500         also the cost of this many placement rules for reports without a project
 *   scripts/bench/report --slices 30         also the cost of sessions with one slice and with this many
 *   scripts/bench/report --budgets 2000      also the cost of this many budgets
 *   scripts/bench/report --webhooks 100000   also the cost of a webhook for which this many events wait
 *   scripts/bench/report --fsync-delay 10    with a disk whose fsync takes 10 ms longer (needs strace)
 *   scripts/bench/report --json              prints JSON
 *
 *   scripts/bench/report --against main~2    processor time per report, compared with the executable of that commit
 *   scripts/bench/report --against main~2 --rounds 8
 *   scripts/bench/report --against main~2 --slices 1   reports with one slice, compared with those of that commit without
 *   scripts/bench/report --against main~2 --data dist/seeded   on copies of a database of scripts/bench/seed
 *
 *   scripts/bench/report --postgres          on a PostgreSQL server that is started for it
 *   scripts/bench/report --database-url URL  on an existing one, in a database that is created for it
 *   scripts/bench/report --postgres --servers 2   several servers of Tally on that database
 */
import { DIST, runAndCleanUp, temporaryFolder } from './clean-up.ts'
import { compare, printComparison } from './reporting/comparison.ts'
import { postgresEngine, sqliteEngine } from './reporting/databases.ts'
import { readOptions } from './reporting/options.ts'
import { measureTable, printTable } from './reporting/table.ts'

await runAndCleanUp(async (stack) => {
  const options = readOptions(process.argv.slice(2))
  const folder = await temporaryFolder(stack)
  const engine =
    options.postgres === undefined
      ? sqliteEngine(folder, options.data)
      : await postgresEngine(options.postgres, DIST, stack)
  if (options.against === undefined) {
    const results = await measureTable(options, engine, folder, stack)
    if (options.json) console.log(JSON.stringify(results, null, 2))
    else printTable(results, options)
  } else {
    const results = await compare(options.against, options, engine, folder, stack)
    if (options.json) console.log(JSON.stringify(results, null, 2))
    else printComparison(results, options)
  }
})
