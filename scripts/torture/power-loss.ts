/**
 * The machine loses its power: whatever was not synced is gone. `strace` sees every write to the log and every sync of
 * it; after a kill, each range that was written after the last sync had begun is filled with noise, which is the worst
 * that a disk may do with it. What is written to the database file itself stays: a checkpoint's pages are in the log as
 * well until they are synced.
 */
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { judge, Reporters, type Scenario, Victim } from './scenario.ts'

const ROUNDS = { short: 2, long: 50 }

/** `-D` leaves the server itself as our child, so that a kill hits it and not the one who looks on. */
const TRACER = ['strace', '-D', '-f', '-y', '-s', '0', '-e', 'trace=pwrite64,fdatasync,fsync,ftruncate', '-o', 'trace']

export const powerLoss: Scenario = {
  name: 'power loss (unsynced log is noise)',
  lacks: () => (Bun.which('strace') ? undefined : 'strace is not installed'),
  async run(size) {
    const victim = await Victim.make({ before: TRACER })
    let spoiled = 0
    try {
      await victim.start()
      const reporters = new Reporters(victim, 'power')
      for (let round = 0; round < ROUNDS[size]; round += 1) {
        await reporters.untilMore(20 + Math.random() * 60)
        await victim.server.crash()
        spoiled += spoilUnsynced(join(victim.installation.folder, 'trace'), `${victim.databaseFile}-wal`)
        await victim.start()
      }
      await reporters.stop()
      await victim.server.stop()
      return {
        rounds: ROUNDS[size],
        acknowledged: reporters.acknowledged.size,
        ...judge(victim.databaseFile, reporters.acknowledged),
        readyMs: victim.readyMs.slice(1),
        says: `${spoiled} unsynced writes spoiled`,
      }
    } finally {
      await victim.remove()
    }
  },
}

interface Write {
  offset: number
  length: number
}

const CALL = /^(\d+) +(pwrite64|fdatasync|fsync|ftruncate)\(\d+<([^>]*)>(.*)$/
const RESUMED = /^(\d+) +<\.\.\. (pwrite64|fdatasync|fsync|ftruncate) resumed>.*= (-?\d+)/

/** Answers what was written to a file after the last sync that succeeded had begun. */
export function unsyncedWrites(trace: string, path: string): Write[] {
  let pending: Write[] = []
  /** By thread: how many of the pending writes were there when its sync began. */
  const syncing = new Map<string, number>()
  const synced = (thread: string, result: string) => {
    const covered = syncing.get(thread)
    syncing.delete(thread)
    if (covered === undefined || result !== '0') return
    pending = pending.slice(covered)
    // What others sync meanwhile began with as many fewer.
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
      pending = []
    }
  }
  return pending
}

/** Fills with noise what was not synced. Answers how many writes that were. */
function spoilUnsynced(trace: string, log: string): number {
  const unsynced = unsyncedWrites(readFileSync(trace, 'utf8'), log)
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return 0
  const file = openSync(log, 'r+')
  for (const { offset, length } of unsynced) {
    if (offset < size) writeSync(file, crypto.getRandomValues(new Uint8Array(length)), 0, length, offset)
  }
  closeSync(file)
  // Half of the time what was appended last is not there at all.
  const last = unsynced.at(-1)
  if (last && Math.random() < 0.5) truncateSync(log, Math.min(size, last.offset))
  return unsynced.length
}
