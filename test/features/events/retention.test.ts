/** Old events go, the oldest first, and whoever has not read them learns of it. */
import { expect, test } from 'bun:test'
import { asc } from 'drizzle-orm'
import { TALLY } from '../../../src/access/actor.ts'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import { createServices } from '../../../src/services.ts'
import { forEachEngine, type Open } from '../../support/databases.ts'

const NOW = Date.UTC(2026, 10, 20, 19, 30)
const DAY_MS = 86_400_000
const clock = { now: () => NOW }
const who = { viewer: EVERYTHING, isAdmin: true }

async function stage(open: Open, ages: readonly number[]) {
  const db = await open()
  const services = createServices({ db, clock })
  const { events } = services
  await db.write((tx) =>
    events.record(
      tx,
      ages.map((days) => ({ type: 'backup.failed', at: NOW - days * DAY_MS, object: { id: String(days), name: 'b' } })),
    ),
  )
  const left = async () => {
    const { events: table } = db.read.tables
    const rows = await db.read.select().from(table).orderBy(asc(table.id))
    return rows.map(({ objectId }) => objectId)
  }
  const positions = async () => {
    const { events: table } = db.read.tables
    return (await db.read.select({ id: table.id }).from(table).orderBy(asc(table.id))).map(({ id }) => id)
  }
  return { db, services, left, positions }
}

forEachEngine('events', (open) => {
  test('are removed after three months, or after the period in the settings', async () => {
    const { services, left } = await stage(open, [800, 93, 60, 32, 1])
    const { personalData, organization } = services
    expect(await personalData.retention.plan()).toMatchObject([{ kind: 'events', months: 3, rows: 2 }])
    expect(await personalData.retention.apply(TALLY)).toMatchObject([{ kind: 'events', rows: 2 }])
    expect(await left()).toEqual(['60', '32', '1'])
    await organization.changeSettings({ retentionEvents: 1 }, TALLY)
    await personalData.retention.apply(TALLY)
    expect(await left()).toEqual(['1', 'organization'])
    await organization.changeSettings({ retentionEvents: null }, TALLY)
    expect(await personalData.retention.apply(TALLY)).toEqual([])
  })

  test('are removed in portions, and the newest one stays, so that its id is not used again', async () => {
    const { db, services, left, positions } = await stage(
      open,
      Array.from({ length: 2_500 }, (_, index) => 3_000 - index),
    )
    const last = (await positions()).at(-1)!
    await services.personalData.retention.apply(TALLY)
    expect(await left()).toEqual(['501'])
    await db.write((tx) => services.events.record(tx, [{ type: 'backup.failed' }]))
    expect((await positions()).at(-1)).toBeGreaterThan(last)
  })

  test('that somebody has missed are reported instead of skipped', async () => {
    const { services, positions } = await stage(open, [200, 100, 10, 1])
    const [first, second, third, fourth] = await positions()
    const { events } = services
    await services.personalData.retention.apply(TALLY)
    expect(await events.begin(undefined)).toBe(second!)
    expect(await events.begin(first).catch((error) => error)).toMatchObject({ code: 'events_expired', status: 410 })
    const expired = await events.begin(first).catch((error) => error.detail)
    expect(expired).toContain(`after=evt_${second}`)
    expect(await events.begin(second)).toBe(second!)
    const { views, next } = await events.read(who, { after: second!, types: undefined, limit: 10 })
    expect([views.map(({ id }) => id), next]).toEqual([[third!, fourth!], fourth!])
  })
})
