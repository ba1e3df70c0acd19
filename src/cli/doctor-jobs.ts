/** The check of `tally doctor` of what the running server does by itself: only that process knows. */
import type { Config } from '../config.ts'
import { textOf } from '../lib/response-text.ts'
import { serverUrl } from './address.ts'
import { type Finding, ok, warning } from './doctor-checks.ts'
import { counted } from './terminal/numbers.ts'

const TIMEOUT_MS = 5_000

/** Metrics of all routes of Tally are a tenth of this. */
const RESPONSE_BYTES = 4_194_304

/** A failed run is retried within a minute, so a disturbance is over before this many. */
const FAILED_RUNS = 3

/** Nothing if no Tally answers, or not to this machine: whether the server runs is another check. */
export async function checkJobs(config: Config): Promise<Finding[]> {
  const metrics = await metricsOf(await serverUrl(config)).catch(() => '')
  if (metrics === undefined) {
    return [warning('jobs', 'the server cannot say how its jobs do', 'Look for /metrics in the server’s log.')]
  }
  const named = (metric: string, least: number) =>
    [...metrics.matchAll(new RegExp(`^${metric}\\{name="([^"]+)"\\} (\\S+)$`, 'gm'))]
      .filter(([, , value]) => Number(value) >= least)
      .map(([, name]) => name!)
  const jobs = named('tally_job_running', 0)
  if (jobs.length === 0) return []
  const failing = named('tally_job_consecutive_failures', FAILED_RUNS)
  const late = named('tally_job_late', 1).filter((name) => !failing.includes(name))
  if (failing.length + late.length === 0) return [ok('jobs', `all ${counted(jobs.length, 'job')} of the server work`)]
  return [
    ...failing.map((name) =>
      warning('jobs', `${name} fails again and again`, `Look for "job":"${name}" in the server’s log.`),
    ),
    ...late.map((name) =>
      warning('jobs', `${name} is late or does not finish`, 'If it is still late in an hour, restart the server.'),
    ),
  ]
}

/** Undefined if the server fails to say. */
async function metricsOf(url: string): Promise<string | undefined> {
  const response = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (response.status >= 500) return undefined
  return response.ok ? textOf(response, RESPONSE_BYTES) : ''
}
