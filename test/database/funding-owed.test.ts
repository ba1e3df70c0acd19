/** Which changes of plans and rules owe that entries are decided again, and from which day. */
import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import type { Tx } from '../../src/database/database.ts'
import { newId } from '../../src/lib/id.ts'
import { forEachEngine } from '../support/databases.ts'

const PLAN = { vendor: 'Anthropic', product: 'Claude Max', holder: 'people', vendorCodes: [], createdAt: 0 } as const
const TERMS = { period: 'month', fee: 100n, currency: 'USD', seats: 1, conditions: [] } as const

forEachEngine('funding that is owed', (open) => {
  test('begins with the earliest day that a change concerns, and each change counts', async () => {
    const db = await open()
    const { plans, planHolders, planVersions, fundingRules, fundingRuleVersions, fundingOwed, organization, users } =
      db.read.tables
    const owed = async () => {
      const [row] = await db.read.select().from(fundingOwed)
      await db.write(async (tx) => void (await tx.delete(fundingOwed)))
      return row?.fromDay ?? null
    }
    const revision = async () => (await db.read.select().from(db.read.tables.revision))[0]!.value
    /** The day that is owed after the change, which also empties caches. */
    const after = async (change: (tx: Tx) => PromiseLike<unknown>): Promise<string | null> => {
      const before = await revision()
      await db.write(async (tx) => void (await change(tx)))
      expect(await revision()).toBeGreaterThan(before)
      return owed()
    }
    const user = { email: 'ada@example.com', name: 'Ada', role: 'member', createdAt: 0 } as const
    await db.write(async (tx) => void (await tx.insert(users).values({ ...user, id: 1, uid: newId('usr') })))

    expect(await after((tx) => tx.update(organization).set({ timeZone: 'Europe/Berlin' }))).toBe(null)
    expect(
      await after((tx) => tx.insert(plans).values({ ...PLAN, vendorCodes: [], id: 1, uid: newId('pln'), name: 'Max' })),
    ).toBe(null)
    const version = { ...TERMS, conditions: [], planId: 1 }
    expect(await after((tx) => tx.insert(planVersions).values({ ...version, fromDay: '2026-10-17' }))).toBe(
      '2026-10-17',
    )
    expect(await after((tx) => tx.insert(planVersions).values({ ...version, fromDay: '2026-11-17' }))).toBe(
      '2026-11-17',
    )
    expect(await after((tx) => tx.insert(planHolders).values({ planId: 1, userId: 1, fromDay: '2026-11-02' }))).toBe(
      '2026-11-02',
    )
    const held = eq(planHolders.userId, 1)
    expect(await after((tx) => tx.update(planHolders).set({ fromDay: '2026-11-01' }).where(held))).toBe('2026-11-01')
    expect(await after((tx) => tx.delete(planHolders).where(held))).toBe('2026-11-01')
    expect(await after((tx) => tx.update(plans).set({ name: 'Max 5x' }))).toBe('2026-10-17')
    expect(await after((tx) => tx.update(plans).set({ note: 'Ada’s card' }))).toBe(null)
    const days = { fromDay: '2026-11-18' }
    expect(await after((tx) => tx.update(planVersions).set(days).where(eq(planVersions.fromDay, '2026-11-17')))).toBe(
      '2026-11-17',
    )
    expect(await after((tx) => tx.update(organization).set({ timeZone: 'Asia/Tokyo' }))).toBe('0001-01-01')

    const last = eq(planVersions.fromDay, '2026-11-18')
    expect(await after((tx) => tx.delete(planVersions).where(last))).toBe('2026-11-18')

    const rule = { id: 1, uid: newId('frl'), position: 1, enabled: true, createdAt: 0 }
    expect(await after((tx) => tx.insert(fundingRules).values(rule))).toBe(null)
    const says = { ruleId: 1, version: 1, name: 'API', conditions: [], funding: 'metered', createdAt: 0 } as const
    expect(await after((tx) => tx.insert(fundingRuleVersions).values({ ...says, conditions: [] }))).toBe('0001-01-01')
    expect(await after((tx) => tx.update(fundingRules).set({ enabled: false }))).toBe('0001-01-01')

    await db.write(async (tx) => {
      for (const fromDay of ['2026-12-03', '2026-12-01', '2026-12-02']) {
        await tx.insert(planHolders).values({ planId: 1, userId: 1, fromDay })
      }
    })
    expect(await db.read.select().from(fundingOwed)).toEqual([
      expect.objectContaining({ fromDay: '2026-12-01', changes: 3 }),
    ])
  })
})
