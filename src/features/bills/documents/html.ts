/** A bill as a page that prints well: without scripts or external resources, and with all names escaped. */
import { createHash } from 'node:crypto'
import type { BillDocument } from '../schema.ts'
import { type Content, contentOf, type Group, type PartyText, type Row } from './content.ts'
import type { Logo } from './logo.ts'

/** The colors are those of the PDF. System fonts cover every script that the reader's machine supports. */
const STYLE = `
:root { color: #1f2933; font: 14px/1.45 system-ui, sans-serif; }
body { margin: 2.5rem auto; max-width: 50rem; padding: 0 1.5rem; }
header { display: flex; gap: 2rem; justify-content: space-between; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; }
h2 { color: #1d5f8a; font-size: 1rem; margin: 0 0 .2rem; text-align: left; }
img { display: block; margin-bottom: .8rem; max-height: 4rem; max-width: 14rem; }
p { margin: 0; text-align: left; white-space: pre-line; }
dl { display: grid; gap: .1rem 1.2rem; grid-template-columns: auto auto; margin: .6rem 0 0; }
dt, .quiet { color: #627282; }
dd { margin: 0; text-align: right; }
.head, .head p { text-align: right; }
.to, .note, .footer { margin-top: 1.8rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin-top: 1.8rem; width: 100%; }
th, td { padding: .3rem 0 .3rem 1rem; text-align: right; vertical-align: top; white-space: nowrap; }
th:first-child, td:first-child { overflow-wrap: anywhere; padding-left: 0; text-align: left; white-space: normal; }
thead th { border-bottom: 1.5px solid #1d5f8a; color: #627282; font-weight: 600; }
tbody tr { border-bottom: 1px solid #e4e9ee; break-inside: avoid; }
tr.section th { color: #1d5f8a; padding-top: 1.2rem; }
tr.group th { font-weight: 600; padding-top: .7rem; }
tfoot td { padding-top: .4rem; }
tfoot tr.total td { border-top: 1.5px solid #1d5f8a; font-size: 1.15rem; font-weight: 600; }
.footer { border-top: 1px solid #e4e9ee; padding-top: .8rem; }
@page { margin: 18mm; size: A4; }
@media print { :root { font-size: 10pt; } body { margin: 0; max-width: none; padding: 0; } }
`

export function htmlOf(document: BillDocument, logo: Logo | undefined): string {
  const content = contentOf(document)
  const { title, number, issuer, recipient, facts, note, footer, columns, sections, sums, total } = content
  const picture = logo
    ? `<img src="data:${logo.type};base64,${Buffer.from(logo.bytes).toString('base64')}" alt="">`
    : ''
  const factLines = facts.map(([label, text]) => `<dt>${escapeText(label)}</dt><dd dir="auto">${escapeText(text)}</dd>`)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeText(`${title} ${number}`)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<div>${picture}${party(issuer)}</div>
<div class="head"><h1>${title}</h1><p>${escapeText(number)}</p><dl>${factLines.join('')}</dl></div>
</header>
${recipient ? `<div class="to"><p class="quiet">Bill to</p>${party(recipient)}</div>` : ''}
${note === null ? '' : `<p class="note" dir="auto">${escapeText(note)}</p>`}
<table>
<thead><tr>${columns.map((heading) => `<th scope="col">${escapeText(heading)}</th>`).join('')}</tr></thead>
<tbody>
${sections.map((section) => sectionRows(section, columns.length)).join('\n')}
</tbody>
<tfoot>
${sums.map((sum) => sumRow(sum, columns.length)).join('\n')}
${sumRow(total, columns.length, 'total')}
</tfoot>
</table>
${footer === null ? '' : `<p class="footer" dir="auto">${escapeText(footer)}</p>`}
</body>
</html>
`
}

/** The policy with which a page made by {@link htmlOf}, also by an earlier version, is displayed as intended. */
export function htmlPolicy(page: string): string {
  const style = page.slice(page.indexOf('<style>') + '<style>'.length, page.indexOf('</style>'))
  const hash = createHash('sha256').update(style).digest('base64')
  return `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
}

function party({ name, lines }: PartyText): string {
  return `<h2 dir="auto">${escapeText(name)}</h2>${lines.map((line) => `<p dir="auto">${escapeText(line)}</p>`).join('')}`
}

function sectionRows({ title, groups }: Content['sections'][number], columns: number): string {
  const heading = title === null ? [] : [`<tr class="section"><th colspan="${columns}">${escapeText(title)}</th></tr>`]
  return [...heading, ...groups.flatMap((group) => groupRows(group, columns))].join('\n')
}

function groupRows({ title, amount, rows }: Group, columns: number): string[] {
  const name = title === null ? '' : `<th colspan="${columns - 1}" dir="auto">${escapeText(title)}</th>`
  const heading = title === null ? [] : [`<tr class="group">${name}<th>${amount ?? ''}</th></tr>`]
  return [...heading, ...rows.map(tableRow)]
}

function tableRow({ label, cells }: Row): string {
  return `<tr><td dir="auto">${escapeText(label)}</td>${cells.map((cell) => `<td>${escapeText(cell)}</td>`).join('')}</tr>`
}

function sumRow([label, amount]: [string, string], columns: number, kind = 'sum'): string {
  return `<tr class="${kind}"><td colspan="${columns - 1}">${escapeText(label)}</td><td>${amount}</td></tr>`
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}
