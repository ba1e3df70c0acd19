/**
 * A steady mixed load for half an hour: single reports, batches, sessions, telemetry, lists, sums, exports, sign-ins.
 * Reports the server's peak memory, its memory when idle again, how fast memory grows after the warm-up, and the largest
 * write-ahead log.
 */
import { statSync } from 'node:fs'
import { residentMegabytes } from '../bench/process-metrics.ts'
import { Reporters, type Scenario, Victim } from './scenario.ts'

/** Warm-up time, while caches fill and code is compiled; not part of the growth. */
const WARM_UP_SHARE = 1 / 3

const SAMPLE_MS = 2_000

const IDLE_MS = { short: 3_000, long: 60_000 }

/** Time between two calls of each kind: about fifty calls per second besides the reports, one of them an export. */
const PAUSE_MS = 100
const EXPORT_PAUSE_MS = 1_000

/** Keeps the load the same on any machine. */
const REPORTERS = 4

const PASSWORD = 'correct horse battery'

/** Entries on a separate day, so that an export has the same size at the end as at the start. */
const EXPORTED = { day: '2026-10-01', batches: 20, batch: 100 }

interface Caller {
  url: string
  service: string
  organization: string
  cookie: string
}

const ENTRY = {
  agent_harness: 'chaos',
  agent_name: 'soak',
  model: 'claude-sonnet-4-5',
  started_at: '2026-11-20T10:00:00Z',
  ended_at: '2026-11-20T10:30:00Z',
}

const json = (token: string) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' })

/** A kind of call, with the number of the call. */
type Call = (caller: Caller, number: number) => Promise<Response>

const exportDay: Call = ({ url, cookie }) =>
  fetch(`${url}/api/v1/token-entries?format=csv&starting_at=${EXPORTED.day}&ending_at=2026-10-02`, {
    headers: { cookie, accept: 'text/csv' },
  })

const CALLS: Call[] = [
  ({ url, service }, number) =>
    fetch(`${url}/api/v1/token-entries/batch`, {
      method: 'POST',
      headers: json(service),
      body: JSON.stringify(
        Array.from({ length: 20 }, (_, at) => ({ ...ENTRY, tokens: { input: number + at, output: 1 } })),
      ),
    }),
  ({ url, service }, number) =>
    fetch(`${url}/api/v1/token-entries`, {
      method: 'POST',
      headers: json(service),
      // Ten reports of each session, each with more than the last.
      body: JSON.stringify({
        ...ENTRY,
        session_id: `session-${Math.floor(number / 10)}`,
        tokens: { input: 100 + number, output: 10 + number },
      }),
    }),
  ({ url, organization }, number) =>
    fetch(`${url}/api/v1/telemetry/v1/metrics`, {
      method: 'POST',
      headers: json(organization),
      body: JSON.stringify(metrics(number)),
    }),
  ({ url, cookie }) => fetch(`${url}/api/v1/token-entries?limit=100`, { headers: { cookie } }),
  ({ url, cookie }) =>
    fetch(`${url}/api/v1/reports/usage?group_by=model&starting_at=2026-11-01&ending_at=2026-12-01&bucket_width=all`, {
      headers: { cookie },
    }),
  exportDay,
  ({ url }, number) => (number % 20 === 0 ? signIn(url) : fetch(`${url}/ready`)),
]

async function reportExported({ url, service }: Pick<Caller, 'url' | 'service'>): Promise<void> {
  const [started_at, ended_at] = [`${EXPORTED.day}T10:00:00Z`, `${EXPORTED.day}T10:30:00Z`]
  const entry = { ...ENTRY, started_at, ended_at, tokens: { input: 1, output: 1 } }
  const body = JSON.stringify(Array.from({ length: EXPORTED.batch }, () => entry))
  for (let batch = 0; batch < EXPORTED.batches; batch += 1) {
    const response = await fetch(`${url}/api/v1/token-entries/batch`, { method: 'POST', headers: json(service), body })
    if (!response.ok) throw new Error(`The entries to export could not be reported: ${response.status}`)
  }
}

function metrics(number: number) {
  const attributes = [
    { key: 'session.id', value: { stringValue: `telemetry-${Math.floor(number / 10)}` } },
    { key: 'model', value: { stringValue: 'claude-sonnet-4-5' } },
    { key: 'type', value: { stringValue: 'input' } },
  ]
  const point = {
    attributes,
    startTimeUnixNano: '1795168800000000000',
    timeUnixNano: `${1795168800 + number}000000000`,
  }
  const sum = { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...point, asInt: String(100 + number) }] }
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'claude-code' } }] }
  const scopeMetrics = [{ scope: {}, metrics: [{ name: 'claude_code.token.usage', sum }] }]
  return { resourceMetrics: [{ resource, scopeMetrics }] }
}

const signIn = (url: string) =>
  fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', password: PASSWORD }),
  })

/** Duration: the minutes in the environment variable, else half an hour. */
const durationMs = (size: 'short' | 'long') =>
  Number(Bun.env.TALLY_SOAK_MINUTES ?? (size === 'short' ? 0.2 : 30)) * 60_000

export const soak: Scenario = {
  name: 'a steady mixed load',
  missingRequirement: () => (process.platform === 'linux' ? undefined : 'memory is read from /proc'),
  async run(size) {
    const victim = await Victim.make(size)
    try {
      const { installation, token } = victim
      await installation.run(['users', 'set-password', 'ada@example.com', '--password-stdin'], `${PASSWORD}\n`)
      const { token: organization } = await installation.createToken('org', 'ada@example.com')
      await victim.start()
      const { url } = victim.server
      await reportExported({ url, service: token })
      const cookie = (await signIn(url)).headers.get('set-cookie')!.split(';')[0]!
      const statuses = new Map<string, number>()
      let isCalling = true
      const repeat = async (call: Call, kind: number) => {
        for (let number = 0; isCalling; number += 1) {
          const response = await call({ url, service: token, organization, cookie }, number)
          await response.arrayBuffer()
          const key = `${kind}: ${response.status}`
          statuses.set(key, (statuses.get(key) ?? 0) + 1)
          await Bun.sleep(call === exportDay ? EXPORT_PAUSE_MS : PAUSE_MS)
        }
      }
      const reporters = new Reporters(victim, 'soak', REPORTERS)
      const calling = CALLS.map(repeat)
      const samples = await sample(victim, durationMs(size))
      isCalling = false
      await Promise.all([reporters.stop(), ...calling])
      await Bun.sleep(IDLE_MS[size])
      const idle = residentMegabytes(victim.server.process.pid)
      const verdict = await victim.verdict(reporters)
      // A report may take too long if the machine is busy with other work.
      const refused = [...statuses].filter(([key]) => key.endsWith(': 503')).reduce((sum, [, times]) => sum + times, 0)
      const failed = [...statuses.keys()].filter((key) => !/: (2\d\d|503)$/.test(key))
      if (failed.length > 0) throw new Error(`Unexpected responses: ${JSON.stringify(Object.fromEntries(statuses))}`)
      const peak = Math.max(...samples.map(({ megabytes }) => megabytes))
      const log = Math.max(...samples.map(({ logMegabytes }) => logMegabytes))
      return {
        rounds: [...statuses.values()].reduce((sum, times) => sum + times, 0),
        ...verdict,
        duplicated: 0,
        readyMs: [],
        remark: `${slopeOf(samples).toFixed(0)} MB/hour after the warm-up, peak ${peak.toFixed(0)} MB, idle ${idle.toFixed(0)} MB, log ${log.toFixed(0)} MB, ${refused} refused`,
      }
    } finally {
      await victim.remove()
    }
  },
}

interface Sample {
  hours: number
  megabytes: number
  logMegabytes: number
}

async function sample({ server, databaseFile }: Victim, forMs: number): Promise<Sample[]> {
  const samples: Sample[] = []
  const startedAt = performance.now()
  while (performance.now() - startedAt < forMs) {
    await Bun.sleep(SAMPLE_MS)
    samples.push({
      hours: (performance.now() - startedAt) / 3_600_000,
      megabytes: residentMegabytes(server.process.pid),
      logMegabytes: statSync(`${databaseFile}-wal`).size / 1e6,
    })
  }
  return samples
}

/** Megabytes per hour, by least squares over the samples after the warm-up. */
function slopeOf(samples: readonly Sample[]): number {
  const warm = samples.slice(Math.floor(samples.length * WARM_UP_SHARE))
  const mean = (of: (sample: Sample) => number) => warm.reduce((sum, one) => sum + of(one), 0) / warm.length
  const [hours, megabytes] = [mean((one) => one.hours), mean((one) => one.megabytes)]
  const covariance = mean((one) => (one.hours - hours) * (one.megabytes - megabytes))
  return covariance / mean((one) => (one.hours - hours) ** 2)
}
