/**
 * The queue of sessions that no server has acknowledged yet, one file each. Files are only created and removed, never
 * changed, so that a hook and a sender at the same time lose nothing: a sender removes exactly the files that it read.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentsEnvironment } from '../config.ts'
import { AGENT_NAMES, type AgentName } from './agent.ts'
import { isMissing, writePrivateFile } from './private-files.ts'
import { stateFolder } from './state-folder.ts'

/**
 * Records that a session has used something. Deliberately nothing of the conversation: usage is read when it is sent.
 */
export interface Job {
  agent: AgentName
  sessionId: string
  /** The path of the session's file according to the agent; null if unknown. */
  transcriptPath: string | null
  /** The agent's name of the event. */
  event: string
  at: string
  /** The server named in the hook's environment; null for the one of `tally agents login`. */
  server: string | null
  /** The agent's environment: it may have a different home, which the sender does not know. */
  environment: AgentsEnvironment
}

/** Why the server will never accept a session as it is. */
export interface RefusedJob {
  job: Job
  at: string
  /** One line per model. */
  reasons: string[]
}

export interface Waiting<Content> {
  name: string
  content: Content
}

export function spoolFolder(environment: AgentsEnvironment): string {
  return join(stateFolder(environment), 'spool')
}

export function refusedFolder(environment: AgentsEnvironment): string {
  return join(stateFolder(environment), 'refused')
}

/** Number of files created by this process, which may create several in the same millisecond. */
let made = 0

/** Sorts by time, and is unique across hooks. */
function newName(): string {
  made += 1
  const [moment, turn] = [String(Date.now()).padStart(14, '0'), String(made).padStart(6, '0')]
  return `${moment}-${process.pid}-${turn}-${crypto.randomUUID().slice(0, 8)}.json`
}

export function addJob(environment: AgentsEnvironment, job: Job): void {
  writePrivateFile(join(spoolFolder(environment), newName()), JSON.stringify(job))
}

export interface Spool<Content> {
  waiting: Waiting<Content>[]
  /** Damaged files, which are kept for inspection. */
  damaged: string[]
}

/** Queued sessions, oldest first. */
export function readJobs(environment: AgentsEnvironment): Spool<Job> {
  return readFolder(spoolFolder(environment), isJob)
}

/** Refused sessions, oldest first. */
export function readRefused(environment: AgentsEnvironment): Spool<RefusedJob> {
  return readFolder(refusedFolder(environment), ({ job }) => job !== undefined && isJob(job))
}

function isJob({ agent, sessionId, environment }: Job): boolean {
  return AGENT_NAMES.includes(agent) && typeof sessionId === 'string' && typeof environment === 'object'
}

function readFolder<Content>(folder: string, isWhole: (content: Content) => boolean): Spool<Content> {
  const spool: Spool<Content> = { waiting: [], damaged: [] }
  for (const name of namesIn(folder)) {
    try {
      const content = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Content
      if (isWhole(content)) spool.waiting.push({ name, content })
      else spool.damaged.push(join(folder, name))
    } catch (error) {
      // Another sender has removed it.
      if (!isMissing(error)) spool.damaged.push(join(folder, name))
    }
  }
  return spool
}

/** Incomplete files have other names. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

export function removeWaiting(folder: string, names: readonly string[]): void {
  for (const name of names) rmSync(join(folder, name), { force: true })
}

/** Moves a session that the server refused out of the queue, until a person decides about it. */
export function keepRefused(environment: AgentsEnvironment, refused: RefusedJob): void {
  writePrivateFile(join(refusedFolder(environment), newName()), JSON.stringify(refused))
}

/** Moves refused sessions back to the queue and returns how many. */
export function retryRefused(environment: AgentsEnvironment): number {
  const { waiting } = readRefused(environment)
  for (const { name, content } of waiting) {
    // Written before the other is removed: for a moment both exist, which is harmless because reports are totals so
    // far.
    addJob(environment, content.job)
    removeWaiting(refusedFolder(environment), [name])
  }
  return waiting.length
}

/** Removes earlier refusals of the session, because the new report replaces them. */
export function forgetRefused(
  environment: AgentsEnvironment,
  { agent, sessionId }: Pick<Job, 'agent' | 'sessionId'>,
): void {
  const { waiting } = readRefused(environment)
  const same = waiting.filter(({ content: { job } }) => job.agent === agent && job.sessionId === sessionId)
  removeWaiting(
    refusedFolder(environment),
    same.map(({ name }) => name),
  )
}
