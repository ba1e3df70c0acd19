/**
 * Measures what telemetry costs those who report: the main thread's time for a megabyte of it, and how reporting's
 * answers slow down while agents push all that they have. The executable in a temporary folder, as in report.ts.
 *
 *   scripts/bench/telemetry                  ten agents, each with a turn every five seconds
 *   scripts/bench/telemetry --agents 30 --every 2
 *   scripts/bench/telemetry --seconds 20     longer rounds
 *   scripts/bench/telemetry --json           the figures as JSON
 */
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Installation, type Server } from '../../test/support/binary.ts'
import type { Load, LoadResult } from './load.ts'
import { peakMegabytes, processorSeconds, residentMegabytes } from './process-figures.ts'
import { type Agents, type AgentsResult, codexMetrics, traces } from './telemetry-agents.ts'

/** On the disk of the checkout, as in report.ts. */
const PARENT = join(import.meta.dir, '../../dist')

/** How long Bun compiles the hot paths before a measurement means something. */
const WARM_UP_SECONDS = 3

/** Megabytes that are sent one after the other to see what one costs. */
const MEGABYTES = 200

/** In turns, so that what else the machine does falls on both alike. */
const ROUNDS = 5

/**
 * Of those who report: a busy team's, whose answers show what else goes on. As many as a server can take would show
 * how processors are shared.
 */
const CONNECTIONS = 8
const PAUSE_MS = 20

const { values: options } = parseArgs({
  options: {
    agents: { type: 'string', default: '10' },
    every: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    json: { type: 'boolean', default: false },
  },
})
const seconds = Number(options.seconds)
const agents = Number(options.agents)
const everySeconds = Number(options.every)
if (!(seconds > 0 && agents > 0 && everySeconds > 0)) throw new Error('--agents, --every and --seconds take numbers.')

/** Milliseconds for which the main thread was on a processor; its id is that of the process. */
function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6
}

async function costOf(server: Server, token: string, kind: string, body: Uint8Array<ArrayBuffer>) {
  const { pid } = server.process
  const push = async () => {
    const answer = await fetch(`${server.url}/api/v1/telemetry/v1/${kind}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    })
    if (!answer.ok) throw new Error(`Not taken: ${answer.status} ${await answer.text()}`)
    await answer.text()
  }
  for (let warm = 0; warm < 20; warm++) await push()
  const [mainBefore, allBefore] = [mainThreadMs(pid), processorSeconds(pid)]
  let bytes = 0
  for (; bytes < MEGABYTES * 1e6; bytes += body.length) await push()
  return {
    mainMsPerMegabyte: (mainThreadMs(pid) - mainBefore) / (bytes / 1e6),
    allMsPerMegabyte: ((processorSeconds(pid) - allBefore) * 1000) / (bytes / 1e6),
  }
}

async function spawned<Result>(program: string, argument: object, signal?: Promise<unknown>): Promise<Result> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, program), JSON.stringify(argument)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  await signal?.then(() => child.kill('SIGTERM'))
  const [output, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
  if (code !== 0) throw new Error(`${program} failed.`)
  return JSON.parse(output)
}

const median = (values: number[]) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!

async function run() {
  await mkdir(PARENT, { recursive: true })
  const tally = await Installation.make({ parent: PARENT })
  try {
    const server = await tally.serve(['--log-level', 'error'])
    const { pid } = server.process
    await tally.addUser('boss@example.com', 'admin')
    const [{ token: push }, { token: report }] = [
      await tally.createToken('org', 'boss@example.com'),
      await tally.createToken('svc', 'boss@example.com'),
    ]
    const idleMegabytes = residentMegabytes(pid)
    const costs = {
      metrics: await costOf(server, push, 'metrics', await codexMetrics()),
      traces: await costOf(server, push, 'traces', await traces()),
    }
    const load: Load = {
      port: Number(new URL(server.url).port),
      path: '/api/v1/token-entries',
      token: report,
      batch: 1,
      days: 1,
      connections: CONNECTIONS,
      pauseMs: PAUSE_MS,
      seconds,
    }
    const reporting = (more: Partial<Load> = {}) => spawned<LoadResult>('load.ts', { ...load, ...more })
    await reporting({ seconds: WARM_UP_SECONDS })
    const alone: LoadResult[] = []
    const beside: LoadResult[] = []
    const pushed: AgentsResult[] = []
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await reporting())
      const agentsUntil = reporting()
      const pushing: Agents = { url: server.url, token: push, agents, everySeconds }
      pushed.push(await spawned<AgentsResult>('telemetry-agents.ts', pushing, agentsUntil))
      beside.push(await agentsUntil)
    }
    for (const { statuses } of [...alone, ...beside, ...pushed]) {
      const wrong = Object.keys(statuses).filter((status) => !['200', '201'].includes(status))
      if (wrong.length > 0) throw new Error(`Not all was well answered: ${JSON.stringify(statuses)}`)
    }
    const figures = {
      costs,
      reportsPerSecond: median(alone.map(({ entriesPerSecond }) => entriesPerSecond)),
      pushedMegabytesPerSecond: median(pushed.map(({ megabytes }) => megabytes / seconds)),
      turns: pushed.reduce((sum, { turns }) => sum + turns, 0),
      p50Ms: { alone: median(alone.map(({ p50Ms }) => p50Ms)), beside: median(beside.map(({ p50Ms }) => p50Ms)) },
      p99Ms: { alone: median(alone.map(({ p99Ms }) => p99Ms)), beside: median(beside.map(({ p99Ms }) => p99Ms)) },
      idleMegabytes,
      loadedMegabytes: residentMegabytes(pid),
      peakMegabytes: peakMegabytes(pid),
    }
    await server.stop()
    return figures
  } finally {
    await tally.remove()
  }
}

type Figures = Awaited<ReturnType<typeof run>>

function printTable({ costs, p50Ms, p99Ms, ...figures }: Figures): void {
  const line = (what: string, figure: string, note = '') =>
    console.log(`${what.padEnd(58)}${figure.padStart(12)}  ${note}`)
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const megabytes = (value: number) => `${Math.round(value)} MB`
  line('main thread, a megabyte of metrics', ms(costs.metrics.mainMsPerMegabyte), 'promised: below 15')
  line('main thread, a megabyte of traces', ms(costs.traces.mainMsPerMegabyte), 'promised: below 15')
  line('all threads, a megabyte of metrics', ms(costs.metrics.allMsPerMegabyte))
  line('all threads, a megabyte of traces', ms(costs.traces.allMsPerMegabyte))
  line('reports a second', figures.reportsPerSecond.toFixed(0))
  line(`pushed by ${agents} agents`, `${figures.pushedMegabytesPerSecond.toFixed(1)} MB/s`, `${figures.turns} turns`)
  line('reporting, median answer: alone', ms(p50Ms.alone))
  line('reporting, median answer: while agents push', ms(p50Ms.beside))
  line('reporting, p99: alone', ms(p99Ms.alone))
  line('reporting, p99: while agents push', ms(p99Ms.beside))
  line('p99 moves by', ms(p99Ms.beside - p99Ms.alone), 'promised: up to 5')
  line('resident memory, idle', megabytes(figures.idleMegabytes), 'promised: up to 100')
  line('resident memory, after the load', megabytes(figures.loadedMegabytes), 'promised: up to 250')
  line('resident memory, at most', megabytes(figures.peakMegabytes))
}

const figures = await run()
if (options.json) console.log(JSON.stringify(figures, null, 2))
else printTable(figures)
