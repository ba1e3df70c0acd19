/** Servers that share a PostgreSQL database behind a load balancer, of which one after the other is replaced. */
import { afterEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'
import { CommandLine, type RunningServer } from '../support/command-line.ts'
import { canOverlap, newLocation, rowsAt } from '../support/databases.ts'
import { makeNextVersion } from '../support/next-version.ts'
import { reportBody } from '../support/reports.ts'

/** How often the load balancer asks /ready, and how long a server that is stopping still answers. */
const CHECK_MS = 200
const DRAIN_SECONDS = 1

const UNAVAILABLE = { status: 503, retryAfter: '1' }

const NEXT = MIGRATIONS.at(-1)!.version + 1

const nothing = 'SELECT 1;'
const EXPANDING: Omit<Migration, 'version'>[] = [
  {
    name: 'notes',
    sql: {
      sqlite: nothing,
      postgres: "ALTER TABLE entries ADD COLUMN note text DEFAULT 'none'; CREATE TABLE notes (id bigint);",
    },
    compatibleFrom: NEXT - 1,
  },
  {
    name: 'notes_index',
    sql: { sqlite: nothing, postgres: 'CREATE INDEX CONCURRENTLY entries_by_note ON entries (note);' },
    compatibleFrom: NEXT - 1,
  },
]
/** What this version writes afterwards would be accepted, and wrong. */
const CONTRACTING: Omit<Migration, 'version'>[] = [
  {
    name: 'replaced',
    sql: { sqlite: nothing, postgres: "ALTER TABLE entries ADD COLUMN required text DEFAULT 'old';" },
  },
]

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

/** Two servers, a load balancer that asks whether they are ready, and agents that report through it. */
async function stage() {
  const location = await newLocation('postgres', cleanUps)
  const env = { TALLY_DATABASE_URL: location.databaseUrl! }
  const tally = await CommandLine.make({ engine: 'sqlite' })
  cleanUps.push(() => tally.remove())
  await tally.done(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'admin'], { env })
  const made = await tally.json(['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'ci'], {
    env,
  })
  const serve = (version = tally) => version.serve(['--drain', `${DRAIN_SECONDS}`], env)
  const servers: RunningServer[] = await Promise.all([serve(), serve()])
  let ready = servers.map(({ url }) => url)
  const check = async () => {
    const asked = servers.map(({ url }) =>
      fetch(`${url}/ready`).then(
        ({ ok }) => (ok ? [url] : []),
        () => [],
      ),
    )
    ready = (await Promise.all(asked)).flat()
  }
  const checking = setInterval(check, CHECK_MS)
  cleanUps.push(async () => clearInterval(checking))

  const statuses: unknown[] = []
  let isOver = false
  const reportTo = async (url: string, session: string) => {
    const answer = await fetch(`${url}/api/v1/token-entries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${made.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(reportBody({ session_id: session })),
    }).catch((error: Error) => error)
    if (answer instanceof Error) return { status: answer.message, retryAfter: null, json: undefined }
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      json: (await answer.json()) as { code?: string; detail?: string },
    }
  }
  let reported = 0
  /** Repeats a report that is refused for a while, as agents do. */
  const report = async (agent: number) => {
    for (let session = 0; !isOver; session += 1) {
      for (let attempt = 0; ; attempt += 1) {
        const url = ready[(session + attempt) % ready.length]
        // A load balancer without a server answers itself.
        const { status, retryAfter } = url ? await reportTo(url, `${agent}-${session}`) : UNAVAILABLE
        statuses.push(status)
        if (status !== 503 || retryAfter === null) break
        await Bun.sleep(CHECK_MS)
      }
      reported += 1
    }
  }
  const reporting = Promise.all([1, 2, 3, 4].map(report))
  /** So that every server is reported to meanwhile. */
  const untilReported = async () => {
    const until = statuses.length + 20
    while (statuses.length < until) await Bun.sleep(10)
  }

  return {
    location,
    env,
    tally,
    servers,
    serve,
    check,
    reportTo,
    untilReported,
    statuses,
    async replace(at: number, version = tally) {
      await untilReported()
      expect(await servers[at]!.stop()).toBe(0)
      servers[at] = await serve(version)
      await check()
      await untilReported()
    },
    /** The entries that there are, and those that there should be. */
    async end() {
      isOver = true
      await reporting
      const [{ count }] = (await rowsAt(location, 'SELECT count(*) AS count FROM entries')) as [{ count: string }]
      return { entries: Number(count), reported }
    },
  }
}

async function nextVersion(migrations: Omit<Migration, 'version'>[]): Promise<CommandLine> {
  const { folder, program } = makeNextVersion(migrations)
  cleanUps.push(async () => rmSync(folder, { recursive: true }))
  const next = await CommandLine.make({ engine: 'sqlite', executable: program })
  cleanUps.push(() => next.remove())
  return next
}

describe.skipIf(!canOverlap('postgres'))('while two servers are replaced, one after the other,', () => {
  test('no report is refused', async () => {
    const { replace, end, statuses } = await stage()
    for (const at of [0, 1]) await replace(at)
    const { entries, reported } = await end()
    expect(new Set(statuses)).toEqual(new Set([201]))
    expect(entries).toBe(reported)
  }, 120_000)

  test('no report is refused by a version with a migration that only adds, nor by the one before', async () => {
    const { location, tally, env, servers, replace, check, end, statuses, untilReported } = await stage()
    const next = await nextVersion(EXPANDING)
    await replace(0, next)
    const applied = await rowsAt(location, `SELECT name FROM migrations WHERE version >= ${NEXT} ORDER BY version`)
    expect(applied.map(({ name }) => name)).toEqual(['notes', 'notes_index'])
    expect((await fetch(`${servers[1]!.url}/ready`)).status).toBe(200)
    // Back to the version before, with its command line, and on again.
    await replace(1)
    expect((await tally.run(['doctor'], { env })).stdout).not.toContain('error')
    await replace(1, next)
    await check()
    await untilReported()
    const { entries, reported } = await end()
    expect(new Set(statuses)).toEqual(new Set([201]))
    expect(entries).toBe(reported)
  }, 180_000)

  test('one that a migration excludes refuses reports until it is replaced, and nothing is lost', async () => {
    const { location, tally, env, servers, serve, check, replace, reportTo, end, statuses } = await stage()
    const next = await nextVersion(CONTRACTING)
    const [former] = servers
    servers[0] = await serve(next)
    await check()
    const refused = await reportTo(former!.url, 'late')
    expect(refused).toMatchObject({ status: 503, retryAfter: '60', json: { code: 'database_upgraded' } })
    expect(refused.json?.detail).toContain(`needs schema version ${NEXT}`)
    expect((await fetch(`${former!.url}/ready`)).status).toBe(503)
    expect((await fetch(`${former!.url}/health`)).status).toBe(200)
    expect(await former!.stop()).toBe(0)
    const start = await tally.run(['serve', '--port', '0'], { env })
    expect([start.code, start.stderr]).toEqual([1, expect.stringContaining('Use the newer version')])
    await replace(1, next)
    const { entries, reported } = await end()
    expect(new Set(statuses)).toEqual(new Set([201, 503]))
    expect(entries).toBe(reported)
    expect(await rowsAt(location, "SELECT FROM sessions WHERE session_key = 'late'")).toEqual([])
  }, 180_000)
})

describe.skipIf(!canOverlap('postgres'))('the limits of two servers', () => {
  test('count sign-ins and calls at both', async () => {
    const { databaseUrl } = await newLocation('postgres', cleanUps)
    const env = { TALLY_DATABASE_URL: databaseUrl!, TALLY_RATE_LIMIT: '6' }
    const tally = await CommandLine.make({ engine: 'sqlite' })
    cleanUps.push(() => tally.remove())
    await tally.done(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'admin'], { env })
    const { token } = await tally.json(
      ['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'ci'],
      { env },
    )
    const servers = await Promise.all([tally.serve([], env), tally.serve([], env)])

    const statusOf = async (request: number, path: string, init: RequestInit) =>
      (await fetch(servers[request % 2]!.url + path, init)).status
    const json = { 'content-type': 'application/json' }
    const password = { method: 'POST', headers: json, body: '{"email":"ada@example.com","password":"wrong"}' }
    const signIns: number[] = []
    for (let times = 0; times < 12; times += 1) signIns.push(await statusOf(times, '/api/v1/session', password))
    expect(signIns).toEqual([...Array(10).fill(401), 429, 429])
    await servers[1]!.stop()
    servers[1] = await tally.serve([], env)
    expect(await statusOf(1, '/api/v1/session', password)).toBe(429)
    await tally.done(['users', 'unlock', 'ada@example.com'], { env })
    // The address still waits, as another one of a person would not.
    expect(await statusOf(1, '/api/v1/session', password)).toBe(429)

    const me = { headers: { authorization: `Bearer ${token}` } }
    const calls: number[] = []
    for (let times = 0; times < 12; times += 1) calls.push(await statusOf(times, '/api/v1/me', me))
    const allowed = calls.filter((status) => status === 200).length
    // One server may not have heard yet of the other's last call.
    expect(allowed).toBeWithin(6, 9)
    expect(calls.slice(-2)).toEqual([429, 429])
  }, 60_000)
})
