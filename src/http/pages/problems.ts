import { PROBLEMS, type ProblemCode } from '../../errors.ts'
import { type Html, html, page } from './html.ts'

const codes = Object.keys(PROBLEMS) as ProblemCode[]

/** Prose with code between backquotes. */
function prose(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
}

/** On a narrow screen a code breaks after an underscore, not within a word. */
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
    title: 'Problems · Tally',
    content: html`<h1>Problems</h1>
<p class="lead">A call that is refused or fails is answered with a problem (<span class="name">RFC 9457</span>). Its <code>code</code> is one of these and keeps its meaning; <code>detail</code> says what happened and what to do; <code>request_id</code> is where the log knows it.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Title</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`,
  })
}

export function problemPage(code: ProblemCode): string {
  const { title, status, help } = PROBLEMS[code]
  return page({
    title: `${title} · Tally`,
    content: html`<p class="path"><a href="/problems/">Problems</a></p>
<h1>${title}</h1>
<p class="lead">${prose(help)}</p>
<dl>
<dt>Code</dt><dd><code>${code}</code></dd>
<dt>HTTP status</dt><dd>${status}</dd>
</dl>`,
  })
}
