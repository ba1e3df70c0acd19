/** HTML pages as strings. Values interpolated into a template are escaped unless they are templates themselves. */

export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | Html[]

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function write(part: Part): string {
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return part.map(write).join('')
  return String(part).replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: texts }, ...parts.map(write)))
}

export interface Page {
  title: string
  content: Html
  /** Paths of module scripts, run after the page is parsed. */
  scripts?: string[]
}

/** The layout of the server's own pages. */
export function page({ title, content, scripts = [] }: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/pages.css">
${scripts.map((path) => html`<script src="${path}" type="module"></script>\n`)}</head>
<body>
<header><a href="/">Tally</a><nav aria-label="Pages"><a href="/docs/">Manual</a><a href="/docs/api">API</a><a href="/problems/">Error codes</a></nav></header>
<main>
${content}
</main>
</body>
</html>
`.text
}
