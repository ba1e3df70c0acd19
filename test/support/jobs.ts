import { systemClock } from '../../src/lib/clock.ts'
import { createJobs, type Job } from '../../src/lib/jobs.ts'

/** Runs jobs of a service as a server does, until they are stopped. */
export function runJobs(jobs: readonly Job[]) {
  const errors: unknown[] = []
  const logged: string[] = []
  const running = createJobs(jobs, {
    clock: systemClock,
    log: (_line, message) => logged.push(message),
    failed: (_job, error) => errors.push(error),
  })
  running.start()
  return { errors, logged, stop: running.stop, status: running.status }
}
