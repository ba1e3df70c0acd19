/** A disk that fails at a sync, one that is slow, and one that is full. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT_FATAL, quantile, Reporters, type Scenario, straceMissing, Victim } from './scenario.ts'
import { fill, smallDiskMissing, withSmallDisk } from './small-disk.ts'

const ROUNDS = { short: 1, long: 20 }

export const failedSync: Scenario = {
  name: 'fdatasync fails with EIO',
  missingRequirement: straceMissing,
  async run(size) {
    const outcome = { rounds: 0, acknowledged: 0, lost: 0, duplicated: 0, readyMs: [] as number[] }
    for (let round = 0; round < ROUNDS[size]; round += 1) {
      // Skips the first syncs, which belong to the start, and then fails all of them.
      const from = 40 + Math.floor(Math.random() * 200)
      const inject = `inject=fdatasync:error=EIO:when=${from}+`
      const victim = await Victim.make(size, { before: ['strace', '-D', '-f', '-o', '/dev/null', '-e', inject] })
      try {
        await victim.start()
        const reporters = new Reporters(victim, `eio-${round}`)
        const code = await victim.server.process.exited
        if (code !== EXIT_FATAL)
          throw new Error(`The server exited with ${code} when its disk failed, instead of ${EXIT_FATAL}`)
        victim.installation.before.length = 0
        await victim.start()
        await reporters.untilMore(50)
        const verdict = await victim.verdict(reporters)
        outcome.rounds += 1
        outcome.acknowledged += verdict.acknowledged
        outcome.lost += verdict.lost
        outcome.duplicated += verdict.duplicated
        outcome.readyMs.push(victim.readyMs.at(-1)!)
      } finally {
        await victim.remove()
      }
    }
    return { ...outcome, remark: `exited with ${EXIT_FATAL} each time` }
  },
}

const SLOW_SECONDS = { short: 3, long: 30 }

export const slowSync: Scenario = {
  name: 'each fdatasync takes 10 ms longer',
  missingRequirement: straceMissing,
  async run(size) {
    const slow = ['strace', '-D', '-f', '-o', '/dev/null', '-e', 'inject=fdatasync:delay_exit=10000']
    const victim = await Victim.make(size, { before: slow })
    try {
      await victim.start()
      const reporters = new Reporters(victim, 'slow', 64)
      await Bun.sleep(SLOW_SECONDS[size] * 1_000)
      const verdict = await victim.verdict(reporters)
      const perSecond = Math.round(verdict.acknowledged / SLOW_SECONDS[size])
      return {
        rounds: 1,
        ...verdict,
        readyMs: [],
        remark: `${perSecond} entries/s from 64 connections, p99 ${Math.round(quantile(reporters.latenciesMs, 0.99))} ms`,
      }
    } finally {
      await victim.remove()
    }
  },
}

/** Room for the executable too. */
const DISK_MEGABYTES = 240

export const fullDisk: Scenario = {
  name: 'disk full, then space again',
  missingRequirement: smallDiskMissing,
  async run(size) {
    return withSmallDisk(DISK_MEGABYTES, async (disk) => {
      const filler = join(disk, 'filler')
      const victim = await Victim.make(size, { parent: disk })
      try {
        await victim.start()
        const reporters = new Reporters(victim, 'full')
        await reporters.untilMore(50)
        fill(filler)
        await untilRefused(reporters)
        const reads = await fetch(`${victim.server.url}/health`)
        const refusedFor = [...reporters.statuses.keys()].filter((status) => status >= 500)
        rmSync(filler)
        // No restart.
        const before = reporters.acknowledged.size
        await reporters.untilMore(50)
        if (reporters.acknowledged.size === before)
          throw new Error('The server did not recover when there was space again')
        const verdict = await victim.verdict(reporters)
        return {
          rounds: 1,
          ...verdict,
          readyMs: [],
          remark: `returned ${refusedFor.join(', ')} meanwhile, reads ${reads.status}; recovered without a restart`,
        }
      } finally {
        await victim.remove()
      }
    })
  },
}

async function untilRefused(reporters: Reporters): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!reporters.statuses.get(503)) {
    if (performance.now() > deadline) throw new Error('The server refused nothing on a full disk')
    await Bun.sleep(10)
  }
}
