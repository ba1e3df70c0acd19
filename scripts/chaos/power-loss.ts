/**
 * Power loss or a disk error: everything that was not synced is lost. `strace` records every write and sync of the log
 * and the database file. Afterwards, each range written after the start of the last successful sync is filled with
 * noise, which is the worst that a disk may do to it.
 */
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT_FATAL, type Outcome, Reporters, type Scenario, type Size, straceMissing, Victim } from './scenario.ts'

const ROUNDS = { short: 1, long: 50 }

const CALLS = 'trace=pwrite64,fdatasync,fsync,ftruncate'

/** `-D` keeps the server as our child process, so that a kill hits the server and not strace. */
export const TRACER = ['strace', '-D', '-f', '-y', '-s', '0', '-o', 'trace', '-e', CALLS]

export const powerLoss: Scenario = {
  name: 'power loss (unsynced data becomes noise)',
  missingRequirement: straceMissing,
  async run(size) {
    const victim = await Victim.make(size, { before: TRACER })
    let spoiled = 0
    try {
      await victim.start()
      const reporters = new Reporters(victim, 'power')
      for (let round = 0; round < ROUNDS[size]; round += 1) {
        await reporters.untilMore(20 + Math.random() * 60)
        await victim.server.crash()
        const trace = join(victim.installation.folder, 'trace')
        // The database first: it does not depend on whether half of the log is missing too.
        spoiled += spoilUnsynced(trace, victim.databaseFile)
        spoiled += spoilUnsynced(trace, `${victim.databaseFile}-wal`, { mayCut: true })
        await victim.start()
      }
      const verdict = await victim.verdict(reporters)
      return {
        rounds: ROUNDS[size],
        ...verdict,
        readyMs: victim.readyMs.slice(1),
        remark: `${spoiled} unsynced writes corrupted`,
      }
    } finally {
      await victim.remove()
    }
  },
}

/** The checkpoint's call that fails, and which one. */
interface FailingCall {
  call: 'fsync,fdatasync' | 'pwrite64'
  /** The number of the call on the database file since the start, from 1. */
  from: number
  spread: number
}

export const failedCheckpointSync: Scenario = {
  name: 'syncing the database file fails and its writes are lost',
  missingRequirement: straceMissing,
  run: (size) => failCheckpoints(size, { call: 'fsync,fdatasync', from: 1, spread: 4 }),
}

export const failedCheckpointWrite: Scenario = {
  name: 'writing the database file fails and its writes are lost',
  missingRequirement: straceMissing,
  run: (size) => failCheckpoints(size, { call: 'pwrite64', from: 1, spread: 200 }),
}

/** Agents report in bursts, so that checkpoints catch up and sync in between. */
const BURST = 60
const BURST_PAUSE_MS = 400

async function failCheckpoints(size: Size, { call, from, spread }: FailingCall): Promise<Outcome> {
  const before: string[] = []
  const victim = await Victim.make(size, { before })
  let spoiled = 0
  try {
    await victim.start()
    const reporters = new Reporters(victim, call)
    for (let round = 0; round < ROUNDS[size]; round += 1) {
      const when = from + Math.floor(Math.random() * spread)
      await victim.server.crash()
      before.splice(
        0,
        before.length,
        ...TRACER,
        '-P',
        victim.databaseFile,
        '-e',
        `inject=${call}:error=EIO:when=${when}`,
      )
      // The first checkpoint may fail before anybody has asked whether it is ready.
      victim.server = victim.installation.launch()
      const deadline = performance.now() + 30_000
      while (victim.server.process.exitCode === null && performance.now() < deadline) {
        reporters.isPaused = false
        await reporters.untilMore(BURST, 2_000)
        reporters.isPaused = true
        await Bun.sleep(BURST_PAUSE_MS)
      }
      reporters.isPaused = false
      const code = victim.server.process.exitCode
      if (code !== EXIT_FATAL)
        throw new Error(`The server exited with ${code} when a ${call} failed, instead of ${EXIT_FATAL}`)
      spoiled += spoilUnsynced(join(victim.installation.folder, 'trace'), victim.databaseFile)
      before.length = 0
      await victim.start()
    }
    await reporters.untilMore(BURST)
    const verdict = await victim.verdict(reporters)
    return {
      rounds: ROUNDS[size],
      ...verdict,
      readyMs: victim.readyMs.slice(1),
      remark: `exited with ${EXIT_FATAL} each time; ${spoiled} unsynced writes corrupted`,
    }
  } finally {
    await victim.remove()
  }
}

interface Write {
  offset: number
  length: number
}

const CALL = /^(\d+) +(pwrite64|fdatasync|fsync|ftruncate)\(\d+<([^>]*)>(.*)$/
const RESUMED = /^(\d+) +<\.\.\. (pwrite64|fdatasync|fsync|ftruncate) resumed>.*= (-?\d+)/

/** Returns the writes to a file after the start of the last successful sync. */
export function unsyncedWrites(trace: string, path: string): Write[] {
  let pending: Write[] = []
  /** By thread: the number of pending writes when its sync started. */
  const syncing = new Map<string, number>()
  const synced = (thread: string, result: string) => {
    const covered = syncing.get(thread)
    syncing.delete(thread)
    if (covered === undefined || result !== '0') return
    pending = pending.slice(covered)
    // Syncs of other threads that are in progress started with that many fewer.
    for (const [other, count] of syncing) syncing.set(other, Math.max(0, count - covered))
  }
  for (const line of trace.split('\n')) {
    const resumed = RESUMED.exec(line)
    if (resumed) {
      if (resumed[2] === 'fdatasync' || resumed[2] === 'fsync') synced(resumed[1]!, resumed[3]!)
      continue
    }
    const [, thread, call, file, rest] = CALL.exec(line) ?? []
    if (file !== path) continue
    if (call === 'pwrite64') {
      const [, length, offset] = /, (\d+), (\d+)/.exec(rest!) ?? []
      if (length) pending.push({ length: Number(length), offset: Number(offset) })
    } else if (call === 'fdatasync' || call === 'fsync') {
      syncing.set(thread!, pending.length)
      const result = /= (-?\d+)/.exec(rest!)
      if (result) synced(thread!, result[1]!)
    } else {
      const end = Number(/, (\d+)/.exec(rest!)?.[1] ?? 0)
      pending = pending.filter(({ offset }) => offset < end)
    }
  }
  return pending
}

/** Fills unsynced ranges with noise, and returns the number of writes. */
export function spoilUnsynced(trace: string, path: string, { mayCut = false } = {}): number {
  const unsynced = unsyncedWrites(readFileSync(trace, 'utf8'), path)
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return 0
  const file = openSync(path, 'r+')
  for (const { offset, length } of unsynced) {
    if (offset < size) writeSync(file, crypto.getRandomValues(new Uint8Array(length)), 0, length, offset)
  }
  closeSync(file)
  // Half of the time, the last appended data is missing entirely.
  const last = unsynced.at(-1)
  if (mayCut && last && Math.random() < 0.5) truncateSync(path, Math.min(size, last.offset))
  return unsynced.length
}
