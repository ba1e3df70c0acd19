/**
 * Sends what was read of each agent, and what was not, after the sessions themselves: when it has changed, otherwise at most
 * once an hour. Errors are ignored, because no report may fail for it.
 */
import { join } from 'node:path'
import type { AgentsEnvironment, ClientConfig } from '../config.ts'
import { VERSION } from '../embedded/version.ts'
import type { AgentStatusReport } from '../features/agent-status/schema.ts'
import type { AgentName, AgentReading, Limit, NotRead } from './agent.ts'
import { sentLimits } from './limits.ts'
import { newestVersion, sumNotRead } from './not-read.ts'
import { readJsonFile, writePrivateFile } from './private-files.ts'
import { putAgentStatus, ServerError } from './server.ts'
import { stateFolder } from './state-folder.ts'
import { lastStatusLine, type StatusLine } from './status-line.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How often limits are sent, which change with every answer: less than the time between two calls of a status line's sender. */
const LIMITS_EVERY_MS = 4 * 60_000

/** Folders that have not been read for so long are gone, as those of a temporary home are. */
const SOURCE_LIMIT_MS = 30 * DAY_MS

/** Accounts of an agent on one machine, and servers that it reports to; those used last are kept. */
const SOURCES_LIMIT = 20
const SERVERS_LIMIT = 10

/** What the server accepts. */
const MACHINE_DIGITS = 16
const TARGET_DIGITS = 16
const MACHINE = /^[0-9a-f]{16}$/
const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}/
const AGENT_VERSION = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}/
const COUNT_LIMIT = 1_000_000_000
const NOT_READ_LIMIT = 50

type ReportedAgent = AgentStatusReport['agents'][number]

interface Source extends Pick<AgentReading, 'version' | 'sessions' | 'notRead' | 'limits'> {
  readAt: number
}

interface Sent {
  /** Of what the server has acknowledged. */
  digest: string
  at: number
  /** Nothing is sent before: the server did not accept it. */
  pausedUntil: number
  /** The same of limits, which are neither missed nor sent again with the status. */
  limits?: { digest: string; at: number; pausedUntil: number }
}

interface StatusState {
  /** Random, so that it says nothing about the machine. */
  machine: string
  /** An agent can keep sessions in several folders, as with several accounts. */
  sources: { [Agent in AgentName]?: Record<string, Source> }
  /** By a digest of the server and the token. */
  servers: Record<string, Sent>
}

/** Returns the id of the machine if the server knows that something was not read. */
export async function reportStatus(
  { environment, server }: { environment: AgentsEnvironment; server: ClientConfig },
  readings: readonly AgentReading[],
): Promise<string | undefined> {
  try {
    const now = Date.now()
    const state = loadState(environment) ?? newState(environment, server)
    for (const reading of readings) addReading(state, reading, now)
    const report = reportOf(state, readings, lastStatusLine(environment, now), now)
    if (report.agents.length === 0) return undefined
    // Before it is sent: a machine that cannot keep its id would be another one every time.
    saveState(environment, state)
    const name = targetOf(server)
    const known = await sent(server, report, state.servers[name], now)
    const servers = { ...state.servers, [name]: known }
    state.servers = latest(servers, SERVERS_LIMIT, ({ at, pausedUntil }) => Math.max(at, pausedUntil))
    saveState(environment, state)
    const isKnown = known.digest === contentDigest(report)
    return isKnown && report.agents.some(({ not_read }) => not_read.length > 0) ? state.machine : undefined
  } catch {
    return undefined
  }
}

/** What the server has acknowledged then. */
async function sent(
  server: ClientConfig,
  report: AgentStatusReport,
  before: Sent = { digest: '', at: 0, pausedUntil: 0 },
  now: number,
): Promise<Sent> {
  const digest = contentDigest(report)
  const isPaused = isWithin(DAY_MS, before.pausedUntil - now)
  const isRecent = before.digest === digest && isWithin(HOUR_MS, now - before.at)
  const { limits = { digest: '', at: 0, pausedUntil: 0 } } = before
  const limitsDigest = digestOf(report.agents.map((agent) => agent.limits ?? []))
  const areLimitsRefused = isWithin(DAY_MS, limits.pausedUntil - now)
  const areLimitsDue =
    !areLimitsRefused &&
    report.agents.some((agent) => agent.limits) &&
    limits.digest !== limitsDigest &&
    !isWithin(LIMITS_EVERY_MS, now - limits.at)
  if (isPaused || (isRecent && !areLimitsDue)) return before
  try {
    const areTaken = await putAgentStatus(server, areLimitsRefused ? withoutLimits(report) : report)
    const pausedUntil = areLimitsRefused ? limits.pausedUntil : areTaken ? 0 : now + DAY_MS
    return { digest, at: now, pausedUntil: 0, limits: { digest: limitsDigest, at: now, pausedUntil } }
  } catch (error) {
    // A server of an earlier version has no such address.
    const isMissing = error instanceof ServerError && (error.status === 404 || error.status === 405)
    return { ...before, pausedUntil: now + (isMissing ? DAY_MS : HOUR_MS) }
  }
}

const withoutLimits = (report: AgentStatusReport): AgentStatusReport => ({
  ...report,
  agents: report.agents.map(({ limits: _, ...agent }) => agent),
})

/** False also for times that a clock shows which was set back. */
const isWithin = (limitMs: number, durationMs: number) => durationMs >= 0 && durationMs < limitMs

function statePath(environment: AgentsEnvironment): string {
  return join(stateFolder(environment), 'status.json')
}

function loadState(environment: AgentsEnvironment): StatusState | undefined {
  const stored = readJsonFile<StatusState>(statePath(environment))
  return stored && MACHINE.test(stored.machine) ? stored : undefined
}

/** All jobs of continuous integration with one token are one machine: each would leave one that never reports again. */
function newState({ isCi }: AgentsEnvironment, { token }: ClientConfig): StatusState {
  const machine = digestOf([isCi ? token : crypto.randomUUID()]).slice(0, MACHINE_DIGITS)
  return { machine, sources: {}, servers: {} }
}

function saveState(environment: AgentsEnvironment, state: StatusState): void {
  writePrivateFile(statePath(environment), JSON.stringify(state))
}

/** Agents without sessions are none, unless there was something of them before. */
function addReading(
  { sources }: StatusState,
  { agent, source, version, sessions, notRead, limits }: AgentReading,
  readAt: number,
): void {
  const known = sources[agent]
  if (!known && sessions === 0 && notRead.length === 0) return
  const all = Object.entries({ ...known, [source]: { version, sessions, notRead, ...(limits && { limits }), readAt } })
  const recent = all.filter(([, each]) => readAt - each.readAt < SOURCE_LIMIT_MS)
  sources[agent] = latest(Object.fromEntries(recent), SOURCES_LIMIT, (each) => each.readAt)
}

function latest<Value>(
  values: Record<string, Value>,
  limit: number,
  at: (value: Value) => number,
): Record<string, Value> {
  const sorted = Object.entries(values).sort(([, one], [, other]) => at(other) - at(one))
  return Object.fromEntries(sorted.slice(0, limit))
}

/** The agents that were read, with all folders of each and what their limits are now, also those of the status line. */
function reportOf(
  { machine, sources }: StatusState,
  readings: readonly Pick<AgentReading, 'agent'>[],
  statusLine: StatusLine | undefined,
  now: number,
): AgentStatusReport {
  const names = [...readings.map(({ agent }) => agent), ...(statusLine ? (['claude-code'] as const) : [])]
  const agents = names.flatMap((agent): ReportedAgent[] => {
    const passed = agent === 'claude-code' ? statusLine : undefined
    const status = statusIn(sources, agent) ?? (passed && statusOfLine(agent, passed))
    if (!status) return []
    const limits = sentLimits([...limitsIn(sources, agent), ...(passed?.limits ?? [])], now)
    const not_read = passed ? notReadOf([...status.not_read, ...passed.notRead]) : status.not_read
    return [{ ...status, not_read, ...(limits.length > 0 && { limits }) }]
  })
  return {
    machine,
    tally_version: VERSION,
    agents: [...new Map(agents.map((each) => [each.agent_harness, each])).values()],
  }
}

function statusIn(sources: StatusState['sources'], agent: AgentName): ReportedAgent | undefined {
  const all = Object.values(sources[agent] ?? {})
  if (all.length === 0) return undefined
  const version = newestVersion(all.map((source) => source.version))
  return {
    agent_harness: agent,
    version: AGENT_VERSION.exec(version ?? '')?.[0] ?? null,
    sessions: all.reduce((sum, { sessions }) => sum + sessions, 0),
    not_read: notReadOf(all.flatMap(({ notRead }) => notRead)),
  }
}

const limitsIn = (sources: StatusState['sources'], agent: AgentName): Limit[] =>
  Object.values(sources[agent] ?? {}).flatMap(({ limits = [] }) => limits)

/** Of an agent whose files were not read. */
const statusOfLine = (agent: AgentName, { version }: StatusLine): ReportedAgent => ({
  agent_harness: agent,
  version: AGENT_VERSION.exec(version ?? '')?.[0] ?? null,
  sessions: 0,
  not_read: [],
})

/** What was last reported of each agent, or would be. */
export function lastStatuses(environment: AgentsEnvironment): (agent: AgentName) => ReportedAgent | undefined {
  const sources = loadState(environment)?.sources ?? {}
  return (agent) => statusIn(sources, agent)
}

/** The most frequent ones, as the server takes them. */
function notReadOf(all: readonly NotRead[]): NotRead[] {
  const named = all.map((each) => ({ ...each, name: NAME.exec(each.name ?? '')?.[0] ?? null }))
  return sumNotRead(named)
    .sort((one, other) => other.count - one.count)
    .slice(0, NOT_READ_LIMIT)
    .map((each) => ({ ...each, count: Math.min(each.count, COUNT_LIMIT) }))
}

/** Identifies a server and whose token it is reported with, without either of them. */
export const targetOf = ({ url, token }: ClientConfig) => digestOf([url, token]).slice(0, TARGET_DIGITS)

/** Without the numbers of sessions, which change with every one, and limits, which do with every answer. */
const contentDigest = (report: AgentStatusReport) =>
  digestOf([
    report.machine,
    report.tally_version,
    ...report.agents.map(({ sessions: _, limits: __, ...agent }) => agent),
  ])

const digestOf = (content: unknown) => new Bun.CryptoHasher('sha256').update(JSON.stringify(content)).digest('hex')
