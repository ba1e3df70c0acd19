/** The disk of PostgreSQL is full: it refuses writes, or ends because it cannot write its log. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Member, run } from './postgres-member.ts'
import { makeToken, postgresMissing, Stage } from './postgres-stage.ts'
import { installed, Reporters, refusalsOf, type Scenario } from './scenario.ts'
import { fill, smallDiskMissing, withSmallDisk } from './small-disk.ts'

const ROUNDS = { short: 1, long: 20 }

/** A new database takes 60 MB. */
const DISK_MEGABYTES = 160

/** Segments of the log that are there already are written in a moment. */
const SETTINGS = ['max_wal_size=32MB', 'min_wal_size=32MB', 'wal_recycle=off']

const PATIENCE_MS = 30_000

export const postgresDiskFull: Scenario = {
  name: 'PostgreSQL: its disk is full, then has space again',
  missingRequirement: () => postgresMissing() ?? smallDiskMissing(),
  run: (size) =>
    withSmallDisk(DISK_MEGABYTES, async (disk) => {
      const member = new Member(disk, 'data', SETTINGS)
      const filler = join(disk, 'filler')
      await member.create()
      const installation = await installed(size, { variables: { TALLY_DATABASE_URL: member.url } })
      let stage: Stage | undefined
      try {
        stage = await Stage.on(size, { url: member.url, token: await makeToken(installation) })
        const reporters = new Reporters(stage, 'full')
        let ends = 0
        for (let round = 0; round < ROUNDS[size]; round += 1) {
          await reporters.untilMore(100)
          fill(filler)
          // Half of the time, it cannot begin another segment of its log, and ends.
          if (round % 2 === 1) await fillSegments(member)
          const refused = reporters.statuses.get(503) ?? 0
          const deadline = performance.now() + PATIENCE_MS
          while ((reporters.statuses.get(503) ?? 0) < refused + 20) {
            if (performance.now() > deadline) throw new Error('Nothing was refused on a full disk')
            await Bun.sleep(10)
          }
          rmSync(filler)
          const target = reporters.acknowledged.size + 50
          const recovered = performance.now() + PATIENCE_MS
          while (reporters.acknowledged.size < target) {
            if (performance.now() > recovered) throw new Error('Little was recorded when there was space again')
            if (!member.isRunning) {
              ends += 1
              await member.start()
            }
            await Bun.sleep(10)
          }
        }
        const verdict = await stage.verdict(reporters)
        return {
          rounds: ROUNDS[size],
          ...verdict,
          readyMs: [],
          remark: `PostgreSQL itself ended ${ends} times; ${refusalsOf(reporters)}`,
        }
      } finally {
        await stage?.remove()
        await installation.remove()
        await member.crash()
      }
    }),
}

/** Continues in new segments of the log, until there is no space for one. */
async function fillSegments({ url }: Member): Promise<void> {
  const write = `SELECT pg_logical_emit_message(false, 'chaos', 'more'), pg_switch_wal()`
  for (let segment = 0; segment < 10; segment += 1) {
    const hasFailed = await run('psql', '--dbname', url, '--command', write).then(
      () => false,
      () => true,
    )
    if (hasFailed) return
  }
}
