/** A report after checks beyond its schema, in normal form. Pure: no database. */

import type { LabelMap } from '../../../database/schema/records.ts'
import { type Issue, validationFailed } from '../../../errors.ts'
import { composeName } from '../../../lib/names.ts'
import { removeNulls } from '../../../schema/absent-fields.ts'
import { SchemaChecker } from '../../../schema/checker.ts'
import { issuesOf } from '../../../schema/issues.ts'
import { COUNT_KINDS, type Counts } from '../../../shared/usage.ts'
import type { SaidFunding } from '../../funding/contract.ts'
import { detailsText } from '../rows.ts'
import { TokenEntryReport } from '../schema.ts'
import type { Totals, Usage } from '../totals.ts'
import {
  AHEAD_LIMIT_MS,
  activeMsOf,
  costOf,
  foldLine,
  fundingOf,
  nameIssues,
  readSpan,
  timeIssues,
} from './report-fields.ts'
import { type Cell, issuesOfSlices, placeNamedBy, readCells, sliceIssues, spanOf } from './report-slices.ts'
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
  /** How it says that the usage is paid for. */
  funding: SaidFunding | undefined
  /** The counts of each request, if the report lists them. They are summed, not stored. */
  listed?: Counts[] | undefined
  /** The parts of the session, if the report lists them; null if those that its source has listed so far do not count any more. */
  cells?: readonly Cell[] | null | undefined
}

/** A moment by which all entries that there are have started. */
export const afterAllStarts = (now: number): number => now + 2 * AHEAD_LIMIT_MS

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
  const sliced = value.slices && readCells(value, value.slices, span)
  const ofUsage = value.slices ? (sliced ? [] : issuesOfSlices(value, value.slices, span)) : usageIssues(value)
  const issues = [...timeIssues(value, span, now), ...ofUsage, ...nameIssues(value)]
  if (issues.length > 0) throw validationFailed(issues)
  const cells = sliced?.cells
  const figures: Usage & { listed?: Counts[] | undefined } = sliced?.sum ?? readFigures(value, thresholds)
  // What is said of the only cell is said of all.
  const { project, ticket, labels } = cells?.length === 1 ? cells[0]! : placeNamedBy(value)
  const funding = cells?.length === 1 ? cells[0]!.funding : fundingOf(value)
  return {
    harness: composeName(value.agent_harness),
    agent: composeName(value.agent_name),
    model: composeName(value.model),
    provider: value.provider && composeName(value.provider),
    project,
    ticket,
    sessionKey: value.session_id && composeName(value.session_id),
    summary: value.summary === undefined ? undefined : foldLine(value.summary),
    labels,
    funding,
    // Of two statements with slices the one with the later last one counts, whatever else they say.
    ...(cells ? spanOf(cells) : { startedAt: span.startedAt!, endedAt: span.endedAt! }),
    counts: figures.counts,
    details: figures.details,
    requests: figures.requests,
    reportedCostNanos: figures.reportedCostNanos,
    activeMs: figures.activeMs,
    listed: figures.listed,
    cells,
  }
}

function readFigures(value: TokenEntryReport, thresholds?: readonly number[]) {
  return { ...readUsage(value, thresholds), reportedCostNanos: costOf(value), activeMs: activeMsOf(value) }
}

/** Every issue of a report body: those of its schema, and those that no schema can express. */
export function issuesOfReport(value: unknown, now: number): Issue[] {
  return [...issuesOf(reportChecker, value), ...issuesBeyondSchema(value, now)]
}

/**
 * Every issue of fields by themselves that the schema cannot express. Ignores fields of a wrong type, which the schema
 * reports.
 */
export function issuesBeyondSchema(value: unknown, now: number): Issue[] {
  if (!isObject(value)) return []
  const span = readSpan(value)
  const ofUsage = value.slices === undefined ? usageIssues(value) : sliceIssues(value, span)
  return [...timeIssues(value, span, now), ...ofUsage, ...nameIssues(value)]
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
    // Digests of earlier versions do not contain it.
    ...(report.funding ? [report.funding] : []),
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
