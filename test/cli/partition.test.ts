/** `tally partition`: what it does to a database in PostgreSQL, and what it refuses. */
import { afterEach, expect, test } from 'bun:test'
import { CommandLine } from '../support/command-line.ts'
import { canOverlap, newMigrated, rowsAt } from '../support/databases.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const step of cleanUps.splice(0).reverse()) await step()
})

async function commandLine() {
  const tally = await CommandLine.make({ engine: 'sqlite' })
  cleanUps.push(() => tally.remove())
  return tally
}

test.skipIf(!canOverlap('postgres'))('partitions the entries once, and asks before', async () => {
  const tally = await commandLine()
  const location = await newMigrated('postgres', cleanUps)
  const env = { TALLY_DATABASE_URL: location.databaseUrl! }
  const unasked = await tally.run(['partition'], { env })
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('--yes')])
  const { stdout } = await tally.done(['partition', '--yes'], { env })
  expect(stdout).toMatch(
    /^The entries are partitioned: those recorded so far are in entries_before_\d{6}, and new ones in entries_\d{6}\.\n$/,
  )
  expect((await tally.done(['partition', '--yes'], { env })).stdout).toBe('The entries are partitioned already.\n')
  expect(await tally.json(['partition', '--yes'], { env })).toEqual({})
  expect(await rowsAt(location, 'SELECT FROM pg_inherits WHERE inhparent = $$entries$$::regclass')).toHaveLength(2)
  await tally.done(['verify'], { env })
})

test('says that only PostgreSQL has partitions, and that a pooler is in the way', async () => {
  const tally = await commandLine()
  const embedded = await tally.run(['partition', '--yes'])
  expect([embedded.code, embedded.stderr]).toEqual([1, expect.stringContaining('Only entries in PostgreSQL')])
  const env = { TALLY_DATABASE_URL: 'postgres://tally@127.0.0.1:1/tally?pgbouncer=true' }
  const pooled = await tally.run(['partition', '--yes'], { env })
  expect([pooled.code, pooled.stderr]).toEqual([1, expect.stringContaining('Connect directly')])
})
