/** The pages of the manual as programs and `tally help` get them: Markdown without what is for VitePress and for tests alone. */
import { dirname, join } from 'node:path'
import { type Chapter, titleOf } from '../../docs/.vitepress/chapters.ts'
import { MANUAL_BASE } from '../../src/http/manual.ts'

/** @param page its path below `docs/`, without its extension */
export function markdownOf(page: string, text: string): string {
  const readable = text
    .replace(/^---\n.*?\n---\n+/s, '')
    .replaceAll(/<!--.*?-->\n*/gs, '')
    .replaceAll(/^::: \w+ ?(.*)$/gm, '$1')
    .replaceAll(/^:::$\n?/gm, '')
  // At the odd places are the examples.
  const parts = readable.split(/^( *```.*?^ *```$)/gms)
  return `${parts.map((part, at) => (at % 2 === 1 ? withoutNote(part) : withLinks(page, part))).join('')}`
}

/** Links to pages begin at the root of the server, and a picture is what it shows. */
const withLinks = (page: string, text: string): string =>
  text
    .replaceAll(/!\[([^\]]*)\]\((?!\w+:)[^)]*\)/g, '*$1*')
    .replaceAll(
      /\]\((?!\w+:)([^)#]+\.md)(#[^)]*)?\)/g,
      (_, path: string, anchor = '') => `](${join(MANUAL_BASE, dirname(page), path)}${anchor})`,
    )

/** Without what tests read after the language of an example. */
const withoutNote = (example: string): string => example.replace(/^( *```\w+) .*$/m, '$1')

/** @see https://llmstxt.org */
export function llmsText(chapters: readonly Chapter[], markdown: ReadonlyMap<string, string>): string {
  const sections = chapters.map(({ title, pages }) => {
    const links = pages.map((page) => `- [${titleOf(markdown.get(page)!)}](${MANUAL_BASE}${page}.md)`)
    return `## ${title}\n\n${links.join('\n')}\n`
  })
  return `# Tally

> Tally is a self-hosted service that records what AI agents use, shows what it costs, and bills for it. This is its manual. Every
> page is also in HTML, at its address without \`.md\`.

The HTTP API is described by the OpenAPI document at [/api/v1/openapi.json](/api/v1/openapi.json), which needs no token.

${sections.join('\n')}`
}
