/**
 * Shows where the server spends its time under a load of reports: runs it from source under Bun's CPU profiler and
 * prints how long each kind of work takes per report, and the functions with the most self time. The profile is kept in
 * dist/ for a viewer such as Chromium's developer tools.
 *
 *   scripts/bench/profile [--seconds 5] [--connections 64]
 *   scripts/bench/profile --batch 100   batches of so many reports
 *   scripts/bench/profile --repeat 5    reports each session this often, with growing totals
 *   scripts/bench/profile --slices 1    sessions of so many slices
 */
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../test/support/binary.ts'
import { runAndCleanUp, UsageError } from './clean-up.ts'
import type { Load, LoadResult } from './load.ts'
import { mainThreadMs } from './process-metrics.ts'
import { type Frame, KINDS, kindOf } from './profile-kinds.ts'

const ROOT = join(import.meta.dir, '../..')
const SHOWN = 30
const PROFILE = 'dist/report.cpuprofile'

/**
 * A sample is taken every millisecond, but only while JavaScript runs: a longer interval contains time in which it did
 * not.
 */
const LONGEST_SAMPLE_MICROS = 1_500

const DEFAULTS = { seconds: '5', connections: '64', batch: '1', repeat: '1', slices: '0' }
type Option = keyof typeof DEFAULTS

function readOptions(): Record<Option, number> {
  const options = Object.fromEntries(
    Object.entries(DEFAULTS).map(([name, value]) => [name, { type: 'string', default: value } as const]),
  )
  const numberOf = (name: Option, values: Record<string, unknown>) => {
    const number = Number(values[name])
    if (!((number > 0 || (number === 0 && name === 'slices')) && (name === 'seconds' || Number.isInteger(number))))
      throw new UsageError(`--${name} must be a positive number: ${values[name]}`)
    return number
  }
  try {
    const { values } = parseArgs({ options })
    return {
      seconds: numberOf('seconds', values),
      connections: numberOf('connections', values),
      batch: numberOf('batch', values),
      repeat: numberOf('repeat', values),
      slices: numberOf('slices', values),
    }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[]
  samples: number[]
  timeDeltas: number[]
}

type Node = Profile['nodes'][number]
type Sums = [name: string, micros: number][]

/** Sums microseconds by the group of a stack, leaving out the first `from` microseconds. */
function sumBy({ nodes, samples, timeDeltas }: Profile, from: number, nameOf: (stack: Node[]) => string): Sums {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const sums = new Map<string, number>()
  let at = 0
  samples.forEach((sample, position) => {
    const delta = timeDeltas[position]!
    at += delta
    if (at < from) return
    const micros = Math.min(delta, LONGEST_SAMPLE_MICROS)
    const stack: Node[] = []
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) stack.push(byId.get(id)!)
    const name = nameOf(stack)
    sums.set(name, (sums.get(name) ?? 0) + micros)
  })
  return [...sums].sort(([, a], [, b]) => b - a)
}

function shortPath(url: string): string {
  const path = url.replace(/^file:\/\//, '')
  const inPackage = path.lastIndexOf('/node_modules/')
  if (inPackage >= 0) return path.slice(inPackage + '/node_modules/'.length)
  return path.startsWith(ROOT) ? path.slice(ROOT.length + 1) : path
}

/** What kinds of work are recognized by; functions of the runtime have no path. */
function frameOf({ callFrame: { functionName, url } }: Node): Frame {
  return { name: functionName, path: shortPath(url) }
}

function isOurs({ callFrame: { url } }: Node): boolean {
  return url.includes(`${ROOT}/src/`)
}

function functionOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  return `${functionName || '(anonymous)'}  ${url === '' ? '' : `${shortPath(url)}:${lineNumber + 1}`}`
}

/** The package, or our own file, that contains a function. */
function placeOf({ callFrame: { url } }: Node): string {
  if (url === '') return '(runtime)'
  const path = shortPath(url)
  if (!url.includes('/node_modules/')) return path
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/')
}

function printTable(title: string, sums: Sums): void {
  const total = sums.reduce((sum, [, micros]) => sum + micros, 0)
  console.log(`\n${title}`)
  for (const [name, micros] of sums.slice(0, SHOWN)) {
    console.log(
      `${((100 * micros) / total).toFixed(1).padStart(6)} %  ${(micros / 1000).toFixed(0).padStart(7)} ms  ${name}`,
    )
  }
}

/**
 * Prints the processor time of each kind of work per report. On a busy machine, samples also contain time in which the
 * thread waited for a processor; they are reduced to the processor time that it had.
 */
function printKinds(sums: Sums, reports: number, mainThreadMicros: number): void {
  const sampled = sums.reduce((sum, [, micros]) => sum + micros, 0)
  const scale = Math.min(1, mainThreadMicros / sampled)
  const micros = new Map(sums)
  const line = (name: string, value: number) =>
    console.log(`${name.padEnd(62)}${(value / reports).toFixed(1).padStart(8)} µs`)
  console.log('Per report, by kind of work')
  for (const kind of KINDS) line(kind, (micros.get(kind) ?? 0) * scale)
  line('outside JavaScript: sockets, parsing HTTP, collecting garbage', mainThreadMicros - sampled * scale)
  line('main thread', mainThreadMicros)
}

await runAndCleanUp(async (stack) => {
  const options = readOptions()
  await mkdir(join(ROOT, 'dist'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, 'dist/profile-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const port = freePort()
  const tally = [process.execPath, join(ROOT, 'src/main.ts'), '--data', join(folder, 'data')]
  const profiled = [process.execPath, '--cpu-prof', `--cpu-prof-dir=${folder}`, ...tally.slice(1)]
  const startedAt = performance.now()
  const server = Bun.spawn([...profiled, 'serve', '--port', String(port), '--log-level', 'error'], {
    stdout: 'ignore',
    stderr: 'inherit',
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  })
  stack.defer(async () => {
    server.kill('SIGKILL')
    await server.exited
  })
  while (!(await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined))?.ok) await Bun.sleep(20)
  await Bun.$`${tally} users add --email bench@example.com --name Bench --role admin`.quiet()
  const { token } = await Bun.$`${tally} tokens create --kind svc --user bench@example.com --name bench --json`.json()
  const { batch, repeat, slices, connections, seconds } = options
  const load: Load = {
    ports: [port],
    path: batch === 1 ? '/api/v1/token-entries' : '/api/v1/token-entries/batch',
    token,
    batch,
    repeat,
    slices,
    days: 1,
    connections,
    seconds,
  }
  const generate = (): Promise<LoadResult> =>
    Bun.$`${process.execPath} ${join(import.meta.dir, 'load.ts')} ${JSON.stringify(load)}`.json()
  await generate()
  // A warm-up load, so that compiling and filling caches is not measured.
  const loadFrom = (performance.now() - startedAt) * 1000
  const mainThreadBefore = mainThreadMs(server.pid)
  const { entries } = await generate()
  const mainThreadMicros = (mainThreadMs(server.pid) - mainThreadBefore) * 1000
  server.kill('SIGTERM')
  await server.exited

  const written = (await readdir(folder)).find((name) => name.endsWith('.cpuprofile'))
  if (!written) throw new Error('Bun wrote no profile.')
  await rename(join(folder, written), join(ROOT, PROFILE))
  const profile: Profile = await Bun.file(join(ROOT, PROFILE)).json()
  printKinds(
    sumBy(profile, loadFrom, (calls) => kindOf(calls.map(frameOf))),
    entries,
    mainThreadMicros,
  )
  printTable(
    'By place',
    sumBy(profile, loadFrom, ([leaf]) => placeOf(leaf!)),
  )
  printTable(
    'By function',
    sumBy(profile, loadFrom, ([leaf]) => functionOf(leaf!)),
  )
  printTable(
    'By the function of ours that was at work, with what libraries and the runtime did for it',
    sumBy(profile, loadFrom, (calls) => {
      const ours = calls.find(isOurs)
      return ours ? functionOf(ours) : '(none: the runtime, the framework)'
    }),
  )
  console.log(`\nThe profile is in ${PROFILE}.`)
})
