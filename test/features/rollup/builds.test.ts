import { expect, test } from 'bun:test'
import { EVERYTHING } from '../../../src/access/visibility.ts'
import type { Database } from '../../../src/database/database.ts'
import { overloaded, tookTooLong } from '../../../src/database/errors.ts'
import { monthAt } from '../../../src/features/rollup/calendar.ts'
import { checkRollup } from '../../../src/features/rollup/check.ts'
import { createRollup } from '../../../src/features/rollup/job.ts'
import {
  changePeriods,
  findOldPeriod,
  listCleanPeriods,
  listZones,
} from '../../../src/features/rollup/store/periods.ts'
import { forEachEngine } from '../../support/databases.ts'
import { answer, modelAnswer, type Query, shown } from './queries.ts'
import { AT_ONCE, Chance, clock, DAY, HOUR, NOW, randomEntry, type Stage, stage } from './scene.ts'

const timeZone = async () => 'UTC'

function addEntry(db: Database, scene: Stage, startedAt: number): Promise<void> {
  const entry = { ...randomEntry(new Chance(1), scene), startedAt, endedAt: startedAt + HOUR }
  return db.write((tx) => tx.insert(tx.tables.entries).values(entry as never) as never)
}

forEachEngine('builds of the roll-up', (open) => {
  test('use no month of which another job has just found a day changed', async () => {
    const db = await open({ priced: true })
    const scene = await stage(db)
    const startedAt = NOW - 30 * DAY
    await addEntry(db, scene, startedAt)
    const other = createRollup({ db, clock, timeZone, quietMs: DAY })
    let isOvertaken = false
    // The other job takes the mark of a change just before this one begins to write the month.
    const overtaken: Database = {
      ...db,
      async write(body, options) {
        const isDayBuilt = (await listCleanPeriods(db.read, 'UTC')).length > 0
        if (isDayBuilt && (await findOldPeriod(db.read)) === undefined && !isOvertaken) {
          isOvertaken = true
          await addEntry(db, scene, startedAt)
          await other.step()
        }
        return db.write(body, options)
      },
    }
    const { from, to } = monthAt(startedAt, 'UTC')
    const month: Query = { viewer: EVERYTHING, filter: {}, dimensions: [], bounds: [from, to], onlyStraddling: false }
    const rollup = createRollup({ db: overtaken, clock, timeZone, ...AT_ONCE })
    while ((await rollup.step()) !== 'idle') {
      expect(shown(await answer(db, month))).toEqual(shown(await modelAnswer(db, scene, month)))
      expect(await checkRollup({ db })).toEqual([])
    }
    expect(isOvertaken).toBe(true)
    expect((await listCleanPeriods(db.read, 'UTC')).map(({ level }) => level)).toEqual(['month', 'day'])
  })

  const LOST = new Error('The process for slow reads ended with SIGKILL.')
  test.each([
    ['took too long', tookTooLong(), false],
    ['found too many others waiting', overloaded(), false],
    ['lost its process', LOST, true],
  ])('are tried again after one that %s, and the others first', async (_, error, isLogged) => {
    const db = await open({ priced: true })
    const scene = await stage(db)
    const [early, late] = [NOW - 20 * DAY, NOW - 10 * DAY]
    for (const startedAt of [early, late]) await addEntry(db, scene, startedAt)
    let isFailing = true
    const failing: Database = {
      ...db,
      async slowly(task, args) {
        const { from } = args as unknown as { from: number }
        if (isFailing && from > early) throw error
        return db.slowly(task, args)
      },
    }
    let now = NOW
    const rollup = createRollup({ db: failing, clock: { now: () => now }, timeZone, ...AT_ONCE })
    const errors: unknown[] = []
    const finish = async () => {
      for (;;) {
        const step = await rollup.step().catch((thrown) => errors.push(thrown))
        if (step === 'idle') return
      }
    }
    await finish()
    expect(errors).toEqual(isLogged ? [error] : [])
    expect(await rollup.status()).toMatchObject({ days: 2, staleDays: 1 })
    isFailing = false
    now += HOUR
    await finish()
    expect(await rollup.status()).toMatchObject({ days: 2, staleDays: 0 })
  })

  test('of several servers change which periods there are one after the other', async () => {
    const db = await open()
    const servers = [db, await open({ sharing: db }), await open({ sharing: db })]
    const steps: string[] = []
    await Promise.all(
      servers.map((server) =>
        changePeriods(server, async (tx) => {
          steps.push('begun')
          for (let left = 3; left > 0; left -= 1) await listZones(tx)
          steps.push('done')
        }),
      ),
    )
    expect(steps).toEqual(servers.flatMap(() => ['begun', 'done']))
  })

  test('do not wait longer when the clock is set back', async () => {
    const db = await open({ priced: true })
    let now = NOW + DAY
    const rollup = createRollup({ db, clock: { now: () => now }, timeZone })
    while ((await rollup.step()) !== 'idle');
    await addEntry(db, await stage(db), NOW - 10 * DAY)
    while ((await rollup.step()) !== 'idle');
    expect(await rollup.status()).toMatchObject({ staleDays: 1, waitingDays: 0 })
    now = NOW
    while ((await rollup.step()) !== 'idle');
    expect(await rollup.status()).toMatchObject({ staleDays: 0 })
  })
})
