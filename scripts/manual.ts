/**
 * Builds the manual from `docs/` and the reference pages that are generated from the program: `bun scripts/manual.ts`
 * writes `dist/manual.pack`, which the executable embeds and serves at `/docs`. Does nothing if that file is up to date,
 * because `scripts/start` runs it every time. With `--site [base]`, it writes a static site with the same pages to
 * `dist/docs`, to be served at a base such as `/` (the default) or `/tally/`.
 */
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { CHAPTERS, titleOf } from '../docs/.vitepress/chapters.ts'
import type { ManualContents } from '../src/embedded/manual.ts'
import { MANUAL_BASE } from '../src/http/manual.ts'
import { llmsText, markdownOf } from './manual/markdown.ts'
import { referencePages } from './manual/reference.ts'
import { brotlied, filesIn, isCurrent, savePack, stampOf } from './packing.ts'

const ROOT = join(import.meta.dir, '..')
const DIST = join(ROOT, 'dist')
const DOCS = join(ROOT, 'docs')

/** Writes the pages as VitePress reads them: those of `docs/`, and the generated ones. */
async function stage(folder: string, generated: Map<string, string>): Promise<void> {
  await cp(DOCS, folder, { recursive: true })
  for (const [page, text] of generated) await Bun.write(join(folder, `${page}.md`), text)
}

async function render(pages: string, base: string, out: string): Promise<void> {
  const vitepress = join(ROOT, 'node_modules/vitepress/bin/vitepress.js')
  const command = [process.execPath, '--bun', vitepress, 'build', pages, '--base', base, '--outDir', out]
  const env = { ...process.env, ...(base === MANUAL_BASE && { TALLY_SERVES_MANUAL: '' }) }
  const child = Bun.spawn(command, { cwd: ROOT, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`VitePress could not build the manual:\n${stdout}${stderr}`)
}

/** Renders into a temporary folder beside the packages, where VitePress finds its own. */
async function withRendered<T>(
  base: string,
  generated: Map<string, string>,
  use: (site: string, pages: string) => Promise<T>,
): Promise<T> {
  await mkdir(DIST, { recursive: true })
  const folder = await mkdtemp(join(DIST, '.manual-'))
  try {
    const pages = join(folder, 'pages')
    const site = join(folder, 'site')
    await stage(pages, generated)
    await render(pages, base, site)
    return await use(site, pages)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function stampOfManual(generated: Map<string, string>): Promise<string> {
  const scripts = ['scripts/manual.ts', 'scripts/manual/markdown.ts', 'scripts/packing.ts', 'bun.lock'].map((path) =>
    join(ROOT, path),
  )
  const stamp = await stampOf([...(await filesIn(DOCS)), ...scripts])
  return new Bun.CryptoHasher('sha256').update(stamp + JSON.stringify([...generated])).digest('hex')
}

export async function buildManual(): Promise<void> {
  const startedAt = performance.now()
  const generated = await referencePages()
  const stamp = await stampOfManual(generated)
  if (await isCurrent('manual', stamp)) return
  const files = await withRendered(MANUAL_BASE, generated, async (site, pages) => {
    const sources = new Map<string, Blob>()
    for (const path of await filesIn(site)) sources.set(relative(site, path), Bun.file(path))
    // What programs read, and what `tally help` lists and prints.
    const markdown = new Map<string, string>()
    for (const page of ['index', ...CHAPTERS.flatMap(({ pages }) => pages)]) {
      const text = markdownOf(page, await Bun.file(join(pages, `${page}.md`)).text())
      markdown.set(page, text)
      sources.set(`${page}.md`, new Blob([text]))
    }
    const contents: ManualContents = CHAPTERS.flatMap(({ pages }) =>
      pages.map((page) => ({ page, title: titleOf(markdown.get(page)!) })),
    )
    sources.set('contents.json', new Blob([JSON.stringify(contents)]))
    sources.set('llms.txt', new Blob([llmsText(CHAPTERS, markdown)]))
    const packed = [...sources].map(
      async ([name, source]) => [name, await brotlied(name, await source.bytes())] as const,
    )
    return new Map(await Promise.all(packed))
  })
  await savePack('manual', { stamp, files }, startedAt)
}

async function writeSite(base: string): Promise<void> {
  const target = join(DIST, 'docs')
  await withRendered(base, await referencePages(), async (site) => {
    await rm(target, { recursive: true, force: true })
    await cp(site, target, { recursive: true })
  })
  console.log(`dist/docs  ${(await filesIn(target)).length} files, to be served at ${base}`)
}

if (import.meta.main) {
  const [option, base = '/'] = process.argv.slice(2)
  if (option === '--site') await writeSite(base)
  else await buildManual()
}
