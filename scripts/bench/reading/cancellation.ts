/** How long the server still works on a question after its caller has gone. */
import { printProgress } from '../clean-up.ts'
import { threadTimes } from '../process-metrics.ts'
import { HEAVY } from '../queries.ts'
import { type Line, percentile, seconds, timesLine } from './results.ts'
import type { Subject } from './subject.ts'

const GOAL_MS = 100
const ROUNDS = 5

/** Then the question is well under way. */
const CANCELLED_AFTER_MS = 200

/** The server is quiet if it uses less than this share of a core for a few intervals. */
const INTERVAL_MS = 20
const QUIET_SHARE = 0.25
const QUIET_INTERVALS = 4
const QUIET_LIMIT_MS = 30_000

export async function measureCancellation(subject: Subject): Promise<Line[]> {
  const lines: Line[] = []
  for (const [name, path] of Object.entries(HEAVY)) {
    const figure = `cancelled: ${name}`
    printProgress(figure)
    const times: number[] = []
    let skipped = ''
    for (let round = 0; round < Math.min(ROUNDS, subject.rounds) && skipped === ''; round++) {
      await quiet(subject.pid)
      const outcome = await cancel(subject, path)
      if (outcome === 'cancelled') times.push(await quiet(subject.pid))
      else skipped = outcome
    }
    times.sort((one, other) => one - other)
    if (times.length === 0) lines.push(timesLine(figure, undefined, GOAL_MS, skipped))
    else {
      const isOver = percentile(times, 1) >= QUIET_LIMIT_MS
      lines.push(timesLine(figure, times, GOAL_MS, isOver ? `still working after ${seconds(QUIET_LIMIT_MS)}` : ''))
    }
  }
  return lines
}

/** Asks and goes away, also while an answer is being received. Says why that was not possible. */
async function cancel(subject: Subject, path: string): Promise<string> {
  const controller = new AbortController()
  const startedAt = performance.now()
  const left = setTimeout(() => controller.abort(), CANCELLED_AFTER_MS)
  try {
    const answer = await subject.ask(path, {
      signal: controller.signal,
      headers: { 'accept-encoding': 'identity' },
    })
    await answer.arrayBuffer()
    const took = performance.now() - startedAt
    return answer.ok ? `answered before, in ${took.toFixed(0)} ms` : `not available (${answer.status})`
  } catch (error) {
    if (controller.signal.aborted) return 'cancelled'
    throw error
  } finally {
    clearTimeout(left)
  }
}

/** Waits until the server's threads are quiet, and returns the milliseconds until then. */
async function quiet(pid: number): Promise<number> {
  const startedAt = performance.now()
  let since = startedAt
  let before = threadTimes(pid)
  let beforeAt = startedAt
  while (performance.now() - startedAt < QUIET_LIMIT_MS) {
    await Bun.sleep(INTERVAL_MS)
    const now = threadTimes(pid)
    const at = performance.now()
    let used = 0
    for (const [thread, time] of now) used += time - (before.get(thread) ?? 0)
    if (used / 1e6 > QUIET_SHARE * (at - beforeAt)) since = at
    else if (at - since >= QUIET_INTERVALS * INTERVAL_MS) return since - startedAt
    before = now
    beforeAt = at
  }
  return QUIET_LIMIT_MS
}
