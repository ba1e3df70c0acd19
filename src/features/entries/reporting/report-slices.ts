/** The cells of a report, and the slices that they add up to. Pure: no database. */
import type { Issue } from '../../../errors.ts'
import { dayNumberAt } from '../../../lib/calendar.ts'
import { formatDecimal, NANO_DIGITS } from '../../../lib/money.ts'
import { composeName } from '../../../lib/names.ts'
import { parseTimestamp } from '../../../lib/timestamp.ts'
import { COUNT_KINDS, PRICE_FIELDS, SERVICE_FIELDS, type ServiceKind, ZERO_COUNTS } from '../../../shared/usage.ts'
import { COUNT_LIMIT, type SliceReport, type TokenEntryReport } from '../schema.ts'
import { inOrder, type NamedPlace, NO_PLACE, placeOf, type Slice } from '../slices/slice.ts'
import { sumOfUsages, type Totals, type Usage } from '../totals.ts'
import {
  activeMsOf,
  costOf,
  foldLine,
  nameIssues,
  readSpan,
  type Span,
  sortLabels,
  timeIssues,
} from './report-fields.ts'
import { isObject, readUsage, usageIssues } from './report-usage.ts'

/** A part of a session that a report lists: a slice of it is the sum of the cells of one day and place. */
export interface Cell extends Totals, NamedPlace {
  /** Identifies what the cell itself names, without what the report says of all of them. */
  place: bigint
  summary: string | undefined
}

/** Slices of a session and model by day and place. Usage of further places belongs to its day alone. */
export const SLICES_LIMIT = 400

/** Adds up the cells of each day in the time zone and place; sorted, the earliest first. */
export function foldCells(cells: readonly Cell[], timeZone: string): Slice[] {
  const [only] = cells
  if (cells.length === 1) return [sliceOf(only!, dayNumberAt(only!.startedAt, timeZone), cells)]
  const days = new Map<number, Map<bigint, Cell[]>>()
  let slices = 0
  for (const cell of cells.toSorted((one, other) => one.startedAt - other.startedAt)) {
    const day = dayNumberAt(cell.startedAt, timeZone)
    const ofDay = days.get(day) ?? new Map<bigint, Cell[]>()
    days.set(day, ofDay)
    const held = slices >= SLICES_LIMIT && !ofDay.has(cell.place) ? { ...cell, ...NOWHERE } : cell
    const slice = ofDay.get(held.place)
    if (slice) slice.push(held)
    else {
      ofDay.set(held.place, [held])
      slices += 1
    }
  }
  return inOrder(
    [...days].flatMap(([day, ofDay]) => [...ofDay.values()].map((slice) => sliceOf(slice[0]!, day, slice))),
  )
}

const NOWHERE = { place: NO_PLACE, project: undefined, ticket: undefined, labels: undefined }

function sliceOf({ place, project, ticket, labels }: Cell, day: number, cells: readonly Cell[]): Slice {
  return {
    ...{ key: { day, place }, project, ticket, labels, estimated: false },
    summary: cells.findLast(({ summary }) => summary !== undefined)?.summary,
    ...sumOfTotals(cells),
  }
}

/** The sum of usage at different times. What is not known of one of them is not known of the sum. */
export function sumOfTotals(all: readonly Totals[]): Totals {
  const [only] = all
  const sum: Usage = all.length === 1 ? only! : sumOfUsages(all)
  const { counts, details, requests, reportedCostNanos, activeMs } = sum
  return {
    ...{ counts, details, requests, reportedCostNanos, activeMs },
    startedAt: Math.min(...all.map(({ startedAt }) => startedAt)),
    endedAt: Math.max(...all.map(({ endedAt }) => endedAt)),
  }
}

/** Undefined if a cell has an issue: {@link sliceIssues} says which. A body has hundreds of cells, so each is read once. */
export function readCells(report: TokenEntryReport, slices: readonly SliceReport[], span: Span): Cell[] | undefined {
  const { startedAt: from, endedAt: to } = span
  const { session_id, tokens, requests, reported_cost, active_seconds } = report
  if (session_id === undefined || from === undefined || to === undefined) return undefined
  const isCompared = [tokens, requests, reported_cost, active_seconds, ...besides(report)].some(
    (each) => each !== undefined,
  )
  if (isCompared && sliceIssues(report, span).length > 0) return undefined
  const service = servicesOf(report)
  const placeNamedIn = placesOf(report)
  const cells: Cell[] = []
  const total = { ...ZERO_COUNTS }
  for (const cell of slices) {
    const startedAt = parseTimestamp(cell.started_at)
    const endedAt = parseTimestamp(cell.ended_at)
    if (startedAt === undefined || endedAt === undefined) return undefined
    if (startedAt < from || endedAt < startedAt || endedAt > to) return undefined
    if ((cell.reported_cost === undefined) !== (slices[0]!.reported_cost === undefined)) return undefined
    if (usageIssues(cell).length > 0 || nameIssues(cell).length > 0) return undefined
    const { counts, details, requests } = readUsage(service ? { ...service, ...cell } : cell)
    for (const kind of COUNT_KINDS) total[kind] += counts[kind]
    const { place, project, ticket, labels } = placeNamedIn(cell)
    cells.push({
      ...{ place, project, ticket, labels, startedAt, endedAt, counts, details, requests },
      summary: cell.summary === undefined ? undefined : foldLine(cell.summary),
      reportedCostNanos: costOf(cell),
      activeMs: activeMsOf(cell),
    })
  }
  return COUNT_KINDS.some((kind) => total[kind] > COUNT_LIMIT) ? undefined : cells
}

/** The services of the report that are not the standard ones. */
function servicesOf(
  report: TokenEntryReport,
): Pick<TokenEntryReport, (typeof SERVICE_FIELDS)[ServiceKind]> | undefined {
  const found = Object.values(SERVICE_FIELDS).flatMap((field) =>
    report[field] === undefined ? [] : [[field, report[field]]],
  )
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

/** A session changes between few branches; comparing with more would cost more than composing the place again. */
const COMPARED_PLACES = 8

type Places = (cell: SliceReport) => NamedPlace & Pick<Cell, 'place'>

/** Most cells of a report name one of a few places. */
function placesOf(report: TokenEntryReport): Places {
  const whole = placeNamedBy(report)
  const known: [cell: SliceReport, place: ReturnType<Places>][] = []
  return (cell) => {
    const found = known.findLast(([other]) => namesSame(other, cell))
    if (found) return found[1]
    const { project, ticket, labels } = cell
    const own = placeNamedBy({ project, ticket, labels })
    const place = { place: placeOf(own), ...withWhole(own, whole) }
    if (known.length === COMPARED_PLACES) known.shift()
    known.push([cell, place])
    return place
  }
}

function namesSame(one: SliceReport, other: SliceReport): boolean {
  if (one.project !== other.project || one.ticket !== other.ticket) return false
  const { labels = {} } = one
  const { labels: others = {} } = other
  for (const name in labels) if (labels[name] !== others[name]) return false
  return Object.keys(labels).length === Object.keys(others).length
}

/** What a cell names, and besides that what is said of all of them. A project and a ticket belong together. */
export function withWhole(own: NamedPlace, whole: NamedPlace): NamedPlace {
  const { project, ticket } = own.project === undefined && own.ticket === undefined ? whole : own
  const isMerged = own.labels && whole.labels
  return {
    project,
    ticket,
    labels: isMerged ? sortLabels({ ...whole.labels, ...own.labels }) : (own.labels ?? whole.labels),
  }
}

function placeNamedBy({ project, ticket, labels }: { [Name in keyof NamedPlace]?: NamedPlace[Name] }): NamedPlace {
  return {
    project: project && composeName(project),
    ticket: ticket && composeName(ticket),
    labels: labels && sortLabels(labels),
  }
}

/** A list of which all cells have an issue has the same one a thousand times. */
const LISTED_ISSUES_LIMIT = 20

/** What a report with slices must not have besides. */
const REPLACED = ['usage', 'requests_above', 'tools'] as const
const REPLACED_COUNTS = ['over_200k', 'input_audio', 'input_image', 'output_audio', 'output_image'] as const

function besides(report: TokenEntryReport): unknown[] {
  return REPLACED.map((field) => report[field])
}

type Unchecked = Record<string, unknown>

/** The issues of slices that the schema cannot express. Ignores fields of a wrong type, which the schema reports. */
export function sliceIssues(value: Unchecked, span: Span): Issue[] {
  const issues: Issue[] = []
  const { slices, session_id: session, tokens } = value
  if (session === undefined) {
    const message = 'is required with slices, which are the totals so far of a session'
    issues.push({ pointer: '/session_id', code: 'needs_session', message })
  }
  const beside = [
    ...REPLACED.filter((field) => value[field] !== undefined).map((field) => `/${field}`),
    ...REPLACED_COUNTS.filter((field) => isObject(tokens) && tokens[field] !== undefined).map(
      (field) => `/tokens/${field}`,
    ),
  ]
  for (const pointer of beside) {
    issues.push({ pointer, code: 'not_allowed', message: 'must be absent beside slices, which have their own' })
  }
  if (!Array.isArray(slices)) return issues
  for (const [at, cell] of slices.entries()) {
    if (!isObject(cell)) continue
    issues.push(...cellIssues(cell, span).map((issue) => ({ ...issue, pointer: `/slices/${at}${issue.pointer}` })))
    if (issues.length >= LISTED_ISSUES_LIMIT) break
  }
  return issues.length > 0 ? issues : sumIssues(value, slices.filter(isObject))
}

function cellIssues(cell: Unchecked, whole: Span): Issue[] {
  const span = readSpan(cell)
  const issues = [...timeIssues(cell, span), ...usageIssues(cell), ...nameIssues(cell)]
  if (issues.length > 0 || whole.startedAt === undefined || whole.endedAt === undefined) return issues
  const outside = (pointer: string, message: string) => issues.push({ pointer, code: 'outside_report', message })
  if (span.startedAt !== undefined && span.startedAt < whole.startedAt) {
    outside('/started_at', 'must not be earlier than started_at of the report')
  }
  if (span.endedAt !== undefined && span.endedAt > whole.endedAt) {
    outside('/ended_at', 'must not be later than ended_at of the report')
  }
  return issues
}

/** What is reported of the whole must be the sum of the slices. */
function sumIssues(value: Unchecked, cells: Unchecked[]): Issue[] {
  const priced = cells.filter(({ reported_cost: cost }) => cost !== undefined).length
  if (priced !== 0 && priced !== cells.length) {
    const at = cells.findIndex(({ reported_cost: cost }) => cost === undefined)
    const message = `is required, because ${priced} of ${cells.length} slices have one: send it with all or none`
    return [{ pointer: `/slices/${at}/reported_cost`, code: 'incomplete', message }]
  }
  const usages = cells.map((cell) => ({ ...readUsage(cell as never), cost: cell.reported_cost }))
  const issues: Issue[] = []
  const differs = (pointer: string, message: string) => issues.push({ pointer, code: 'differs_from_slices', message })
  const compare = (
    pointer: string,
    said: number | bigint,
    sum: number | bigint | null,
    text: (figure: number | bigint) => string = String,
  ) => {
    if (sum === null) differs(pointer, 'must be absent unless all slices have it')
    else if (said !== sum) {
      const difference = BigInt(said) - BigInt(sum)
      differs(pointer, `must be the sum of the slices (${text(sum)}), or absent: the difference is ${text(difference)}`)
    }
  }
  const total = readUsageOfWhole(value)
  for (const kind of COUNT_KINDS) {
    const sum = usages.reduce((all, { counts }) => all + counts[kind], 0)
    if (sum > COUNT_LIMIT) {
      const message = `must have at most ${COUNT_LIMIT} ${PRICE_FIELDS[kind]} tokens in total`
      issues.push({ pointer: '/slices', code: 'too_large', message })
    } else if (total) compare(`/tokens/${PRICE_FIELDS[kind]}`, total[kind], sum)
  }
  const sumOf = (each: (number | null)[]) =>
    each.includes(null) ? null : each.reduce<number>((all, one) => all + one!, 0)
  if (typeof value.requests === 'number')
    compare('/requests', value.requests, sumOf(usages.map(({ requests }) => requests)))
  if (typeof value.active_seconds === 'number') {
    const sum = sumOf(cells.map((cell) => activeMsOf(cell as never)))
    compare('/active_seconds', activeMsOf(value as never)!, sum, (ms) => String(Number(ms) / 1_000))
  }
  if (typeof value.reported_cost === 'number') {
    const sum = priced === 0 ? null : cells.reduce((all, cell) => all + costOf(cell as never)!, 0n)
    compare('/reported_cost', costOf(value as never)!, sum, (nanos) => formatDecimal(BigInt(nanos), NANO_DIGITS))
  }
  return issues
}

function readUsageOfWhole({ tokens }: Unchecked) {
  return isObject(tokens) ? readUsage({ tokens } as never).counts : undefined
}
