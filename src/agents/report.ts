/** A session's use as a body for the report endpoint. */
import type { TokenEntryReport } from '../features/entries/schema.ts'
import { exactNumber } from '../lib/exact-json.ts'
import type { Counts, RequestsAbove, SessionUse } from './agent.ts'

/** Options that the reporting person sets for all entries. */
export interface ReportOptions {
  /** Sends the title of the session, which is made of prompts. */
  withTitles?: boolean
  /** The agent's name if it differs from the harness. */
  agentName?: string
  project?: string
  ticket?: string
  labels?: Record<string, string>
}

/** The endpoint's limits; longer texts are cut, because a shortened entry is better than none. */
const NAME_LENGTH = 200
const LABEL_LENGTH = 256
const SUMMARY_LENGTH = 1_000

/** JSON of one entry. */
export function reportText(use: SessionUse, options: ReportOptions = {}): string {
  return JSON.stringify(reportOf(use, options))
}

/** One entry. Its cost is only for `JSON.stringify`, which writes the agent's exact text: a number may lose digits. */
export function reportOf(use: SessionUse, options: ReportOptions = {}): TokenEntryReport {
  const { repository, branch, reportedCost } = use
  const labels = { ...(repository ? { repository } : {}), ...(branch ? { branch } : {}), ...options.labels }
  const missing = use.missing === null ? '' : ` (${use.missing})`
  const text = plainText((options.withTitles && use.title) || use.summary, SUMMARY_LENGTH - missing.length)
  return {
    agent_harness: use.agentHarness,
    agent_name: options.agentName ?? use.agentHarness,
    model: plainText(use.model, NAME_LENGTH),
    started_at: use.startedAt,
    ended_at: use.endedAt,
    tokens: use.tokens,
    ...(use.requestsAbove.length === 0 ? {} : { requests_above: use.requestsAbove.map(withoutZeros) }),
    ...use.service,
    ...(Object.keys(use.tools).length === 0 ? {} : { tools: use.tools }),
    ...(reportedCost === null ? {} : { reported_cost: exactNumber(reportedCost) }),
    summary: text + missing,
    ...(options.project === undefined ? {} : { project: options.project }),
    ...(options.ticket === undefined ? {} : { ticket: options.ticket }),
    session_id: plainText(use.sessionId, NAME_LENGTH),
    labels: Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, plainText(value, LABEL_LENGTH)])),
    ...(use.provider === null ? {} : { provider: plainText(use.provider, NAME_LENGTH) }),
    requests: use.requests,
  }
}

/** Counts that are absent are 0. */
function withoutZeros({ threshold, ...counts }: RequestsAbove): { threshold: number } & Partial<Counts> {
  return { threshold, ...Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0)) }
}

/** One line without control characters and unpaired surrogates, which the endpoint rejects. */
function plainText(text: string, length: number): string {
  const line = text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  // In UTF-16 units, as earlier servers count, but not within a character.
  return line.length <= length
    ? line
    : line
        .slice(0, length)
        .replace(/[\uD800-\uDBFF]$/, '')
        .trimEnd()
}
