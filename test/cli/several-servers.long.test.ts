/** Servers behind a load balancer, of which one after the other is replaced, by another version as well. */
import { afterEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'
import { MIGRATIONS, type Migration } from '../../migrations/index.ts'
import { stage } from '../support/balanced-servers.ts'
import { CommandLine } from '../support/command-line.ts'
import { canOverlap, rowsAt } from '../support/databases.ts'
import { makeNextVersion } from '../support/next-version.ts'

/** Agents that report at the same time. */
const AGENTS = 4

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

async function nextVersion(migrations: Omit<Migration, 'version'>[]): Promise<CommandLine> {
  const { folder, program } = makeNextVersion(migrations)
  cleanUps.push(async () => rmSync(folder, { recursive: true }))
  const next = await CommandLine.make({ engine: 'sqlite', executable: program })
  cleanUps.push(() => next.remove())
  return next
}

describe.skipIf(!canOverlap('postgres'))('while two servers are replaced, one after the other,', () => {
  test('no report is refused', async () => {
    const { replace, end, statuses } = await stage(cleanUps, AGENTS)
    for (const at of [0, 1]) await replace(at)
    const { entries, reported } = await end()
    expect(new Set(statuses)).toEqual(new Set([201]))
    expect(entries).toBe(reported)
  })

  test('no report is refused by a version with a migration that only adds, nor by the one before', async () => {
    const { location, tally, env, servers, replace, check, end, statuses, untilReported } = await stage(
      cleanUps,
      AGENTS,
    )
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
  })

  test('one that a migration excludes refuses reports until it is replaced, and nothing is lost', async () => {
    const { location, tally, env, servers, serve, check, replace, reportTo, end, statuses } = await stage(
      cleanUps,
      AGENTS,
    )
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
  })
})
