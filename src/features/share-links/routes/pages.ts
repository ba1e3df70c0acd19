/** What whoever has a share link sees, without an account: one page without scripts, and the documents of a bill. */

import { Elysia } from 'elysia'
import { access } from '../../../http/access.ts'
import { bytesResponse } from '../../../http/exports.ts'
import { type Html, html } from '../../../http/pages/html.ts'
import { pageRoute } from '../../../http/pages/policy.ts'
import { BASIS_TITLES } from '../../../shared/cost-basis.ts'
import { keyOf, labelOf, titleOf } from '../../../shared/dimensions.ts'
import type { Formats } from '../../../shared/locales.ts'
import { type Sortable, sortedRows } from '../../../shared/report-table.ts'
import { chartOf, type Drawing, type DrawnChart } from '../chart.ts'
import type { MovingPeriod } from '../period.ts'
import type { ShownFigures, ShownMeasure, ShownReport, ShownResult } from '../report.ts'
import type { SharedBill, SharedContent, SharedUsage, ShareLinksService } from '../service.ts'
import { daysText, periodText } from '../texts.ts'

/** No search engine lists it, no proxy or browser keeps it, and no other site learns its address. */
const PRIVATE = {
  'x-robots-tag': 'noindex, nofollow',
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
}

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

function pageResponse(text: string, status = 200): Response {
  return new Response(text, {
    status,
    headers: { ...PRIVATE, 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY },
  })
}

/** The same to the byte for a link that is unknown, revoked, expired or stopped. */
const missing = () => pageResponse(missingPage(), 404)

export const sharedPages = ({ shareLinks }: { shareLinks: ShareLinksService }) => {
  async function answerDocument(secret: string, format: 'pdf' | 'html'): Promise<Response> {
    const document = await shareLinks.sharedDocument(secret, format)
    if (!document) return missing()
    const { bytes, contentType, fileName, policy } = document
    return bytesResponse(bytes, {
      ...PRIVATE,
      'content-type': contentType,
      'content-disposition': `inline; filename="${fileName}"`,
      ...(policy !== undefined && { 'content-security-policy': policy }),
    })
  }

  return new Elysia({ name: 'shared-pages', normalize: false })
    .use(access())
    .get(
      '/share/:secret',
      async ({ request, params: { secret } }) => {
        const content: SharedContent | undefined = await shareLinks.openShareLink(secret, {
          isCounted: request.method !== 'HEAD',
        })
        return content ? pageResponse(sharedPage(content, secret)) : missing()
      },
      pageRoute,
    )
    .get('/share/:secret/bill.pdf', ({ params }) => answerDocument(params.secret, 'pdf'), pageRoute)
    .get('/share/:secret/bill.html', ({ params }) => answerDocument(params.secret, 'html'), pageRoute)
}

function layout(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/pages.css">
</head>
<body class="shared">
<main>
${content}
</main>
</body>
</html>
`.text
}

function missingPage(): string {
  return layout(
    'Link not found',
    html`<h1>This link does not work</h1>
<p class="lead">It may have expired or been revoked, or it is incomplete. Ask the person who sent it for a new one.</p>`,
  )
}

function sharedPage(content: SharedContent, secret: string): string {
  if (content.kind === 'bill') return billPage(content, secret)
  const title = reportTitle(content)
  return layout(`${title} · ${content.organization}`, html`${head(content, title)}\n${reportContent(content)}`)
}

/** Whose it is, as on bills. */
const head = ({ organization, logo }: SharedContent, title: string): Html => html`<p class="path">${
  logo
    ? html`<img class="logo" src="data:${logo.type};base64,${Buffer.from(logo.bytes).toString('base64')}" alt=""> `
    : html``
}${organization}</p>
<h1><bdi>${title}</bdi></h1>`

function billPage(content: SharedContent & SharedBill, secret: string): string {
  const { organization, number, isVoid, isCreditNote } = content
  const title = `${isCreditNote ? 'Credit note' : 'Bill'} ${number}`
  return layout(
    `${title} · ${organization}`,
    html`${head(content, title)}
${isVoid ? html`<p class="notice" role="note">It is void: nothing is owed for it.</p>` : html``}
<p class="lead"><a href="/share/${secret}/bill.html">Open to read or print</a> · <a href="/share/${secret}/bill.pdf">PDF</a></p>`,
  )
}

/** More rows are no longer read as a page; the totals cover them all. */
const ROW_LIMIT = 1_000

const PERIODS: Record<MovingPeriod, string> = {
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
  '90d': 'Last 90 days',
  '12m': 'Last 12 months',
  month: 'This month',
  last_month: 'Last month',
  quarter: 'This quarter',
  last_quarter: 'Last quarter',
  year: 'This year',
  last_year: 'Last year',
}

/** Links of earlier versions have no title. */
const reportTitle = ({ title = 'Usage report' }: SharedUsage): string => title

function reportContent(shared: SharedUsage): Html {
  const { report, earlier, chart, order, otherFilters, period, formats } = shared
  const rows = rowsOf(shared)
  return html`<p class="lead">${period === undefined ? '' : `${PERIODS[period]}: `}${daysText(report, formats)} (${report.time_zone})${earlier ? `, compared with ${daysText(earlier, formats)}` : ''}</p>
${otherFilters.length > 0 ? html`<p class="hint">Filtered by ${otherFilters.map((name) => name.replaceAll('_', ' ')).join(', ')} as well.</p>` : html``}
${order.search === undefined ? totalsOf(shared) : html`<p class="hint">Only rows with “<bdi>${order.search}</bdi>” in a name.</p>`}
${chart && report.totals.entries > 0 ? chartHtml(chartOf(shared, chart)) : html``}
${rows.length === 0 ? html`<p>${order.search === undefined ? 'No usage in this period.' : 'No matching names.'}</p>` : tableOf(rows.slice(0, ROW_LIMIT), columnsOf(shared))}
${rows.length > ROW_LIMIT || report.has_more ? html`<p class="hint">Further rows are not listed.${order.search === undefined ? ' The totals include them.' : ''}</p>` : html``}`
}

function chartHtml({ caption, legend, drawings }: DrawnChart): Html {
  // Such as of billed amounts before the first bill.
  if (legend.length === 0) return html`<p class="hint">${caption}: nothing to draw in this period.</p>`
  const item = ({ label, color }: DrawnChart['legend'][number]) =>
    html`<li><svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" rx="2" fill="${color}"/></svg> <bdi>${label}</bdi></li>\n`
  return html`<figure class="chart">
<figcaption>${caption}</figcaption>
${drawings.map((drawing) => drawingHtml(drawing, caption))}${legend.length > 1 ? html`<ul class="legend">\n${legend.map(item)}</ul>` : html``}
</figure>`
}

function drawingHtml({ name, width, height, left, ticks, labels, paths, isLines }: Drawing, caption: string): Html {
  const tick = ({ y, text }: Drawing['ticks'][number]) =>
    html`<line class="grid" x1="${left}" x2="${width}" y1="${y}" y2="${y}"/><text x="${left - 8}" y="${y}" dy="0.32em" text-anchor="end">${text}</text>\n`
  const path = ({ path, color }: Drawing['paths'][number]) =>
    isLines
      ? html`<path d="${path}" fill="none" stroke="${color}" stroke-width="2" stroke-linecap="round"/>`
      : html`<path d="${path}" fill="${color}"/>`
  return html`<svg class="${name}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${caption}, the numbers are in the table">
${ticks.map(tick)}${labels.map(({ x, text }) => html`<text x="${x}" y="${height - 6}" text-anchor="middle">${text}</text>\n`)}${paths.map(path)}
</svg>
`
}

const costText = (cost: number | null | undefined, { money }: Formats) =>
  cost === null || cost === undefined ? '–' : money(cost)

const amountsText = ({ amounts = [] }: ShownFigures, { money }: Formats) =>
  amounts.length === 0 ? '–' : amounts.map(({ currency, amount }) => money(amount, currency)).join(' + ')

/** The text of a figure; a dash where it is unknown. */
function figureText({ of, unit }: ShownMeasure, figures: ShownFigures, formats: Formats): string {
  if (unit === 'amount') return amountsText(figures, formats)
  const value = of(figures)
  if (value === null) return '–'
  if (unit === 'cost') return formats.money(value)
  return unit === 'hours' ? `${formats.decimal(value.toFixed(1), 1)} h` : formats.decimal(`${value}`)
}

interface Row {
  period: string
  result: ShownResult
  /** In the earlier period; undefined where there was nothing, or no comparison. */
  before: ShownResult | undefined
}

interface Column {
  title: string
  of: (row: Row) => string
  isNumber?: boolean
}

/** The figures that every report shows; the others are in it if they are what was on the screen. */
const USUAL = ['Entries', 'Input tokens', 'Output tokens', 'Tokens', 'Billed amount']

/** What the cost of the report is called. */
const costTitle = ({ basis = 'cost' }: ShownReport) => BASIS_TITLES[basis]

const isUsual = ({ title }: ShownMeasure, report: ShownReport) => USUAL.includes(title) || title === costTitle(report)

/** Billed and not yet billed beside each other: an amount alone would seem to be that of all entries. */
function totalsOf({ report, earlier, money, measure, formats }: SharedUsage): Html {
  const { totals } = report
  const { counted, decimal } = formats
  const { entries, amount_entries: billed = 0 } = totals
  const unpriced = totals.unpriced_entries ?? 0
  const figures: [string, string][] = [
    ['Tokens', decimal(`${totals.tokens.total}`)],
    ['Entries', decimal(`${entries}`)],
    ...(isUsual(measure, report) ? [] : [[measure.title, figureText(measure, totals, formats)] as [string, string]]),
    ...(money === 'cost' ? [[`${costTitle(report)} (USD)`, costText(totals.cost, formats)] as [string, string]] : []),
    ...(money === 'billed'
      ? ([
          [`Billed, ${counted(billed, 'entry', 'entries')}`, amountsText(totals, formats)],
          ['Not billed', counted(entries - billed, 'entry', 'entries')],
        ] satisfies [string, string][])
      : []),
    ...(earlier
      ? [[`${measure.title}, earlier`, figureText(measure, earlier.totals, formats)] as [string, string]]
      : []),
  ]
  return html`<dl class="totals">
${figures.map(([title, text]) => html`<div><dt>${title}</dt><dd>${text}</dd></div>\n`)}</dl>
${money === 'billed' ? html`<p class="hint">Billed amounts are before tax.</p>` : html``}
${money === 'cost' && unpriced > 0 ? html`<p class="hint">The cost of ${counted(unpriced, 'entry', 'entries')} is not known yet, and not included.</p>` : html``}
${money === 'cost' && report.provisional ? html`<p class="hint">Amounts of the current period of a plan may change.</p>` : html``}`
}

const NO_USAGE: ShownFigures = {
  entries: 0,
  tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0, cache_write_1h: 0, total: 0 },
  cost: 0,
}

/** Of the group in the earlier period, where it may have had no entries. */
const valueBefore = (measure: ShownMeasure, { before }: Pick<Row, 'before'>) => (before ? measure.of(before) : 0)

/** In the order of the table that was shared. Without cost, it must not show which of them cost most. */
function rowsOf(shared: SharedUsage): Row[] {
  const { report, earlier, money, measure, order } = shared
  const keysOf = (result: ShownResult) => JSON.stringify(report.group_by.map((dimension) => keyOf(result, dimension)))
  const before = new Map(earlier?.data.flatMap(({ results }) => results.map((result) => [keysOf(result), result])))
  const rows = currentRows(shared).map((row) => ({ ...row, before: before.get(keysOf(row.result)) }))
  const known = new Set(rows.map(({ result }) => keysOf(result)))
  const gone = [...before].filter(([key]) => !known.has(key))
  const all = [
    ...rows,
    ...gone.map(([, before]): Row => ({ period: '', result: { ...before, ...NO_USAGE, amounts: [] }, before })),
  ]
  const sortableOf = (row: Row): Sortable => ({
    names: report.group_by.map((dimension) => labelOf(row.result, dimension)),
    value: measure.of(row.result),
    earlier: valueBefore(measure, row),
    cost: money === 'cost' ? (row.result.cost ?? null) : row.result.tokens.total,
    tokens: row.result.tokens.total,
    entries: row.result.entries,
  })
  return sortedRows(all, sortableOf, order)
}

function currentRows({ report, money, formats }: SharedUsage): Omit<Row, 'before'>[] {
  return report.data.flatMap(({ starting_at, period, results }) => {
    const ordered = money === 'cost' ? results : results.toSorted((one, other) => other.tokens.total - one.tokens.total)
    const name = periodText(period?.starting_at ?? starting_at, report, formats)
    return ordered.map((result) => ({ period: name, result }))
  })
}

function columnsOf({ report, earlier, money, measure, formats }: SharedUsage): Column[] {
  const { bucket_width, group_by } = report
  const count = (value: number) => formats.decimal(`${value}`)
  const number = (title: string, of: (result: ShownResult) => string): Column => ({
    title,
    isNumber: true,
    of: ({ result }) => of(result),
  })
  return [
    ...(bucket_width === 'all' ? [] : [{ title: 'Period', of: ({ period }: Row) => period }]),
    ...group_by.map((dimension) => ({
      title: titleOf(dimension),
      of: ({ result }: Row) => labelOf(result, dimension),
    })),
    number('Entries', ({ entries }) => count(entries)),
    number('Input', ({ tokens }) => count(tokens.input)),
    number('Output', ({ tokens }) => count(tokens.output)),
    number('Cache', ({ tokens }) => count(tokens.cache_read + tokens.cache_write + tokens.cache_write_1h)),
    number('Total tokens', ({ tokens }) => count(tokens.total)),
    ...(isUsual(measure, report) ? [] : [number(measure.title, (result) => figureText(measure, result, formats))]),
    ...(money === 'cost' ? [number(`${costTitle(report)} (USD)`, ({ cost }) => costText(cost, formats))] : []),
    ...(money === 'billed' ? [number('Billed', (result) => amountsText(result, formats))] : []),
    ...(earlier ? comparedColumns(measure, formats) : []),
  ]
}

function comparedColumns(measure: ShownMeasure, formats: Formats): Column[] {
  const change = (row: Row) => {
    const [now, before] = [measure.of(row.result), valueBefore(measure, row)]
    return now === null || before === null || before === 0 ? '–' : formats.change((now - before) / before)
  }
  return [
    {
      title: `${measure.title}, earlier`,
      isNumber: true,
      of: ({ before }) => (before ? figureText(measure, before, formats) : '–'),
    },
    { title: 'Change', isNumber: true, of: change },
  ]
}

function tableOf(rows: Row[], columns: Column[]): Html {
  const cell = ({ of, isNumber }: Column, row: Row) =>
    isNumber ? html`<td class="number">${of(row)}</td>` : html`<td><bdi>${of(row)}</bdi></td>`
  const heading = ({ title, isNumber }: Column) =>
    isNumber ? html`<th scope="col" class="number">${title}</th>` : html`<th scope="col">${title}</th>`
  return html`<div class="wide" tabindex="0" role="region" aria-label="Usage">
<table>
<thead><tr>${columns.map(heading)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${columns.map((column) => cell(column, row))}</tr>\n`)}</tbody>
</table>
</div>`
}
