/**
 * Builds the web application: `bun scripts/web.ts` bundles and compresses `src/web` into one file, `dist/web.pack`,
 * which the executable embeds and a server from source reads. Does nothing if that file is up to date, because
 * `scripts/start` runs it every time.
 */
import { basename, join } from 'node:path'
// The library that shows the API reference comes already bundled.
import scalar from '../node_modules/@scalar/api-reference/dist/browser/standalone.js' with { type: 'file' }
import type { PackedFile } from '../src/embedded/pack.ts'
import { compressed, filesIn, isCurrent, savePack, stampOf, zipped } from './packing.ts'

const ROOT = join(import.meta.dir, '..')
const SOURCES = join(ROOT, 'src/web')

/** What the sources import from the rest of `src`, as `.dependency-cruiser.cjs` says. */
const SHARED = join(ROOT, 'src/shared')
const VALUES = join(ROOT, 'src/database/schema/values.ts')

const MAIN = join(SOURCES, 'main.tsx')

/** Separate because it runs before the first paint, and before the other is loaded. */
const BEGIN = join(SOURCES, 'begin.ts')

export const WEB_ENTRYPOINTS = [MAIN, BEGIN]

/** The path of files whose names change with their content. */
const ASSETS = '/app/'

/** The bundle's inputs: the sources, the packages, and the scripts. */
async function inputs(): Promise<string[]> {
  return [
    ...(await filesIn(SOURCES)),
    ...(await filesIn(SHARED)),
    VALUES,
    join(ROOT, 'bun.lock'),
    join(import.meta.dir, 'packing.ts'),
    import.meta.path,
  ]
}

/** Returns the files of the bundle by name, and the ones that a page starts with. */
async function bundle(): Promise<{ files: Map<string, PackedFile>; script: string; begin: string; styles: string }> {
  const options = {
    minify: true,
    target: 'browser',
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    publicPath: ASSETS,
    define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  } as const
  const main = await Bun.build({ ...options, entrypoints: [MAIN], splitting: true })
  // A script that is no module, so that it does not wait for the page.
  const begin = await Bun.build({ ...options, entrypoints: [BEGIN], format: 'iife' })
  const outputs = [...main.outputs, ...begin.outputs]
  const files = new Map<string, PackedFile>()
  const add = async (name: string, text: string) =>
    files.set(name, await compressed(name, new TextEncoder().encode(text)))
  const scripts = outputs.filter(({ path }) => path.endsWith('.js'))
  const texts = await Promise.all(scripts.map((output) => output.text()))
  await Promise.all(scripts.map(({ path }, at) => add(basename(path), texts[at]!)))
  // Of the page and of all modules that are loaded later.
  const own = outputs.find(({ path }) => /main-[^/]*\.css$/.test(path))!
  const styles = (await libraryStyles(texts.join())) + (await own.text())
  const stylesName = `main-${Bun.hash.wyhash(styles).toString(36)}.css`
  await add(stylesName, styles)
  const named = (pattern: RegExp) =>
    ASSETS + basename(scripts.find(({ kind, path }) => kind === 'entry-point' && pattern.test(path))!.path)
  // Chunks are named after the entry point as well, and load it only after themselves.
  return {
    files,
    script: named(/main-[^/]*\.js$/),
    begin: named(/begin-[^/]*\.js$/),
    styles: ASSETS + stylesName,
  }
}

/** In the order in which Mantine's rules replace each other. */
const LIBRARIES = ['core', 'dates', 'notifications'].map((name) => join(ROOT, 'node_modules/@mantine', name))

/**
 * Mantine's styles of the components whose classes are in the scripts. Not bundled: Bun writes each logical property once
 * for every language that is read from right to left, which made the styles three times as large.
 */
async function libraryStyles(scripts: string): Promise<string> {
  const used: string[] = []
  for (const library of LIBRARIES) {
    const all = await Bun.file(join(library, 'styles.css')).text()
    const paths = [...new Bun.Glob('styles/*.css').scanSync(library)].filter((path) => !path.endsWith('.layer.css'))
    const files = await Promise.all(paths.map((path) => Bun.file(join(library, path)).text()))
    const parts = (files.length > 0 ? files : [all]).map((text) => text.trim())
    const isUsed = (text: string) => {
      const classes = text.match(/\bm_[0-9a-f]+/g)
      return !classes || classes.some((name) => scripts.includes(name))
    }
    used.push(...parts.filter(isUsed).sort((one, other) => all.indexOf(one) - all.indexOf(other)))
  }
  return used.join('').replace(/\s+/g, ' ')
}

export async function buildWeb(): Promise<void> {
  const stamp = await stampOf(await inputs())
  if (await isCurrent('web', stamp)) return
  const startedAt = performance.now()
  const { files, ...starts } = await bundle()
  files.set('scalar.js', zipped('scalar.js', await Bun.file(scalar).bytes()))
  const template = await Bun.file(join(SOURCES, 'index.html')).text()
  const index = template.replace(/\{(script|begin|styles)\}/g, (_, name: keyof typeof starts) => starts[name])
  files.set('index.html', zipped('index.html', new TextEncoder().encode(index)))
  await savePack('web', { stamp, files }, startedAt)
}

if (import.meta.main) await buildWeb()
