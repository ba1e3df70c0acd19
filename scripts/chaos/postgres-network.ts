/** The network between Tally and PostgreSQL: far away, or with connections that stall or are cut. */
import { postgresMissing, Stage } from './postgres-stage.ts'
import { EXIT_FATAL, Reporters, refusalsOf, type Scenario, type Size } from './scenario.ts'
import { TcpProxy } from './tcp-proxy.ts'

/** The servers of Tally connect through the proxy, and everything else directly. */
async function stageBehindProxy(size: Size): Promise<{ stage: Stage; proxy: TcpProxy }> {
  let proxy: TcpProxy | undefined
  const stage = await Stage.make(size, {
    through(url) {
      const { searchParams, pathname } = new URL(url)
      proxy = new TcpProxy(`${searchParams.get('host')}/.s.PGSQL.5432`)
      return `postgres://tally@127.0.0.1:${proxy.port}${pathname}`
    },
  })
  return { stage, proxy: proxy! }
}

const LATENCY_MS = 200
const FAR_SECONDS = { short: 3, long: 60 }

export const farAway: Scenario = {
  name: 'PostgreSQL: 200 ms of latency in each direction',
  missingRequirement: postgresMissing,
  async run(size) {
    const { stage, proxy } = await stageBehindProxy(size)
    try {
      const reporters = new Reporters(stage, 'far', 64)
      // What a server reads for its first reports takes thirty round trips.
      await reporters.untilMore(500)
      proxy.latencyMs = LATENCY_MS
      await Bun.sleep(FAR_SECONDS[size] * 1_000)
      await reporters.stop()
      proxy.latencyMs = 0
      const verdict = await stage.verdict(reporters)
      const perSecond = Math.round(verdict.acknowledged / FAR_SECONDS[size])
      return {
        rounds: 1,
        ...verdict,
        readyMs: [],
        remark: `${perSecond} entries/s from 64 connections; ${refusalsOf(reporters)}`,
      }
    } finally {
      proxy.stop()
      await stage.remove()
    }
  },
}

const CUTS = { short: 10, long: 300 }

export const cutConnections: Scenario = {
  name: 'PostgreSQL: connections cut in the middle of a message',
  missingRequirement: postgresMissing,
  async run(size) {
    const { stage, proxy } = await stageBehindProxy(size)
    try {
      const reporters = new Reporters(stage, 'cut')
      for (let round = 0; round < CUTS[size]; round += 1) {
        await reporters.untilMore(Math.random() * 60)
        proxy.cutOne()
      }
      const verdict = await stage.verdict(reporters)
      return { rounds: CUTS[size], ...verdict, readyMs: [], remark: refusalsOf(reporters) }
    } finally {
      proxy.stop()
      await stage.remove()
    }
  },
}

const STALLS = { short: 1, long: 12 }

export const stalledConnections: Scenario = {
  name: 'PostgreSQL: all connections stall, and new ones work',
  missingRequirement: postgresMissing,
  async run(size) {
    const { stage, proxy } = await stageBehindProxy(size)
    try {
      const reporters = new Reporters(stage, 'stalled')
      let stalled = 0
      for (let round = 0; round < STALLS[size]; round += 1) {
        await reporters.untilMore(200)
        stalled += proxy.stall()
        await reporters.untilMore(200, 120_000)
      }
      // A job may still wait for a connection that stalls, for longer than a server has to stop.
      const verdict = await stage.verdict(reporters, [0, EXIT_FATAL])
      return {
        rounds: STALLS[size],
        ...verdict,
        readyMs: [],
        remark: `${stalled} connections stalled; ${refusalsOf(reporters)}`,
      }
    } finally {
      proxy.stop()
      await stage.remove()
    }
  },
}
