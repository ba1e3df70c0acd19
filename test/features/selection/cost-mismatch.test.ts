import { Database as Connection } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { COMMAND_LINE } from '../../../src/access/asker.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { DATABASE_FILE } from '../../../src/database/open.ts'
import { readListQuery } from '../../../src/features/entries/listing/query.ts'
import { isCostMismatch } from '../../../src/features/selection/cost-mismatch.ts'
import { conditionOf } from '../../../src/features/selection/sql/conditions.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine, type Location, locationOf } from '../../support/databases.ts'
import { clientFor } from '../../support/postgres-server.ts'
import { addReporter, reportBody } from '../../support/reports.ts'
import { runs } from '../../support/tier.ts'

const DOLLAR = 1_000_000_000n
/** Of a cost that belongs to no usage, such as extra usage of a subscription. */
const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0 }
const LARGEST = 9_000_000_000_000_000_000n

test('a cost is far from its list value beyond ten times and a dollar, either way', () => {
  const cases: [reported: bigint | null, list: bigint | null, isFar: boolean][] = [
    [20n * DOLLAR, 2n * DOLLAR, false],
    [20n * DOLLAR + 1n, 2n * DOLLAR, true],
    [2n * DOLLAR, 20n * DOLLAR, false],
    [2n * DOLLAR, 20n * DOLLAR + 1n, true],
    [DOLLAR, 0n, false],
    [DOLLAR + 1n, 0n, true],
    [0n, DOLLAR + 1n, true],
    [DOLLAR, 1n, false],
    [0n, 0n, false],
    [null, 5n * DOLLAR, false],
    [5n * DOLLAR, null, false],
  ]
  for (const [reportedCost, listValue, isFar] of cases) {
    const costs = { reportedCost, listValue }
    expect([costs, isCostMismatch({ ...costs, ...NO_TOKENS, cacheRead: 1 })]).toEqual([costs, isFar])
    expect([costs, isCostMismatch({ ...costs, ...NO_TOKENS })]).toEqual([costs, false])
  }
})

async function planOf({ dataDir, databaseUrl }: Location, query: string, params: unknown[]): Promise<string> {
  if (!databaseUrl) {
    using connection = new Connection(join(dataDir!, DATABASE_FILE), { readonly: true })
    return JSON.stringify(connection.query(`EXPLAIN QUERY PLAN ${query}`).all(...(params as number[])))
  }
  const client = clientFor(databaseUrl)
  try {
    // PostgreSQL reads a table of few rows as a whole where it may.
    await client`SET enable_seqscan = off`
    await client`SET enable_bitmapscan = off`
    return JSON.stringify(await client.unsafe(`EXPLAIN ${query}`, params as number[]))
  } finally {
    await client.end()
  }
}

type Costs = Parameters<typeof isCostMismatch>[0]

const amount = fc.oneof(
  fc.constant(null),
  fc.constantFrom(0n, 1n, 9n, 10n, 11n, DOLLAR, DOLLAR + 1n, 2n * DOLLAR, 20n * DOLLAR, 20n * DOLLAR + 1n, LARGEST),
  fc.bigInt(0n, 100n * DOLLAR),
)

forEachEngine('a cost mismatch', (open) => {
  async function stage(count: number) {
    const db = await open({ priced: true })
    const services = createServices({ db, clock: { now: () => Date.parse('2026-11-21T00:00:00Z') } })
    const caller = await addReporter(services.people)
    await services.prices.loadDefaultPrices()
    for (let index = 0; index < count; index += 1) {
      await services.entries.reporting.reportEntry(reportBody({ session_id: `s-${index}` }), caller)
    }
    const { entries } = db.read.tables
    const rows = await db.read.select({ id: entries.id, priceId: entries.priceId }).from(entries)
    /** Gives the entries these amounts, in the order of their ids. */
    const change = (costs: Costs[]) =>
      db.write(async (tx) => {
        for (const [index, { reportedCost, listValue, ...counts }] of costs.entries()) {
          const { id, priceId } = rows[index]!
          const price = listValue === null ? { priceId: null, priceStep: null } : { priceId, priceStep: 1 }
          await tx
            .update(tx.tables.entries)
            .set({ reportedCost, listValue, ...counts, ...price })
            .where(eq(tx.tables.entries.id, id))
        }
      })
    const list = async (isMismatch: boolean) => {
      const query = readListQuery({ cost_mismatch: String(isMismatch), limit: '1000' }, 'UTC')
      return (await services.entries.listing.listEntries(EVERYTHING, query)).data
    }
    return { ...services, db, change, list }
  }

  test('is what the filter selects, the entry says and completeness counts, for any amounts', async () => {
    const COUNT = 8
    const { change, list, reports } = await stage(COUNT)
    const pair = fc
      .record({ reportedCost: amount, listValue: amount, output: fc.constantFrom(0, 1, 1) })
      .map((costs) => ({ ...NO_TOKENS, ...costs }))
    await fc.assert(
      fc.asyncProperty(fc.array(pair, { minLength: COUNT, maxLength: COUNT }), async (pairs) => {
        await change(pairs)
        const expected = pairs.filter(isCostMismatch).length
        const [far, near] = [await list(true), await list(false)]
        expect([far.length, near.length]).toEqual([expected, COUNT - expected])
        expect([...far, ...near].map(({ cost_mismatch }) => cost_mismatch)).toEqual([
          ...far.map(() => true),
          ...near.map(() => false),
        ])
        const report = await reports.completeness(
          EVERYTHING,
          await reports.readCompleteness({ starting_at: '2026-11-01' }, COMMAND_LINE),
        )
        const { entries, list: path } = report.data.find(({ check }) => check === 'cost_mismatches')!
        expect([entries, path]).toEqual([expected, expect.stringContaining('cost_mismatch=true')])
      }),
      { numRuns: runs(10, 3) },
    )
  })

  test('is found by an index, among as many entries as there are', async () => {
    const { db } = await stage(1)
    const { entries } = db.read.tables
    const condition = conditionOf(db.read, { cost_mismatch: true, starting_at: 0, superseded: false })
    const query = db.read.select({ entries: sql`count(*)` }).from(entries).where(condition)
    const { sql: text, params } = query.toSQL()
    expect(await planOf(locationOf(db), text, params)).toContain('entries_cost_mismatches')
  })
})
