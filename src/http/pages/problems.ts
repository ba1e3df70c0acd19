import { PROBLEMS, type ProblemCode } from '../../errors.ts'
import { type Html, html, page } from './html.ts'

const codes = Object.keys(PROBLEMS) as ProblemCode[]

/** Renders text between backticks as code. */
function prose(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
}

/** Lets a code wrap after underscores on narrow screens, not within a word. */
function breakable(code: string): Html[] {
  return code.split('_').map((word, index) => (index === 0 ? html`${word}` : html`_<wbr>${word}`))
}

export function problemsPage(): string {
  const rows = codes.map(
    (code) => html`<tr>
<td>${PROBLEMS[code].status}</td>
<td><a href="/problems/${code}"><code>${breakable(code)}</code></a></td>
<td>${PROBLEMS[code].title}</td>
</tr>
`,
  )
  return page({
    title: 'Error codes · Tally',
    content: html`<h1>Error codes</h1>
<p class="lead">A failed request returns a problem document (<span class="name">RFC 9457</span>). Its <code>code</code> is one of the codes below, whose meanings never change. <code>detail</code> explains what happened and what to do. <code>request_id</code> identifies the request in the server’s log.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Title</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`,
  })
}

export function problemPage(code: ProblemCode): string {
  const { title, status, help, page: manual } = PROBLEMS[code]
  return page({
    title: `${title} · Tally`,
    content: html`<p class="path"><a href="/problems/">Error codes</a></p>
<h1>${title}</h1>
<p class="lead">${prose(help)}</p>
<dl>
<dt>Code</dt><dd><code>${code}</code></dd>
<dt>HTTP status</dt><dd>${status}</dd>
</dl>
<p><a href="/docs/${manual}">More in the manual</a></p>`,
  })
}
