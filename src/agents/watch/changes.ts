/**
 * Reports the sessions that have changed since the server acknowledged them. What it acknowledged is remembered, and may be
 * deleted at any time: reporting a session again changes nothing.
 */
import type { AgentsEnvironment, ClientConfig } from '../../config.ts'
import { type AgentName, damageText, type SessionUse } from '../agent.ts'
import { type Outcome, reportUses } from '../batches.ts'
import { log, noteAccepted, noteError } from '../journal.ts'
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

/** What a server has acknowledged of an agent. */
interface Acknowledged {
  /** The server and the owner of the token, as a digest. */
  target: string
  /** The earliest acknowledgement. */
  at: number
  /** The digests of sessions. */
  sessions: Record<string, string>
  /** What could not be read, which is logged once. */
  damage: string[]
}

export async function reportChanges(options: ChangesOptions): Promise<Outcome> {
  const { environment, server, agents, since } = options
  const { uses, damage } = scanAll({ environment, agents, ...(since === undefined ? {} : { since }) })
  const sessions = sessionsOf(uses)
  const target = new Bun.CryptoHasher('sha256').update(`${server.url}\0${server.token}`).digest('hex')
  const known = new Map(agents.map((agent) => [agent, acknowledgedOf(environment, agent, target)]))
  const isKnown = ({ agent, sessionId, digest }: Session) => known.get(agent)!.sessions[sessionId] === digest
  const changed = sessions.filter((session) => !isKnown(session))
  const outcome = await reportUses(
    server,
    changed.flatMap((session) => session.uses),
  )
  const { issue } = outcome
  if (issue) log(environment, issue.message)
  noteError(environment, issue && { at: new Date().toISOString(), message: issue.message })
  noteAccepted(environment, outcome.accepted)
  keepRefusals(options, changed, outcome)
  const answered = new Set([...outcome.accepted, ...outcome.refused].map(({ use }) => use))
  const isAcknowledged = (session: Session) => isKnown(session) || session.uses.every((use) => answered.has(use))
  for (const [agent, { at, damage: logged }] of known) {
    const texts = damage.map(damageText)
    for (const text of texts) if (!logged.includes(text)) log(environment, `counted only in part: ${text}`)
    const ofAgent = sessions.filter((session) => session.agent === agent && isAcknowledged(session))
    const digests = Object.fromEntries(ofAgent.map(({ sessionId, digest }) => [sessionId, digest]))
    storeKept(environment, nameOf(agent), { target, at, sessions: digests, damage: texts } satisfies Acknowledged)
  }
  return outcome
}

function sessionsOf(uses: readonly SessionUse[]): Session[] {
  const groups = Map.groupBy(uses, ({ agentHarness, sessionId }) => `${agentHarness} ${sessionId}`)
  return [...groups.values()].map((ofSession) => {
    const { agentHarness, sessionId } = ofSession[0]!
    // Without the cells, which are a function: the days of the use are their sums.
    const digest = Bun.hash(JSON.stringify(ofSession)).toString(36)
    return { agent: agentHarness, sessionId, uses: ofSession, digest }
  })
}

const nameOf = (agent: AgentName) => `${agent}-acknowledged`

function acknowledgedOf(environment: AgentsEnvironment, agent: AgentName, target: string): Acknowledged {
  const kept = loadKept<Acknowledged>(environment, nameOf(agent))
  const now = Date.now()
  // In both directions: the clock may have been set back.
  const isOfTarget = kept?.target === target && Math.abs(now - kept.at) < REPEAT_MS
  return isOfTarget ? kept : { target, at: now, sessions: {}, damage: kept?.damage ?? [] }
}

/** Until a person decides about them, as with those of hooks. */
function keepRefusals({ environment, named }: ChangesOptions, changed: readonly Session[], outcome: Outcome): void {
  const refusedBefore = new Set(readRefused(environment).waiting.map(({ content: { job } }) => job.sessionId))
  const at = new Date().toISOString()
  for (const { agent, sessionId, uses } of changed) {
    const reasons = outcome.refused.filter(({ use }) => uses.includes(use)).map(({ refusal }) => refusalText(refusal))
    const isAccepted = outcome.accepted.some(({ use }) => uses.includes(use))
    if ((reasons.length > 0 || isAccepted) && refusedBefore.has(sessionId))
      forgetRefused(environment, { agent, sessionId })
    if (reasons.length === 0) continue
    const job = { agent, sessionId, transcriptPath: null, event: 'watch', at, server: named, environment }
    keepRefused(environment, { job, at, reasons })
    log(environment, `the server refused ${agent} ${sessionId}: ${reasons.join('; ')}`)
  }
}
