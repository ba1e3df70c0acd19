/** What whoever has a share link sees, without an account: one page without scripts, and the documents of a bill. */

import { Elysia } from 'elysia'
import { access } from '../../../http/access.ts'
import { bytesResponse } from '../../../http/exports.ts'
import { type Html, html } from '../../../http/pages/html.ts'
import { pageRoute } from '../../../http/pages/policy.ts'
import { counted, countText } from '../../../lib/counted.ts'
import { dollarsText } from '../../../lib/display-numbers.ts'
import type { UsageReport, UsageResult } from '../../reports/schema.ts'
import type { SharedBill, SharedContent, SharedUsage, ShareLinksService } from '../service.ts'

/** No search engine lists it, no proxy or browser keeps it, and no other site learns its address. */
const PRIVATE = {
  'x-robots-tag': 'noindex, nofollow',
  'cache-control': 'private, no-store',
  'referrer-policy': 'no-referrer',
}

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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

/** More rows are no longer read as a page; the totals cover them all. */
const ROW_LIMIT = 1_000

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
  return content.kind === 'bill' ? billPage(content, secret) : reportPage(content)
}

function billPage({ organization, number, isVoid, isCreditNote }: SharedContent & SharedBill, secret: string): string {
  const title = `${isCreditNote ? 'Credit note' : 'Bill'} ${number}`
  return layout(
    `${title} · ${organization}`,
    html`<p class="path">${organization}</p>
<h1>${title}</h1>
${isVoid ? html`<p class="notice" role="note">It is void: nothing is owed for it.</p>` : html``}
<p class="lead"><a href="/share/${secret}/bill.html">Open to read or print</a> · <a href="/share/${secret}/bill.pdf">PDF</a></p>`,
  )
}

interface Row {
  period: string
  result: UsageResult | undefined
}

interface Column {
  title: string
  of: (row: Row) => string
  isNumber?: boolean
}

/** Sums may be exact numbers of JSON, which format as what they stand for. */
const sumText = (value: unknown) => countText(Number(value ?? 0))
const costText = (cost: unknown) => (cost === null || cost === undefined ? '–' : dollarsText(Number(cost)))

function reportPage({ organization, report, showsCost }: SharedContent & SharedUsage): string {
  const rows = rowsOf(report, showsCost)
  const columns = columnsOf(report, showsCost)
  const days = `${dayText(report.starting_at, report)} – ${lastDayText(report)}`
  return layout(
    `Usage report · ${organization}`,
    html`<p class="path">${organization}</p>
<h1>Usage report</h1>
<p class="lead">${days} (${report.time_zone})</p>
${totalsOf(report, showsCost)}
${rows.length === 0 ? html`<p>No usage in this period.</p>` : tableOf(rows.slice(0, ROW_LIMIT), columns)}
${rows.length > ROW_LIMIT || report.has_more ? html`<p class="hint">Further rows are not listed. The totals include them.</p>` : html``}`,
  )
}

function totalsOf({ totals }: UsageReport, showsCost: boolean): Html {
  const unpriced = Number(totals.unpriced_entries)
  return html`<dl class="totals">
<div><dt>Tokens</dt><dd>${sumText(totals.tokens.total)}</dd></div>
<div><dt>Entries</dt><dd>${sumText(totals.entries)}</dd></div>
${showsCost ? html`<div><dt>Cost (USD)</dt><dd>${costText(totals.cost)}</dd></div>` : html``}
</dl>
${showsCost && unpriced > 0 ? html`<p class="hint">The cost of ${counted(unpriced, 'entry', 'entries')} is not known yet, and not included.</p>` : html``}`
}

/** Without cost, their order must not show which of them cost most. */
function rowsOf({ data, ...report }: UsageReport, showsCost: boolean): Row[] {
  return data.flatMap(({ period, results }) => {
    const ordered = showsCost
      ? results
      : results.toSorted((one, other) => Number(other.tokens.total) - Number(one.tokens.total))
    const name = periodText(period.starting_at, report)
    return ordered.map((result) => ({ period: name, result }))
  })
}

function columnsOf({ bucket_width, group_by }: UsageReport, showsCost: boolean): Column[] {
  const tokens = (title: string, kind: keyof UsageResult['tokens']): Column => ({
    title,
    isNumber: true,
    of: ({ result }) => sumText(result?.tokens[kind]),
  })
  return [
    ...(bucket_width === 'all' ? [] : [{ title: 'Period', of: ({ period }: Row) => period }]),
    ...group_by.map((dimension) => ({
      title: titleOf(dimension),
      of: ({ result }: Row) => keyText(result, dimension),
    })),
    { title: 'Entries', isNumber: true, of: ({ result }) => sumText(result?.entries) },
    tokens('Input', 'input'),
    tokens('Output', 'output'),
    {
      title: 'Cache',
      isNumber: true,
      of: ({ result }) =>
        sumText(
          Number(result?.tokens.cache_read ?? 0) +
            Number(result?.tokens.cache_write ?? 0) +
            Number(result?.tokens.cache_write_1h ?? 0),
        ),
    },
    tokens('Total tokens', 'total'),
    ...(showsCost ? [{ title: 'Cost (USD)', isNumber: true, of: ({ result }: Row) => costText(result?.cost) }] : []),
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

function titleOf(dimension: string): string {
  const words = dimension === 'agent_manager' ? 'person' : dimension.replace('label:', '').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

function keyText(result: UsageResult | undefined, dimension: string): string {
  const key = dimension.startsWith('label:')
    ? result?.labels?.[dimension.slice('label:'.length)]
    : result?.[dimension as keyof UsageResult]
  if (key === null || key === undefined) return 'None'
  if (typeof key !== 'object') return String(key)
  return 'name' in key ? String(key.name) : 'key' in key ? String(key.key) : 'None'
}

type Calendar = Pick<UsageReport, 'time_zone' | 'bucket_width'>

const localOf = (moment: string, { time_zone }: Calendar) => Temporal.Instant.from(moment).toZonedDateTimeISO(time_zone)

const dayText = (moment: string, report: Calendar) => localOf(moment, report).toPlainDate().toString()

/** The end is exclusive. */
const lastDayText = (report: UsageReport) =>
  localOf(report.ending_at, report).subtract({ milliseconds: 1 }).toPlainDate().toString()

function periodText(moment: string, report: Calendar): string {
  const local = localOf(moment, report)
  const day = local.toPlainDate().toString()
  switch (report.bucket_width) {
    case '1h':
      return `${day} ${local.toPlainTime().toString({ smallestUnit: 'minute' })}`
    case '1mo':
      return day.slice(0, 7)
    case '1q':
      return `${day.slice(0, 4)}-Q${Math.ceil(local.month / 3)}`
    case '1y':
      return day.slice(0, 4)
    default:
      return day
  }
}
