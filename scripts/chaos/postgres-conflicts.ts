/**
 * Many agents report the same sessions through two servers, while another session of PostgreSQL locks the same rows in the
 * opposite order, locks whole tables, and changes what transactions have read.
 */
import type { clientFor } from '../../test/support/postgres-server.ts'
import { postgresMissing, Stage } from './postgres-stage.ts'
import { Reporters, refusalsOf, type Scenario } from './scenario.ts'

type Sql = ReturnType<typeof clientFor>

const SECONDS = { short: 2, long: 120 }

const SESSIONS = 6
const CLIENTS = 32

/** Longer than a transaction of Tally waits for a lock. */
const LONG_LOCK_MS = 6_000

/** Totals so far, which grow with the number at the end of the key. */
function reportOf(key: string) {
  const [, client, number] = key.split('-').map(Number) as [number, number, number]
  return {
    agent_harness: 'chaos',
    agent_name: 'chaos',
    model: `model-${client}`,
    session_id: `session-${sessionOf(client, number)}`,
    started_at: '2026-11-20T10:00:00Z',
    ended_at: '2026-11-20T10:30:00Z',
    tokens: { input: number + 1, output: 1 },
    reported_cost: (number + 1) / 1000,
  }
}

const sessionOf = (client: number, number: number) => (client + number) % SESSIONS

export const conflicts: Scenario = {
  name: 'PostgreSQL: deadlocks, lost races and locked tables',
  missingRequirement: postgresMissing,
  async run(size) {
    const stage = await Stage.make(size)
    const sql = stage.admin()
    const others = Array.from({ length: 3 }, () => stage.admin())
    try {
      const reporters = new Reporters(stage, 'conflicts', CLIENTS, reportOf)
      await reporters.untilMore(2 * SESSIONS * CLIENTS)
      let isOver = false
      const whileRunning = async (work: () => Promise<unknown>) => {
        // The victim of a deadlock may also be this session.
        while (!isOver) await work().catch((error) => ['40P01', '40001'].includes(error.code) || Promise.reject(error))
      }
      const [rows, tables, values] = others as [Sql, Sql, Sql]
      const hostile = [
        whileRunning(() => lockBackwards(rows)),
        whileRunning(() => lockTable(tables, Math.random() * 300)),
        whileRunning(() => changeRead(values)),
      ]
      const commands = whileRunning(async () => {
        const key = `P${crypto.randomUUID().slice(0, 8)}`.toUpperCase()
        const args = ['projects', 'add', key, '--name', `Project ${key}`]
        const { code, stderr } = await stage.places[0]!.installation.run(args)
        if (code !== 0) throw new Error(`A command was refused: ${stderr}`)
      })
      await Promise.race([Bun.sleep(SECONDS[size] * 1_000), ...hostile, commands])
      isOver = true
      await Promise.all([...hostile, commands])
      if (size === 'long') await lockTable(tables, LONG_LOCK_MS)
      const { acknowledged, longestRefusalMs } = await stage.verdict(reporters)
      const [counts] = await sql`SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()`
      return {
        rounds: 1,
        acknowledged,
        ...(await compareTotals(sql, reporters)),
        longestRefusalMs,
        readyMs: [],
        remark: `${counts!.deadlocks} deadlocks; ${refusalsOf(reporters)}`,
      }
    } finally {
      for (const client of [sql, ...others]) await client.end({ timeout: 0 })
      await stage.remove()
    }
  },
}

/** Locks entries one after the other, from the last one on. */
async function lockBackwards(sql: Sql): Promise<void> {
  const entries = await sql`SELECT id FROM entries ORDER BY random() LIMIT 40`
  await sql.unsafe('BEGIN')
  try {
    for (const { id } of entries.toSorted((one, other) => Number(other.id) - Number(one.id))) {
      await sql.unsafe(`SELECT FROM entries WHERE id = ${id} FOR UPDATE`)
      await Bun.sleep(2)
    }
  } finally {
    await sql.unsafe('ROLLBACK')
  }
}

async function lockTable(sql: Sql, ms: number): Promise<void> {
  const table = ['entries', 'sessions', 'names', 'events'][Math.floor(Math.random() * 4)]!
  await sql.unsafe('BEGIN')
  try {
    await sql.unsafe(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    await Bun.sleep(ms)
  } finally {
    await sql.unsafe('ROLLBACK')
  }
  await Bun.sleep(Math.random() * 5_000)
}

/** Transactions that change cached tables read and change this row. */
async function changeRead(sql: Sql): Promise<void> {
  await sql`UPDATE revision SET value = value + 1`
  // Each makes the servers load again what they have cached.
  await Bun.sleep(300)
}

/** Each model of each session has the last total that was acknowledged, once. */
async function compareTotals(sql: Sql, { acknowledged }: Reporters): Promise<{ lost: number; duplicated: number }> {
  const expected = new Map<string, number>()
  for (const key of acknowledged) {
    const [, client, number] = key.split('-').map(Number) as [number, number, number]
    const chain = `session-${sessionOf(client, number)} model-${client}`
    expected.set(chain, Math.max(expected.get(chain) ?? 0, number + 1))
  }
  const rows = await sql<{ chain: string; input: number }[]>`
    SELECT session_key || ' ' || text AS chain, sum(input)::int AS input
    FROM entries JOIN sessions ON sessions.id = session_id JOIN names ON names.id = model_id
    GROUP BY session_key, text`
  const found = new Map(rows.map(({ chain, input }) => [chain, input]))
  const chains = [...expected]
  return {
    lost: chains.filter(([chain, input]) => (found.get(chain) ?? 0) < input).length,
    duplicated: chains.filter(([chain, input]) => (found.get(chain) ?? 0) > input).length,
  }
}
