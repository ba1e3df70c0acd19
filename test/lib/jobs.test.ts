import { expect, test } from 'bun:test'
import { createJobs, Job, type JobOptions, pauseAfterFailures } from '../../src/lib/jobs.ts'

const HOUR_MS = 3_600_000

/** Jobs with a clock that only moves by itself, and what they reported. */
function stage(...options: (Partial<JobOptions> & Pick<JobOptions, 'run'>)[]) {
  const clock = { at: 1_000_000, now: () => clock.at }
  const reported: string[] = []
  const jobs = options.map((each, index) => new Job({ name: `job-${index}`, task: 'do it', ...each }))
  const running = createJobs(jobs, {
    clock,
    log: (_line, message) => reported.push(message),
    failed: ({ name, task }, error) => reported.push(`${name} could not ${task}: ${(error as Error).message}`),
  })
  return { clock, reported, jobs, running, status: () => running.status()[0]! }
}

/** A turn that lasts until it is ended. */
function gate() {
  const began = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const pass = () => {
    began.resolve()
    return end.promise
  }
  return { began: began.promise, end: end.resolve, fail: end.reject, pass }
}

test('a job runs at its start, and again after each pause', async () => {
  const turns = [gate(), gate(), gate()]
  let ran = 0
  const { running } = stage({ everyMs: 1, run: () => turns[Math.min(ran++, 2)]!.pass() })
  expect(ran).toBe(0)
  running.start()
  for (const turn of turns) {
    await turn.began
    turn.end()
  }
  await running.stop()
  expect(ran).toBeGreaterThanOrEqual(3)
})

test('a job that is woken runs at once, and once more if that happens during a turn, however often', async () => {
  const turns = [gate(), gate(), gate()]
  let ran = 0
  const { jobs, running } = stage({ everyMs: HOUR_MS, run: () => turns[ran++]!.pass() })
  jobs[0]!.wake()
  running.start()
  await turns[0]!.began
  for (let count = 0; count < 5; count += 1) {
    jobs[0]!.wake()
    await Bun.sleep(1)
  }
  expect(ran).toBe(1)
  turns[0]!.end()
  await turns[1]!.began
  turns[1]!.end()
  await Bun.sleep(5)
  expect(ran).toBe(2)
  await running.stop()
  jobs[0]!.wake()
  await Bun.sleep(5)
  expect(ran).toBe(2)
})

test('a job without an interval runs only when it is woken, at the earliest of the times', async () => {
  const turn = gate()
  const { jobs, running, status } = stage({ run: turn.pass })
  running.start()
  await Bun.sleep(5)
  expect(status()).toMatchObject({ isRunning: false, succeededAt: null, isLate: false })
  jobs[0]!.wake(HOUR_MS)
  jobs[0]!.wake(1)
  jobs[0]!.wake(HOUR_MS)
  await turn.began
  expect(status().isRunning).toBe(true)
  turn.end()
  expect(await running.stop()).toEqual([])
  expect(status()).toMatchObject({ isRunning: false, succeededAt: 1_000_000 })
})

test('a failed turn is reported, and the next one comes nevertheless', async () => {
  let ran = 0
  const recovered = gate()
  const { jobs, reported, running, status } = stage({
    everyMs: HOUR_MS,
    run: async () => {
      ran += 1
      if (ran === 1) throw new Error('no luck')
      await recovered.pass()
    },
  })
  running.start()
  while (status().failures === 0) await Bun.sleep(1)
  expect(reported).toEqual(['job-0 could not do it: no luck'])
  expect(status()).toMatchObject({ failures: 1, failedInRow: 1, succeededAt: null })
  jobs[0]!.wake()
  await recovered.began
  recovered.end()
  await running.stop()
  expect(status()).toMatchObject({ failures: 1, failedInRow: 0, succeededAt: 1_000_000 })
})

test('the pause after failures doubles, up to the usual one or a minute, and an hour at most', () => {
  const pauses = (everyMs: number | undefined, ...counts: number[]) =>
    counts.map((failed) => pauseAfterFailures(failed, everyMs) / 1_000)
  expect(pauses(500, 1, 2, 3, 6, 7, 99)).toEqual([1, 2, 4, 32, 60, 60])
  expect(pauses(undefined, 1, 2, 99)).toEqual([1, 2, 60])
  expect(pauses(60_000, 1, 2)).toEqual([60, 60])
  expect(pauses(300_000, 1, 2, 3, 4, 99)).toEqual([60, 120, 240, 300, 300])
  expect(pauses(24 * HOUR_MS, 1, 2, 6, 7, 99_999)).toEqual([60, 120, 1_920, 3_600, 3_600])
})

test('a part that fails is reported and counted, but the turn has succeeded', async () => {
  const { reported, running, status } = stage({
    everyMs: HOUR_MS,
    async run({ failed, log }) {
      failed(new Error('one of them'))
      log({}, 'did the others')
    },
  })
  running.start()
  await running.stop()
  expect(reported).toEqual(['job-0 could not do it: one of them', 'did the others'])
  expect(status()).toMatchObject({ failures: 1, failedInRow: 0, succeededAt: 1_000_000 })
})

test('work in the background keeps no turn waiting, but the stop', async () => {
  const work = gate()
  const { jobs, reported, running, status } = stage({
    everyMs: HOUR_MS,
    run: async ({ background }) => background(work.pass()),
  })
  running.start()
  while (status().succeededAt === null) await Bun.sleep(1)
  jobs[0]!.wake()
  const stopped = running.stop()
  expect(await Promise.race([stopped.then(() => 'stopped'), Bun.sleep(10).then(() => 'waits')])).toBe('waits')
  work.fail(new Error('interrupted'))
  expect(await stopped).toEqual([])
  // Ended by the stop.
  expect(reported).toEqual([])
})

test('a stop tells the running turn, waits for it, and reports what it ends as no failure', async () => {
  const { reported, running } = stage({
    everyMs: HOUR_MS,
    run: ({ signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('stopped')))),
  })
  running.start()
  expect(await running.stop()).toEqual([])
  expect(reported).toEqual([])
})

test('what requests leave is saved after the last of them, and a failure of that is reported', async () => {
  let saved = 0
  const requests = gate()
  const { reported, running } = stage({
    savesRequests: true,
    async run() {
      saved += 1
      throw new Error('disk full')
    },
  })
  running.start()
  const stopped = running.stop(requests.pass())
  await Bun.sleep(5)
  expect(saved).toBe(0)
  requests.end()
  await stopped
  expect(saved).toBe(1)
  expect(reported).toEqual(['job-0 could not do it: disk full'])
})

test('a job is late if no turn succeeds in time, or one that was woken does not end', async () => {
  const endless = gate()
  const { clock, jobs, running } = stage({ everyMs: 60_000, run: endless.pass }, { run: endless.pass })
  const late = () => running.status().map(({ isLate }) => isLate)
  expect(late()).toEqual([false, false])
  running.start()
  jobs[1]!.wake()
  while (!running.status()[1]!.isRunning) await Bun.sleep(1)
  clock.at += 600_000
  expect(late()).toEqual([false, false])
  clock.at += 1
  expect(late()).toEqual([false, true])
  clock.at += 120_000
  expect(late()).toEqual([true, true])
  endless.end()
  await running.stop()
  expect(late()).toEqual([false, false])
})
