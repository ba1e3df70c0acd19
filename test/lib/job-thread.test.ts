import { describe, expect, test } from 'bun:test'
import { JobThread } from '../../src/lib/job-thread.ts'

const PROGRAM = new URL('../support/counting-worker.ts', import.meta.url).href

/** Starting a thread takes long on a busy machine. */
const DEADLINE_MS = 60_000

function startThread({ deadlineMs = DEADLINE_MS, idleMs = 60_000 } = {}) {
  const unfinished = (reason: string) => new Error(`Unfinished: ${reason}`)
  return new JobThread<string, { part: string } | { done: number }>({
    program: PROGRAM,
    deadlineMs,
    idleMs,
    unfinished,
  })
}

describe('a job thread', () => {
  test('does one job after the other', async () => {
    const thread = startThread()
    const jobs = ['', '', ''].map((job) => thread.run(job))
    expect(thread.waiting).toBe(2)
    expect(await Promise.all(jobs)).toEqual([{ done: 1 }, { done: 2 }, { done: 3 }])
    expect(thread.waiting).toBe(0)
  })

  test('hands over the parts of an answer before it', async () => {
    const parts: string[] = []
    expect(await startThread().run('parts', [], (part) => parts.push(part))).toEqual({ done: 1 })
    expect(parts).toEqual(['a', 'b'])
  })

  test('ends when it has been idle, and starts again with the next job', async () => {
    const thread = startThread({ idleMs: 0 })
    expect(await thread.run('')).toEqual({ done: 1 })
    await Bun.sleep(50)
    expect(await thread.run('')).toEqual({ done: 1 })
  })

  test.each([
    ['exit', 'Unfinished: the thread ended'],
    ['throw', 'Unfinished: the thread failed'],
    ['hang', 'Unfinished: it took too long'],
  ])('that does not finish a job (%s) is replaced for those that wait', async (how, reason) => {
    const thread = startThread({ deadlineMs: how === 'hang' ? 5_000 : DEADLINE_MS })
    await thread.run('')
    const broken = thread.run(how).catch((error: Error) => error.message)
    const next = thread.run('')
    expect(await broken).toContain(reason)
    expect(await next).toEqual({ done: 1 })
  })
})
