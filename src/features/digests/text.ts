/** The texts of digests. Pure. */
import { moneyNumber } from '../../lib/money.ts'
import { BASIS_TITLES, type CostBasis } from '../../shared/cost-basis.ts'
import type { Formats } from '../../shared/locales.ts'
import type { Anomaly } from '../anomalies/service.ts'
import type { CompletenessCheck, UsageReport, UsageResult } from '../reports/schema.ts'

export interface Content {
  subject: string
  body: string
}

/** A page of the web application from its path; undefined if the server's public address is not known. */
export type LinkTo = (path: string) => string | undefined

/** How numbers and days are written, and where links lead. */
export interface Style {
  formats: Formats
  linkTo: LinkTo
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** Rows of a summary: the rest is a link away. */
const ROWS = 5

/** What needs attention, in the order of `GET /reports/completeness`, for one entry and for several. */
const ATTENTION: Partial<Record<CompletenessCheck['check'], [one: string, several: string]>> = {
  unplaced: ['entry is not assigned to a project or ticket', 'entries are not assigned to a project or ticket'],
  without_client: [
    'entry is in a project without a client to bill',
    'entries are in projects without a client to bill',
  ],
  without_project: ['entry is on a ticket without a project', 'entries are on tickets without a project'],
  unpriced: ['entry has no price', 'entries have no price'],
  cost_mismatches: [
    'entry has a reported cost far from its list value',
    'entries have a reported cost far from their list value',
  ],
  possible_duplicates: ['entry may be a duplicate', 'entries may be duplicates'],
  held: [
    'entry is held, because another person reported the same session',
    'entries are held, because another person reported the same sessions',
  ],
  unapproved: ['entry is waiting for approval', 'entries are waiting for approval'],
}

/** What needs attention among the entries of a period; undefined if nothing does. */
export function attentionText(
  checks: readonly CompletenessCheck[],
  { days, requiresApproval }: { days: number; requiresApproval: boolean },
  { formats: { counted, money }, linkTo }: Style,
): Content | undefined {
  const open = checks.filter(
    ({ check, entries }) => entries > 0 && ATTENTION[check] && (check !== 'unapproved' || requiresApproval),
  )
  if (open.length === 0) return undefined
  const lines = open.map(({ check, entries, cost, list }) => {
    const [one, several] = ATTENTION[check]!
    const amount = cost === null ? '' : ` (${money(cost)})`
    return withLink(`${counted(entries, one, several)}${amount}`, linkTo(pageOfList(list)))
  })
  return {
    subject: counted(open.length, 'thing needs attention', 'things need attention'),
    body: [`Among the entries of the last ${days} days that you can see:`, '', lines.join('\n\n')].join('\n'),
  }
}

/** The anomalies of a day; undefined without any. */
export function anomaliesText(
  onDay: string,
  anomalies: readonly Anomaly[],
  { formats, linkTo }: Style,
): Content | undefined {
  if (anomalies.length === 0) return undefined
  const { money } = formats
  const day = formats.day(onDay)
  const lines = anomalies.map((anomaly) => {
    const { costNanos, usualNanos, list } = anomaly
    const link = anomaly.subject === 'session' ? `/entries?open=${anomaly.entry.uid}` : pageOfList(list!)
    const amounts = `${money(moneyNumber(costNanos))}, usually ${money(moneyNumber(usualNanos))}`
    return withLink(`${subjectOf(anomaly)}: ${amounts}`, linkTo(link))
  })
  return {
    subject:
      anomalies.length === 1 ? `Unusual usage on ${day}` : `${anomalies.length} cases of unusual usage on ${day}`,
    body: [`On ${day}, this cost far more than in the four weeks before:`, '', lines.join('\n\n')].join('\n'),
  }
}

function subjectOf(anomaly: Anomaly): string {
  if (anomaly.subject === 'day') return 'Everyone together'
  const name = oneLine(anomaly.person.name)
  return anomaly.subject === 'person' ? name : `A session of ${name}`
}

export interface SummarySection {
  title: string
  report: UsageReport
  /** The same of the week before. */
  previous: UsageReport
  /** The list of exactly the entries of the report. */
  list: string
}

/** The usage of a week; undefined if there is none in it, nor in the one before. */
export function summaryText(
  { from, to }: { from: string; to: string },
  sections: readonly SummarySection[],
  style: Style,
): Content | undefined {
  const { day } = style.formats
  const used = sections.filter(({ report, previous }) => report.totals.entries > 0 || previous.totals.entries > 0)
  if (used.length === 0) return undefined
  return {
    subject: `Usage from ${day(from)} to ${day(to)}: ${amountOf(used.at(-1)!.report.totals, style)}`,
    body: used.map((section) => sectionText(section, style)).join('\n\n'),
  }
}

function sectionText({ title, report, previous, list }: SummarySection, style: Style): string {
  const { counted, decimal } = style.formats
  const { totals } = report
  const rows = report.data.flatMap(({ results }) => results)
  const shown = rows.slice(0, ROWS).map((row) => [nameOf(row), amountOf(row, style), tokensOf(row, style)])
  const width = Math.max(...shown.map(([name]) => name!.length), 0)
  const cost = BASIS_TITLES[report.basis]
  const label = (text: string) => `  ${text.padEnd(Math.max(cost.length, 'Entries'.length))}  `
  const provisional = report.provisional ? ' (provisional)' : ''
  return [
    title,
    '',
    `${label(cost)}${amountOf(totals, style)}${provisional}${changeText(costOf(totals), costOf(previous.totals))}`,
    `${label('Tokens')}${tokensOf(totals, style)}`,
    `${label('Entries')}${decimal(`${totals.entries}`)}${unpricedText(totals.unpriced_entries, report.basis, style)}`,
    ...(shown.length === 0 ? [] : ['']),
    ...shown.map(([name, amount, tokens]) => `  ${name!.padEnd(width)}  ${amount}, ${tokens} tokens`),
    ...(rows.length > ROWS ? [`  and ${counted(rows.length - ROWS, 'more project')}`] : []),
    ...linkLines(style.linkTo(pageOfList(list))),
  ].join('\n')
}

/** Null if it is unknown; what has no entries costs nothing. */
const costOf = ({ cost, entries }: Pick<UsageResult, 'cost' | 'entries'>) => (entries === 0 ? 0 : cost)

function amountOf(usage: Pick<UsageResult, 'cost' | 'entries'>, { formats }: Style): string {
  const cost = costOf(usage)
  return cost === null ? 'unknown' : formats.money(cost)
}

const tokensOf = ({ tokens }: Pick<UsageResult, 'tokens'>, { formats }: Style) =>
  formats.marked(COMPACT.format(Number(tokens.total)))
const nameOf = ({ project }: UsageResult) => oneLine(project?.name ?? 'Unattributed')

function unpricedText(entries: number, basis: CostBasis, { formats }: Style): string {
  if (entries === 0) return ''
  const which = basis === 'cost' ? 'without a price' : `of unknown ${BASIS_TITLES[basis].toLowerCase()}`
  return `, ${formats.decimal(`${entries}`)} of them ${which}, which the cost does not contain`
}

function changeText(cost: number | null, before: number | null): string {
  if (cost === null || before === null || before === 0) return ''
  const percent = Math.round((100 * (cost - before)) / before)
  if (percent === 0) return ', as in the week before'
  return `, ${Math.abs(percent)}% ${percent > 0 ? 'more' : 'less'} than in the week before`
}

/** The page of the web application that shows a list of the API. */
function pageOfList(list: string): string {
  return `/entries?${list.slice(list.indexOf('?') + 1)}`
}

function linkLines(link: string | undefined): string[] {
  return link === undefined ? [] : ['', `  ${link}`]
}

function withLink(text: string, link: string | undefined): string {
  return [`- ${text}`, ...(link === undefined ? [] : [`  ${link}`])].join('\n')
}

/** A name that others may have chosen, on one line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}
