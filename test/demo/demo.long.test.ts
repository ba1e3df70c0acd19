/** The counterpart of `test/cli/demo.test.ts`, which uses SQLite, on PostgreSQL and at a moment that is always the same. */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Database } from '../../src/database/database.ts'
import { DemoClock, fillDemo } from '../../src/demo/demo.ts'
import { emptyDemo } from '../../src/demo/removal.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { createServices } from '../../src/services.ts'
import { locationOf, opener, startPostgres } from '../support/databases.ts'

const NOW = Date.parse('2026-11-18T15:30:00Z')

/** Number of rows per table. */
async function counts({ read }: Database): Promise<Record<string, number>> {
  const counted = Object.entries(read.tables).map(
    async ([name, table]) => [name, (await read.select().from(table)).length] as const,
  )
  return Object.fromEntries(await Promise.all(counted))
}

describe('a demonstration on PostgreSQL', () => {
  beforeAll(async () => void (await startPostgres()), { timeout: 60_000 })
  const open = opener('postgres')

  test('is filled up to its moment, stays while others are connected or until confirmed, and is removed completely', async () => {
    const clock = new DemoClock()
    const db = await open({ clock })
    const services = createServices({ db, clock })
    expect(await fillDemo({ services, clock, now: NOW, password: 'correct horse', onProgress() {} })).toBe(6_060)
    const { audit, entries, organization } = db.read.tables
    const changes = await db.read.select({ at: audit.at }).from(audit)
    const arrivals = await db.read.select({ at: entries.createdAt }).from(entries)
    const latest = Math.max(...[...changes, ...arrivals].map(({ at }) => at))
    expect(latest).toBeLessThanOrEqual(NOW)
    expect(NOW - latest).toBeLessThan(86_400_000)
    expect(await db.read.select({ at: organization.demoAt }).from(organization)).toEqual([{ at: NOW }])

    const location = locationOf(db)
    const added: unknown[] = []
    const emptying = { ...location, clock: systemClock, confirm: async (since: unknown) => void added.push(since) }
    await expect(emptyDemo(emptying)).rejects.toThrow('Stop it first')
    const before = await counts(db)
    await services.projects.addClient(
      { viewer: { sees: 'everything' } as never, person: null, by: { userId: null, tokenId: null, origin: 'test' } },
      { name: 'Real' },
    )
    await db.close()

    const no = new Error('no')
    await expect(emptyDemo({ ...emptying, confirm: () => Promise.reject(no) })).rejects.toBe(no)
    const again = await open({ at: location })
    const after = { ...before, clients: before.clients! + 1, audit: before.audit! + 1, events: before.events! + 1 }
    expect(await counts(again)).toEqual(after)
    await again.close()

    await emptyDemo(emptying)
    expect(added).toEqual([{ entries: 0, changes: [] }])
    const [emptied, fresh] = [await open({ at: location }), await open()]
    expect(await counts(emptied)).toEqual(await counts(fresh))
  })

  test('is the only thing that is ever removed', async () => {
    const db = await open()
    await db.close()
    const emptying = emptyDemo({ ...locationOf(db), clock: systemClock, confirm: async () => {} })
    await expect(emptying).rejects.toThrow('does not contain demo data')
  })
})
