/** Shapes that columns keep as JSON text. */

/** Label name to value, names in alphabetical order so that equal sets are equal text. */
export type LabelMap = Record<string, string>

/** Prices that hold from `from_tokens` on the input side of one request; decimal text of pico-dollars per token. */
export interface PriceTier {
  from_tokens: number
  input?: string
  output?: string
  cache_read?: string
  cache_write?: string
  cache_write_1h?: string
}

/** What one source said of one model of a session so far. Counts are numbers up to 10^12; money is decimal text of nano-dollars. */
export interface SessionTotals {
  model: string
  provider: string | null
  started_at: number
  ended_at: number
  input: number
  output: number
  cache_read: number
  cache_write: number
  cache_write_1h: number
  over_200k: [input: number, output: number, cacheRead: number, cacheWrite: number, cacheWrite1h: number] | null
  requests: number | null
  reported_cost: string | null
}

/**
 * One condition of a placement rule: `field` is `agent_harness`, `agent_name`, `model`, `agent_manager`, `provider`,
 * `summary` or `labels.<name>`; `matches` a glob, or an expression between slashes (`/(?<ticket>[A-Z]+-[0-9]+)/`).
 */
export interface RuleCondition {
  field: string
  matches: string
}
