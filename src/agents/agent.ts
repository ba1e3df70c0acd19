/** The shapes that readers of agents' session files return. */
import type { NotRead } from '../features/agent-status/schema.ts'
import type { AgentName } from '../shared/agents.ts'

export { AGENT_NAMES, type AgentName } from '../shared/agents.ts'

/** The five counts, disjoint: `input` never includes the cache, `output` includes reasoning. */
export interface Counts {
  input: number
  output: number
  cache_read: number
  cache_write: number
  cache_write_1h: number
}

/** The part of the five counts that is from single requests with more input-side tokens than the threshold. */
export interface RequestsAbove extends Counts {
  threshold: number
}

/** What the vendor charges differently for. Absent if it is the vendor's standard. */
export interface Service {
  service_tier?: string
  speed?: string
  region?: string
}

/** What a model was used for between two calls. */
export interface Use {
  tokens: Counts
  /** Ascending. Thresholds of which nothing is known are absent, and those above the first that no request exceeds. */
  requestsAbove: RequestsAbove[]
  /** The number of charged uses, by the name of the tool. */
  tools: Record<string, number>
  requests: number
  /** Exact decimal text of US dollars; null if the agent does not know the cost of every request. */
  reportedCost: string | null
  /** How long the agent worked, without waiting for a person; null if its files do not show it. */
  activeMs: number | null
}

export interface Place {
  /** `owner/name` on a forge with such paths, otherwise host and path. */
  repository: string | null
  /** Null if no branch was checked out. */
  branch: string | null
}

/** The part of a use that is of one place and UTC quarter of an hour, so that every day and place pays for its own. */
export interface Cell extends Use {
  place: Place
  /** Times of the first and the last call, in milliseconds. */
  firstAt: number
  lastAt: number
}

/** Use of one model in one session with one service: its totals so far. */
export interface SessionUse extends Use, Place {
  agentHarness: AgentName
  sessionId: string
  model: string
  /** Null if the agent does not record who sold the model, or if its maker did. */
  provider: string | null
  startedAt: string
  endedAt: string
  service: Service
  /** The parts, of which the use is the sum; ordered by start. A function, because only reports need all of them. */
  cells(): readonly Cell[]
  /** Their sums by UTC day and place. */
  days: readonly Cell[]
  /** The folder the agent worked in. Never sent. */
  folder: string | null
  /** The agent and the repository, in one line. */
  summary: string
  /** The session's title in the agent, which is made of prompts: sent only if the person asks for it. */
  title: string | null
  /** What the agent's files do not contain of the session, in words; null if nothing is known to be missing. */
  missing: string | null
  /** What the agent calls the plan of the account, such as `codex:pro`; null if it records none. */
  plan: string | null
  /** Through what the agent was started, in its own words; null if it records nothing of it. */
  entrypoint: string | null
  /** What the cost is a charge of; null if that is not known. */
  funding: 'credits' | null
  /** The file with most of the session, for people who want to look. */
  file: string
}

/** What of a file could not be read, in a form that can be sent: without paths and texts. */
export type { NotRead }

/** Something that could not be read and therefore is not counted. The scan continues. */
export interface Damage {
  file: string
  /** Line number from 1; null for the whole file. */
  line: number | null
  what: string
  /** Everything could be read, but what it says is incomplete or uncertain. */
  isNote?: true
  /** Of damage that readers find within a file. Other damage is a file or folder that cannot be opened. */
  notRead?: NotRead
  /** Those that the reader names, of which others of the files may have more of the same. */
  sessions?: string[]
}

/** For people: what is not counted, or only in part. */
export function damageNotice(damage: Damage): string {
  return `${damage.isNote ? 'Note' : 'Not counted'}: ${damageText(damage)}`
}

export function damageWire(damage: Damage) {
  const { file, line, what, isNote = false } = damage
  return { file, line, what, note: isNote, not_read: notReadOf(damage) ?? null }
}

/** Undefined if everything was read, as far as the file has it. */
export function notReadOf({ isNote, notRead }: Damage): NotRead | undefined {
  return notRead ?? (isNote ? undefined : { reason: 'unreadable_file', name: null, count: 1 })
}

export function damageText({ file, line, what }: Damage): string {
  return `${file}${line === null ? '' : `:${line}`}: ${what}`
}

/** A session as named by a hook. */
export interface SessionName {
  sessionId: string
  /** The path of the session's file according to the agent; also read if it is outside the usual folders. */
  transcriptPath?: string
}

/** How much of a limit of a plan an agent says is used, such as that of five hours. */
export interface Limit {
  name: string
  windowMinutes: number
  usedPercent: number
  /** Null if the agent does not say when the window ends. */
  resetsAt: number | null
  /** As Tally's vendor codes name it: `codex:pro`. */
  plan: string | null
  creditsLeft: number | null
  /** When the agent said it. */
  at: number
}

/** What was read of an agent's files, all of them, and what was not: what is missing is reported, and never shown as zero. */
export interface AgentReading {
  agent: AgentName
  /** Identifies the folders that were read. */
  source: string
  /** The newest version of the agent that its files name; null if they name none. */
  version: string | null
  sessions: number
  notRead: NotRead[]
  /** What the agent last said of the limits of its plan, if it says something of them. */
  limits?: Limit[]
}

/** The result of a scan, and how much was read for it. */
export interface Scan {
  /** Of each agent. */
  readings: AgentReading[]
  /** Ordered by start. */
  uses: SessionUse[]
  damage: Damage[]
  files: number
  bytes: number
}
