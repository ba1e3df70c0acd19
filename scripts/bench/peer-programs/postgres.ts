/** Reports with PostgreSQL, compared with SQLite, and with rows that pgbench commits one by one. */
import { join } from 'node:path'
import { postgresPrograms } from '../../../test/support/postgres-programs.ts'
import { clientFor } from '../../../test/support/postgres-server.ts'
import { cleanedUp, DIST, printProgress } from '../clean-up.ts'
import { type Engine, postgresEngine, sqliteEngine } from '../reporting/databases.ts'
import { OWN_SERVER } from '../reporting/options.ts'
import { measure } from '../reporting/throughput.ts'
import { ratiosOf } from '../spread.ts'
import { alternate, type Context, LeftOut, type Measured, type Peer } from './peer.ts'
import { batches, CONNECTIONS, reportToTally, singles, startTally } from './tally.ts'

/** A table with the columns and indexes of entries, a sample of them, and a statement that adds it as another entry. */
async function prepareRows(url: string): Promise<string> {
  const sql = clientFor(url)
  try {
    await sql`CREATE TABLE committed (LIKE entries INCLUDING DEFAULTS INCLUDING INDEXES)`
    await sql`CREATE TABLE sample AS SELECT * FROM entries LIMIT 1`
    await sql`CREATE SEQUENCE numbers`
    const columns = await sql<{ name: string }[]>`
      SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'sample' ORDER BY ordinal_position`
    const differing: Record<string, string> = {
      id: "nextval('numbers')",
      uid: 'uuid_send(gen_random_uuid())',
      session_id: "currval('numbers')",
      started_at: 'started_at - (random() * 86400000)::bigint',
    }
    return `INSERT INTO committed SELECT ${columns.map(({ name }) => differing[name] ?? name).join(', ')} FROM sample;\n`
  } finally {
    await sql.end()
  }
}

async function runPgbench(program: string, context: Context, postgres: Engine): Promise<number> {
  return cleanedUp(context.stack, async (stack) => {
    const { servers, token } = await startTally(context, postgres, stack)
    await measure(servers, postgres, token, { ...singles(context), seconds: 1 })
    await servers.stop()
    const url = servers.database.variables.TALLY_DATABASE_URL!
    const script = join(context.folder, 'insert.sql')
    await Bun.write(script, await prepareRows(url))
    const flags = ['-n', '-M', 'prepared', '-c', `${CONNECTIONS}`, '-T', `${Math.ceil(context.seconds)}`, '-f', script]
    const child = Bun.spawn([program, ...flags, url], { stdio: ['ignore', 'pipe', 'pipe'] })
    stack.defer(() => child.kill())
    const [output, errors, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
    if (code !== 0) throw new Error(`pgbench failed: ${errors}`)
    return Number(/^tps = ([\d.]+)/m.exec(output)![1])
  })
}

async function measurePostgres(context: Context): Promise<Measured> {
  const programs = postgresPrograms()
  const pgbench = Bun.which('pgbench', programs === undefined ? {} : { PATH: `${programs}:${process.env.PATH}` })
  if (!programs || !pgbench) throw new LeftOut('PostgreSQL with pgbench')
  const sqlite = sqliteEngine(context.folder)
  const postgres = await postgresEngine(OWN_SERVER, DIST, context.stack)
  const server = postgres.name.replace(/ \(.*/, '')
  const rate = async (engine: Engine, load: ReturnType<typeof singles>) =>
    (await reportToTally(context, engine, load)).entriesPerSecond
  const rates = await alternate(
    context,
    {
      sqlite: () => rate(sqlite, singles(context)),
      singles: () => rate(postgres, singles(context)),
      batches: () => rate(postgres, batches(context)),
      pgbench: () => runPgbench(pgbench, context, postgres),
    },
    (side, round) => printProgress(`round ${round + 1} with PostgreSQL: ${side}`),
  )
  return {
    ratios: [ratiosOf(rates.singles, rates.sqlite), ratiosOf(rates.batches, rates.singles)],
    absolute: [
      {
        name: `pgbench, ${server}: rows committed one by one, 64 connections`,
        rounds: rates.pgbench,
        unit: '/s',
      },
      { name: 'Tally, SQLite, in the same rounds: single reports, 64 connections', rounds: rates.sqlite, unit: '/s' },
      { name: `Tally, ${server}: single reports, 64 connections`, rounds: rates.singles, unit: '/s' },
      { name: `Tally, ${server}: entries in batches of 100, 4 connections`, rounds: rates.batches, unit: '/s' },
    ],
  }
}

export const postgres: Peer = {
  goals: [
    { name: 'single reports/s with PostgreSQL ÷ with SQLite', atLeast: 0.7 },
    { name: 'entries/s in batches of 100 ÷ single reports/s, with PostgreSQL', atLeast: 4 },
  ],
  measure: measurePostgres,
}
