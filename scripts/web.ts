/**
 * Builds the web application: `bun scripts/web.ts` bundles and compresses `src/web` into one file, `dist/web.pack`,
 * which the executable embeds and a server from source reads. Does nothing if that file is up to date, because
 * `scripts/start` runs it every time.
 */
import { mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
// The library that shows the API reference comes already bundled.
import scalar from '../node_modules/@scalar/api-reference/dist/browser/standalone.js' with { type: 'file' }
import { type PackedFile, readPack, WEB_PACK, writePack } from '../src/http/web-pack.ts'

const ROOT = join(import.meta.dir, '..')
const SOURCES = join(ROOT, 'src/web')

/** What the sources import from the rest of `src`, which `.dependency-cruiser.cjs` restricts to these. */
const SHARED = ['src/entry-filters.ts', 'src/database/schema/values.ts'].map((path) => join(ROOT, path))

/** `scheme` is separate because it runs before the first paint. */
export const WEB_ENTRYPOINTS = [join(SOURCES, 'main.tsx'), join(SOURCES, 'scheme.ts')]

/** The path of files whose names change with their content. */
const ASSETS = '/app/'

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** A hash of the bundle's inputs: the sources, the packages, and this script. */
async function stampOfSources(): Promise<string> {
  const found = await readdir(SOURCES, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const hash = new Bun.CryptoHasher('sha256')
  for (const file of [...files.sort(), ...SHARED, join(ROOT, 'bun.lock'), import.meta.path]) {
    hash.update(`${relative(ROOT, file)}\0`)
    hash.update(await Bun.file(file).bytes())
  }
  return hash.digest('hex')
}

async function isCurrent(stamp: string): Promise<boolean> {
  if (!(await Bun.file(WEB_PACK).exists())) return false
  return (await readPack(Bun.file(WEB_PACK))).stamp === stamp
}

const zipped = (type: string, bytes: Uint8Array): PackedFile => ({ type, gzip: gzipSync(bytes, { level: 9 }) })

const compressed = (type: string, bytes: Uint8Array): PackedFile => ({
  ...zipped(type, bytes),
  brotli: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
})

/** Returns the files of the bundle by name, and the ones that a page starts with. */
async function bundle(): Promise<{ files: Map<string, PackedFile>; script: string; scheme: string; styles: string }> {
  const { outputs } = await Bun.build({
    entrypoints: WEB_ENTRYPOINTS,
    splitting: true,
    minify: true,
    target: 'browser',
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]', asset: '[name]-[hash].[ext]' },
    publicPath: ASSETS,
    define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  })
  const files = new Map<string, PackedFile>()
  for (const output of outputs) {
    const name = output.path.split('/').at(-1)!
    // The page's styles also contain those of lazily loaded modules.
    if (name.endsWith('.css') && !name.startsWith('main-')) continue
    files.set(name, compressed(TYPES[name.split('.').at(-1)!]!, new Uint8Array(await output.arrayBuffer())))
  }
  const named = (kind: string, pattern: RegExp) => {
    const output = outputs.find((output) => output.kind === kind && pattern.test(output.path))!
    return `${ASSETS}${output.path.split('/').at(-1)}`
  }
  // Chunks are named after the entry point as well, and load it only after themselves.
  return {
    files,
    script: named('entry-point', /main-[^/]*\.js$/),
    scheme: named('entry-point', /scheme-[^/]*\.js$/),
    styles: named('asset', /main-[^/]*\.css$/),
  }
}

export async function buildWeb(): Promise<void> {
  const stamp = await stampOfSources()
  if (await isCurrent(stamp)) return
  const begun = performance.now()
  const { files, ...starts } = await bundle()
  files.set('scalar.js', zipped(TYPES.js!, await Bun.file(scalar).bytes()))
  const template = await Bun.file(join(SOURCES, 'index.html')).text()
  const index = template.replace(/\{(script|scheme|styles)\}/g, (_, name: keyof typeof starts) => starts[name])
  await mkdir(dirname(WEB_PACK), { recursive: true })
  // Written under another name until it is complete: a server may be reading it.
  const unfinished = `${WEB_PACK}.${process.pid}`
  await Bun.write(unfinished, writePack({ stamp, index, files }))
  await rename(unfinished, WEB_PACK)
  const kilobytes = (Bun.file(WEB_PACK).size / 1e3).toFixed(0)
  console.error(`dist/web.pack  ${kilobytes} kB  ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}

if (import.meta.main) await buildWeb()
