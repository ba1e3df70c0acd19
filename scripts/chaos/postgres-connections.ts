/** Other programs take all connections of PostgreSQL just when Tally has lost its own. */
import type { clientFor } from '../../test/support/postgres-server.ts'
import { postgresMissing, Stage, terminateBackends } from './postgres-stage.ts'
import { Reporters, refusalsOf, type Scenario } from './scenario.ts'

const ROUNDS = { short: 1, long: 50 }

/** How long nothing is left. */
const TAKEN_MS = 1_000

export const connectionsTaken: Scenario = {
  name: 'PostgreSQL: others take all connections',
  missingRequirement: postgresMissing,
  async run(size) {
    const stage = await Stage.make(size)
    const sql = stage.admin()
    try {
      const reporters = new Reporters(stage, 'taken')
      let taken = 0
      for (let round = 0; round < ROUNDS[size]; round += 1) {
        await reporters.untilMore(200)
        const others = await takeAll(stage, sql)
        taken += others.length
        await Bun.sleep(TAKEN_MS)
        await Promise.all(others.map((other) => other.end()))
        await reporters.untilMore(50)
      }
      const verdict = await stage.verdict(reporters)
      return {
        rounds: ROUNDS[size],
        ...verdict,
        readyMs: [],
        remark: `others took ${taken} connections; ${refusalsOf(reporters)}`,
      }
    } finally {
      await sql.end()
      await stage.remove()
    }
  },
}

/** Ends Tally's connections and opens others, until Tally has none left. */
async function takeAll(stage: Stage, sql: ReturnType<typeof clientFor>): Promise<ReturnType<typeof clientFor>[]> {
  const others: ReturnType<typeof clientFor>[] = []
  for (;;) {
    await terminateBackends(sql, 100)
    const some = Array.from({ length: 10 }, () => stage.admin())
    const opened = await Promise.allSettled(some.map((other) => other`SELECT 1`))
    for (const [index, { status }] of opened.entries()) {
      if (status === 'fulfilled') others.push(some[index]!)
      else await some[index]!.end({ timeout: 0 })
    }
    if (opened.every(({ status }) => status === 'rejected') && (await terminateBackends(sql, 100)) === 0) return others
  }
}
