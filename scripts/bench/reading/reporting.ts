/** How long reports take while others ask for the most expensive things. */
import { printProgress } from '../clean-up.ts'
import type { Load, LoadResult } from '../load.ts'
import { EXPORTS, HEAVY } from '../queries.ts'
import { generate, single } from '../reporting/throughput.ts'
import { takeRows } from './exports.ts'
import { type Line, ms, printTable, whole } from './results.ts'
import type { Subject } from './subject.ts'

export const REPORTING_SECONDS = 10
const CONNECTIONS = 64

/** For exports: reports as a large organization sends them, so that the load itself does not use up the machine. */
const PACED = { connections: 16, pauseMs: 20 }

const SLOWED_GOAL = 1.2
const HEAVY_GOAL_MS = 50

export function reportingLoad({ server, tokens }: Subject): Omit<Load, 'seconds'> {
  return {
    ...single,
    days: 1,
    ports: [Number(new URL(server.url).port)],
    token: tokens.writing,
    connections: CONNECTIONS,
  }
}

/** Repeats a question as long as reports arrive. */
async function during(subject: Subject, load: Omit<Load, 'seconds'>, path: string) {
  let answers = 0
  const end = performance.now() + REPORTING_SECONDS * 1000
  async function ask(): Promise<void> {
    while (performance.now() < end) {
      if (!(await takeRows(subject, path, end - performance.now()))) return
      answers += 1
    }
  }
  const [result] = await Promise.all([generate({ ...load, seconds: REPORTING_SECONDS }), ask()])
  return { result, answers }
}

export async function measureReporting(subject: Subject): Promise<Line[]> {
  const load = reportingLoad(subject)
  const paced = { ...load, ...PACED }
  printProgress('reporting alone')
  await generate({ ...load, seconds: 2 })
  const rows = [['reporting', 'entries/s', 'p50 ms', 'p99 ms', 'max ms', 'answers meanwhile', 'refused']]
  const add = (name: string, { entriesPerSecond, p50Ms, p99Ms, maxMs, statuses }: LoadResult, answers = '') => {
    const refused = Object.keys(statuses).some((status) => status !== '201') ? JSON.stringify(statuses) : 'none'
    rows.push([name, whole(entriesPerSecond), ms(p50Ms), ms(p99Ms), ms(maxMs), answers, refused])
  }
  const lines: Line[] = []
  add(`alone, ${CONNECTIONS} connections`, await generate({ ...load, seconds: REPORTING_SECONDS }))
  for (const [name, path] of Object.entries(HEAVY)) {
    printProgress(`reporting during ${name}`)
    const { result, answers } = await during(subject, load, path)
    add(`during ${name}`, result, whole(answers))
    const unanswered = answers === 0 ? '; the question was refused' : ''
    lines.push({
      figure: `reports during ${name}, ${CONNECTIONS} connections`,
      goal: `p99 ≤ ${HEAVY_GOAL_MS} ms`,
      measured: `p50 ${ms(result.p50Ms)} ms, p99 ${ms(result.p99Ms)} ms${unanswered}`,
      isMet: answers === 0 ? undefined : result.p99Ms <= HEAVY_GOAL_MS,
    })
  }
  const alone = await generate({ ...paced, seconds: REPORTING_SECONDS })
  add(`alone, ${PACED.connections} connections with pauses`, alone)
  for (const [format, path] of Object.entries(EXPORTS)) {
    printProgress(`paced reporting during an export as ${format}`)
    const { result, answers } = await during(subject, paced, path)
    add(`with pauses, during an export as ${format}`, result, whole(answers))
    if (answers === 0) continue
    lines.push({
      figure: `reports with pauses, during an export as ${format}`,
      goal: 'at most 20% slower',
      measured: `p50 ${ms(alone.p50Ms)} → ${ms(result.p50Ms)} ms, p99 ${ms(alone.p99Ms)} → ${ms(result.p99Ms)} ms`,
      isMet: result.p50Ms <= SLOWED_GOAL * alone.p50Ms,
    })
  }
  printTable(rows)
  return lines
}
