/** Servers of Tally that are killed, and connections that PostgreSQL ends, while agents report. */
import { type PgBouncer, pgbouncerMissing, startPgBouncer } from '../../test/support/pgbouncer.ts'
import { postgresMissing, Stage, terminateBackends } from './postgres-stage.ts'
import { type Outcome, Reporters, refusalsOf, type Scenario } from './scenario.ts'

const CRASHES = { short: 1, long: 200 }

export const postgresCrashes: Scenario = {
  name: 'PostgreSQL: kill -9 of one of two servers under load',
  missingRequirement: postgresMissing,
  async run(size) {
    const stage = await Stage.make(size)
    try {
      const reporters = new Reporters(stage, 'crashes')
      for (let round = 0; round < CRASHES[size]; round += 1) {
        await reporters.untilMore(20 + Math.random() * 200)
        await stage.crashOne()
      }
      return {
        rounds: CRASHES[size],
        ...(await stage.verdict(reporters)),
        readyMs: stage.readyMs,
        remark: refusalsOf(reporters, { mayLoseConnections: true }),
      }
    } finally {
      await stage.remove()
    }
  },
}

const TERMINATIONS = { short: 10, long: 500 }
/** A pool has fewer connections that could be ended. */
const POOLED_TERMINATIONS = { short: 10, long: 200 }

export const terminatedBackends: Scenario = {
  name: 'PostgreSQL: connections ended by pg_terminate_backend',
  missingRequirement: postgresMissing,
  run: async (size) => terminate(await Stage.make(size), TERMINATIONS[size]),
}

export const terminatedThroughPgBouncer: Scenario = {
  name: 'PostgreSQL: connections of a PgBouncer with few of them ended by pg_terminate_backend',
  missingRequirement: () => postgresMissing() ?? pgbouncerMissing(),
  async run(size) {
    let pgbouncer: PgBouncer | undefined
    const through = async (url: string) => {
      pgbouncer = await startPgBouncer(url, ['default_pool_size = 4'])
      return `${pgbouncer.through(url)}?pgbouncer=true`
    }
    try {
      return await terminate(await Stage.make(size, { through }), POOLED_TERMINATIONS[size])
    } finally {
      await pgbouncer?.stop()
    }
  },
}

async function terminate(stage: Stage, count: number): Promise<Outcome> {
  const sql = stage.admin()
  try {
    const reporters = new Reporters(stage, 'terminated')
    let ended = 0
    while (ended < count) {
      await reporters.untilMore(Math.random() * 100)
      ended += await terminateBackends(sql, 1 + Math.floor(Math.random() * 3))
    }
    const verdict = await stage.verdict(reporters)
    return { rounds: ended, ...verdict, readyMs: [], remark: refusalsOf(reporters) }
  } finally {
    await sql.end()
    await stage.remove()
  }
}
