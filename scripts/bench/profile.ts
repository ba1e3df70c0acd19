/**
 * Shows where the server spends its time under a load of reports: runs it from source under Bun's CPU profiler and
 * prints the functions with the most self time. The profile is kept in dist/ for a viewer such as Chromium's developer
 * tools.
 *
 *   scripts/bench/profile [--seconds 5] [--connections 64] [--batch 1]
 */
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePort } from '../../test/support/binary.ts'
import type { Load } from './load.ts'

const ROOT = join(import.meta.dir, '../..')
const SHOWN = 30
const PROFILE = 'dist/report.cpuprofile'

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
    batch: { type: 'string', default: '1' },
  },
})

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
    const micros = timeDeltas[position]!
    at += micros
    if (at < from) return
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

await mkdir(join(ROOT, 'dist'), { recursive: true })
const folder = await mkdtemp(join(ROOT, 'dist/profile-'))
let server: Bun.Subprocess | undefined
try {
  const port = freePort()
  const tally = [process.execPath, join(ROOT, 'src/main.ts'), '--data', join(folder, 'data')]
  const profiled = [process.execPath, '--cpu-prof', `--cpu-prof-dir=${folder}`, ...tally.slice(1)]
  const begun = performance.now()
  server = Bun.spawn([...profiled, 'serve', '--port', String(port), '--log-level', 'error'], {
    stdout: 'ignore',
    stderr: 'inherit',
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  })
  while (!(await fetch(`http://127.0.0.1:${port}/ready`).catch(() => undefined))?.ok) await Bun.sleep(20)
  await Bun.$`${tally} users add --email bench@example.com --name Bench --role admin`.quiet()
  const { token } = await Bun.$`${tally} tokens create --kind svc --user bench@example.com --name bench --json`.json()
  const batch = Number(options.batch)
  const load: Load = {
    ports: [port],
    path: batch === 1 ? '/api/v1/token-entries' : '/api/v1/token-entries/batch',
    token,
    batch,
    days: 1,
    connections: Number(options.connections),
    seconds: Number(options.seconds),
  }
  const generate = () => Bun.$`${process.execPath} ${join(import.meta.dir, 'load.ts')} ${JSON.stringify(load)}`.quiet()
  await generate()
  // A warm-up load, so that compiling and filling caches is not measured.
  const loadFrom = (performance.now() - begun) * 1000
  await generate()
  server.kill('SIGTERM')
  await server.exited

  const written = (await readdir(folder)).find((name) => name.endsWith('.cpuprofile'))
  if (!written) throw new Error('Bun wrote no profile.')
  await rename(join(folder, written), join(ROOT, PROFILE))
  const profile: Profile = await Bun.file(join(ROOT, PROFILE)).json()
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
    sumBy(profile, loadFrom, (stack) => {
      const ours = stack.find(isOurs)
      return ours ? functionOf(ours) : '(none: the runtime, the framework)'
    }),
  )
  console.log(`\nThe profile is in ${PROFILE}.`)
} finally {
  server?.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
}
