/** The cells of a report, and the slices that they add up to. Pure: no database. */
import type { Issue } from '../../../errors.ts'
import { dayNumberAt } from '../../../lib/calendar.ts'
import { divideHalfEven, formatDecimal, NANO_DIGITS } from '../../../lib/money.ts'
import { composeName } from '../../../lib/names.ts'
import { parseTimestamp } from '../../../lib/timestamp.ts'
import { COUNT_KINDS, PRICE_FIELDS, SERVICE_FIELDS, type ServiceKind, totalTokens } from '../../../shared/usage.ts'
import type { SaidFunding } from '../../funding/contract.ts'
import {
  COST_LIMIT,
  COUNT_LIMIT,
  type SliceReport,
  THRESHOLD_LIMIT,
  TOOL_LIMIT,
  type TokenEntryReport,
} from '../schema.ts'
import { inOrder, type NamedPlace, NO_PLACE, placeOf, type Slice } from '../slices/slice.ts'
import { isNothing, sumOfUsages, type Totals, type Usage } from '../totals.ts'
import {
  activeMsOf,
  costOf,
  foldLine,
  fundingOf,
  mergeLabels,
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
  funding: SaidFunding | undefined
}

/** Slices of a session and model by day and place. Usage of further places belongs to its day alone. */
export const SLICES_LIMIT = 400

/**
 * Adds up the cells of each day in the time zone and place; sorted, the earliest first. Of several, those of nothing are
 * left out: no entry shows that a report had them, so another one must not be compared with them.
 */
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
  const folded = inOrder(
    [...days].flatMap(([day, ofDay]) => [...ofDay.values()].map((slice) => sliceOf(slice[0]!, day, slice))),
  )
  const used = folded.filter((slice) => !isNothing(slice))
  return used.length > 0 ? used : folded.slice(0, 1)
}

/** The time of all slices together. */
export function spanOf(slices: readonly Totals[]): Pick<Totals, 'startedAt' | 'endedAt'> {
  const [first] = slices
  if (slices.length === 1) return { startedAt: first!.startedAt, endedAt: first!.endedAt }
  return {
    startedAt: Math.min(...slices.map(({ startedAt }) => startedAt)),
    endedAt: Math.max(...slices.map(({ endedAt }) => endedAt)),
  }
}

const NOWHERE = { place: NO_PLACE, project: undefined, ticket: undefined, labels: undefined }

function sliceOf({ place, project, ticket, labels }: Cell, day: number, cells: readonly Cell[]): Slice {
  const { startedAt, endedAt, counts, details, requests, reportedCostNanos, activeMs } =
    cells.length === 1 ? cells[0]! : sumOfTotals(cells)
  const summary = cells.findLast((cell) => cell.summary !== undefined)?.summary
  const funding = cells.length === 1 ? cells[0]!.funding : sharedFunding(cells)
  // Written out, as every report with slices has at least one.
  return {
    key: { day, place },
    project,
    ticket,
    labels,
    summary,
    funding,
    estimated: false,
    startedAt,
    endedAt,
    counts,
    details,
    requests,
    reportedCostNanos,
    activeMs,
  }
}

/** What the cells say of how they are paid for; one without a statement has been paid for as the others. */
function sharedFunding(cells: readonly Cell[]): SaidFunding | undefined {
  const said = cells.flatMap(({ funding }) => funding ?? [])
  const [first] = said
  const isShared = said.every(({ funding, plan }) => funding === first!.funding && plan === first!.plan)
  return isShared ? first : mixedFunding(cells.filter(({ funding }) => funding !== undefined))
}

/** Of cells that say different things: a part that is metered, and the rest of one plan, if it is so. */
function mixedFunding(cells: readonly Cell[]): SaidFunding {
  const metered = cells.filter(({ funding }) => funding!.funding === 'metered')
  const rest = cells.flatMap(({ funding }) => (funding!.funding === 'metered' ? [] : [funding!]))
  // They name different plans that do not pay.
  if (rest.length === 0) return { funding: 'metered', plan: null }
  const { plan } = rest[0]!
  const isOfOnePlan = rest.every((each) => each.funding !== 'unknown' && each.plan === plan)
  const [part, whole] = [metered, cells].map((some) => some.reduce((sum, { counts }) => sum + totalTokens(counts), 0))
  if (metered.length === 0 || !isOfOnePlan || whole === 0) return { funding: 'mixed', plan: null }
  const share = Number(divideHalfEven(BigInt(part!) * 1_000_000_000n, BigInt(whole!)))
  const funding = rest.every((each) => each.funding === 'credits') ? 'mixed_credits' : 'mixed'
  return { funding, plan, metered_share: share }
}

/** The sum of usage at different times. What is not known of one of them is not known of the sum. */
export function sumOfTotals(all: readonly Totals[]): Totals {
  const { counts, details, requests, reportedCostNanos, activeMs } = sumOfUsages(all)
  return {
    ...{ counts, details, requests, reportedCostNanos, activeMs },
    ...spanOf(all),
  }
}

/**
 * The cells and their sum; undefined if a cell has an issue: {@link sliceIssues} says which. A body has hundreds of
 * cells, so each is read once.
 */
export function readCells(
  report: TokenEntryReport,
  slices: readonly SliceReport[],
  span: Span,
): { cells: readonly Cell[]; sum: Usage } | undefined {
  const { startedAt: from, endedAt: to } = span
  if (report.session_id === undefined || from === undefined || to === undefined) return undefined
  const isCompared = COMPARED.some((field) => report[field] !== undefined)
  if (isCompared && issuesOfSlices(report, slices, span).length > 0) return undefined
  const service = servicesOf(report)
  const placeNamedIn = placesOf(report)
  const ofAll = fundingOf(report)
  const cells: Cell[] = []
  for (const cell of slices) {
    // Most sessions have one cell, of the same time.
    const startedAt = cell.started_at === report.started_at ? from : parseTimestamp(cell.started_at)
    const endedAt = cell.ended_at === report.ended_at ? to : parseTimestamp(cell.ended_at)
    if (startedAt === undefined || endedAt === undefined) return undefined
    if (startedAt < from || endedAt < startedAt || endedAt > to) return undefined
    if ((cell.reported_cost === undefined) !== (slices[0]!.reported_cost === undefined)) return undefined
    if (usageIssues(cell).length > 0 || nameIssues(cell).length > 0) return undefined
    const { counts, details, requests } = readUsage(service ? { ...service, ...cell } : cell)
    const { place, project, ticket, labels } = placeNamedIn(cell)
    const summary = cell.summary === undefined ? undefined : foldLine(cell.summary)
    const funding = fundingOf(cell) ?? ofAll
    const [reportedCostNanos, activeMs] = [costOf(cell), activeMsOf(cell)]
    cells.push({
      place,
      project,
      ticket,
      labels,
      summary,
      funding,
      startedAt,
      endedAt,
      counts,
      details,
      requests,
      reportedCostNanos,
      activeMs,
    })
  }
  const { sum, issues } = sumOfCells(cells)
  return sum === undefined || issues.length > 0 ? undefined : { cells, sum }
}

const SERVICES = Object.values(SERVICE_FIELDS)

/** The services of the report that are not the standard ones. */
function servicesOf(
  report: TokenEntryReport,
): Pick<TokenEntryReport, (typeof SERVICE_FIELDS)[ServiceKind]> | undefined {
  if (SERVICES.every((field) => report[field] === undefined)) return undefined
  return Object.fromEntries(SERVICES.map((field) => [field, report[field]]))
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
  return {
    project,
    ticket,
    labels: own.labels && whole.labels ? mergeLabels([own.labels, whole.labels]) : (own.labels ?? whole.labels),
  }
}

export function placeNamedBy({
  project,
  ticket,
  labels,
}: { [Name in keyof NamedPlace]?: NamedPlace[Name] }): NamedPlace {
  return {
    project: project && composeName(project),
    ticket: ticket && composeName(ticket),
    labels: labels && sortLabels(labels),
  }
}

const COST_LIMIT_NANOS = BigInt(COST_LIMIT) * 10n ** BigInt(NANO_DIGITS)

/** A list of which all cells have an issue has the same one a thousand times. */
const LISTED_ISSUES_LIMIT = 20

/** What a report with slices must not have besides. */
const REPLACED = ['usage', 'requests_above', 'tools'] as const
const REPLACED_COUNTS = ['over_200k', 'input_audio', 'input_image', 'output_audio', 'output_image'] as const

/** What must be absent, or the sum of the slices. */
const COMPARED = ['tokens', 'requests', 'reported_cost', 'active_seconds', ...REPLACED] as const

type Unchecked = Record<string, unknown>

/** The issues of slices that the schema cannot express. */
export function issuesOfSlices(report: TokenEntryReport, slices: readonly SliceReport[], span: Span): Issue[] {
  const issues = sliceIssues(report, span)
  return issues.length > 0 ? issues : sumIssues(report, slices)
}

/** The issues of each slice by itself. Ignores fields of a wrong type, which the schema reports. */
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
  return issues
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
function sumIssues(report: TokenEntryReport, cells: readonly SliceReport[]): Issue[] {
  const priced = cells.filter(({ reported_cost: cost }) => cost !== undefined).length
  if (priced !== 0 && priced !== cells.length) {
    const at = cells.findIndex(({ reported_cost: cost }) => cost === undefined)
    const message = `is required, because ${priced} of ${cells.length} slices have one: send it with all or none`
    return [{ pointer: `/slices/${at}/reported_cost`, code: 'incomplete', message }]
  }
  const { sum, issues } = sumOfCells(
    cells.map((cell) => ({ ...readUsage(cell), reportedCostNanos: costOf(cell), activeMs: activeMsOf(cell) })),
  )
  if (sum === undefined || issues.length > 0) return issues
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
  if (report.tokens) {
    const { counts } = readUsage({ tokens: report.tokens })
    for (const kind of COUNT_KINDS) compare(`/tokens/${PRICE_FIELDS[kind]}`, counts[kind], sum.counts[kind])
  }
  if (report.requests !== undefined) compare('/requests', report.requests, sum.requests)
  if (report.active_seconds !== undefined) {
    compare('/active_seconds', activeMsOf(report)!, sum.activeMs, (ms) => String(Number(ms) / 1_000))
  }
  if (report.reported_cost !== undefined) {
    const textOf = (nanos: number | bigint) => formatDecimal(BigInt(nanos), NANO_DIGITS)
    compare('/reported_cost', costOf(report)!, sum.reportedCostNanos, textOf)
  }
  return issues
}

/** Of cells, whose sum has at most as much as a whole, since they may be one entry. */
function sumOfCells(cells: readonly Usage[]): { sum: Usage; issues: Issue[] } | { sum: undefined; issues: Issue[] } {
  const issues: Issue[] = []
  // The schema limits each of them.
  if (cells.length === 1 && !cells[0]!.details) return { sum: cells[0]!, issues }
  const refuse = (code: 'too_large' | 'too_many', message: string) => issues.push({ pointer: '/slices', code, message })
  const limit = (what: string, sum: number, most: number) => {
    if (sum > most) refuse('too_large', `must have at most ${most} ${what} in total`)
  }
  const knownOf = (field: 'requests' | 'activeMs') => cells.reduce((sum, cell) => sum + (cell[field] ?? 0), 0)
  // Each is looked for in all cells, so that there must be few.
  const thresholds = new Set<number>()
  for (const { details } of cells) for (const { threshold } of details?.requestsAbove ?? []) thresholds.add(threshold)
  if (thresholds.size > THRESHOLD_LIMIT) {
    refuse('too_many', `must have at most ${THRESHOLD_LIMIT} thresholds in total`)
    return { sum: undefined, issues }
  }
  const sum = sumOfUsages(cells)
  for (const kind of COUNT_KINDS) limit(`${PRICE_FIELDS[kind]} tokens`, sum.counts[kind], COUNT_LIMIT)
  limit('requests', knownOf('requests'), COUNT_LIMIT)
  limit('active seconds', knownOf('activeMs') / 1_000, COST_LIMIT)
  if (sum.reportedCostNanos !== null && sum.reportedCostNanos > COST_LIMIT_NANOS)
    refuse('too_large', `must have a reported cost of at most ${COST_LIMIT} in total`)
  const uses = Object.entries(sum.details?.tools ?? {})
  for (const [tool, count] of uses) limit(`uses of ${tool}`, count, COUNT_LIMIT)
  if (uses.length > TOOL_LIMIT) refuse('too_many', `must name at most ${TOOL_LIMIT} tools in total`)
  return { sum, issues }
}
