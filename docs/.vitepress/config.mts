/**
 * The manual, as `scripts/manual.ts` builds it with VitePress: from a copy of `docs/` to which the generated pages of
 * the reference are added.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'
import { CHAPTERS, titleOf } from './chapters.ts'

const PAGES = join(import.meta.dirname, '..')

/** VitePress writes the same two into every page. They go into a file: Tally's pages may contain no script. */
const INLINE_SCRIPT = /<script id="check-[\w-]+">(.*?)<\/script>/gs
const START_SCRIPT = 'start.js'

const inlineScripts = new Set<string>()
const packages = new Set<string>()

/** Whether Tally itself shows the manual, beside the application and the API reference. */
const isServed = process.env.TALLY_SERVES_MANUAL !== undefined

const textOf = (page: string) => readFileSync(join(PAGES, `${page}.md`), 'utf8')

const sidebar: DefaultTheme.SidebarItem[] = CHAPTERS.map(({ title, pages, isFolded }) => ({
  text: title,
  items: pages.map((page) => ({ text: titleOf(textOf(page)), link: `/${page}` })),
  ...(isFolded !== undefined && { collapsed: isFolded }),
}))

export default defineConfig({
  lang: 'en',
  title: 'Tally',
  description: 'The manual of Tally, which records what AI agents use, shows it, and bills for it.',
  cleanUrls: true,
  // Otherwise every page contains the list of all pages as a script.
  metaChunk: true,
  // Pages are added to the index of the search as they are done: one after the other, each build has the same index.
  buildConcurrency: 1,
  // In examples, it is the reader's own Tally.
  ignoreDeadLinks: ['localhostLinks'],
  themeConfig: {
    // theme/search.ts says how it searches.
    search: { provider: 'local' },
    sidebar,
    nav: isServed
      ? [
          { text: 'API reference', link: '/api', target: '_self' },
          { text: 'Open Tally', link: '/../', target: '_self' },
        ]
      : [],
    outline: [2, 3],
  },
  transformHtml(html, _id, { siteConfig }) {
    for (const [, script] of html.matchAll(INLINE_SCRIPT)) inlineScripts.add(script!)
    const start = `<script src="${siteConfig.site.base}${START_SCRIPT}"></script>`
    return html.replaceAll(INLINE_SCRIPT, '').replace('<head>', `<head>${start}`)
  },
  buildEnd({ outDir }) {
    writeFileSync(join(outDir, START_SCRIPT), [...inlineScripts].join('\n'))
    writeFileSync(join(outDir, 'packages.json'), JSON.stringify([...packages].sort()))
  },
  vite: {
    plugins: [
      {
        name: 'bundled-packages',
        // Whose code the site contains, for the license notices.
        generateBundle(_options, bundle) {
          for (const output of Object.values(bundle)) {
            if (output.type !== 'chunk') continue
            for (const [id, { renderedLength }] of Object.entries(output.modules)) {
              const folder = /\/(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1]
              if (folder && renderedLength > 0) packages.add(folder)
            }
          }
        },
      },
    ],
  },
})
