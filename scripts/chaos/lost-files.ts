/** A database file is moved, removed, replaced or overwritten while the server uses it. */
import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { checkDatabase, EXIT_FATAL, Reporters, type Scenario, Victim } from './scenario.ts'

/** Reports stop within a second; a busy machine may take longer to end the process. */
const EXIT_WITHIN_MS = 5_000

interface Loss {
  name: string
  inflict(database: string, backup: string): void
  /** Repairs what people can repair; undefined if the acknowledged entries were lost with the file. */
  repair?: (database: string) => void
}

const LOSSES: Loss[] = [
  {
    name: 'moved',
    inflict: (database) => renameSync(database, `${database}.moved`),
    repair: (database) => renameSync(`${database}.moved`, database),
  },
  { name: 'log-removed', inflict: (database) => rmSync(`${database}-wal`), repair: () => {} },
  { name: 'memory-removed', inflict: (database) => rmSync(`${database}-shm`), repair: () => {} },
  { name: 'removed', inflict: (database) => rmSync(database) },
  {
    name: 'replaced',
    inflict(database, backup) {
      copyFileSync(backup, `${database}.new`)
      renameSync(`${database}.new`, database)
    },
  },
  // Overwrites the existing file, as `cp` does.
  { name: 'overwritten', inflict: (database, backup) => void Bun.spawnSync(['cp', backup, database]) },
]

export const lostFiles: Scenario = {
  name: 'the files of the database are moved, removed, replaced',
  missingRequirement: () => undefined,
  async run(size) {
    const outcome = { rounds: 0, acknowledged: 0, lost: 0, duplicated: 0, readyMs: [] as number[] }
    const tookMs: number[] = []
    for (const loss of LOSSES) {
      const victim = await Victim.make(size)
      try {
        await victim.start()
        const backup = `${victim.databaseFile}.backup`
        const reporters = new Reporters(victim, loss.name)
        await reporters.untilMore(200)
        await victim.installation.run(['backup', backup])
        await reporters.untilMore(100)
        const startedAt = performance.now()
        loss.inflict(victim.databaseFile, backup)
        const code = await Promise.race([victim.server.process.exited, Bun.sleep(EXIT_WITHIN_MS)])
        if (code !== EXIT_FATAL)
          throw new Error(`${loss.name}: the server exited with ${code ?? 'no code'} instead of ${EXIT_FATAL}`)
        tookMs.push(performance.now() - startedAt)
        // A new server receives the remaining reports; without the file, one in a new folder.
        if (loss.repair) {
          loss.repair(victim.databaseFile)
          await victim.start()
        }
        await reporters.stop({ giveUp: !loss.repair })
        if (loss.repair) {
          await victim.server.stop()
          const { lost, duplicated } = checkDatabase(victim.databaseFile, reporters.acknowledged)
          outcome.lost += lost
          outcome.duplicated += duplicated
          outcome.readyMs.push(victim.readyMs.at(-1)!)
        }
        outcome.rounds += 1
        outcome.acknowledged += reporters.acknowledged.size
      } finally {
        await victim.remove()
      }
    }
    return { ...outcome, remark: `exited with ${EXIT_FATAL} after at most ${Math.round(Math.max(...tookMs))} ms` }
  },
}
