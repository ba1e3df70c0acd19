/**
 * Measures how telemetry affects reporting: the main thread's time for a megabyte of telemetry, and how much slower
 * reports become while agents push all of theirs. Runs the executable in a temporary folder, as in report.ts.
 *
 *   scripts/bench/telemetry                  ten agents, each with a turn every five seconds
 *   scripts/bench/telemetry --agents 30 --every 2
 *   scripts/bench/telemetry --seconds 20     longer rounds
 *   scripts/bench/telemetry --json           prints JSON
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Installation, type Server } from '../../test/support/binary.ts'
import type { Load, LoadResult } from './load.ts'
import { mainThreadMs, peakMegabytes, processorSeconds, residentMegabytes } from './process-metrics.ts'
import { type Agents, type AgentsResult, codexMetrics, traces } from './telemetry-agents.ts'

/** On the checkout's disk, as in report.ts. */
const PARENT = join(import.meta.dir, '../../dist')

/** Warm-up time, during which Bun compiles the hot paths. */
const WARM_UP_SECONDS = 3

/** Megabytes sent one after the other, to measure the cost of one. */
const MEGABYTES = 200

/** Alternating, so that other load on the machine affects both. */
const ROUNDS = 5

/**
 * Connections that report: those of a busy team, whose response times show the effect of other work. A saturated server
 * would only show how processors are shared.
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
if (!(seconds > 0 && agents > 0 && everySeconds > 0))
  throw new Error('--agents, --every and --seconds must be positive numbers.')

async function costOf(server: Server, token: string, kind: string, body: Uint8Array<ArrayBuffer>) {
  const { pid } = server.process
  const push = async () => {
    const answer = await fetch(`${server.url}/api/v1/telemetry/v1/${kind}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    })
    if (!answer.ok) throw new Error(`Telemetry was refused: ${answer.status} ${await answer.text()}`)
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
      ports: [Number(new URL(server.url).port)],
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
    const withTelemetry: LoadResult[] = []
    const pushed: AgentsResult[] = []
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await reporting())
      const agentsUntil = reporting()
      const pushing: Agents = { url: server.url, token: push, agents, everySeconds }
      pushed.push(await spawned<AgentsResult>('telemetry-agents.ts', pushing, agentsUntil))
      withTelemetry.push(await agentsUntil)
    }
    for (const { statuses } of [...alone, ...withTelemetry, ...pushed]) {
      const wrong = Object.keys(statuses).filter((status) => !['200', '201'].includes(status))
      if (wrong.length > 0) throw new Error(`Unexpected responses: ${JSON.stringify(statuses)}`)
    }
    const results = {
      costs,
      reportsPerSecond: median(alone.map(({ entriesPerSecond }) => entriesPerSecond)),
      pushedMegabytesPerSecond: median(pushed.map(({ megabytes }) => megabytes / seconds)),
      turns: pushed.reduce((sum, { turns }) => sum + turns, 0),
      p50Ms: {
        alone: median(alone.map(({ p50Ms }) => p50Ms)),
        withTelemetry: median(withTelemetry.map(({ p50Ms }) => p50Ms)),
      },
      p99Ms: {
        alone: median(alone.map(({ p99Ms }) => p99Ms)),
        withTelemetry: median(withTelemetry.map(({ p99Ms }) => p99Ms)),
      },
      idleMegabytes,
      loadedMegabytes: residentMegabytes(pid),
      peakMegabytes: peakMegabytes(pid),
    }
    await server.stop()
    return results
  } finally {
    await tally.remove()
  }
}

type Results = Awaited<ReturnType<typeof run>>

function printTable({ costs, p50Ms, p99Ms, ...results }: Results): void {
  const line = (what: string, value: string, note = '') =>
    console.log(`${what.padEnd(58)}${value.padStart(12)}  ${note}`)
  const ms = (value: number) => `${value.toFixed(1)} ms`
  const megabytes = (value: number) => `${Math.round(value)} MB`
  line('main thread, per megabyte of metrics', ms(costs.metrics.mainMsPerMegabyte), 'target: below 15')
  line('main thread, per megabyte of traces', ms(costs.traces.mainMsPerMegabyte), 'target: below 15')
  line('all threads, per megabyte of metrics', ms(costs.metrics.allMsPerMegabyte))
  line('all threads, per megabyte of traces', ms(costs.traces.allMsPerMegabyte))
  line('reports per second', results.reportsPerSecond.toFixed(0))
  line(`pushed by ${agents} agents`, `${results.pushedMegabytesPerSecond.toFixed(1)} MB/s`, `${results.turns} turns`)
  line('reporting, median: alone', ms(p50Ms.alone))
  line('reporting, median: while agents push', ms(p50Ms.withTelemetry))
  line('reporting, p99: alone', ms(p99Ms.alone))
  line('reporting, p99: while agents push', ms(p99Ms.withTelemetry))
  line('increase of the p99', ms(p99Ms.withTelemetry - p99Ms.alone), 'target: at most 5')
  line('resident memory, idle', megabytes(results.idleMegabytes), 'target: at most 100')
  line('resident memory, after the load', megabytes(results.loadedMegabytes), 'target: at most 250')
  line('resident memory, peak', megabytes(results.peakMegabytes))
}

const results = await run()
if (options.json) console.log(JSON.stringify(results, null, 2))
else printTable(results)
