/** A report after checks beyond its schema, in normal form. Pure: no database. */

import type { LabelMap } from '../../../database/schema/records.ts'
import { type Issue, validationFailed } from '../../../errors.ts'
import { numberText } from '../../../lib/exact-json.ts'
import { NANO_DIGITS, parseDecimal } from '../../../lib/money.ts'
import { composeName } from '../../../lib/names.ts'
import { isTimestamp, parseTimestamp } from '../../../lib/timestamp.ts'
import { removeNulls } from '../../../schema/absent-fields.ts'
import { SchemaChecker } from '../../../schema/checker.ts'
import { issuesOf } from '../../../schema/issues.ts'
import { COUNT_KINDS, type Counts } from '../../../shared/usage.ts'
import { isReservedName } from '../../projects/service.ts'
import { detailsText } from '../rows.ts'
import { TokenEntryReport } from '../schema.ts'
import type { Totals } from '../totals.ts'
import { isObject, readUsage, usageIssues } from './report-usage.ts'

/** A checked report. Optional texts that were not sent are undefined. */
export interface Report extends Totals {
  harness: string
  agent: string
  model: string
  provider: string | undefined
  project: string | undefined
  ticket: string | undefined
  sessionKey: string | undefined
  summary: string | undefined
  labels: LabelMap | undefined
  /** The counts of each request, if the report lists them. They are summed, not stored. */
  listed?: Counts[] | undefined
}

/** How far an agent's clock may be ahead. A day also covers a timestamp with a wrong time zone. */
const AHEAD_LIMIT_MS = 86_400_000

/** A moment by which all entries that there are have started. */
export const afterAllStarts = (now: number): number => now + 2 * AHEAD_LIMIT_MS

const LINE_BREAKS = /[\t\n\v\f\r\u2028\u2029]+/g

/** From the schema that the issues of a rejected report come from. */
export const reportChecker = new SchemaChecker(TokenEntryReport)

/** Whether a body is a report. Its nulls are removed only if it is not, so that others pay nothing. */
export function isReport(body: unknown): body is TokenEntryReport {
  if (reportChecker.Check(body)) return true
  removeNulls(TokenEntryReport, body)
  return reportChecker.Check(body)
}

/**
 * The parsed report; throws `validation_failed` with every issue that the schema cannot express. `value` has passed
 * {@link reportChecker}; `now` is the server's clock in milliseconds; single requests are summed at the thresholds.
 */
export function readReport(value: TokenEntryReport, now: number, thresholds?: readonly number[]): Report {
  const span = readSpan(value)
  const issues = issuesOfFields(value, span, now)
  if (issues.length > 0) throw validationFailed(issues)
  const { counts, details, requests, listed } = readUsage(value, thresholds)
  return {
    harness: composeName(value.agent_harness),
    agent: composeName(value.agent_name),
    model: composeName(value.model),
    provider: value.provider && composeName(value.provider),
    project: value.project && composeName(value.project),
    ticket: value.ticket && composeName(value.ticket),
    sessionKey: value.session_id && composeName(value.session_id),
    summary: value.summary === undefined ? undefined : foldLine(value.summary),
    labels: value.labels && sortLabels(value.labels),
    startedAt: span.startedAt!,
    endedAt: span.endedAt!,
    counts,
    details,
    requests,
    listed,
    reportedCostNanos:
      value.reported_cost === undefined ? null : parseDecimal(numberText(value, 'reported_cost'), NANO_DIGITS)!,
  }
}

/** The start and the end of a report; undefined where the text is not a timestamp, or of a time that does not exist. */
interface Span {
  startedAt: number | undefined
  endedAt: number | undefined
}

function readSpan({ started_at, ended_at }: Record<string, unknown>): Span {
  return { startedAt: readMoment(started_at), endedAt: readMoment(ended_at) }
}

function readMoment(text: unknown): number | undefined {
  return typeof text === 'string' ? parseTimestamp(text) : undefined
}

/** Every issue of a report body: those of its schema, and those that no schema can express. */
export function issuesOfReport(value: unknown, now: number): Issue[] {
  return [...issuesOf(reportChecker, value), ...issuesBeyondSchema(value, now)]
}

/** Every issue that the schema cannot express. Ignores fields of a wrong type, which the schema reports. */
export function issuesBeyondSchema(value: unknown, now: number): Issue[] {
  return isObject(value) ? issuesOfFields(value, readSpan(value), now) : []
}

function issuesOfFields(value: Record<string, unknown>, span: Span, now: number): Issue[] {
  return [...timeIssues(value, span, now), ...usageIssues(value), ...nameIssues(value)]
}

/** A name that is not valid for projects or tickets elsewhere is not valid in a report either. */
function nameIssues(value: Record<string, unknown>): Issue[] {
  const issues: Issue[] = []
  for (const field of ['project', 'ticket'] as const) {
    const name = value[field]
    if (typeof name !== 'string' || !isReservedName(composeName(name))) continue
    const by = field === 'project' ? 'the key, name or alias' : 'the key'
    const message = `must not be 'none' or an ID. Use ${by} of the ${field}, or omit the field`
    issues.push({ pointer: `/${field}`, code: 'not_allowed', message })
  }
  return issues
}

function timeIssues(value: Record<string, unknown>, { startedAt, endedAt }: Span, now: number): Issue[] {
  const issues: Issue[] = []
  if (startedAt === undefined) issues.push(...noSuchTime('/started_at', value.started_at))
  if (endedAt === undefined) issues.push(...noSuchTime('/ended_at', value.ended_at))
  if (startedAt !== undefined && endedAt !== undefined && endedAt < startedAt) {
    issues.push({ pointer: '/ended_at', code: 'ends_before_start', message: 'must not be earlier than started_at' })
  } else if (endedAt !== undefined && endedAt > now + AHEAD_LIMIT_MS) {
    issues.push({
      pointer: '/ended_at',
      code: 'in_the_future',
      message: `must not be more than one day ahead of the server time (${new Date(now).toISOString()})`,
    })
  }
  return issues
}

/** The issue of a timestamp that does not exist. The schema reports texts that are not timestamps. */
function noSuchTime(pointer: string, text: unknown): Issue[] {
  if (typeof text !== 'string' || !isTimestamp(text)) return []
  return [{ pointer, code: 'no_such_time', message: 'is not a valid date and time' }]
}

/** Replaces breaks and tabs with a space, and trims. Undefined for an empty text. */
export function foldLine(text: string): string | undefined {
  return text.replace(LINE_BREAKS, ' ').trim() || undefined
}

export function sortLabels(labels: LabelMap): LabelMap | undefined {
  const sorted = Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1))
  return sorted.length === 0 ? undefined : Object.fromEntries(sorted)
}

const encoder = new TextEncoder()

/** SHA-256 of a report's content, independent of the order of its fields: equal reports have equal digests. */
export function digestOf(report: Report): Uint8Array {
  const { counts } = report
  const text = JSON.stringify([
    report.harness,
    report.agent,
    report.model,
    report.provider,
    report.project,
    report.ticket,
    report.sessionKey,
    report.summary,
    report.labels,
    report.startedAt,
    report.endedAt,
    COUNT_KINDS.map((kind) => counts[kind]),
    detailsContent(report),
    report.requests,
    report.reportedCostNanos?.toString(),
  ])
  return Bun.SHA256.hash(encoder.encode(text)) as Uint8Array
}

/** The requests of the report rather than their sums, whose thresholds depend on the price table. */
function detailsContent({ details, listed }: Report): unknown {
  if (listed) return [listed, details && detailsText({ ...details, requestsAbove: null })]
  if (!details) return null
  // As digests of earlier versions contain it.
  const { requestsAbove, ...others } = details
  const [only] = requestsAbove ?? []
  const isShortForm = requestsAbove?.length === 1 && only!.threshold === 200_000
  const isAlone = Object.values(others).every((value) => value === null)
  return isShortForm && isAlone ? COUNT_KINDS.map((kind) => only!.counts[kind]) : detailsText(details)
}

/** The first 63 bits of a digest, which the database stores to find equal entries. */
export function fingerprintOf(digest: Uint8Array): bigint {
  return new DataView(digest.buffer, digest.byteOffset).getBigUint64(0) >> 1n
}
