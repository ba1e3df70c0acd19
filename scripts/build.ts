/**
 * Builds the executables: `bun scripts/build.ts` builds the one for this machine (dist/tally); `--precompiled` also builds
 * the one that tests start a thousand times (dist/precompiled/tally); `--all` builds one for every platform that Tally is
 * released for, and their checksums. Bun downloads the runtimes of other platforms itself, in its own version.
 *
 * No minify option is set: `--minify-whitespace` broke every authenticated route of a compiled Elysia application
 * (elysia issue 1280), and it would save little next to the runtime's 110 MB.
 */
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { NOTICES } from '../src/embedded/licenses.ts'
import { packPath } from '../src/embedded/pack.ts'
import { publicKeyLine, readPublicKey } from '../src/lib/minisign.ts'
import { buildApi } from './api.ts'
import { NEVER_BUNDLED } from './bundled.ts'
import { buildManual } from './manual.ts'
import { buildNotices } from './notices.ts'
import { checksumsOf, writeChecksums } from './release/checksums.ts'
import { PLATFORMS, type Platform } from './release/release.ts'
import { PUBLIC_KEY } from './release/signature.ts'
import { buildWeb } from './web.ts'

const ROOT = join(import.meta.dir, '..')

type Target = Bun.Build.CompileTarget

/**
 * Started with `new Worker`, which the bundler does not follow: a worker not named here is missing from the executable.
 */
const WORKERS = [
  'src/database/engines/sqlite/checkpoint-worker.ts',
  'src/database/engines/sqlite/log-sync-worker.ts',
  'src/database/backup/backup-worker.ts',
  'src/features/people/passwords/hashing-worker.ts',
  'src/features/bills/documents/pdf-worker.ts',
  'src/features/telemetry/decoding-worker.ts',
  'src/lib/outgoing/outgoing-worker.ts',
]

/** The entry points that are bundled: the command line and the workers. */
export const PROGRAMS = ['src/main.ts', ...WORKERS]

/**
 * What libraries would bring along although there is something smaller.
 *
 * - The library of the Model Context Protocol validates with Ajv (300 kB) what clients answer to questions of the server, which
 *   asks none. For browsers, it has a validator of 40 kB.
 * - Fontkit decompresses fonts with JavaScript and a dictionary of its own (1.1 MB), as Bun does without either.
 */
const SMALLER_LIBRARIES: Bun.BunPlugin = {
  name: 'smaller-libraries',
  setup(build) {
    const path = join(dirname(Bun.resolveSync('@modelcontextprotocol/server', ROOT)), 'shimsBrowser.mjs')
    build.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({ path }))
    build.onLoad({ filter: /\/brotli\/decompress\.js$/ }, () => ({
      contents: "module.exports = (data) => new Uint8Array(require('node:zlib').brotliDecompressSync(data))",
      loader: 'js',
    }))
  },
}

/** Bundles a program with its workers and a runtime into one file, and returns its path. */
export async function compile(options: {
  /** Path of the program, from the root of the repository. */
  program: string
  outfile: string
  workers?: string[]
  /** Files to embed, relative to the root of the repository or absolute. */
  files?: string[]
  /** The platform; defaults to this machine's. */
  target?: Target
  /** Whether to embed bytecode: starts in half of the time, but makes the executable 10 MB larger. */
  bytecode?: boolean
}): Promise<string> {
  const { program, outfile, workers = [], files = [], target, bytecode = false } = options
  // Written to another folder until it is complete, so that nobody starts an incomplete executable.
  await mkdir(dirname(outfile), { recursive: true })
  const unfinished = await mkdtemp(join(dirname(outfile), '.unfinished-'))
  try {
    await Bun.build({
      entrypoints: [program, ...workers, ...files].map((path) => resolve(ROOT, path)),
      // Embedded files are found by these extensions alone.
      loader: { '.pack': 'file', '.notices': 'file' },
      // Puts the workers beside the program in the executable, where `new URL('./x-worker.ts', import.meta.url)` looks.
      naming: { entry: '[name].[ext]' },
      // Modules that are imported lazily are also parsed lazily. Parsing all of them takes 95 ms, which would delay an
      // agent at each of its hooks.
      splitting: true,
      format: 'esm',
      bytecode,
      external: NEVER_BUNDLED,
      plugins: [SMALLER_LIBRARIES],
      define: {
        BUILD_COMMIT: JSON.stringify(await commit()),
        BUILD_PLATFORM: JSON.stringify(target?.replace('bun-', '') ?? hostPlatform()),
        BUILD_RELEASE_KEY: JSON.stringify(await releaseKey()),
        // Otherwise Bun sets it to "development" in libraries that read it.
        'process.env.NODE_ENV': JSON.stringify('production'),
        // Otherwise Bun writes the checkout's path into the executable, for libraries that look for files beside their own:
        // pino for its transports, which Tally does not use, and pdfkit for a profile of colors.
        __dirname: JSON.stringify('/'),
      },
      compile: {
        outfile: join(unfinished, basename(outfile)),
        ...(target ? { target } : {}),
        // Files in the current folder must not change how Tally runs.
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
    })
    await rename(join(unfinished, basename(outfile)), outfile)
  } finally {
    await rm(unfinished, { recursive: true })
  }
  return outfile
}

/**
 * The commit of the sources, with `-changed` if they differ from it. Without git, as in a source archive, it is what
 * `TALLY_COMMIT` says, such as in the build of the container image, or `unknown`.
 */
async function commit(): Promise<string> {
  try {
    const id = (await Bun.$`git rev-parse --short=12 HEAD`.cwd(ROOT).quiet().text()).trim()
    const changes = await Bun.$`git status --porcelain --untracked-files=no`.cwd(ROOT).quiet().text()
    return changes === '' ? id : `${id}-changed`
  } catch {
    return process.env.TALLY_COMMIT || 'unknown'
  }
}

/** What this machine runs, by the loader of its C library. */
function hostPlatform(): string {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const libraries = process.platform === 'linux' ? readdirSync('/lib') : []
  const hasGlibc = existsSync('/lib64/ld-linux-x86-64.so.2') || libraries.some((name) => name.startsWith('ld-linux-'))
  return libraries.some((name) => name.startsWith('ld-musl-')) && !hasGlibc ? `${platform}-musl` : platform
}

/** The line of the public key that releases are signed with; empty if there is none yet. */
async function releaseKey(): Promise<string> {
  const file = Bun.file(join(ROOT, PUBLIC_KEY))
  return (await file.exists()) ? publicKeyLine(readPublicKey(await file.text())) : ''
}

/** Builds the files that every executable embeds. */
export async function buildParts(): Promise<void> {
  await buildWeb()
  await buildManual()
  await buildApi()
  await buildNotices(PROGRAMS)
}

/** Returns the path of the executable. */
export async function build(
  outfile: string,
  { target, bytecode }: { target?: Target; bytecode?: boolean } = {},
): Promise<string> {
  const startedAt = performance.now()
  await compile({
    program: 'src/main.ts',
    outfile,
    workers: WORKERS,
    files: [packPath('web'), packPath('manual'), packPath('api'), NOTICES],
    ...(target ? { target } : {}),
    ...(bytecode ? { bytecode } : {}),
  })
  const megabytes = (Bun.file(outfile).size / 1e6).toFixed(1)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${relative(ROOT, outfile)}  ${megabytes} MB  ${seconds} s`)
  return outfile
}

/** Builds the executables for every platform in a folder, and returns their paths. */
export async function buildAll(folder: string): Promise<Record<Platform, string>> {
  await buildParts()
  const paths: [Platform, string][] = []
  for (const platform of PLATFORMS) {
    const name = platform.startsWith('windows') ? `tally-${platform}.exe` : `tally-${platform}`
    paths.push([platform, await build(join(folder, name), { target: `bun-${platform}` })])
  }
  return Object.fromEntries(paths) as Record<Platform, string>
}

if (import.meta.main) {
  const dist = join(ROOT, 'dist')
  if (process.argv.includes('--all')) {
    await rm(join(dist, 'SHA256SUMS'), { force: true })
    await writeChecksums(dist, await checksumsOf(Object.values(await buildAll(dist))))
  } else {
    await buildParts()
    await build(join(dist, 'tally'))
    if (process.argv.includes('--precompiled')) await build(join(dist, 'precompiled/tally'), { bytecode: true })
  }
}
