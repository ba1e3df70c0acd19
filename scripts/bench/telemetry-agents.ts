/**
 * Agents that push all of their telemetry: with every turn a session's logs, half a megabyte of metrics and a megabyte
 * of traces. Prints the results as JSON when it is stopped. It is a separate process, so that creating these bodies
 * does not affect the measurement.
 */
import { join } from 'node:path'

export interface Agents {
  url: string
  token: string
  agents: number
  /** Time between the starts of two turns of an agent. */
  everySeconds: number
}

export interface AgentsResult {
  turns: number
  megabytes: number
  /** Number of responses by status. */
  statuses: Record<string, number>
}

const FIXTURES = join(import.meta.dir, '../../test/fixtures')

const METRICS_BYTES = 600_000
const TRACES_BYTES = 1_000_000

/** Repeats a capture's groups until the body has the requested size. */
export async function repeated(path: string, list: string, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const text = await Bun.file(join(FIXTURES, path)).text()
  const groups = JSON.parse(text)[list]
  const times = Math.max(1, Math.round(bytes / text.length))
  return new TextEncoder().encode(JSON.stringify({ [list]: Array.from({ length: times }, () => groups).flat() }))
}

export const codexMetrics = () => repeated('agents/codex/otlp/000-metrics.json', 'resourceMetrics', METRICS_BYTES)
/** The traces of opencode, which are as many and as long as those of Codex. */
export const traces = () => repeated('cases/opencode/0027-traces.json', 'resourceSpans', TRACES_BYTES)

const CODEX_LOGS = 'agents/codex/otlp/001-logs.json'
const CODEX_SESSION = '01a1fa17-2a02-77f3-9833-22718874f2ef'

async function run({ url, token, agents, everySeconds }: Agents): Promise<AgentsResult> {
  const logs = await Bun.file(join(FIXTURES, CODEX_LOGS)).text()
  const bodies = { metrics: await codexMetrics(), traces: await traces() }
  const result: AgentsResult = { turns: 0, megabytes: 0, statuses: {} }
  let stopped = false
  process.on('SIGTERM', () => {
    stopped = true
  })

  const push = async (kind: string, body: string | Uint8Array<ArrayBuffer>) => {
    const { status } = await fetch(`${url}/api/v1/telemetry/v1/${kind}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body,
    })
    result.statuses[status] = (result.statuses[status] ?? 0) + 1
    result.megabytes += body.length / 1e6
  }

  const work = async (agent: number) => {
    // Staggered, because people do not start at the same moment.
    await Bun.sleep((agent / agents) * everySeconds * 1000)
    while (!stopped) {
      const startedAt = performance.now()
      await push('logs', logs.replaceAll(CODEX_SESSION, Bun.randomUUIDv7()))
      await push('metrics', bodies.metrics)
      await push('traces', bodies.traces)
      result.turns += 1
      await Bun.sleep(Math.max(0, everySeconds * 1000 - (performance.now() - startedAt)))
    }
  }

  await Promise.all(Array.from({ length: agents }, (_, agent) => work(agent)))
  return result
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(process.argv[2]!))))
