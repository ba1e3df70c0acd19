/**
 * The packages in the executable, with their licenses: those whose code the bundlers included in the program, its
 * workers, the web application and the manual. These are far fewer than the installed ones.
 */
import { readdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { findPack, packedText } from '../src/embedded/pack.ts'
import { WEB_ENTRYPOINTS } from './web.ts'

const ROOT = join(import.meta.dir, '..')

/** Where a package ends up. */
export type Part = 'program' | 'web application' | 'manual'

export interface BundledPackage {
  name: string
  version: string
  /** From its package.json, usually an SPDX expression. */
  license: string | undefined
  author: string | undefined
  homepage: string | undefined
  /** The texts of the package's own license files, for the notices. Empty if it has none. */
  licenseTexts: string[]
  parts: Part[]
  /** The package whose published bundle embeds this one, possibly only in part or not at all. */
  within: string | undefined
}

/**
 * Packages whose published file is embedded unchanged. We can't see what their authors bundled into it, so all of their
 * dependencies are listed.
 */
const PREBUILT = ['@scalar/api-reference']

const LICENSE_FILE = /^(licen[cs]e|copying|notice|unlicense)/i

/** Sorted by name and version; a package in two versions is listed twice. */
export async function bundledPackages(programs: string[]): Promise<BundledPackage[]> {
  const found = new Map<string, BundledPackage>()
  const add = async (folder: string, part: Part, within?: string) => {
    const described = await describe(folder)
    // Several packages may each have a copy of the same version.
    const key = `${described.name} ${described.version}`
    const known = found.get(key) ?? { ...described, parts: [], within }
    if (!known.parts.includes(part)) known.parts.push(part)
    // Direct parts of the program are certainly included.
    if (!within) known.within = undefined
    found.set(key, known)
  }
  for (const folder of await foldersIn(programs, 'bun')) await add(folder, 'program')
  for (const folder of await foldersIn(WEB_ENTRYPOINTS, 'browser')) await add(folder, 'web application')
  for (const folder of await foldersInManual()) await add(folder, 'manual')
  for (const name of PREBUILT) {
    const start = join(ROOT, 'node_modules', name)
    for (const folder of await dependenciesOf(start)) {
      await add(folder, 'web application', folder === start ? undefined : name)
    }
  }
  return [...found.values()].sort(
    (one, other) => compare(one.name, other.name) || Bun.semver.order(one.version, other.version),
  )
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** Packages that only a server from source loads: the executable contains what they make. */
export const NEVER_BUNDLED = ['@elysiajs/swagger']

/** Folders of the packages that have code in the bundler's output. */
async function foldersIn(entrypoints: string[], target: 'bun' | 'browser'): Promise<Set<string>> {
  const { metafile } = await Bun.build({
    entrypoints: entrypoints.map((path) => resolve(ROOT, path)),
    target,
    splitting: true,
    external: NEVER_BUNDLED,
    minify: target === 'browser',
    metafile: true,
    define: { BUILD_COMMIT: '""', 'process.env.NODE_ENV': JSON.stringify('production') },
    root: ROOT,
  })
  const folders = new Set<string>()
  // Its own `inputs` also name modules that tree shaking drops.
  for (const { inputs } of Object.values(metafile!.outputs)) {
    for (const path of Object.keys(inputs)) {
      const folder = folderOf(path)
      if (folder) folders.add(resolve(ROOT, folder))
    }
  }
  return folders
}

/** Those that `docs/.vitepress/config.mts` saw in the manual's scripts when it was built. */
async function foldersInManual(): Promise<string[]> {
  const pack = await findPack('manual')
  const text = pack && (await packedText(pack, 'packages.json'))
  if (text === undefined) throw new Error('The manual is not built. Run `bun scripts/manual.ts` first.')
  return (JSON.parse(text) as string[]).map((folder) => join(ROOT, folder))
}

/** `node_modules/a/node_modules/@b/c` for a path in it; undefined for Tally's own files. */
function folderOf(path: string): string | undefined {
  return /^(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
}

async function describe(folder: string): Promise<Omit<BundledPackage, 'parts' | 'within'>> {
  const { name, version, license, licenses, author, homepage } = await Bun.file(join(folder, 'package.json')).json()
  const files = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isFile() && LICENSE_FILE.test(entry.name))
    .map((entry) => entry.name)
    .sort()
  const licenseTexts = await Promise.all(files.map((file) => Bun.file(join(folder, file)).text()))
  const isMit = licenseTexts.some((text) => /^\s*(The )?MIT License\b/i.test(text))
  return {
    name,
    version,
    // Older packages have an object instead of an expression.
    license:
      typeof license === 'object' ? license.type : (license ?? licenses?.[0]?.type ?? (isMit ? 'MIT' : undefined)),
    author: typeof author === 'object' ? author.name : author?.replace(/\s*[<(].*/, ''),
    homepage: typeof homepage === 'string' ? homepage : undefined,
    licenseTexts,
  }
}

/** The installed folders of a package and all of its runtime dependencies. */
async function dependenciesOf(start: string, found = new Set<string>()): Promise<Set<string>> {
  if (found.has(start)) return found
  found.add(start)
  const { dependencies = {} } = await Bun.file(join(start, 'package.json')).json()
  for (const name of Object.keys(dependencies)) {
    const folder = await installedFolder(name, start)
    if (folder) await dependenciesOf(folder, found)
  }
  return found
}

/** Resolves a dependency of a package: next to it, or in a parent folder. */
async function installedFolder(name: string, from: string): Promise<string | undefined> {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (await Bun.file(join(candidate, 'package.json')).exists()) return candidate
    if (folder === ROOT || folder === dirname(folder)) return undefined
  }
}
