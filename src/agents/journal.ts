/** The latest events for `tally agents status`, and a log for troubleshooting. Errors in writing either are ignored. */
import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import type { AgentName } from './agent.ts'
import type { Outcome } from './batches.ts'
import { readJsonFile } from './private-files.ts'
import { stateFolder } from './state-folder.ts'

/** Some thousand lines, usually months. The log has two files, so that the latest lines are always kept. */
const LOG_LIMIT_BYTES = 256 * 1024

export interface LastHook {
  at: string
  event: string
}

export interface LastDelivery {
  at: string
  sessionId: string
  /** Number of the session's entries on the server, one per model, day and place. */
  entries: number
}

/** A watcher of session files, as it was when it last had something to say. */
export interface LastWatch {
  pid: number
  startedAt: string
  agents: AgentName[]
  /** Why files are only looked at once a minute, and what to do; null if their changes are notified. */
  limit: string | null
  /** When it tries again, after a failure. */
  retryAt: string | null
}

export interface LastError {
  at: string
  message: string
}

export function logPath(environment: AgentsEnvironment): string {
  return join(stateFolder(environment), 'agents.log')
}

/** Always one line, whatever the message contains. */
export function log(environment: AgentsEnvironment, message: string): void {
  const path = logPath(environment)
  const line = `${new Date().toISOString()} ${message.replace(/\s*\n\s*/g, ' ')}\n`
  try {
    mkdirSync(stateFolder(environment), { recursive: true, mode: 0o700 })
    const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (size > LOG_LIMIT_BYTES) renameSync(path, `${path}.1`)
    appendFileSync(path, line, { mode: 0o600 })
  } catch {}
}

const lastPath = (environment: AgentsEnvironment, what: string) =>
  join(stateFolder(environment), 'last', `${what}.json`)

function note(
  environment: AgentsEnvironment,
  what: string,
  content: LastHook | LastDelivery | LastWatch | LastError,
): void {
  const path = lastPath(environment, what)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    // Less careful than the spool: what is lost here is written again at the next hook.
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 })
  } catch {}
}

export function noteHook(environment: AgentsEnvironment, agent: AgentName, hook: LastHook): void {
  note(environment, `hook-${agent}`, hook)
}

export function noteDelivery(environment: AgentsEnvironment, agent: AgentName, delivery: LastDelivery): void {
  note(environment, `delivery-${agent}`, delivery)
}

/** The latest session of each agent among those that the server has acknowledged. */
export function noteAccepted(environment: AgentsEnvironment, accepted: Outcome['accepted']): void {
  const at = new Date().toISOString()
  for (const [agent, reports] of Map.groupBy(accepted, ({ use }) => use.agentHarness)) {
    const { sessionId } = reports.reduce((one, other) => (other.use.endedAt > one.use.endedAt ? other : one)).use
    const ofSession = reports.filter(({ use }) => use.sessionId === sessionId)
    noteDelivery(environment, agent, {
      at,
      sessionId,
      entries: ofSession.reduce((sum, { entries }) => sum + entries, 0),
    })
  }
}

export function noteWatch(environment: AgentsEnvironment, watch: LastWatch): void {
  note(environment, 'watch', watch)
}

/** Why nothing can be delivered at present; null once that is over. */
export function noteError(environment: AgentsEnvironment, issue: LastError | null): void {
  try {
    if (issue) note(environment, 'error', issue)
    else rmSync(lastPath(environment, 'error'), { force: true })
  } catch {}
}

export function lastHook(environment: AgentsEnvironment, agent: AgentName): LastHook | undefined {
  return readJsonFile(lastPath(environment, `hook-${agent}`))
}

export function lastDelivery(environment: AgentsEnvironment, agent: AgentName): LastDelivery | undefined {
  return readJsonFile(lastPath(environment, `delivery-${agent}`))
}

export function lastWatch(environment: AgentsEnvironment): LastWatch | undefined {
  return readJsonFile(lastPath(environment, 'watch'))
}

export function lastError(environment: AgentsEnvironment): LastError | undefined {
  return readJsonFile(lastPath(environment, 'error'))
}
