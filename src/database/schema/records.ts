/** Shapes of columns with JSON text. */
import type { Id } from '../../lib/id.ts'
import type { ChartKind } from '../../shared/charts/layout.ts'
import type { MeasureName } from '../../shared/measures.ts'
import type { Comparison, RowOrder, Sort } from '../../shared/report-table.ts'
import type { SaidFundingKind, Weekday } from './values.ts'

/** Label names and values, sorted by name, so that equal sets are equal text. */
export type LabelMap = Record<string, string>

/** Decimal text of pico-dollars per token. */
export interface Prices {
  input?: string
  output?: string
  cache_read?: string
  cache_write?: string
  cache_write_1h?: string
  input_audio?: string
  input_image?: string
  output_audio?: string
  output_image?: string
}

/** Prices for requests with at least `from_tokens` on the input side. */
export interface PriceTier extends Prices {
  from_tokens: number
}

/** Prices under some condition: a multiplier in millionths, or prices that replace those of the row. */
interface PriceAdjustment extends Prices {
  multiplier?: string
  tiers?: PriceTier[]
}

/** What a vendor charges besides the five prices. */
export interface PriceExtras extends Pick<Prices, 'input_audio' | 'input_image' | 'output_audio' | 'output_image'> {
  /** Pico-dollars per use. */
  tools?: Record<string, string>
  variants?: (PriceAdjustment & { service_tier?: string; speed?: string; region?: string })[]
  /** Minutes after midnight UTC, and days of the week. */
  hours?: (PriceAdjustment & { from: number; to: number; days?: number[] })[]
}

/** Usage that most entries do not have. */
export interface UsageDetails {
  /** `[threshold, input, output, cache_read, cache_write, cache_write_1h]`: the sum of longer requests, ascending. */
  above?: number[][]
  service_tier?: string
  speed?: string
  region?: string
  /** Uses by the name of the tool. */
  tools?: Record<string, number>
  input_audio?: number
  input_image?: number
  output_audio?: number
  output_image?: number
}

/** What a source says of a model of a session besides its usage; what it does not say is absent. */
export interface SessionAttributes {
  /** Absent if it only repeats the harness. */
  agent?: string | undefined
  provider?: string | undefined
  /** A place is named as a whole: the project and ticket of two sources need not belong together. */
  place?: { project?: string | undefined; ticket?: string | undefined } | undefined
  summary?: string | undefined
  labels?: LabelMap | undefined
  funding?: SaidFunding | undefined
}

/** How usage was said to be paid for. */
export interface SaidFunding {
  funding: SaidFundingKind | null
  /** An id, a name, or what the agent calls it. */
  plan: string | null
  /** Of what is mixed: the metered share of the tokens, in 10^-9. Absent if the rest is not of one plan. */
  metered_share?: number
}

/**
 * The totals that one source has reported for one model of a session. Counts are numbers up to 10^12; money is decimal
 * text of nano-dollars.
 */
export interface SessionTotals {
  /** Absent in rows that earlier versions wrote. */
  attributes?: SessionAttributes | undefined
  model: string
  provider: string | null
  started_at: number
  ended_at: number
  input: number
  output: number
  cache_read: number
  cache_write: number
  cache_write_1h: number
  details: UsageDetails | null
  requests: number | null
  reported_cost: string | null
  /** Absent if unknown. */
  active_ms?: number
  /** What was reported last of each day and place. Their sum differs from the totals if those were reported later. */
  slices?: StoredSlice[]
}

/** The usage of a model on one day at one place. */
export interface StoredSlice extends Omit<SessionTotals, 'attributes' | 'model' | 'provider' | 'slices'> {
  /** Days since 1970. */
  day: number
  /** Decimal text of 63 bits. */
  place: string
  project?: string | undefined
  ticket?: string | undefined
  labels?: LabelMap | undefined
  summary?: string | undefined
  funding?: SaidFunding | undefined
}

/** The figures of an entry as they were reported. Money is decimal text of nano-dollars. */
export interface ReportedFigures extends Omit<SessionTotals, 'attributes' | 'slices'> {
  list_value: string | null
}

/** One of the parts that an entry was divided into. */
export interface EntryDivision {
  /** The entry that was divided: it is the first of the parts. */
  of: Id<'ent'>
  /** Decimal text. The share is `weight` of `total`. */
  weight: string
  total: string
}

/** What a person has decided about the figures of an entry, against what its session reports. */
export interface EntryAmendment {
  /** The figures before they were corrected, which later reports of the session are compared with. */
  reported?: ReportedFigures
  /** Of an entry that was divided: its share, and where the rest is. */
  division?: EntryDivision
  /** The figures of all parts together: only in the entry that was divided, which the others refer to. */
  whole?: ReportedFigures
  /** The entry that this one was a part of until the division was undone. Its usage counts there again. */
  undivided?: Id<'ent'>
  /** Of a voided entry: later reports of its session change nothing, and add no further part. */
  later_reports?: 'ignore'
}

/** Usage that telemetry has sent, with each count as it was sent; money is decimal text of nano-dollars. */
export interface TelemetryFigures {
  started_at: number
  ended_at: number
  /** In the order of the channels' `PARTS`. */
  parts: number[]
  /**
   * For each threshold, the threshold and then the parts of single calls with more input-side tokens; null if single
   * calls are not known.
   */
  above: number[][] | null
  /** Null if single calls are not known. */
  requests: number | null
  reported_cost: string
  /** Whether any cost was missing, so that the sum of costs is incomplete. */
  cost_incomplete: boolean
}

/** Telemetry of one model of a session so far. */
export interface TelemetryTotals extends TelemetryFigures {
  model: string
  provider: string | null
  /** The tier, speed and region; absent if they are the standard ones. */
  service?: { service_tier: string | null; speed: string | null; region: string | null }
  /** What each day and place has of them; absent if that is not known of all. */
  slices?: TelemetrySlice[] | undefined
}

/** What telemetry has sent of a model on one day at one place. */
export interface TelemetrySlice {
  /** Days since 1970. */
  day: number
  /** Decimal text of 63 bits; absent if nothing is named. */
  place?: string
  project?: string
  ticket?: string
  labels?: LabelMap
  /** Absent of the only slice, which has those of the totals; `above` lacks thresholds that no call has exceeded. */
  figures?: TelemetryFigures
}

/** A value with the time in milliseconds when it was last set; a later one replaces it. */
export type TimedValue<Value> = [at: number, value: Value]

/** Attributes of a session from telemetry, other than its counts. */
export interface SessionFacts {
  agent?: TimedValue<string>
  project?: TimedValue<string>
  ticket?: TimedValue<string>
  labels?: TimedValue<LabelMap>
}

/**
 * One condition of a placement rule: `field` is `agent_harness`, `agent_name`, `model`, `agent_manager`, `provider`,
 * `summary` or `labels.<name>`; `matches` is a glob, or a regular expression between slashes
 * (`/(?<ticket>[A-Z]+-[0-9]+)/`).
 */
export interface RuleCondition {
  field: string
  matches: string
}

/** What loading a price table did. Empty for loads that were not counted. */
export interface PriceLoadCounts {
  new?: number
  changed?: number
  same_price?: number
  overridden?: number
  removed?: number
  unchanged?: number
  older?: number
  refused?: number
  aliases?: number
}

/** An alias before a load changed it. */
export interface ReplacedAlias {
  alias: string
  provider: string | null
  model: string
  source: string
  load_id: number | null
}

/** Changed prices of models in use, as the e-mail lists them: dollars per million tokens. */
export interface PriceChangeNotice {
  /** All of them; `changes` lists the first. */
  models: number
  changes: {
    provider: string
    model: string
    effective_from: string | null
    prices: { kind: string; before: string; after: string }[]
  }[]
}

/** The report of a share link: the parameters of `GET /reports/usage`, and its period if that moves. */
export interface SharedReport {
  texts: Record<string, string | string[] | undefined>
  /** Instead of `starting_at` and `ending_at`. */
  period?: string | undefined
  /** As the page of reports showed it: absent in links of earlier versions. */
  title?: string
  measure?: MeasureName
  chart?: ChartKind | 'none'
  /** What it is compared with, and the rows of its table. */
  compare?: Comparison
  sort?: Sort
  order?: RowOrder['order']
  names?: string
  /**
   * Whether it shows what was billed. Its `money` is `none` then, so that servers of earlier versions show no money: they
   * would not know which.
   */
  showsBilled?: true
}

/** What is replaced in texts when a person is erased. */
export interface ErasedWords {
  emails: string[]
  /** Replaced in every text. */
  names: string[]
  /** Single words, and names that others have as well: replaced only in the audit log of the account. */
  accountNames: string[]
  /** Names and addresses of other people that contain one of these, and stay as they are. */
  others?: string[]
  /** The pseudonym that replaces them. */
  pseudonym: { name: string; email: string }
}

/** What an event changed: the fields before and after, under their API names. Never texts of entries, nor secrets. */
export interface EventDetails {
  before?: Record<string, unknown> | undefined
  after?: Record<string, unknown> | undefined
}

/** When a budget warns, and whom. */
export interface BudgetThreshold {
  percent: number
  /** Of the forecast for the end of the period instead of what is spent. */
  forecast?: true
  /** The leads of the project, or of all projects of the client. */
  leads?: true
  /** Everyone with the role billing. */
  billing?: true
  /** Public ids. */
  people?: string[]
  emails?: string[]
  /** Public ids of webhook endpoints that receive the event, whatever types they receive otherwise. */
  webhooks?: string[]
}

/** How a person wants pages to look; described by `Preferences` of the API. */
export interface ChosenPreferences {
  /** BCP 47 tag; null for that of the browser. */
  locale: string | null
  /** Null for that of the organization. */
  week_start: Weekday | null
  density: 'comfortable' | 'compact'
  tables: Record<string, { columns?: string[]; widths?: Record<string, number> }>
}
