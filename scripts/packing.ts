/** What the builds of packs have in common; `src/embedded/pack.ts` describes a pack. */
import { mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, extname, join, relative } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzipSync } from 'node:zlib'
import { type PackedFile, type PackName, packPath, readPack, writePack } from '../src/embedded/pack.ts'

const ROOT = join(import.meta.dir, '..')

/** On other threads, so that several files are compressed at the same time. */
const brotli = promisify(brotliCompress)

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
}

/** The media type of a file, by its name. */
const typeOf = (name: string) => TYPES[extname(name)]!

/** The paths of all files in a folder and below, sorted. */
export async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

/** A hash of the files that a pack is made of. */
export async function stampOf(paths: readonly string[]): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for (const path of paths) {
    hash.update(`${relative(ROOT, path)}\0`)
    hash.update(await Bun.file(path).bytes())
  }
  return hash.digest('hex')
}

export async function isCurrent(name: PackName, stamp: string): Promise<boolean> {
  const file = Bun.file(packPath(name))
  return (await file.exists()) && (await readPack(file)).stamp === stamp
}

export const zipped = (name: string, bytes: Uint8Array): PackedFile => ({
  type: typeOf(name),
  gzip: gzipSync(bytes, { level: 9 }),
})

/** A sixth smaller. The highest quality takes three times as long for 3% of the manual. */
export const brotlied = async (name: string, bytes: Uint8Array): Promise<PackedFile> => ({
  type: typeOf(name),
  brotli: await brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
})

export const compressed = async (name: string, bytes: Uint8Array): Promise<PackedFile> => ({
  ...zipped(name, bytes),
  ...(await brotlied(name, bytes)),
})

/** Prints the size of the pack, and the seconds since `begun`. */
export async function savePack(
  name: PackName,
  content: { stamp: string; files: Map<string, PackedFile> },
  begun: number,
): Promise<void> {
  const path = packPath(name)
  await mkdir(dirname(path), { recursive: true })
  // Written under another name until it is complete: a server may be reading it.
  const unfinished = `${path}.${process.pid}`
  await Bun.write(unfinished, writePack(content))
  await rename(unfinished, path)
  const kilobytes = (Bun.file(path).size / 1e3).toFixed(0)
  console.error(`${relative(ROOT, path)}  ${kilobytes} kB  ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}
