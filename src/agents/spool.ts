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

/** That a session has used something. Deliberately nothing of what was said in it: figures are read when they are sent. */
export interface Job {
  agent: AgentName
  sessionId: string
  /** Where the agent says the session's file is; null where it does not say. */
  transcriptPath: string | null
  /** What the agent called the moment. */
  event: string
  at: string
  /** The one server it is for, where the hook's environment named one; null for the one of `tally agents login`. */
  server: string | null
  /** Of the agent: it may have a home of its own, which the sender does not know. */
  environment: AgentsEnvironment
}

/** Why a server will never take a session as it is. */
export interface RefusedJob {
  job: Job
  at: string
  /** One line a model. */
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

/** Files of this process, several of which may be made in the same millisecond. */
let made = 0

/** Sorts by time, and no two hooks choose the same. */
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
      // Another sender was faster.
      if (!isMissing(error)) spool.damaged.push(join(folder, name))
    }
  }
  return spool
}

/** Files that are not whole yet have other names. */
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

/** Keeps a session that the server refused out of the way of others, until a person decides about it. */
export function keepRefused(environment: AgentsEnvironment, refused: RefusedJob): void {
  writePrivateFile(join(refusedFolder(environment), newName()), JSON.stringify(refused))
}

/** Moves refused sessions back to the queue and returns how many. */
export function retryRefused(environment: AgentsEnvironment): number {
  const { waiting } = readRefused(environment)
  for (const { name, content } of waiting) {
    // Written before the other is removed: in between, both are there, and totals so far never add up.
    addJob(environment, content.job)
    removeWaiting(refusedFolder(environment), [name])
  }
  return waiting.length
}
