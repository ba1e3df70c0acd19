/**
 * Has sessions reported as they grow. It only looks at which files have changed: reading them is left to a process that ends
 * afterwards, so that this one stays small.
 */
import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { AgentsEnvironment } from '../../config.ts'
import type { AgentName } from '../agent.ts'
import { credentialsPath } from '../credentials.ts'
import { READERS } from '../readers/all.ts'
import { digestOf } from '../scan-cache.ts'
import { findFiles } from '../session-files.ts'
import { REPEAT_MS } from './changes.ts'
import { FolderWatches } from './folder-watches.ts'

/** Agents write in bursts: what follows within this time is reported together. */
const COLLECTING_MS = 2_000

/** A look at all files, notified or not, and the longest that an agent writes without being reported. */
const LOOK_MS = 60_000

/**
 * The share of a processor that the work takes on average while agents write all the time, unless {@link LOOK_MS} does not
 * allow as long a pause. That of a minute may be taken at once, so that a turn after a quiet minute is reported immediately.
 */
const SHARE = 1 / 200

/** After a failure, doubled each time, up to the longest. */
const FIRST_PAUSE_MS = 5_000
const LONGEST_PAUSE_MS = 5 * 60_000

export interface Reported {
  isDone: boolean
  processorMs: number
}

export interface WatcherOptions {
  environment: AgentsEnvironment
  agents: readonly AgentName[]
  /** Reports the sessions of these agents that have changed. */
  report(agents: readonly AgentName[]): Promise<Reported>
  /** Called at first, and when one of them changes. */
  onState(state: { limit: string | null; retryAt: Date | null }): void
  /** Ends the watcher. */
  signal: AbortSignal
}

export async function watchSessions({ environment, agents, report, onState, signal }: WatcherOptions): Promise<void> {
  const wake = new Wake(signal)
  const watches = new FolderWatches(() => wake.wake())
  /** By agent, the state of its files when they were last reported, and the time of that. */
  const reported = new Map<AgentName, { digest: string; at: number }>()
  const allowance = new Allowance()
  let failures = 0
  try {
    while (!signal.aborted) {
      const startedAt = process.cpuUsage()
      const { digests, folders } = lookAt(agents, environment)
      watches.set(folders)
      const isDue = (agent: AgentName) => {
        const last = reported.get(agent)
        return last?.digest !== digests.get(agent) || Date.now() - last!.at > REPEAT_MS
      }
      const due = agents.filter(isDue)
      const { user, system } = process.cpuUsage(startedAt)
      let processorMs = (user + system) / 1_000
      if (due.length > 0) {
        const isFirst = reported.size === 0
        const outcome = await report(due)
        // All that was written before is read only once.
        processorMs = isFirst ? 0 : processorMs + outcome.processorMs
        failures = outcome.isDone ? 0 : failures + 1
        for (const agent of outcome.isDone ? due : []) {
          // That of before: what was written meanwhile is reported again.
          reported.set(agent, { digest: digests.get(agent)!, at: Date.now() })
        }
      }
      const pauseMs = failures === 0 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS)
      onState({ limit: watches.limit, retryAt: failures === 0 ? null : new Date(Date.now() + pauseMs) })
      await wake.pause(Math.max(pauseMs, allowance.pauseAfter(processorMs)))
      if (failures > 0) continue
      await wake.untilWoken(LOOK_MS)
      await wake.pause(COLLECTING_MS)
      wake.clear()
    }
  } finally {
    watches.close()
  }
}

/**
 * The state of the files of each agent and of the stored token, and the folders that may get more files, with the time of the
 * latest change in each.
 */
function lookAt(agents: readonly AgentName[], environment: AgentsEnvironment) {
  const digests = new Map<AgentName, string>()
  const credentials = credentialsPath(environment)
  const loggedInAt = statSync(credentials, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const folders = new Map([[dirname(credentials), Date.now()]])
  for (const agent of agents) {
    // What cannot be read is said by whoever reads it.
    const files = findFiles(READERS[agent], environment, [], (folder) => folders.set(folder, folders.get(folder) ?? 0))
    digests.set(agent, `${loggedInAt} ${digestOf(files)}`)
    for (const { path, changedAt } of files) {
      const own = dirname(path)
      if (!folders.has(own)) folders.set(own, changedAt)
      for (let folder = own; folders.has(folder) && folder !== dirname(folder); folder = dirname(folder)) {
        folders.set(folder, Math.max(folders.get(folder)!, changedAt))
      }
    }
  }
  return { digests, folders }
}

/** Of processor time. */
class Allowance {
  #leftMs = LOOK_MS * SHARE
  #countedAt = performance.now()

  /** How long to pause after work that took this long. */
  pauseAfter(processorMs: number): number {
    const now = performance.now()
    const earnedMs = (now - this.#countedAt) * SHARE
    const longestPauseMs = LOOK_MS - COLLECTING_MS
    const leftMs = Math.min(LOOK_MS * SHARE, this.#leftMs + earnedMs) - processorMs
    this.#leftMs = Math.max(leftMs, -longestPauseMs * SHARE)
    this.#countedAt = now
    return Math.max(0, -this.#leftMs / SHARE)
  }
}

/** Waits that end at once when the watcher does. */
class Wake {
  readonly #signal: AbortSignal
  #isWoken = false
  #isInterruptible = false
  #end = () => {}

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#end())
  }

  wake(): void {
    this.#isWoken = true
    if (this.#isInterruptible) this.#end()
  }

  /** Forgets that it was woken. */
  clear(): void {
    this.#isWoken = false
  }

  pause(ms: number): Promise<void> {
    if (this.#signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#end = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** At once if it was woken since it was cleared. */
  async untilWoken(ms: number): Promise<void> {
    if (this.#isWoken) return
    this.#isInterruptible = true
    await this.pause(ms)
    this.#isInterruptible = false
  }
}
