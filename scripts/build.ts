/**
 * Builds the executables: `bun scripts/build.ts` builds the one for this machine (dist/tally); `--precompiled` also builds
 * the one that tests start a thousand times (dist/precompiled/tally); `--all` builds one for every platform that Tally is
 * released for, and their checksums. Bun downloads the runtimes of other platforms itself, in its own version.
 *
 * No minify option is set: `--minify-whitespace` broke every authenticated route of a compiled Elysia application
 * (elysia issue 1280), and it would save little next to the runtime's 110 MB.
 */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { WEB_PACK } from '../src/http/web-pack.ts'
import { NOTICES } from '../src/notices.ts'
import { buildNotices } from './notices.ts'
import { buildWeb } from './web.ts'

const ROOT = join(import.meta.dir, '..')

type Target = Bun.Build.CompileTarget

/** File names of the released executables, and their platforms. */
const RELEASED: Record<string, Target> = {
  'tally-linux-x64': 'bun-linux-x64',
  'tally-linux-arm64': 'bun-linux-arm64',
  'tally-linux-x64-musl': 'bun-linux-x64-musl',
  'tally-linux-arm64-musl': 'bun-linux-arm64-musl',
  'tally-darwin-arm64': 'bun-darwin-arm64',
  'tally-darwin-x64': 'bun-darwin-x64',
  'tally-windows-x64.exe': 'bun-windows-x64',
}

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
]

/** The entry points that are bundled: the command line and the workers. */
export const PROGRAMS = ['src/main.ts', ...WORKERS]

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
      loader: { '.pack': 'file', '.notices': 'file' },
      // Puts the workers beside the program in the executable, where `new URL('./x-worker.ts', import.meta.url)` looks.
      naming: { entry: '[name].[ext]' },
      // Modules that are imported lazily are also parsed lazily. Parsing all of them takes 95 ms, which would delay an
      // agent at each of its hooks.
      splitting: true,
      format: 'esm',
      bytecode,
      define: {
        BUILD_COMMIT: JSON.stringify(await commit()),
        // Otherwise Bun sets it to "development" in libraries that read it.
        'process.env.NODE_ENV': JSON.stringify('production'),
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

/** The commit of the sources, with `-changed` if they differ from it. `unknown` without git, as in a source archive. */
async function commit(): Promise<string> {
  try {
    const id = (await Bun.$`git rev-parse --short=12 HEAD`.cwd(ROOT).quiet().text()).trim()
    const changes = await Bun.$`git status --porcelain --untracked-files=no`.cwd(ROOT).quiet().text()
    return changes === '' ? id : `${id}-changed`
  } catch {
    return 'unknown'
  }
}

/** Builds the files that every executable embeds. */
export async function buildParts(): Promise<void> {
  await buildWeb()
  await buildNotices(PROGRAMS)
}

/** Returns the path of the executable. */
export async function build(
  outfile: string,
  { target, bytecode }: { target?: Target; bytecode?: boolean } = {},
): Promise<string> {
  const begun = performance.now()
  await compile({
    program: 'src/main.ts',
    outfile,
    workers: WORKERS,
    files: [WEB_PACK, NOTICES],
    ...(target ? { target } : {}),
    ...(bytecode ? { bytecode } : {}),
  })
  const megabytes = (Bun.file(outfile).size / 1e6).toFixed(1)
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  console.log(`${relative(ROOT, outfile)}  ${megabytes} MB  ${seconds} s`)
  return outfile
}

/** Builds the executables for every platform in a folder, and returns their paths. */
export async function buildAll(folder: string): Promise<string[]> {
  await buildParts()
  const files: string[] = []
  for (const [name, target] of Object.entries(RELEASED)) files.push(await build(join(folder, name), { target }))
  return files
}

/** `SHA256SUMS` of files in a folder, in the form that `sha256sum --check` reads. */
export async function writeChecksums(folder: string, files: string[]): Promise<void> {
  const lines: string[] = []
  for (const file of files) {
    const hash = new Bun.CryptoHasher('sha256')
    for await (const chunk of Bun.file(file).stream()) hash.update(chunk)
    lines.push(`${hash.digest('hex')}  ${basename(file)}\n`)
  }
  await Bun.write(join(folder, 'SHA256SUMS'), lines.join(''))
}

if (import.meta.main) {
  const dist = join(ROOT, 'dist')
  if (process.argv.includes('--all')) {
    await rm(join(dist, 'SHA256SUMS'), { force: true })
    await writeChecksums(dist, await buildAll(dist))
  } else {
    await buildParts()
    await build(join(dist, 'tally'))
    if (process.argv.includes('--precompiled')) await build(join(dist, 'precompiled/tally'), { bytecode: true })
  }
}
