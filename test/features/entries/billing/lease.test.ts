import { expect, test } from 'bun:test'
import { createLeases } from '../../../../src/features/entries/billing/lease.ts'
import { billRow } from '../../../support/bills.ts'
import { opener } from '../../../support/databases.ts'
import { until } from '../../../support/processes.ts'

const NOW = Date.UTC(2026, 11, 1, 9, 0)
const DAY_MS = 86_400_000

const open = opener('sqlite')

/** A bill that a process prepares, and the clock of another process. */
async function stage() {
  const db = await open()
  const time = { now: NOW }
  const leases = createLeases({ db, clock: { now: () => time.now } })
  const lease = await db.write(async (tx) => {
    const [bill] = await tx
      .insert(tx.tables.bills)
      .values(billRow({ number: 'preparing', state: 'preparing' }))
      .returning({ id: tx.tables.bills.id })
    return (await leases.take(tx, bill!.id))!
  })
  const bills = async () => (await db.read.select().from(db.read.tables.bills)).length
  return { db, time, leases, lease, bills }
}

test.each([
  ['has expired', 10_000],
  ['was taken before the clock was set back', -DAY_MS],
])('a lease that %s is taken over', async (_, later) => {
  const { db, time, leases, lease, bills } = await stage()
  time.now += later
  expect(await leases.whenFree()).toBeGreaterThan(lease.version)
  expect(await bills()).toBe(0)
  const renewed = db.write((tx) => leases.renew(tx, lease))
  expect(leases.isLost(await renewed.catch((error) => error))).toBe(true)
})

test('a lease of a server whose clock is some seconds ahead is not, and all who wait for it look together', async () => {
  const { db, time, leases, lease, bills } = await stage()
  time.now -= 10_000
  let looks = 0
  const read = Object.assign(Object.create(db.read) as typeof db.read, {
    prepared: (...query: Parameters<typeof db.read.prepared>) => {
      looks += 1
      return db.read.prepared(...query)
    },
  })
  const others = createLeases({ db: { ...db, read }, clock: { now: () => time.now } })
  const waiting = Array.from({ length: 100 }, () => others.settled(async () => looks))
  // Each looks once before its own read, and then all together.
  expect(await until(() => looks >= waiting.length + 3)).toBe(true)
  const soFar = looks
  expect(await bills()).toBe(1)
  await db.write((tx) => leases.end(tx, lease))
  await Promise.all(waiting)
  expect(soFar - waiting.length).toBeLessThan(50)
})
