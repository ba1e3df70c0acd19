/**
 * Reports the sessions that have changed since the server acknowledged them. What it acknowledged is remembered, and may be
 * deleted at any time: reporting a session again changes nothing.
 */
import type { AgentsEnvironment, ClientConfig } from '../../config.ts'
import { type AgentName, damageText, type SessionUse } from '../agent.ts'
import { type Outcome, reportUses } from '../batches.ts'
import { log, noteAccepted, noteError } from '../journal.ts'
import { reportStatus, targetOf } from '../report-status.ts'
import { scanAll } from '../scan.ts'
import { loadKept, storeKept } from '../scan-cache.ts'
import { refusalText } from '../server.ts'
import { forgetRefused, keepRefused, readRefused } from '../spool.ts'

/** Everything is reported again after this time: a server may have been restored from a backup. */
export const REPEAT_MS = 24 * 3_600_000

export interface ChangesOptions {
  environment: AgentsEnvironment
  server: ClientConfig
  /** The server that `TALLY_URL` names; null for that of `tally agents login`. */
  named: string | null
  agents: readonly AgentName[]
  /** Leaves out sessions that ended before this time, in milliseconds. */
  since?: number
}

/** All models of a session, which are reported together. */
interface Session {
  agent: AgentName
  sessionId: string
  uses: SessionUse[]
  /** Of all that is reported of it. */
  digest: string
}

/** What a server has acknowledged of an agent, from the owner of a token. */
interface Acknowledged {
  /** The earliest acknowledgement. */
  at: number
  /** The digests of sessions. */
  sessions: Record<string, string>
  /** What could not be read, which is logged once. */
  damage: string[]
}

export async function reportChanges(options: ChangesOptions): Promise<Outcome> {
  const { environment, server, agents, since } = options
  const scans = agents.map((agent) => {
    const scan = scanAll({ environment, agents: [agent], ...(since === undefined ? {} : { since }) })
    const { uses, damage, readings } = scan
    const name = `${agent}-acknowledged-${targetOf(server)}`
    return {
      name,
      readings,
      sessions: sessionsOf(uses),
      damage: damage.map(damageText),
      known: acknowledgedIn(environment, name),
    }
  })
  const changed = scans.flatMap(({ sessions, known }) => sessions.filter((session) => !isKnown(session, known)))
  const outcome = await reportUses(
    server,
    changed.flatMap(({ uses }) => uses),
  )
  const { issue } = outcome
  if (issue) log(environment, issue.message)
  noteError(environment, issue && { at: new Date().toISOString(), message: issue.message })
  noteAccepted(environment, outcome.accepted)
  if (!issue) {
    await reportStatus(
      options,
      scans.flatMap(({ readings }) => readings),
    )
  }
  keepRefusals(options, changed, outcome)
  const answered = new Set([...outcome.accepted, ...outcome.refused].map(({ use }) => use))
  for (const { name, sessions, damage, known } of scans) {
    for (const text of damage) if (!known.damage.includes(text)) log(environment, `counted only in part: ${text}`)
    const acknowledged = sessions.filter((each) => isKnown(each, known) || each.uses.every((use) => answered.has(use)))
    const digests = Object.fromEntries(acknowledged.map(({ sessionId, digest }) => [sessionId, digest]))
    storeKept(environment, name, { at: known.at, sessions: digests, damage } satisfies Acknowledged)
  }
  return outcome
}

function sessionsOf(uses: readonly SessionUse[]): Session[] {
  return [...Map.groupBy(uses, ({ sessionId }) => sessionId)].map(([sessionId, ofSession]) => {
    // Without the cells, which are a function: the days of the use are their sums.
    const digest = Bun.hash(JSON.stringify(ofSession)).toString(36)
    return { agent: ofSession[0]!.agentHarness, sessionId, uses: ofSession, digest }
  })
}

const isKnown = ({ sessionId, digest }: Session, { sessions }: Acknowledged) => sessions[sessionId] === digest

function acknowledgedIn(environment: AgentsEnvironment, name: string): Acknowledged {
  const kept = loadKept<Acknowledged>(environment, name)
  const now = Date.now()
  // In both directions: the clock may have been set back.
  const isRecent = kept !== undefined && Math.abs(now - kept.at) < REPEAT_MS
  return isRecent ? kept : { at: now, sessions: {}, damage: kept?.damage ?? [] }
}

/** Until a person decides about them, as with those of hooks. */
function keepRefusals({ environment, named }: ChangesOptions, changed: readonly Session[], outcome: Outcome): void {
  const refusals = new Map(outcome.refused.map(({ use, refusal }) => [use, refusalText(refusal)]))
  const accepted = new Set(outcome.accepted.map(({ use }) => use))
  const refusedBefore = new Set(readRefused(environment).waiting.map(({ content: { job } }) => job.sessionId))
  const at = new Date().toISOString()
  for (const { agent, sessionId, uses } of changed) {
    const reasons = uses.flatMap((use) => refusals.get(use) ?? [])
    const isAnswered = reasons.length > 0 || uses.some((use) => accepted.has(use))
    if (isAnswered && refusedBefore.has(sessionId)) forgetRefused(environment, { agent, sessionId })
    if (reasons.length === 0) continue
    const job = { agent, sessionId, transcriptPath: null, event: 'watch', at, server: named, environment }
    keepRefused(environment, { job, at, reasons })
    log(environment, `the server refused ${agent} ${sessionId}: ${reasons.join('; ')}`)
  }
}
