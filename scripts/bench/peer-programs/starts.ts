/** The first reports after a start, compared with later ones, and the memory of a server. */
import { cleanedUp, printProgress } from '../clean-up.ts'
import { sqliteEngine } from '../reporting/databases.ts'
import { measure, untilIdle } from '../reporting/throughput.ts'
import { ratiosOf } from '../spread.ts'
import type { Context, Measured, Peer } from './peer.ts'
import { batches, singles, startTally, warmUp } from './tally.ts'

const FIRST_REPORTS = 2_000

/** They take less than a second. */
const FIRST_LIMIT_SECONDS = 60

async function measureStarts(context: Context): Promise<Measured> {
  const engine = sqliteEngine(context.folder)
  const first: number[] = []
  const later: number[] = []
  const idle: number[] = []
  const loaded: number[] = []
  for (let round = 0; round < context.rounds; round++) {
    printProgress(`round ${round + 1}: start`)
    await cleanedUp(context.stack, async (stack) => {
      const { servers, token } = await startTally(context, engine, stack)
      const load = singles(context)
      await untilIdle(servers)
      idle.push(servers.residentMegabytes())
      const beginning = { ...load, entries: FIRST_REPORTS, seconds: FIRST_LIMIT_SECONDS }
      first.push((await measure(servers, engine, token, beginning)).processorMicros)
      await warmUp(servers, engine, token, load)
      later.push((await measure(servers, engine, token, load)).processorMicros)
      await measure(servers, engine, token, batches(context))
      loaded.push(servers.residentMegabytes())
    })
  }
  return {
    ratios: [ratiosOf(first, later), idle, loaded],
    absolute: [
      { name: 'Tally, SQLite: processor time of a report, of the first 2,000', rounds: first, unit: 'µs' },
      { name: 'Tally, SQLite: processor time of a later report, without what follows', rounds: later, unit: 'µs' },
    ],
  }
}

export const starts: Peer = {
  goals: [
    { name: 'processor time of the first 2,000 reports after a start ÷ of later ones', atMost: 2 },
    { name: 'resident memory, idle', atMost: 100, unit: 'MB' },
    { name: 'resident memory, after single reports and batches', atMost: 200, unit: 'MB' },
  ],
  measure: measureStarts,
}
