/**
 * Makes the web application: `bun scripts/web.ts` bundles and compresses what lies in `src/web` into one file,
 * `dist/web.pack`, which the executable carries and a server from source reads. Does nothing where that file is of the
 * same sources already, because `scripts/start` asks each time.
 */
import { mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
// The API's reference is shown by a library that is bundled already.
import scalar from '../node_modules/@scalar/api-reference/dist/browser/standalone.js' with { type: 'file' }
import { type PackedFile, readPack, WEB_PACK, writePack } from '../src/http/web-pack.ts'

const ROOT = join(import.meta.dir, '..')
const SOURCES = join(ROOT, 'src/web')

/** `scheme` stands alone, because it runs before anything is painted. */
export const WEB_ENTRYPOINTS = [join(SOURCES, 'main.tsx'), join(SOURCES, 'scheme.ts')]

/** Under it files are served whose names change with what they hold. */
const ASSETS = '/app/'

const TYPES: Record<string, string> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** What the bundle is made of, as one hash: the sources, the packages, and how it is made. */
async function stampOfSources(): Promise<string> {
  const found = await readdir(SOURCES, { recursive: true, withFileTypes: true })
  const files = found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const hash = new Bun.CryptoHasher('sha256')
  for (const file of [...files.sort(), join(ROOT, 'bun.lock'), import.meta.path]) {
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

/** Answers the files of the bundle by name, and which of them a page starts with. */
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
    // The styles of a part that is loaded later are in those of the page as well.
    if (name.endsWith('.css') && !name.startsWith('main-')) continue
    files.set(name, compressed(TYPES[name.split('.').at(-1)!]!, new Uint8Array(await output.arrayBuffer())))
  }
  const named = (pattern: RegExp) => `${ASSETS}${[...files.keys()].find((name) => pattern.test(name))!}`
  return { files, script: named(/^main-.*\.js$/), scheme: named(/^scheme-.*\.js$/), styles: named(/^main-.*\.css$/) }
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
  // Under another name until it is whole: a server may be reading.
  const unfinished = `${WEB_PACK}.${process.pid}`
  await Bun.write(unfinished, writePack({ stamp, index, files }))
  await rename(unfinished, WEB_PACK)
  const kilobytes = (Bun.file(WEB_PACK).size / 1e3).toFixed(0)
  console.error(`dist/web.pack  ${kilobytes} kB  ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}

if (import.meta.main) await buildWeb()
