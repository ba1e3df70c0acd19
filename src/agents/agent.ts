/** The shapes that readers of agents' session files return. */

/** As they stand in `agent_harness`, so that what a hook, a scan and telemetry say of a session meets. */
export const AGENT_NAMES = ['claude-code', 'codex', 'gemini-cli', 'opencode', 'qwen-code'] as const
export type AgentName = (typeof AGENT_NAMES)[number]

/** The five counts, disjoint: `input` never includes the cache, `output` includes reasoning. */
export interface Counts {
  input: number
  output: number
  cache_read: number
  cache_write: number
  cache_write_1h: number
}

export interface Tokens extends Counts {
  /** The share of the five counts of requests with more than 200,000 input-side tokens; absent where that is unknown. */
  over_200k?: Counts
}

/** Use of one model in one session: its totals so far. */
export interface SessionUse {
  agentHarness: AgentName
  sessionId: string
  model: string
  /** Null where the agent does not say who sold the model, or where that is its maker. */
  provider: string | null
  startedAt: string
  endedAt: string
  tokens: Tokens
  requests: number
  /** Exact decimal text of US dollars; null where the agent does not know the cost of every request. */
  reportedCost: string | null
  /** The folder the agent worked in. Never sent. */
  folder: string | null
  /** `owner/name` on a forge with such paths, else host and path. */
  repository: string | null
  branch: string | null
  /** One line that holds nothing of what was said in the session. */
  summary: string
  /** What the session is called in the agent, made of prompts: sent only where the person asks for it. */
  title: string | null
  /** The file that holds most of it, for people who want to look. */
  file: string
}

/** Something that could not be read, and so is not counted. A scan continues. */
export interface Damage {
  file: string
  /** Line number from 1; null for the whole file. */
  line: number | null
  what: string
}

export function damageText({ file, line, what }: Damage): string {
  return `${file}${line === null ? '' : `:${line}`}: ${what}`
}

/** A session that a hook names. */
export interface SessionName {
  sessionId: string
  /** Where the agent says its file is; read as well where it lies outside the usual places. */
  transcriptPath?: string
}

/** Everything found, and what it took. */
export interface Scan {
  /** Ordered by start. */
  uses: SessionUse[]
  damage: Damage[]
  files: number
  bytes: number
}
