/**
 * Builds the web application: `bun scripts/web.ts` bundles and compresses `src/web` into one file, `dist/web.pack`,
 * which the executable embeds and a server from source reads. Does nothing if that file is up to date, because
 * `scripts/start` runs it every time.
 */
import { join } from 'node:path'
// The library that shows the API reference comes already bundled.
import scalar from '../node_modules/@scalar/api-reference/dist/browser/standalone.js' with { type: 'file' }
import type { PackedFile } from '../src/embedded/pack.ts'
import { compressed, filesIn, isCurrent, savePack, stampOf, zipped } from './packing.ts'

const ROOT = join(import.meta.dir, '..')
const SOURCES = join(ROOT, 'src/web')

/** What the sources import from the rest of `src`, which `.dependency-cruiser.cjs` restricts to these. */
const SHARED = ['src/shared/entry-filters.ts', 'src/database/schema/values.ts'].map((path) => join(ROOT, path))

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
    ...SHARED,
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
  for (const output of outputs) {
    const name = output.path.split('/').at(-1)!
    // The page's styles also contain those of lazily loaded modules.
    if (name.endsWith('.css') && !name.startsWith('main-')) continue
    files.set(name, await compressed(name, new Uint8Array(await output.arrayBuffer())))
  }
  const named = (kind: string, pattern: RegExp) => {
    const output = outputs.find((output) => output.kind === kind && pattern.test(output.path))!
    return `${ASSETS}${output.path.split('/').at(-1)}`
  }
  // Chunks are named after the entry point as well, and load it only after themselves.
  return {
    files,
    script: named('entry-point', /main-[^/]*\.js$/),
    begin: named('entry-point', /begin-[^/]*\.js$/),
    styles: named('asset', /main-[^/]*\.css$/),
  }
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
