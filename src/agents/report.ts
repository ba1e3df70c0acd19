/** A session's use as a body for the report endpoint. */
import type { SliceReport, TokenEntryReport } from '../features/entries/schema.ts'
import { dayNumberAt } from '../lib/calendar.ts'
import { exactNumber } from '../lib/exact-json.ts'
import { REQUEST_THRESHOLDS } from '../lib/request-thresholds.ts'
import type { Cell, Counts, Place, RequestsAbove, SessionUse, Use } from './agent.ts'
import { inputSideOf } from './model-calls.ts'
import { sumCells } from './session-sums.ts'

/** Options that the reporting person sets for all entries. */
export interface ReportOptions {
  /** Sends the title of the session, which is made of prompts. */
  withTitles?: boolean
  /** The agent's name if it differs from the harness. */
  agentName?: string
  project?: string
  ticket?: string
  labels?: Record<string, string>
  /** The organization's, for sessions with more cells than a report can have. */
  timeZone?: string
}

/** The most slices of a report. */
export const SLICES_LIMIT = 1_000

/** The endpoint's limits; longer texts are cut, because a shortened entry is better than none. */
const NAME_LENGTH = 200
const LABEL_LENGTH = 256
const SUMMARY_LENGTH = 1_000

/** The same use for every server, as JSON. */
export interface ReportText {
  sliced: string
  /** For servers of earlier versions, which know nothing of plans. */
  unfunded(): string
  /** For servers of earlier versions, which know no slices. */
  whole(): string
}

export function reportText(use: SessionUse, options: ReportOptions = {}): ReportText {
  const withoutFunding = { ...use, plan: null, funding: null }
  return {
    sliced: JSON.stringify(slicedReportOf(use, options)),
    unfunded: () => JSON.stringify(slicedReportOf(withoutFunding, options)),
    whole: () => JSON.stringify(reportOf(withoutFunding, options)),
  }
}

/** The use as a whole. Costs are only for `JSON.stringify`, which writes the agent's exact text: a number may lose digits. */
export function reportOf(use: SessionUse, options: ReportOptions = {}): TokenEntryReport {
  const { branch, summary } = use
  return {
    ...attributesOf(use, options, branch === null ? summary : `${summary} on ${branch}`),
    ...usageOf(use),
    ...costOf(use),
    labels: labelsOf({ ...placeLabels(use), ...originLabels(use), ...options.labels }),
  }
}

/** The use in parts, of which each names where it belongs. */
function slicedReportOf(use: SessionUse, options: ReportOptions): TokenEntryReport {
  const { labels = {}, timeZone = 'UTC' } = options
  return {
    ...attributesOf(use, options, use.summary),
    labels: labelsOf({ ...originLabels(use), ...labels }),
    slices: fitted(use.cells(), timeZone).map((cell): SliceReport => {
      // What the person says of all of them takes precedence.
      const own = Object.entries(placeLabels(cell.place)).filter(([name]) => !Object.hasOwn(labels, name))
      return {
        started_at: new Date(cell.firstAt).toISOString(),
        ended_at: new Date(cell.lastAt).toISOString(),
        ...usageOf(cell),
        // In all slices or in none.
        ...(use.reportedCost === null ? {} : costOf(cell)),
        ...(cell.activeMs === null ? {} : { active_seconds: cell.activeMs / 1_000 }),
        ...(own.length === 0 ? {} : { labels: labelsOf(Object.fromEntries(own)) }),
      }
    }),
  }
}

function attributesOf(use: SessionUse, options: ReportOptions, summary: string) {
  const missing = use.missing === null ? '' : ` (${use.missing})`
  const text = plainText((options.withTitles && use.title) || summary, SUMMARY_LENGTH - missing.length)
  return {
    agent_harness: use.agentHarness,
    agent_name: options.agentName ?? use.agentHarness,
    model: plainText(use.model, NAME_LENGTH),
    started_at: use.startedAt,
    ended_at: use.endedAt,
    ...use.service,
    summary: text + missing,
    ...(options.project === undefined ? {} : { project: options.project }),
    ...(options.ticket === undefined ? {} : { ticket: options.ticket }),
    session_id: plainText(use.sessionId, NAME_LENGTH),
    ...(use.provider === null ? {} : { provider: plainText(use.provider, NAME_LENGTH) }),
    ...(use.funding === null ? {} : { funding: use.funding }),
    ...(use.plan === null ? {} : { plan: plainText(use.plan, NAME_LENGTH) }),
  }
}

function usageOf({ tokens, requestsAbove, tools, requests }: Use) {
  return {
    tokens,
    ...(requestsAbove.length === 0 ? {} : { requests_above: requestsAbove.map(withoutZeros) }),
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    ...(requests === 1 && !areLengthsKnown(tokens, requestsAbove) ? {} : { requests }),
  }
}

/** A rest that no line lists counts as one request, and must not be priced as a single long one. */
function areLengthsKnown(tokens: Counts, requestsAbove: readonly RequestsAbove[]): boolean {
  const exceeded = REQUEST_THRESHOLDS.filter((threshold) => threshold < inputSideOf(tokens))
  return exceeded.every((threshold) => requestsAbove.some((each) => each.threshold === threshold))
}

function costOf({ reportedCost }: Use) {
  return reportedCost === null ? {} : { reported_cost: exactNumber(reportedCost) }
}

/** By which rules tell interactive sessions from those of scripts, which vendors may charge otherwise. */
function originLabels({ entrypoint }: SessionUse): Record<string, string> {
  return entrypoint === null ? {} : { entrypoint }
}

function placeLabels({ repository, branch }: Place): Record<string, string> {
  return { ...(repository ? { repository } : {}), ...(branch ? { branch } : {}) }
}

function labelsOf(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, plainText(value, LABEL_LENGTH)]))
}

/** How the oldest cells are joined until they fit; the last way always suffices. */
const WAYS_OF_JOINING: readonly ((day: number, place: Place) => unknown)[] = [
  (day, { repository, branch }) => JSON.stringify([day, repository, branch]),
  (day) => day,
  () => 'all',
]

/** At most as many cells as a report can have. */
function fitted(cells: readonly Cell[], timeZone: string): readonly Cell[] {
  let fitting = cells
  for (const keyOf of WAYS_OF_JOINING) {
    const groups = new Map<unknown, Cell[]>()
    let joined = 0
    while (groups.size + fitting.length - joined > SLICES_LIMIT && joined < fitting.length) {
      const cell = fitting[joined]!
      const key = keyOf(dayNumberAt(cell.firstAt, timeZone), cell.place)
      const group = groups.get(key)
      if (group) group.push(cell)
      else groups.set(key, [cell])
      joined += 1
    }
    fitting = [...[...groups.values()].map(sumCells), ...fitting.slice(joined)]
  }
  return fitting
}

/** Counts that are absent are 0. */
function withoutZeros(above: RequestsAbove): { threshold: number } & Partial<Counts> {
  const { threshold, input, output, cache_read, cache_write, cache_write_1h } = above
  const counts: { threshold: number } & Partial<Counts> = { threshold }
  if (input > 0) counts.input = input
  if (output > 0) counts.output = output
  if (cache_read > 0) counts.cache_read = cache_read
  if (cache_write > 0) counts.cache_write = cache_write
  if (cache_write_1h > 0) counts.cache_write_1h = cache_write_1h
  return counts
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
