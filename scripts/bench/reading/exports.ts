/** Exports of all entries, read as fast as possible. */
import { printProgress } from '../clean-up.ts'
import { familyProcessorSeconds, treeMegabytes } from '../process-metrics.ts'
import { EXPORTS } from '../queries.ts'
import { type Line, megabytes, NOT_AVAILABLE, printTable, whole } from './results.ts'
import type { Subject } from './subject.ts'

/** How long an export is observed. Constant memory shows within seconds, or never. */
const EXPORT_LIMIT_MS = 20_000

const ROWS_GOAL = 200_000

/** Exports must not need more memory for more rows: this is for buffers and garbage. */
const MEMORY_GOAL_MB = 150

const NEWLINE = 10

interface Taken {
  rows: number
  bytes: number
  peakMegabytes: number
}

export function linesIn(chunk: Uint8Array): number {
  let lines = 0
  for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) lines += 1
  return lines
}

/** Reads a response until it ends or the time is up; undefined if it was refused. */
export async function takeRows(subject: Subject, path: string, limitMs: number): Promise<Taken | undefined> {
  // Compression is measured on its own, and would take most of the time here.
  const answer = await subject.ask(path, { headers: { 'accept-encoding': 'identity' } })
  if (!answer.ok) {
    await answer.arrayBuffer()
    return undefined
  }
  const taken = { rows: 0, bytes: 0, peakMegabytes: 0 }
  const end = performance.now() + limitMs
  let measuredAt = 0
  for await (const chunk of answer.body!) {
    taken.bytes += chunk.length
    taken.rows += linesIn(chunk)
    const now = performance.now()
    if (now - measuredAt > 100) {
      measuredAt = now
      taken.peakMegabytes = Math.max(taken.peakMegabytes, treeMegabytes(subject.pid))
    }
    if (now > end) break
  }
  return taken
}

export async function measureExports(subject: Subject): Promise<Line[]> {
  const rows = [
    ['export', 'rows', 'seconds', 'rows/s', 'rows per second of processor time', 'MB/s', 'memory before', 'peak'],
  ]
  const lines: Line[] = []
  for (const [format, path] of Object.entries(EXPORTS)) {
    printProgress(`export as ${format}`)
    const figure = `${format} export`
    const goal = `≥ ${whole(ROWS_GOAL)} rows/s on one core, constant memory`
    const before = treeMegabytes(subject.pid)
    const processor = familyProcessorSeconds(subject.pid)
    const startedAt = performance.now()
    const taken = await takeRows(subject, path, EXPORT_LIMIT_MS)
    const took = (performance.now() - startedAt) / 1000
    if (!taken) {
      lines.push({ figure, goal, measured: NOT_AVAILABLE })
      continue
    }
    const used = familyProcessorSeconds(subject.pid) - processor
    const perSecond = taken.rows / took
    const perProcessorSecond = taken.rows / Math.max(used, 0.01)
    const grown = taken.peakMegabytes - before
    const memory = [megabytes(before), megabytes(taken.peakMegabytes)]
    rows.push([
      format,
      whole(taken.rows),
      took.toFixed(1),
      whole(perSecond),
      whole(perProcessorSecond),
      (taken.bytes / 1e6 / took).toFixed(0),
      ...memory,
    ])
    lines.push({
      figure,
      goal,
      measured: `${whole(perSecond)} rows/s, ${whole(perProcessorSecond)} per second of processor time; memory ${memory.join(' → ')}`,
      isMet: Math.min(perSecond, perProcessorSecond) >= ROWS_GOAL && grown <= MEMORY_GOAL_MB,
    })
  }
  printTable(rows)
  return lines
}
