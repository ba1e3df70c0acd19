import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitingFor } from '../../src/agents/delivery.ts'
import { log, logPath, noteError } from '../../src/agents/journal.ts'
import { beat, isHeld, releaseLock, senderLockPath, takeLock } from '../../src/agents/sender-lock.ts'
import { addJob, type Job, readJobs, spoolFolder } from '../../src/agents/spool.ts'
import { stateFolder } from '../../src/agents/state-folder.ts'
import { type AgentsEnvironment, readAgentsEnvironment } from '../../src/config.ts'

let home: string
let environment: AgentsEnvironment
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'tally-state-'))
  environment = readAgentsEnvironment({ HOME: home })
})
afterAll(() => rm(home, { recursive: true }))

describe('the lock of a sender', () => {
  test('is taken by one, and by another when the one has let it go', () => {
    const path = senderLockPath(environment, null)
    expect(isHeld(path)).toBe(false)
    expect([takeLock(path), isHeld(path), takeLock(path)]).toEqual([true, true, false])
    releaseLock(path)
    expect([isHeld(path), takeLock(path)]).toEqual([false, true])
    releaseLock(path)
  })

  test('is free if its holder is dead, has been silent for long, or is not a process', async () => {
    const path = senderLockPath(environment, 'http://tally.lan:4747')
    const child = Bun.spawn(['true'])
    await child.exited
    for (const content of [String(child.pid), '', 'junk', '-1', '0', '1e99']) {
      await writeFile(path, content)
      expect([content, isHeld(path)]).toEqual([content, false])
    }
    await writeFile(path, String(process.pid))
    expect(isHeld(path)).toBe(true)
    const hourAgo = new Date(Date.now() - 3_600_000)
    await utimes(path, hourAgo, hourAgo)
    expect(isHeld(path)).toBe(false)
    beat(path)
    expect(isHeld(path)).toBe(true)
    const inAnHour = new Date(Date.now() + 3_600_000)
    await utimes(path, inAnHour, inAnHour)
    expect(isHeld(path)).toBe(false)
    // Somebody else took it over: it is theirs.
    await writeFile(path, '1')
    releaseLock(path)
    expect(await readFile(path, 'utf8')).toBe('1')
  })
})

test('the log keeps the last lines, one each, in two files of bounded size', async () => {
  for (let number = 0; number < 9_000; number += 1) log(environment, `line ${number}\nof a message ${'x'.repeat(60)}`)
  const names = (await readdir(stateFolder(environment))).filter((name) => name.startsWith('agents.log'))
  expect(names.sort()).toEqual(['agents.log', 'agents.log.1'])
  for (const name of names) expect((await stat(join(stateFolder(environment), name))).size).toBeLessThan(300_000)
  const lines = (await readFile(logPath(environment), 'utf8')).trimEnd().split('\n')
  expect(lines.at(-1)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z line 8999 of a message x{60}$/)
})

test('failing to note the latest event affects no caller', async () => {
  const elsewhere = { ...environment, stateHome: join(home, 'blocked') }
  await mkdir(stateFolder(elsewhere), { recursive: true })
  await writeFile(join(stateFolder(elsewhere), 'last'), 'a file where a folder should be')
  noteError(elsewhere, { at: '2026-11-20T10:00:00Z', message: 'connection refused' })
  noteError(elsewhere, null)
})

describe('what waits', () => {
  const job = (sessionId: string, more: Partial<Job> = {}): Job => ({
    agent: 'codex',
    sessionId,
    transcriptPath: null,
    event: 'Stop',
    at: new Date().toISOString(),
    server: null,
    environment,
    ...more,
  })
  const destination = (url: string) => ({ environment, server: { url }, usualServer: 'http://usual.lan' })

  test('is separate by session and by server, independent of the clock', () => {
    addJob(environment, job('one', { at: '2020-01-01T00:00:00Z' }))
    addJob(environment, job('one'))
    addJob(environment, job('two', { at: '2099-01-01T00:00:00Z' }))
    addJob(environment, job('three', { at: 'no time' }))
    addJob(environment, job('four', { server: 'http://other.lan' }))
    const waiting = waitingFor(destination('http://usual.lan')).map(
      ({ sessionId, jobs }) => [sessionId, ...jobs.map(({ settlesInMs }) => settlesInMs > 0)] as const,
    )
    expect(waiting).toEqual([
      ['one', false, true],
      ['two', false],
      ['three', false],
    ])
    expect(waitingFor(destination('http://other.lan')).map(({ sessionId }) => sessionId)).toEqual(['four'])
    expect(waitingFor(destination('http://third.lan'))).toEqual([])
  })

  test('ignores files that are not notes of Tally', async () => {
    const folder = spoolFolder(environment)
    const wrong = ['{', 'null', '[]', '{"agent":"nobody"}', '{"agent":"codex","sessionId":1,"environment":{}}']
    await Promise.all(wrong.map((text, index) => writeFile(join(folder, `wrong-${index}.json`), text)))
    await writeFile(join(folder, 'unfinished.json.1-a~'), '{')
    const { waiting, damaged } = readJobs(environment)
    expect([waiting.length, damaged.length]).toEqual([5, wrong.length])
  })
})
