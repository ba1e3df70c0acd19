/** Servers that share a PostgreSQL database behind a load balancer, of which one after the other is replaced. */
import { afterEach, describe, expect, test } from 'bun:test'
import { MIGRATIONS } from '../../migrations/index.ts'
import { stage } from '../support/balanced-servers.ts'
import { CommandLine } from '../support/command-line.ts'
import { canOverlap, newLocation } from '../support/databases.ts'
import { EXPANDING, migrateAt } from '../support/other-process.ts'
import { reportBody } from '../support/reports.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

describe.skipIf(!canOverlap('postgres'))('while two servers are replaced, one after the other,', () => {
  test('no report is refused', async () => {
    const { replace, end, statuses } = await stage(cleanUps, 1)
    for (const at of [0, 1]) await replace(at)
    const { entries, reported } = await end()
    expect(new Set(statuses)).toEqual(new Set([201]))
    expect(entries).toBe(reported)
  })
})

test.skipIf(!canOverlap('postgres'))(
  'a server goes on recording after a migration that only adds, and refuses reports after one that excludes it',
  async () => {
    const location = await newLocation('postgres', cleanUps)
    const env = { TALLY_DATABASE_URL: location.databaseUrl! }
    const tally = await CommandLine.make({ engine: 'sqlite' })
    cleanUps.push(() => tally.remove())
    await tally.done(['users', 'add', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'admin'], { env })
    const create = ['tokens', 'create', '--kind', 'svc', '--user', 'ada@example.com', '--name', 'ci']
    const { token } = await tally.json(create, { env })
    const server = await tally.serve([], env)
    const report = async (session: string) => {
      const answer = await fetch(`${server.url}/api/v1/token-entries`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(reportBody({ session_id: session })),
      })
      const { code } = (await answer.json()) as { code?: string }
      return { status: answer.status, retryAfter: answer.headers.get('retry-after'), code }
    }
    await migrateAt(location, [...MIGRATIONS, EXPANDING])
    expect(await report('after one that adds')).toMatchObject({ status: 201 })
    expect((await fetch(`${server.url}/ready`)).status).toBe(200)

    const excluding = {
      version: EXPANDING.version + 1,
      name: 'excluding',
      sql: { sqlite: 'SELECT 1;', postgres: 'SELECT 1;' },
    }
    await migrateAt(location, [...MIGRATIONS, EXPANDING, excluding])
    const refused = { status: 503, retryAfter: '60', code: 'database_upgraded' }
    expect(await report('after one that excludes')).toEqual(refused)
    expect((await fetch(`${server.url}/ready`)).status).toBe(503)
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    const start = await tally.run(['serve', '--port', '0'], { env })
    expect([start.code, start.stderr]).toEqual([1, expect.stringContaining('Use the newer version')])
  },
)

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
    const since = Date.now()
    for (let times = 0; times < 12; times += 1) calls.push(await statusOf(times, '/api/v1/me', me))
    const allowed = calls.filter((status) => status === 200).length
    // One server may not have heard yet of the other's last call, and a busy machine takes so long that more is allowed.
    const later = Math.ceil((Date.now() - since) / 10_000)
    expect(allowed).toBeWithin(6, 8 + later)
    expect(calls.slice(6)).toContain(429)
  })
})
