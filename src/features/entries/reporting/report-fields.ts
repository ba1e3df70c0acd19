/** Fields that reports and the slices of a report have alike. Pure: no database. */
import type { LabelMap } from '../../../database/schema/records.ts'
import type { StatedFunding } from '../../../database/schema/values.ts'
import type { Issue } from '../../../errors.ts'
import { numberText } from '../../../lib/exact-json.ts'
import { NANO_DIGITS, parseDecimal } from '../../../lib/money.ts'
import { composeName } from '../../../lib/names.ts'
import { isTimestamp, parseTimestamp } from '../../../lib/timestamp.ts'
import type { SaidFunding } from '../../funding/contract.ts'
import { isReservedName } from '../../projects/service.ts'
import { LABEL_LIMIT } from '../schema.ts'

/** How far an agent's clock may be ahead. A day also covers a timestamp with a wrong time zone. */
export const AHEAD_LIMIT_MS = 86_400_000

const LINE_BREAKS = /[\t\n\v\f\r\u2028\u2029]+/g

/** The start and the end of a report; undefined where the text is not a timestamp, or of a time that does not exist. */
export interface Span {
  startedAt: number | undefined
  endedAt: number | undefined
}

export function readSpan({ started_at, ended_at }: Record<string, unknown>): Span {
  return { startedAt: readMoment(started_at), endedAt: readMoment(ended_at) }
}

function readMoment(text: unknown): number | undefined {
  return typeof text === 'string' ? parseTimestamp(text) : undefined
}

/** A name that is not valid for projects or tickets elsewhere is not valid in a report either. */
export function nameIssues(value: Record<string, unknown>): Issue[] {
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

export function timeIssues(
  value: Record<string, unknown>,
  { startedAt, endedAt }: Span,
  now = Number.POSITIVE_INFINITY,
): Issue[] {
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

/** Each label as the first of these has it; of too many, the first ones. */
export function mergeLabels(ranked: readonly LabelMap[]): LabelMap | undefined {
  const merged = new Map<string, string>()
  for (const labels of ranked) {
    for (const [name, value] of Object.entries(labels)) {
      if (!merged.has(name) && merged.size < LABEL_LIMIT) merged.set(name, value)
    }
  }
  return sortLabels(Object.fromEntries(merged))
}

/** The reported cost in nano-dollars; null if there is none. */
export function costOf(value: { reported_cost?: number }): bigint | null {
  return value.reported_cost === undefined ? null : parseDecimal(numberText(value, 'reported_cost'), NANO_DIGITS)!
}

/** What it says of how its usage is paid for; undefined if nothing. */
export function fundingOf({ funding, plan }: { funding?: StatedFunding; plan?: string }): SaidFunding | undefined {
  if (funding === undefined && plan === undefined) return undefined
  return { funding: funding ?? null, plan: plan === undefined ? null : composeName(plan) }
}

/** In whole milliseconds; null if it was not reported. */
export function activeMsOf({ active_seconds }: { active_seconds?: number }): number | null {
  return active_seconds === undefined ? null : Math.round(active_seconds * 1_000)
}
